#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Proves, for small cases, that the wheel, the states of records and the queue of events are
# right in whatever order things happen. Prints a line of TAP for each proof, and one for each
# fault that is put in: a proof counts only if it finds those. Called by test/vm/check.sh.
#
#	usage: test/vm/proofs.sh [--full] [wheels|records|events]
#
# --full explores larger wheels, and more timers. It takes half an hour.
#
# The wheel: test/proofs/states/ compiles the module's own sources for user space and explores
# all states of wheels with few buckets. The records: test/proofs/record.pml is a model for
# spin. Its changes of state must be those of hwtimer_states_after[] in wheel/table.c, which
# a build of the module with the KUnit suites checks at each change. The events:
# test/proofs/events.pml is a model of who turns the wheel, and who wakes whom.

# The programs that explore read nothing but their arguments, and decide nothing by chance. So
# what one of them has printed is kept in the cache, under a hash of the program (of spin, of its
# source and the compiler) and its arguments, and the same program does not run twice, not even for
# another checkout. What it has printed is judged each time. `rm -r` of the directory has all of
# them run.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

KNOWN=$CACHE_DIR/proofs

# The number of programs that did not run, as what they print is known
RECALLED=0

LITMUS_DIR=$REPO_DIR/test/proofs

# Number of timers of the model of the records
TIMERS=2

# Arguments of wheel-states: entries per chunk, then as test/proofs/states/wheel_states.c says.
# Each line takes some seconds.
WHEELS="
1 hierarchical 4 2 0 12
1 hierarchical 4 3 0 6
1 hierarchical 4 2 1 5
1 hierarchical 4 2 1 4 moves
1 hierarchical 4 2 0 6 compacts
1 hierarchical 4 2 0 7 slack
1 hierarchical 4 2 0 3 rewinds
1 hierarchical 4 2 0 0,1,5 rewinds
2 hierarchical 4 3 0 6
1 hashed 8 3 0 8 shift=40
1 hashed 8 2 1 0,1,8,9 moves shift=40
1 hashed 8 2 1 0,1,8,9 compacts shift=40
1 hashed 8 2 0 0,1,8,9 rewinds shift=40
1 hashed 16 2 1 0,1,8,16 shift=40
"
MORE_WHEELS="
1 hierarchical 4 2 1 6
1 hierarchical 4 2 1 5 moves
1 hierarchical 4 3 0 7
2 hierarchical 4 4 0 5
1 hierarchical 4 1 0 6 rewinds
1 hashed 8 2 1 0,1,2,8,9,17 moves compacts shift=40
1 hashed 8 2 0 0,1,2,8,9 rewinds shift=40
"

# Faults in the wheel: a name, the file, a command of sed that must change it, and the
# arguments of wheel-states that find it
WHEEL_FAULTS=(
	"a level reaches a tick too far" hierarchy.c
	's/while (tick >= hierarchy->levels\[level\].end)/while (tick > hierarchy->levels[level].end)/'
	"1 hierarchical 4 2 0 6"
	"an upper bucket does not count as occupied" hierarchy.c
	's/^\there->occupied |= bit;//'
	"1 hierarchical 4 1 0 6"
	"the position stays when the clock is set back" refile.c
	's/^\thwtimer_kind_restart(wheel, refile->walk.tick);//'
	"1 hierarchical 4 1 0 6 rewinds"
	"a cascade drops an entry" walk.c
	's/^\t\thwtimer_bucket_append(wheel, nr, entry, tick);/\t\tif (!walk->cascades) hwtimer_bucket_append(wheel, nr, entry, tick);/'
	"1 hierarchical 4 1 0 6"
	"a younger timer overtakes an older one of a higher level" hierarchy.c
	's/^\tif (!(hierarchy->levels\[level\].occupied & bit))/\tif (level)/'
	"1 hierarchical 4 2 0 6"
	"what comes during the walk of a due bucket is forgotten" expire.c
	's/min(walk->earliest, bucket->earliest));/walk->earliest);/'
	"1 hashed 8 3 0 9 shift=40"
	"a deadline is rounded down" wheel.h
	's/>> scale->shift) + 1;/>> scale->shift);/'
	"1 hashed 8 1 0 3 shift=40"
	"a skim walks a bucket in vain, again and again" sweep.c
	's/^\treturn gains .*/\treturn true;/; s/^\tif (!wheel->ahead.cascades)/\tif (0)/'
	"1 hashed 8 2 0 0,1,8,9 shift=40"
	"the wheel is not told of an earlier tick" hashed.c
	's/^\thashed->first = min(hashed->first, tick);/\tif (hashed->first == HWTIMER_TICK_NONE) hashed->first = tick;/'
	"1 hashed 8 2 0 3 shift=40"
)

