#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tortures hwtimer in a test machine, for minutes or days. Called by the Makefile.
#
#	usage: test/torture/torture.sh [--kernel NAME] [--minutes MINUTES] [--cpus NUMBER]
#	                          [--icount SHIFT] [--log FILE] [-- ARGUMENT...]
#
# The ARGUMENTs go to the program, see torture.c. run.sh runs in the machine. With --icount,
# which is test/vm/run.sh's, the machine is as slow as SHIFT says, and its hours are not this
# one's: with a SHIFT of 5, it executes 31 million instructions a second, and 8 hours take
# about 2.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

KERNEL=debug-6.12
MINUTES=5
CPUS=3
LOG=$BUILD_DIR/torture/console
ICOUNT=()

main()
{
	local dir

	while [ $# -gt 0 ]; do
		case $1 in
		--kernel) KERNEL=${2-} ;;
		--minutes) MINUTES=${2-} ;;
		--cpus) CPUS=${2-} ;;
		--log) LOG=${2-} ;;
		--icount) ICOUNT=(--icount "${2-}") ;;
		--) shift; break ;;
		*) die "test/torture/torture.sh: no such option: $1" ;;
		esac
		[ $# -ge 2 ] || die "test/torture/torture.sh: $1 needs a value"
		shift 2
	done
	[[ $MINUTES =~ ^[0-9]+$ ]] || die "not a number of minutes: $MINUTES"
	cd "$REPO_DIR"
	dir=$("$VM_DIR/build.sh" "$KERNEL")
	make --no-print-directory torture-program
	"$VM_DIR/run.sh" --kernel "$KERNEL" --cpus "$CPUS" --log "$LOG" \
		${ICOUNT[@]+"${ICOUNT[@]}"} \
		--file "$dir/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/torture/torture=/hwtimer/torture \
		--file test/torture/run.sh=/hwtimer/run.sh \
		-- sh run.sh "$MINUTES" "$@"
}

main "$@"
