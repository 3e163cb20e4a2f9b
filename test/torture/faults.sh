#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows that torture finds faults: puts each of test/torture/faults/*.patch into a copy of the
# sources, and tortures that until the fault is found.
#
#	usage: test/torture/faults.sh [--minutes MINUTES] [FAULT...]
#
# FAULT is the name of a patch. A patch begins with what it does, the kernel on which the
# fault shows, and the counter that must not be 0 then (or several: a|b). It may name
# disturbers that would only make the search longer. Prints TAP, with the seconds after which
# the fault was found.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

MINUTES=10
FAULTS=$REPO_DIR/test/torture/faults
TEMP=

main()
{
	local fault

	if [ "${1-}" = --minutes ]; then
		MINUTES=${2-}
		shift 2
	fi
	if [ $# -eq 0 ]; then
		set -- "$FAULTS"/*.patch
		set -- "${@##*/}"
		set -- "${@%.patch}"
	fi
	need_packages patch
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	mkdir "$TEMP/sources"
	source_files | (cd "$REPO_DIR" && xargs -0 cp --parents -t "$TEMP/sources")
	echo "TAP version 13"
	echo "1..$#"
	for fault; do
		[ -e "$FAULTS/$fault.patch" ] || die "no such fault: $fault"
		check "$fault is found: $(head -n 1 "$FAULTS/$fault.patch")" \
			is_found "$fault"
		grep -h 'found after\|End of test: FAILURE' "$TEMP/$fault.log" || true
	done
	[ "$FAILURES" -eq 0 ]
}

# head_of FAULT NAME: what a patch says of itself
head_of()
{
	sed -n "s/^$2: //p" "$FAULTS/$1.patch"
}

# is_found FAULT: whether the right counter is not 0. A fault may also be the end of the
# machine; its console is part of the log.
is_found()
{
	local dir=$TEMP/sources

	patch --silent -p1 -d "$dir" <"$FAULTS/$1.patch"
	"$dir/test/torture/torture.sh" --kernel "$(head_of "$1" Kernel)" \
		--minutes "$MINUTES" -- -e -i 30 -x "$(head_of "$1" Without)" >"$TEMP/$1.log" 2>&1 || true
	# The next fault needs only few files compiled.
	patch --silent -R -p1 -d "$dir" <"$FAULTS/$1.patch"
	grep -E "FAULT ($(head_of "$1" Shows)):" "$TEMP/$1.log" && return
	tail -n 60 "$TEMP/$1.log"
	return 1
}

main "$@"