# Faults in the model of the records
RECORD_FAULTS="
FAULT_READ_UNLOCKED
FAULT_READ_LOSES
FAULT_STOP_LOSES
FAULT_CANCEL_ALL_PASSES_RESTING
FAULT_HANDED_GOES_ON
FAULT_DEAD_MATCHES
FAULT_DROP_KEEPS_RECORD
FAULT_CANCEL_UNLOCKED
FAULT_EXPIRE_STOPPED
"

# Sizes of the model of the events, and what happens in it. Each line takes some seconds.
EVENTS="
CANCELS=1 LATE=1 TIMERS=3
STOPS=2 BUSY=1
STOPS=1 SIGNALS=1 BUSY=1
HOLD=2 SIZE=3 SIGNALS=1 BUSY=1
HOLD=2 SIZE=3 ROOM=3 ROOM_EDGE=3 CANCELS=1
THRESHOLD=3 DELAY
NEW_THRESHOLD=3 DELAY TIMERS=3
REPORT
EXCLUSIVE BUSY=1 HOLD=2 SIZE=3
AT_LEAST_ONCE
AT_LEAST_ONCE CANCELS=1 REWIND TIMERS=2 SIZE=1
STOP CANCELS=1 BUSY=1 TIMERS=3
"
MORE_EVENTS="
CANCELS=1 LATE=1
CANCELS=2 SIZE=3 STOPS=1
CANCELS=1 STOPS=1 SIGNALS=1 TIMERS=3
NEW_THRESHOLD=2 CANCELS=1
REPORT CANCELS=1 SIGNALS=1 TIMERS=3
AT_LEAST_ONCE REWIND THRESHOLD=2
AT_LEAST_ONCE REWIND STOP CANCELS=1 TIMERS=2 SIZE=1
AT_LEAST_ONCE THRESHOLD=2 DELAY STOPS=1 TIMERS=3
AT_LEAST_ONCE CANCELS=2 TIMERS=3
"

# Faults in it, and the size that finds each
EVENT_FAULTS="
FAULT_WORKER_PAST_BOUND
FAULT_READ_PAST_BOUND AT_LEAST_ONCE TIMERS=3
FAULT_FULL_KICKS
FAULT_SCHEDULED_UNTOLD LATE=1
FAULT_WAKE_EARLY
FAULT_EDGE_LOST HOLD=2 SIZE=3 BUSY=1
FAULT_BOUND_EDGE_LOST HOLD=2 SIZE=3 BUSY=1
FAULT_READ_LEAVES_DUE
FAULT_TURNED_UNPARKED ROOM=3
FAULT_TURNED_UNTOLD HOLD=2 SIZE=3 BUSY=1
FAULT_SHORT_UNTOLD STOPS=1 SIZE=3 BUSY=1 TIMERS=2
FAULT_BOUND_UNTOLD EXCLUSIVE BUSY=1 HOLD=2 SIZE=3
FAULT_CONSUMES_TORN STOPS=1
FAULT_FULL_UNREADABLE THRESHOLD=3
FAULT_DELAY_UNTOLD THRESHOLD=2 DELAY
FAULT_NOTIFY_UNTOLD THRESHOLD=3 SIZE=3 NEW_THRESHOLD=1
FAULT_NOTIFY_PARKED NEW_THRESHOLD=3
FAULT_UNPARK_REPORT REPORT
FAULT_CANCEL_PARKED CANCELS=2 TIMERS=3
FAULT_DISCARD_COUNTS CANCELS=1
FAULT_DEAD_STAY CANCELS=2 TIMERS=3
FAULT_DEAD_READ_STAY AT_LEAST_ONCE CANCELS=1 TIMERS=3
FAULT_ACK_PAST AT_LEAST_ONCE
FAULT_ACK_PARKED AT_LEAST_ONCE
FAULT_REWIND_FORGETS AT_LEAST_ONCE REWIND TIMERS=3
FAULT_REWIND_UNTOLD AT_LEAST_ONCE REWIND TIMERS=2
FAULT_REWIND_PARKED AT_LEAST_ONCE REWIND CANCELS=1 TIMERS=2 SIZE=1
FAULT_EXPIRES_STOPPED STOP
FAULT_STOP_DROPS STOP
FAULT_STOP_UNTOLD STOP
FAULT_DRAINED_UNTOLD STOP TIMERS=2
"

