#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the simulation with one source of the module replaced: for faults that are put in on
# purpose. Builds that source only, so it takes a few seconds more than the run.
#
#	usage: test/sim/mutant.sh FILE [OPTION]...
#
# FILE: the changed source; its name says which source it replaces, and it may be anywhere.
# The options are those of test/sim/main.c. Several may run at a time.
#
# Exits with 0 if the simulation finds nothing, 1 if it finds something, and 2 if FILE does
# not compile.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

main()
{
	local file temp object

	file=$(realpath "$1")
	shift
	make --silent -C "$REPO_DIR/test/sim" OUT="$BUILD_DIR/sim" >&2
	need_exec_tmp
	temp=$(mktemp -d)
	on_exit rm -rf "$temp"
	object=$temp/$(basename "$file" .c).o
	make --no-print-directory -C "$REPO_DIR/test/sim" OUT="$BUILD_DIR/sim" \
		mutant FILE="$file" OBJECT="$object" PROGRAM="$temp/simulate" >&2 ||
		exit 2
	"$temp/simulate" "$@" || exit 1
}

main "$@"
