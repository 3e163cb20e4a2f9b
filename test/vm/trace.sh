#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the one-liners of Documentation/tracing.md with this machine's bpftrace in a test
# machine with Debian's kernel. Prints TAP. Called by test/vm/check.sh.
#
# bpftrace needs 200 MB of libraries. They go into the machine at the paths they have
# here.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=stock-6.12
FILES=()

main()
{
	local temp

	cd "$REPO_DIR"
	need_packages bpftrace
	temp=$(mktemp -d)
	on_exit rm -rf "$temp"
	"$VM_DIR/build.sh" "$KERNEL" >/dev/null
	make --no-print-directory -C user/tool OUT="$temp/tool" LDFLAGS=-static >&2
	one_liners >"$temp/one-liners"
	[ -s "$temp/one-liners" ] || die "Documentation/tracing.md: no one-liner"
	with_libraries "$(command -v bpftrace)" /bin/bpftrace
	"$VM_DIR/run.sh" --again --kernel "$KERNEL" --mem 2048 \
		--file "build/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$temp/tool/hwtimerctl=/hwtimer/hwtimerctl" \
		--file "$temp/one-liners=/hwtimer/one-liners" \
		--file "$VM_DIR/guest-trace=/hwtimer/guest-trace" \
		"${FILES[@]}" -- sh guest-trace
}

# Prints the documentation's commands that begin with bpftrace, one per line.
one_liners()
{
	grep '^sudo bpftrace -e' Documentation/tracing.md
}

# with_libraries PROGRAM GUESTPATH: add PROGRAM and its libraries to FILES
with_libraries()
{
	local library

	FILES+=(--file "$1=$2")
	while read -r library; do
		FILES+=(--file "$(readlink -f "$library")=$library")
	done < <(ldd "$1" | grep -o '/[^ ]*')
}

main "$@"
