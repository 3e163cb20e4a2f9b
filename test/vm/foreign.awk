# SPDX-License-Identifier: GPL-2.0-only
#
# Tells the module's races from the kernel's own: reads the log of a console, and leaves
# out the title of each report of KCSAN or KMSAN that does not name the module. So test/vm/run.sh,
# which looks for titles, finds only the others. Appends the titles that it leaves out to
# the file named by the variable `foreign`. If the variable `rcu` is set, does the same with
# lockdep's reports of suspicious RCU usage.
#
# A report goes from its title to a line of `=`; lockdep's, as User-Mode Linux prints it, to
# the last frame of its stack. It names the module if a frame of any of its stacks does, or
# if the object that it is about is in the module's own memory: no other module but the
# sample is ever loaded. The frames below an interrupt's entry do not count: they are of the
# thread that it interrupted, and KCSAN's own delays in the module make that likely. All
# other lines stay, as other processors may have printed them in the middle of a report. A
# report without an end stays, too.

function flush(whole,    i)
{
	if (whole && !named)
		print title >>foreign
	else if (lines)
		print title
	for (i = 2; i <= lines; i++)
		print line[i]
	lines = named = traced = interrupted = 0
}

lines && lockdep && traced && !/\[<[0-9a-f]+>\]|Call Trace:/ { flush(1) }

/BUG: K(C|M)SAN: / || (rcu && /WARNING: suspicious RCU usage/) {
	flush(0)
	lockdep = /RCU usage/
	title = $0
	line[lines = 1] = $0
	next
}

lines {
	line[++lines] = $0
	if (/ by (task|interrupt)|Call Trace:/)
		interrupted = 0
	# The kernel maps modules at 0xffffffffa0000000 and above.
	if ((/\[hwtimer[_a-z]*\]/ && !interrupted) || /to 0xffffffff[a-f]/)
		named = 1
	if (/ asm_sysvec_/)
		interrupted = 1
	if (!lockdep && /=====\r?$/)
		flush(1)
	if (/Call Trace:/)
		traced = 1
	next
}

{ print }

END { flush(0) }
