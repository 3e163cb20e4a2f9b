#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the protocol of the rings with spin, which tries every order in which the two
# ends can meet. Prints a line of TAP for each variant of tests/litmus/rings.pml: with
# all of its fences nothing is ever left waiting; without any one of them something is.
# Called by vm/check.sh.
#
# The .litmus files in that directory are for herd7, which knows the kernel's memory model
# but is not in Debian 12. Run it in tools/memory-model of a kernel's source:
#
#	herd7 -conf linux-kernel.cfg .../tests/litmus/rings-idle.litmus

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

MODEL=$REPO_DIR/tests/litmus/rings.pml
FENCES="IDLE PUBLISH_EVENTS PUBLISH CONSUME"

TEMP=

main()
{
	local fence

	need_packages spin gcc libc6-dev
	need_exec_tmp
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	cd "$TEMP"
	echo "TAP version 13"
	echo "1..$((2 + $(wc -w <<<"$FENCES")))"
	check "no request or event is left waiting" finds_no_error
	for fence in $FENCES; do
		check "without the fence $fence something is left waiting" \
			finds_an_error "-DNO_${fence}_FENCE"
	done
	check "if events move into the ring without a wake-up, something is left waiting" \
		finds_an_error -DNO_FLUSH_EDGE
	[ "$FAILURES" -eq 0 ]
}

# verify [DEFINE]: try all states, until an error is found
verify()
{
	rm -f pan* ./*.trail
	spin -a "$@" "$MODEL" && gcc -O2 -DSAFETY -o pan pan.c &&
		./pan -m200000 | tee verified
}

# Also makes sure that spin searched all states, and that it had many to search.
finds_no_error()
{
	verify && grep -q 'errors: 0$' verified &&
		! grep -q 'search depth too small\|out of memory' verified &&
		[ "$(sed -n 's/^ *\([0-9]*\) states, stored$/\1/p' verified)" \
			-gt 1000 ]
}

# An invalid end state: a process waits for ever.
finds_an_error()
{
	verify "$1" && grep -q 'invalid end state' verified
}

main "$@"
