# SPDX-License-Identifier: MIT
#
# The account of a run of survive, from its journal (see survive.h):
#
#	awk -v timers=NUMBER -v span=MS -f survive.awk JOURNAL
#
# Prints one line. All numbers after twice= must be 0, except after=: whether the last
# kill came after the last timer.
#
# twice= tells how many actions were repeated, because a kill came between an action and its
# acknowledgement: at most as many as processes were killed, see excess=. Then the event was the
# same, see other=.

BEGIN {
	# Otherwise the first pass would not end with the file.
	ARGV[ARGC++] = ARGV[1]
	period = int(span * 1000000 / timers)
}

# The first pass: when processes were killed
NR == FNR {
	if ($1 == "killed") {
		killed[$2] = $6
		kills++
		last_kill = $6
	}
	next
}

$1 == "start" {
	died[++processes] = process in killed ? killed[process] : last_sign
	began[processes] = $6
	process = $2
	if (!first) {
		first = $6
		absence = 2
	}
}

$1 == "opened" && acted {
	reopened++
}

$1 == "sched" {
	if (!(process in scheduler)) {
		scheduler[process] = 1
		schedulers++
	}
}

$1 == "acted" {
	last_sign = $6
	if ($2 in id) {
		twice++
		if (id[$2] != $3)
			other++
		next
	}
	acted++
	id[$2] = $3
	if ($2 >= timers)
		strange++
	if ($4 != first + period * ($2 + 1))
		moved++
	if ($6 < $4)
		early++
	# Events come in the order of their deadlines, perhaps long after that.
	while (absence <= processes && $4 >= began[absence])
		absence++
	if (absence <= processes && $4 > died[absence])
		waited++
	if ($4 > last)
		last = $4
}

$1 != "killed" {
	last_sign = $6
}

END {
	for (i = 0; i < timers; i++)
		if (!(i in id))
			lost++
	printf "survive: processes=%d kills=%d schedulers=%d acted=%d waited=%d" \
		" twice=%d lost=%d other=%d early=%d moved=%d strange=%d reopened=%d" \
		" after=%d excess=%d\n",
		processes, kills, schedulers, acted, waited,
		twice, lost, other, early, moved, strange, reopened,
		(last_kill > last), (twice > processes - 1)
}
