#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Puts each fault of sim/faults/ into the module, and demands that the simulation finds it.
# Prints a line of TAP for each.
#
#	usage: sim/check-faults.sh [FAULT]...
#
# Without a FAULT, all. A patch in sim/faults/ says what is wrong, and which seeds find it:
# in a line `seeds: A-B`. A line `kind: KIND` names another build than `plain`.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

# Seconds within which a fault has to be found
LIMIT=60

main()
{
	local fault patch

	need_packages build-essential patch
	[ $# -gt 0 ] ||
		for patch in "$REPO_DIR"/sim/faults/*.patch; do
			set -- "$@" "$(basename "$patch" .patch)"
		done
	make --no-print-directory -C "$REPO_DIR/sim" OUT="$BUILD_DIR/sim" \
		-j"$JOBS" >&2
	echo "TAP version 13"
	for fault in "$@"; do
		check "finds the fault $fault" finds "$fault"
		grep -a -E -m 1 '^# (seed|ERROR)|WARNING: MemorySanitizer' "$CHECK_OUTPUT" || true
	done
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

# finds FAULT: whether the simulation fails with it, and does so in time
finds()
{
	local fault=$1 kind seeds copy=$BUILD_DIR/sim/faults/$1 status=0

	kind=$(fault_says "$fault" kind)
	seeds=$(fault_says "$fault" seeds)
	"$REPO_DIR/sim/put-fault.sh" "$fault" "$copy" || return
	simulate_fault || status=$?
	[ "$status" -eq 1 ] || {
		echo "the simulation did not find it: exit status $status"
		return 1
	}
}

# fault_says FAULT WORD: what the patch says of the fault
fault_says()
{
	sed -n "s/^$2: //p" "$REPO_DIR/sim/faults/$1.patch"
}

simulate_fault()
{
	local file

	file=$(sed -n 's/^+++ b\///p' "$REPO_DIR/sim/faults/$fault.patch")
	case $kind:$file in
	:*.c)
		"$REPO_DIR/sim/mutant.sh" "$copy/$file" --seeds "$seeds" \
			--ops 1000000000 --seconds "$LIMIT"
		;;
	*)
		# A header, several files or another kind: all is built anew.
		"$REPO_DIR/sim/run.sh" "${kind:-plain}" "$fault" --seeds "$seeds" \
			--ops 1000000000 --seconds "$LIMIT"
		;;
	esac
}

main "$@"
