#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the simulation in each of its builds, and prints a line of TAP for each.
#
#	usage: test/sim/check.sh [--all]
#
# --all: 10^8 operations, in parts, from seeds that `make check` does not use, and all
# faults. A run that was interrupted goes on with the first part that was not done.
#
# Nothing here is decided by time: all bounds are numbers of operations and of seeds.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

# Number of operations of each build
PLAIN=10000000
SMALL=1000000
SANITIZED=300000
FREE=3000

# Number of runs that compare the library's instances on a manual clock with the module
COMPARED=600

# Number of allocations, from the loading of the module on, each of which fails once
SHORTAGES=150

# Faults that many seeds find: if a change of the module makes the seed useless that a patch
# names, another one is soon found.
FAULTS=(hang-up-not-told notify-not-told count-too-high)

# --all: what a part does, how many parts there are, and the first seed
PART=2000000
PARTS=50
FIRST=1000000

main()
{
	local fault

	need_packages build-essential patch
	cd "$REPO_DIR"
	echo "TAP version 13"
	if [ "${1-}" = --all ]; then
		run_all_parts
		COMPARED=20000
		FAULTS=(test/sim/faults/*.patch)
		FAULTS=("${FAULTS[@]##*/}")
		FAULTS=("${FAULTS[@]%.patch}")
	else
		check "$PLAIN operations: no fault" \
			simulate plain "$PLAIN" 1
	fi
	check "each of the first $SHORTAGES allocations fails, and the next one: no fault" \
		simulate plain 1000000 1-3 --short "$SHORTAGES" --run 200
	check "$SMALL operations with small limits: no fault" \
		simulate small "$SMALL" 1
	check "$SANITIZED operations with AddressSanitizer and UBSan: no fault" \
		simulate asan "$SANITIZED" 1
	check "$SANITIZED operations with MemorySanitizer: no fault" \
		simulate msan "$SANITIZED" 1
	check "$FREE operations with ThreadSanitizer: no fault" \
		simulate tsan "$FREE" 1 --run 500
	check "libhwtimer on a manual clock does what the module does, in $COMPARED runs" \
		compare_manual
	for fault in "${FAULTS[@]}"; do
		check "finds the fault $fault" finds "$fault"
	done
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

# simulate KIND OPERATIONS SEED [OPTION]...; says how fast that was
simulate()
{
	local kind=$1 operations=$2 seed=$3 status=0

	shift 3
	test/sim/run.sh "$kind" '' --seeds "$seed" --ops "$operations" "$@" || status=$?
	sed 's/^/# /' "$CHECK_OUTPUT" | grep -a 'operations' >&3 || true
	return "$status"
}

compare_manual()
{
	make --no-print-directory -C test/sim OUT="$BUILD_DIR/sim" KIND=still -j"$JOBS" \
		manual >&2 && "$BUILD_DIR/sim/still/manual" --seeds "1-$COMPARED"
}

# finds FAULT; says so if it was not found at the seed that its patch names
finds()
{
	local status=0

	test/sim/check-faults.sh "$1" || status=$?
	grep -a -- '--search' "$CHECK_OUTPUT" >&3 || true
	return "$status"
}

# The parts of --all: each has seeds of its own. Those that are done are not run again
# before something of the simulation or the module changes.
run_all_parts()
{
	local part finished state

	state=$({
		gcc --version
		cat Kbuild test/sim/Makefile
		{ module_files; find test/sim bench/wheel/include -name '*.[ch]'; } |
			sort | xargs sha256sum
	} | sha256sum)
	finished=$BUILD_DIR/sim/done-${state%% *}
	mkdir -p "$finished"
	for ((part = 1; part <= PARTS; part++)); do
		[ ! -e "$finished/$part" ] || {
			check "part $part of $PARTS: done before" true
			continue
		}
		check "part $part of $PARTS, $PART operations: no fault" \
			simulate plain "$PART" $((FIRST * part))
		[ "$FAILURES" -gt 0 ] || : >"$finished/$part"
	done
}

main "$@" 3>&1
