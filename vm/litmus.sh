#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Has spin look at every order in which the two ends of the rings can meet, and
# prints a line of TAP for each model of tests/litmus/: as it is, nothing is
# ever left lying; without any one of its fences, something is. Called by
# vm/check.sh.
#
# The .litmus files there are for herd7, which knows the kernel's memory model
# but is not in Debian 12: in tools/memory-model of a kernel's source,
#
#	herd7 -conf linux-kernel.cfg .../tests/litmus/rings-doze.litmus

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

MODEL=$REPO_DIR/tests/litmus/rings.pml
FENCES="DOZE TOLD PUBLISH CONSUME"

TEMP=

main()
{
	local fence

	need_packages spin gcc libc6-dev
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	cd "$TEMP"
	echo "TAP version 13"
	echo "1..$((2 + $(wc -w <<<"$FENCES")))"
	check "nothing is left lying" finds_no_error
	for fence in $FENCES; do
		check "something is, without the fence $fence" \
			finds_an_error "-DNO_${fence}_FENCE"
	done
	check "something is, if nobody is told of what moves into the ring" \
		finds_an_error -DNO_FLUSH_EDGE
	[ "$FAILURES" -eq 0 ]
}

# verify [DEFINE]: looks at all states, until an error is found
verify()
{
	rm -f pan* ./*.trail
	spin -a "$@" "$MODEL" && gcc -O2 -DSAFETY -o pan pan.c &&
		./pan -m200000 | tee verified
}

# That all states were looked at, and that there was more than one to look at.
finds_no_error()
{
	verify && grep -q 'errors: 0$' verified &&
		! grep -q 'search depth too small\|out of memory' verified &&
		[ "$(sed -n 's/^ *\([0-9]*\) states, stored$/\1/p' verified)" \
			-gt 1000 ]
}

# Something is left lying: a process waits for ever.
finds_an_error()
{
	verify "$1" && grep -q 'invalid end state' verified
}

main "$@"
