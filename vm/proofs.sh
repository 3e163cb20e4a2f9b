#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Proves, for small cases, that the wheel and the states of records are right in whatever
# order things happen. Prints a line of TAP for each proof, and one for each fault that is
# put in: a proof counts only if it finds those. Called by vm/check.sh.
#
#	usage: vm/proofs.sh [--full] [wheels|records]
#
# --full explores larger wheels, and more timers. It takes half an hour.
#
# The wheel: tests/states/ compiles the module's own sources for user space and explores
# all states of wheels with few buckets. The records: tests/litmus/record.pml is a model for
# spin. Its changes of state must be those of hwtimer_states_after[] in hwtimer_table.c, which
# a build of the module with the KUnit suites checks at each change.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

MODEL=$REPO_DIR/tests/litmus/record.pml

# Number of timers of the model
TIMERS=2

# Arguments of wheel-states: entries per chunk, then as tests/states/wheel_states.c says.
# Each line takes some seconds.
WHEELS="
1 hierarchical 4 2 0 12
1 hierarchical 4 3 0 6
1 hierarchical 4 2 1 5
1 hierarchical 4 2 1 4 moves
1 hierarchical 4 2 0 6 compacts
1 hierarchical 4 2 0 7 slack
1 hierarchical 4 2 0 3 rewinds
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
	"the position stays when the clock is set back" wheel.c
	's/^\thwtimer_kind_restart(wheel, rewind->walk.tick);//'
	"1 hierarchical 4 1 0 6 rewinds"
	"a cascade drops an entry" wheel.c
	's/^\t\tbucket_append(wheel, nr, entry, tick);/\t\tif (!walk->cascades) bucket_append(wheel, nr, entry, tick);/'
	"1 hierarchical 4 1 0 6"
	"a younger timer overtakes an older one of a higher level" hierarchy.c
	's/^\tif (!(hierarchy->levels\[level\].occupied & bit))/\tif (level)/'
	"1 hierarchical 4 2 0 6"
	"what comes during the walk of a due bucket is forgotten" wheel.c
	's/min(walk->earliest, bucket->earliest));/walk->earliest);/'
	"1 hashed 8 3 0 9 shift=40"
	"a deadline is rounded down" wheel.h
	's/>> scale->shift) + 1;/>> scale->shift);/'
	"1 hashed 8 1 0 3 shift=40"
	"the tournament is not told of an earlier tick" hashed.c
	's/if (hashed->levels\[level\]\[nr\] <= tick)/if (hashed->levels[level][nr] != HWTIMER_TICK_NONE)/'
	"1 hashed 8 2 0 3 shift=40"
)

# Faults in the model
MODEL_FAULTS="
FAULT_NO_HARVEST
FAULT_ALWAYS_FREE
FAULT_RELEASE_EARLY
FAULT_READ_LOSES
FAULT_STOP_LOSES
FAULT_CANCEL_LEAVING
FAULT_CANCEL_UNLOCKED
FAULT_DISCARD_FREES
FAULT_EXPIRE_STOPPED
"

TEMP=

main()
{
	if [ "${1-}" = --full ]; then
		shift
		WHEELS+=$MORE_WHEELS
		TIMERS=3
	fi
	need_packages spin gcc libc6-dev make python3
	need_exec_tmp
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	cd "$TEMP"
	echo "TAP version 13"
	[ "${1-wheels}" != wheels ] || prove_wheels
	[ "${1-records}" != records ] || prove_records
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

prove_wheels()
{
	local line i

	check "the wheel compiles for user space" \
		make --silent -C "$REPO_DIR/tests/states" OUT="$TEMP"
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

	check "all orders of what happens to a record" model_is_right
	grep 'states, stored' verified | sed 's/^ */# /'
	check "the model and hwtimer_table.c have the same changes of state" same_changes
	for fault in $MODEL_FAULTS; do
		check "found: $fault" model_fault_found "$fault"
	done
}

# wheel_is_right DIRECTORY ENTRIES ARGUMENT...: explore; prints how many states there are
wheel_is_right()
{
	local dir=$1 entries=$2

	shift 2
	"$dir/wheel-states-$entries" "$@" | tee said
	return "${PIPESTATUS[0]}"
}

# wheel_fault_found FILE EDIT ARGUMENTS: put a fault into a copy of the sources. Only an
# error counts that the exploration has reported itself.
wheel_fault_found()
{
	local file=hwtimer_$1 edit=$2 copy=$TEMP/copy words status=0

	rm -rf "$copy"
	mkdir -p "$copy/bench" "$copy/tests"
	cp "$REPO_DIR"/hwtimer_*.[ch] "$copy"
	cp -r "$REPO_DIR/uapi" "$copy"
	cp -r "$REPO_DIR/bench/wheel" "$copy/bench"
	cp -r "$REPO_DIR/tests/states" "$copy/tests"
	sed -i "$edit" "$copy/$file"
	! cmp -s "$copy/$file" "$REPO_DIR/$file" || return 1
	read -r -a words <<<"$3"
	make --silent -C "$copy/tests/states" OUT="$copy" CFLAGS_MORE=-w \
		"$copy/wheel-states-${words[0]}" || return
	# Seconds of a processor, of which a fault takes one; a wheel with a fault may turn for ever.
	(ulimit -t 300 && exec "$copy/wheel-states-${words[0]}" "${words[@]:1}") \
		>"$TEMP/said" 2>&1 || status=$?
	tail -n 1 "$TEMP/said"
	[ "$status" -eq 1 ] && grep -q '^# after' "$TEMP/said"
}

# verify TIMERS DEFINE...: try all orders, until an error is found
verify()
{
	local timers=$1

	shift
	rm -f pan* ./*.trail
	spin -a -DTIMERS="$timers" "${@/#/-D}" "$MODEL" &&
		gcc -O1 -w -DSAFETY -o pan pan.c && ./pan -m200000 >verified
	grep -E 'errors:|states, stored|^pan:' verified
}

# Also makes sure that spin searched all states, and that it had many to search.
model_is_right()
{
	verify "$TIMERS"
	grep '^reached' verified >reached
	grep -q 'errors: 0$' verified &&
		! grep -q 'search depth too small\|out of memory' verified &&
		[ "$(sed -n 's/^ *\([0-9]*\) states, stored$/\1/p' verified)" -gt 10000 ]
}

model_fault_found()
{
	verify 2 "$1"
	grep -q 'assertion violated' verified
}

# The changes of state that the model has reached, and those of
# hwtimer_states_after[], by the numbers of enum hwtimer_record_state
same_changes()
{
	sort -u reached | sed 's/^reached //' >model_has
	python3 - "$REPO_DIR"/hwtimer_table.[hc] <<-'END' | sort >code_has
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
	[ "$(wc -l <code_has)" -gt 10 ] && diff model_has code_has
}

main "$@"
