#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows that the fuzzer finds faults: puts each fault of test/fuzz/faults/ into a copy of the
# module, and runs the fuzzer on it. Called by test/vm/check.sh.
#
#	usage: test/fuzz/faults.sh [FAULT...]
#
# Each patch says on which kernel it is found, and by which words in the output or on the
# console. Prints a line of TAP for each fault, with the steps and seconds until it was found.
# Needs build/fuzz/fuzz.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

FAULTS=$REPO_DIR/test/fuzz/faults

# A copy of the sources, which stays: the next build compiles only what has changed
COPY=$BUILD_DIR/faults

# How many phases may pass until a fault is found: a slow machine has as many as a quick one
PHASES=60

main()
{
	local fault

	cd "$REPO_DIR"
	need_packages patch rsync
	[ $# -gt 0 ] || set -- "$FAULTS"/*.patch
	mkdir -p "$COPY"
	for fault in "$@"; do
		fault=$(basename "$fault" .patch)
		check "$fault is found" find_fault "$fault"
		[ ! -e "$COPY/$fault.result" ] || sed 's/^/# /' "$COPY/$fault.result"
	done
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

# field FAULT NAME: what the patch says
field()
{
	sed -n "s/^$2: //p" "$FAULTS/$1.patch" | head -n 1
}

# find_fault FAULT: succeeds if the fuzzer failed for the right reason
find_fault()
{
	local fault=$1 kernel status=0

	kernel=$(field "$fault" Kernel)
	rm -f "$COPY/$fault".*
	build_with "$fault" "$kernel" || return
	test/fuzz/vm.sh --kernel "$kernel" \
		--module "$COPY/$fault.ko" --log "$COPY/$fault.console" \
		-- --seed 1 --phases "$PHASES" >"$COPY/$fault.log" 2>&1 || status=$?
	describe "$fault" >"$COPY/$fault.result"
	tail -n 20 "$COPY/$fault.log"
	[ "$status" -ne 0 ] &&
		grep -q -E "$(field "$fault" Found)" "$COPY/$fault.log" "$COPY/$fault.console"
}

# The first words that show the fault, and the last phase that began before
describe()
{
	grep -h -m 1 -E "$(field "$1" Found)" "$COPY/$1.console" "$COPY/$1.log" || true
	grep '^# phase' "$COPY/$1.log" | tail -n 1 || true
}

# build_with FAULT KERNEL: the module with the fault becomes FAULT.ko. rsync leaves files alone
# that are as they were, so that they are not compiled again.
build_with()
{
	local new

	new=$(mktemp -d)
	on_exit rm -rf "$new"
	{ module_files; find Kbuild test/vm -type f; } |
		xargs cp --parents --preserve=mode -t "$new"
	patch --silent --strip 1 --directory "$new" <"$FAULTS/$1.patch" || return
	rsync --recursive --checksum --perms "$new/" "$COPY/"
	rm -rf "$new"
	"$COPY/test/vm/build.sh" "$2" >/dev/null &&
		cp "$COPY/build/$2/hwtimer.ko" "$COPY/$1.ko"
}

main "$@"
