#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the simulation and runs it.
#
#	usage: test/sim/run.sh KIND FAULT [OPTION]...
#
# KIND: one of test/sim/Makefile. FAULT: a fault of test/sim/faults/ that is put into a copy of the
# sources first, or an empty string. The options are those of test/sim/main.c. Called by
# `make simulate`.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

main()
{
	local kind=$1 fault=$2 out=$BUILD_DIR/sim sources=$REPO_DIR

	shift 2
	need_packages build-essential
	[ "$kind" != msan ] || need_packages clang libclang-rt-14-dev
	if [ -n "$fault" ]; then
		out=$BUILD_DIR/sim/faults/$fault
		sources=$out/source
		"$REPO_DIR/test/sim/put-fault.sh" "$fault" "$sources"
	fi
	make --no-print-directory -C "$REPO_DIR/test/sim" OUT="$out" KIND="$kind" \
		SOURCES="$sources" -j"$JOBS" >&2
	exec "$out/$kind/simulate" "$@"
}

main "$@"