TEMP=

main()
{
	if [ "${1-}" = --full ]; then
		shift
		WHEELS+=$MORE_WHEELS
		EVENTS+=$MORE_EVENTS
		TIMERS=3
	fi
	need_packages spin gcc libc6-dev make python3
	need_exec_tmp
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	cd "$TEMP"
	use_cache proofs
	find "$KNOWN" -type f -mtime +60 -delete
	echo "TAP version 13"
	[ "${1-wheels}" != wheels ] || prove_wheels
	[ "${1-records}" != records ] || prove_records
	[ "${1-events}" != events ] || prove_events
	echo "# $RECALLED programs have run before, and what they printed was kept"
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

# recall HASH FILE: if the output of the program with that HASH is known, write it to FILE
recall()
{
	cp "$KNOWN/$1" "$2" 2>/dev/null || return
	touch "$KNOWN/$1"
	RECALLED=$((RECALLED + 1))
}

# keep HASH FILE: others may read what is kept at any time.
keep()
{
	cp "$2" "$KNOWN/$1.$$" && mv "$KNOWN/$1.$$" "$KNOWN/$1"
}

prove_wheels()
{
	local line i

	check "the wheel compiles for user space" \
		make --silent -C "$REPO_DIR/test/proofs/states" OUT="$TEMP"
	while read -r line; do
		[ -n "$line" ] || continue
		# shellcheck disable=SC2086 # several arguments
		check "all states of the wheel $line" wheel_is_right "$TEMP" $line
		sed 's/^/# /' said
	done <<<"$WHEELS"
	for ((i = 0; i < ${#WHEEL_FAULTS[@]}; i += 4)); do
		check "found: ${WHEEL_FAULTS[i]}" \
			wheel_fault_found "${WHEEL_FAULTS[@]:i+1:3}"
	done
}

prove_records()
{
	local fault

	check "all orders of what happens to a record" model_is_right record "TIMERS=$TIMERS"
	grep 'states, stored' verified | sed 's/^ */# /'
	check "the model and wheel/table.c have the same changes of state" same_changes
	for fault in $RECORD_FAULTS; do
		check "found: $fault" model_fault_found record TIMERS=2 "$fault"
	done
}

prove_events()
{
	local line

	while read -r line; do
		[ -n "$line" ] || continue
		# shellcheck disable=SC2086 # several arguments
		check "all orders of what happens to events: $line" model_is_right events $line
		grep 'states, stored' verified | sed 's/^ */# /'
	done <<<"$EVENTS"
	while read -r line; do
		[ -n "$line" ] || continue
		# shellcheck disable=SC2086 # several arguments
		check "found: $line" model_fault_found events $line
	done <<<"$EVENT_FAULTS"
}

# wheel_is_right DIRECTORY ENTRIES ARGUMENT...: explore; prints how many states there are
wheel_is_right()
{
	local program=$1/wheel-states-$2 hash

	shift 2
	hash=$({ cat "$program" && echo "$@"; } | sha256sum | cut -c -40)
	if ! recall "$hash" said; then
		"$program" "$@" >said || { cat said; return 1; }
		keep "$hash" said
	fi
	cat said
}

# wheel_fault_found FILE EDIT ARGUMENTS: put a fault into a copy of the sources. Only an
# error counts that the exploration has reported itself.
wheel_fault_found()
{
	local file=wheel/$1 edit=$2 copy=$TEMP/copy words status=0

	rm -rf "$copy"
	mkdir -p "$copy/bench" "$copy/test/proofs"
	(cd "$REPO_DIR" && module_files | xargs cp --parents --target-directory="$copy")
	cp -r "$REPO_DIR/bench/wheel" "$copy/bench"
	cp -r "$REPO_DIR/test/proofs/states" "$copy/test/proofs"
	sed -i "$edit" "$copy/$file"
	! cmp -s "$copy/$file" "$REPO_DIR/$file" || return 1
	read -r -a words <<<"$3"
	make --silent -C "$copy/test/proofs/states" OUT="$copy" CFLAGS_MORE=-w \
		"$copy/wheel-states-${words[0]}" || return
	# Seconds of a processor, of which a fault takes one; a wheel with a fault may turn for ever.
	(ulimit -t 300 && exec "$copy/wheel-states-${words[0]}" "${words[@]:1}") \
		>"$TEMP/said" 2>&1 || status=$?
	tail -n 1 "$TEMP/said"
	[ "$status" -eq 1 ] && grep -q '^# after' "$TEMP/said"
}

# verify MODEL OPTIMIZATION DEFINE...: try all orders, until an error is found
verify()
{
	local model=$1 optimization=$2 options=(-m400000) hash

	shift 2
	rm -f pan* ./*.trail verified
	# There, processes may wait for ever: it looks itself whether they may.
	[ "$model" != events ] || options+=(-E)
	# The source of the program names this file, by the same path in each checkout.
	cp "$LITMUS_DIR/$model.pml" . && spin -a "${@/#/-D}" "$model.pml" || return
	hash=$({ cat pan.* && gcc --version && echo "$optimization" "${options[@]}"; } |
		sha256sum | cut -c -40)
	if ! recall "$hash" verified; then
		gcc "$optimization" -w -DSAFETY -o pan pan.c &&
			./pan "${options[@]}" >verified || return
		# That says more of this machine than of the model.
		grep -q 'out of memory' verified || keep "$hash" verified
	fi
	grep -E 'errors:|states, stored|^pan:' verified
}

# Also makes sure that spin searched all states, and that it had many to search.
model_is_right()
{
	local model=$1

	shift
	verify "$model" -O1 "$@"
	grep '^reached' verified >reached
	grep -q 'errors: 0$' verified &&
		! grep -q 'search depth too small\|out of memory' verified &&
		[ "$(sed -n 's/^ *\([0-9]*\) states, stored$/\1/p' verified)" -gt 10000 ]
}

# With a fault, few states are searched; gcc takes longer than that.
model_fault_found()
{
	local model=$1

	shift
	verify "$model" -O0 "$@"
	grep -q 'assertion violated' verified
}

# The changes of state that the model has reached, and those of
# hwtimer_states_after[], by the numbers of enum hwtimer_record_state
same_changes()
{
	sort -u reached | sed 's/^reached //' >model_has
	python3 - "$REPO_DIR"/wheel/table.[hc] <<-'END' | sort >code_has
		import re, sys
		code, header = (open(file).read() for file in sys.argv[1:])
		states = re.search(r"enum hwtimer_record_state \{(.*?)\}", header, re.S)[1]
		states = re.findall(r"HWTIMER_(\w+),", states)
		table = re.search(r"hwtimer_states_after.*?\};", code, re.S)[0]
		for before, after in re.findall(r"\[HWTIMER_(\w+)\] =(.*?)(?=\n\t\[|\n\};)", table, re.S):
		    for state in re.findall(r"BIT\(HWTIMER_(\w+)\)", after):
		        print(states.index(before), states.index(state))
	END
	wc -l model_has code_has
	[ "$(wc -l <code_has)" -gt 5 ] && diff model_has code_has
}

main "$@"
