#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Puts each fault of test/sim/faults/ into the module, and demands that the simulation finds it.
# Prints a line of TAP for each.
#
#	usage: test/sim/check-faults.sh [FAULT]...
#	       test/sim/check-faults.sh --search [FAULT]...
#
# Without a FAULT, all. A patch in test/sim/faults/ says what is wrong. Its line `seed: N` names a
# seed that finds the fault, and `seeds: A-B` the seeds to search for such a one. A line
# `kind: KIND` names another build than `plain`.
#
# The named seed runs first, and mostly nothing else does. What a seed does depends on the
# module's code, so a change of the module may leave the named seed without effect. Then the
# seeds of the range run until one finds the fault, and a comment says so. Only if no seed of
# the range finds it, the fault is not found: no time limit decides that.
#
# --search writes the seed that it found into the patch, and leaves patches alone whose named
# seed finds the fault. Run it after a change of the module, and commit what it wrote.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

# More operations than the seeds of any range do
OPERATIONS=1000000000000

main()
{
	local search='' fault patch

	if [ "${1-}" = --search ]; then
		search=1
		shift
	fi
	need_packages build-essential patch
	[ $# -gt 0 ] ||
		for patch in "$REPO_DIR"/test/sim/faults/*.patch; do
			set -- "$@" "$(basename "$patch" .patch)"
		done
	make --silent -C "$REPO_DIR/test/sim" OUT="$BUILD_DIR/sim" \
		-j"$JOBS" >&2
	if [ -n "$search" ]; then
		search "$@"
	else
		check_all "$@"
	fi
}

check_all()
{
	local fault

	echo "TAP version 13"
	for fault in "$@"; do
		check "finds the fault $fault" finds "$fault"
		grep -a -E -m 1 '^# (seed|ERROR)|WARNING: MemorySanitizer' "$CHECK_OUTPUT" || true
		grep -a "^# $fault: " "$CHECK_OUTPUT" || true
	done
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

finds()
{
	local fault=$1 named found

	named=$(fault_says "$fault" seed)
	find_seed "$fault" || return
	[ "$found" = "$named" ] ||
		echo "# $fault: found at seed $found, but its patch names" \
			"${named:-none}: test/sim/check-faults.sh --search $fault"
}

# search FAULT...: several at a time, each in a process of its own
search()
{
	local fault=$1 named found output

	[ $# -eq 1 ] || {
		printf '%s\n' "$@" | xargs -P "$JOBS" -n 1 "$0" --search
		return
	}
	named=$(fault_says "$fault" seed)
	output=$(mktemp)
	on_exit rm -f "$output"
	find_seed "$fault" >"$output" 2>&1 || {
		tail -n 20 "$output" >&2
		die "$fault is not found"
	}
	[ "$found" = "$named" ] ||
		sed -i -e '/^seed: /d' -e "s/^seeds: /seed: $found\\n&/" "$(patch_of "$fault")"
	echo "$fault: seed $found, the patch named ${named:-none}"
}

# find_seed FAULT: sets `found` to a seed that finds the fault, the named one if that does
find_seed()
{
	local fault=$1 seeds said status=0

	seeds=$(fault_says "$fault" seeds)
	said=$(mktemp)
	on_exit rm -f "$said"
	for seeds in ${named:+"$named-$named"} "$seeds"; do
		simulate "$seeds" >"$said" 2>&1 || status=$?
		cat "$said"
		[ "$status" -ne 0 ] || continue
		found=$(sed -n 's/^# to repeat it.* --seeds \([0-9]*\) .*/\1/p' "$said")
		[ "$status" -eq 1 ] && [ -n "$found" ] && return
		echo "the simulation with the fault: exit status $status"
		return 1
	done
	echo "no seed of $seeds finds it"
	return 1
}

patch_of()
{
	echo "$REPO_DIR/test/sim/faults/$1.patch"
}

# fault_says FAULT WORD: what the patch says of the fault
fault_says()
{
	sed -n "s/^$2: //p" "$(patch_of "$1")"
}

# simulate SEEDS: until one fails
simulate()
{
	local kind file copy=$BUILD_DIR/sim/faults/$fault
	local options=(--seeds "$1" --ops "$OPERATIONS")

	kind=$(fault_says "$fault" kind)
	file=$(sed -n 's/^+++ b\///p' "$(patch_of "$fault")")
	case $kind:$file in
	:*.c)
		"$REPO_DIR/test/sim/put-fault.sh" "$fault" "$copy" &&
			"$REPO_DIR/test/sim/mutant.sh" "$copy/$file" "${options[@]}" ;;
	*)
		# A header, several files or another kind: all is built anew.
		"$REPO_DIR/test/sim/run.sh" "${kind:-plain}" "$fault" "${options[@]}" ;;
	esac
}

main "$@"
