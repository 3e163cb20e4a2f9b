#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the fuzzer in a test machine. Called by the Makefile, test/vm/check.sh and
# test/fuzz/faults.sh, which build the program (build/fuzz/fuzz) before.
#
#	usage: test/fuzz/vm.sh --kernel NAME [OPTION...] [-- ARGUMENT...]
#
#	--kernel NAME		a kernel of test/vm/kernel.sh
#	--seconds SECONDS	how long to go on (default 60)
#	--module FILE		the module (default: built for that kernel, if need be)
#	--log FILE		keep the console's log in FILE
#	--append "ARGUMENTS"	more arguments for the kernel's command line
#
# The ARGUMENTs go to the program; `build/fuzz/fuzz --help` lists them. Prints TAP. The exit
# status is that of test/vm/run.sh: 0 if the program found nothing wrong and the kernel reported
# nothing.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

KERNEL=
SECONDS_TO_GO=60
MODULE=
OPTIONS=()
ARGUMENTS=()

main()
{
	parse_arguments "$@"
	cd "$REPO_DIR"
	[ -n "$MODULE" ] || MODULE=$("$VM_DIR/build.sh" "$KERNEL")/hwtimer.ko
	# Memory has a pattern before it is used. The program looks for the pattern, and the
	# kernel for writes beyond an object, and for writes to one that is free. KASAN looks
	# for more than those, and takes the writing of the pattern for a fault on User-Mode
	# Linux, where memset() is instrumented for all callers.
	case $KERNEL in
	uml-kasan-*) ;;
	uml-*) OPTIONS+=(--append slab_debug=FZP) ;;
	esac
	"$VM_DIR/run.sh" --again --kernel "$KERNEL" \
		--file "$MODULE=/hwtimer/hwtimer.ko" \
		--file build/fuzz/fuzz=/hwtimer/fuzz \
		--file test/fuzz/run.sh=/hwtimer/run.sh \
		${OPTIONS[@]+"${OPTIONS[@]}"} \
		-- sh run.sh --seconds "$SECONDS_TO_GO" ${ARGUMENTS[@]+"${ARGUMENTS[@]}"}
}

parse_arguments()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel) KERNEL=${2-} ;;
		--seconds) SECONDS_TO_GO=${2-} ;;
		--module) MODULE=${2-} ;;
		--log | --append) OPTIONS+=("$1" "${2-}") ;;
		--) shift; ARGUMENTS=("$@"); break ;;
		*) die "test/fuzz/vm.sh: no such option: $1" ;;
		esac
		[ $# -ge 2 ] || die "test/fuzz/vm.sh: $1 needs a value"
		shift 2
	done
	[ -n "$KERNEL" ] || die "test/fuzz/vm.sh: --kernel is missing"
}

main "$@"
