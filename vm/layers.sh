#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks that the module's objects stand in the order of their layers: that no object uses a
# symbol of one above it in Kbuild. Called by vm/lint.sh, which counts the lines of TAP.
#
#	usage: vm/layers.sh [NAME]
#
# NAME is a kernel as in vm/build.sh; the module is built for it if it has to be. The symbols
# are those that nm finds in the built objects, so what the compiler has inlined does not
# count. A reader who follows a call downwards never has to come back up: that is what the
# order is for. The drawing of the layers is in hwtimer.h.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=debug-6.12-kunit

TEMP=

main()
{
	local dir object

	need_packages binutils gcc libc6-dev
	dir=$("$VM_DIR/build.sh" "${1-$KERNEL}")
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"

	echo "TAP version 13"
	uses "$REPO_DIR/Kbuild" "$dir" >"$TEMP/uses" || true
	while read -r object; do
		check "layers: $object uses nothing above it" \
			uses_nothing_above "$object"
	done < <(objects "$REPO_DIR/Kbuild")
	check "layers: objects use each other" grep -q '^down' "$TEMP/uses"
	check "layers: an upward use is found" finds_upward_use
	check "layers: an object that is not built is found" finds_missing_object
	echo "# $(objects "$REPO_DIR/Kbuild" | wc -l) objects," \
		"$(grep -c '^down' "$TEMP/uses") downward uses," \
		"$(grep -c '^UP' "$TEMP/uses") upward uses"
	[ "$FAILURES" -eq 0 ]
}

# objects KBUILD: the module's objects, from the highest layer down
objects()
{
	sed -n '/^hwtimer-y :=/,/[^\\]$/ s/^\t\([a-z_]*\.o\).*/\1/p' "$1"
}

# uses KBUILD DIR: a line for each use of a symbol of another object:
#
#	down|UP USER OWNER SYMBOL
#
# and "missing OBJECT" for an object that is not in DIR.
uses()
{
	local object built=()

	for object in $(objects "$1"); do
		if [ -e "$2/$object" ]; then
			built+=("$object")
		else
			echo "missing $object"
		fi
	done
	(cd "$2" && nm -A -g "${built[@]}") |
		awk -v order="$(objects "$1" | tr '\n' ' ')" '
	BEGIN {
		count = split(order, names, " ")
		for (i = 1; i <= count; i++)
			layer[names[i]] = i
	}
	{
		object = substr($1, 1, index($1, ":") - 1)
		if ($(NF - 1) ~ /U$/)
			used[object, $NF] = 1
		else
			owner[$NF] = object
	}
	END {
		for (use in used) {
			split(use, part, SUBSEP)
			if (!(part[2] in owner))
				continue
			print layer[owner[part[2]]] < layer[part[1]] ? \
				"UP" : "down", part[1], owner[part[2]], part[2]
		}
	}'
}

uses_nothing_above()
{
	local object=$1 owner symbol

	! grep "^missing $object\$" "$TEMP/uses" || return
	! grep -q "^UP $object " "$TEMP/uses" && return
	while read -r _ _ owner symbol; do
		echo "$object uses $symbol of $owner, which is above it in Kbuild"
	done < <(grep "^UP $object " "$TEMP/uses")
	echo "Move $object, or what it uses, or have the upper one hand a function down."
	return 1
}

# Makes a Kbuild of two layers, and their objects; the low one uses a symbol of the high one.
two_layers()
{
	printf 'hwtimer-y := \\\n\thwtimer_high.o \\\n\thwtimer_low.o\n\n' \
		>"$TEMP/Kbuild"
	echo 'int high(void); int low(void); int high(void) { return low(); }' |
		gcc -x c -c -o "$TEMP/hwtimer_high.o" -
	echo 'int high(void); int low(void); int low(void) { return high(); }' |
		gcc -x c -c -o "$TEMP/hwtimer_low.o" -
}

finds_upward_use()
{
	two_layers &&
		[ "$(uses "$TEMP/Kbuild" "$TEMP" | sort)" = \
			"$(printf '%s\n' 'UP hwtimer_low.o hwtimer_high.o high' \
				'down hwtimer_high.o hwtimer_low.o low')" ]
}

finds_missing_object()
{
	two_layers && rm "$TEMP/hwtimer_high.o" &&
		uses "$TEMP/Kbuild" "$TEMP" | grep -q '^missing hwtimer_high.o$'
}

main "$@"
