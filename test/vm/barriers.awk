# SPDX-License-Identifier: GPL-2.0-only
#
# Checks that each memory barrier names its pair; see check_barriers() in test/vm/lint.sh, which
# calls this with all sources of the module.
#
# Above each barrier stands a comment with "Pairs with" and the functions that have the
# other barriers, in the same sentence. If the operation serves for its atomicity only, the
# comment says "Orders nothing". Each of these functions exists and has a barrier. If it is one of ours, a
# comment above one of its barriers names the first function in turn. The kernel's own functions, which are not among the sources, are listed in KNOWN.
#
# Prints a line for each fault; the last line is the number of barriers.

BEGIN {
	KNOWN = " prepare_to_wait prepare_to_wait_event spin_unlock "
	BARRIER = "(smp_[a-z_]*(mb|acquire|release)[a-z_]*|(try_)?(cmp)?xchg" \
		"|wq_has_sleeper|atomic_thread_fence)\\("
}

FNR == 1 {
	in_comment = 0
	function_name = note = ""
}

# The text of the comment that ends just above stays in `note`.
in_comment || /^[ \t]*\/\*/ {
	if (!in_comment)
		note = ""
	text = $0
	gsub(/^[ \t]*\/?\*+|\*\/.*/, "", text)
	note = note text
	in_comment = !/\*\//
	next
}

# A function begins with its name in the first column, or after its type.
/^[a-zA-Z].*\(/ && !/;/ && !/^#/ {
	function_name = $0
	sub(/\(.*/, "", function_name)
	sub(/.*[ *]/, "", function_name)
}

/^#define/ { next }

{ code = $0; sub(/\/\*.*/, "", code) }

code ~ BARRIER && !/^static inline/ && !/^[a-zA-Z]/ { ordered[function_name] = 1 }

code ~ BARRIER && !/^[a-zA-Z]/ {
	count++
	place = FILENAME ":" FNR
	if (note ~ /Orders nothing/)
		next
	if (note !~ /Pairs with/) {
		fault(place, "the comment above the barrier does not say \"Pairs with\"")
		next
	}
	# Not what the rest of the comment names, nor where the other side reads or writes
	sub(/.*Pairs with/, "", note)
	sub(/(, before|\.( |$)).*/, "", note)
	while (match(note, /[a-z_]+\(\)/)) {
		name = substr(note, RSTART, RLENGTH - 2)
		note = substr(note, RSTART + RLENGTH)
		if ((name "(") ~ ("^" BARRIER))
			continue
		pairs++
		from[pairs] = function_name
		to[pairs] = name
		where[pairs] = place
		named[function_name, name] = 1
	}
	if (pairs == pairs_before)
		fault(place, "the comment names no function")
	pairs_before = pairs
}

# A comment belongs to the statement below it, which may have several lines.
/[;{}][ \t]*$/ { note = "" }

function fault(place, what)
{
	print place ": " what
	faults++
}

END {
	for (i = 1; i <= pairs; i++) {
		if (index(KNOWN, " " to[i] " "))
			continue
		if (!ordered[to[i]])
			fault(where[i], to[i] "() has no barrier, or does not exist")
		else if (!named[to[i], from[i]])
			fault(where[i], to[i] "() does not name " from[i] "() in turn")
	}
	print count + 0 " barriers"
	exit faults > 0
}
