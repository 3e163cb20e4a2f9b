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
# order is for. Documentation/how-it-works.md has the drawing of
# the layers.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=stock-6.12

TEMP=

main()
{
	local dir object

	need_packages binutils gcc libc6-dev
	dir=$("$VM_DIR/build.sh" "${1-$KERNEL}")
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"

	echo "TAP version 13"
	check "layers: Kbuild lists the module's objects" \
		lists_all "$REPO_DIR/Kbuild" "$dir"
	check "layers: nm reads the objects" \
		write_uses "$REPO_DIR/Kbuild" "$dir" "$TEMP/uses"
	while read -r object; do
		check "layers: $object uses nothing above it" \
			uses_nothing_above "$object" "$TEMP/uses"
	done < <(objects "$REPO_DIR/Kbuild")
	check "layers: objects use each other" grep -q '^down' "$TEMP/uses"
	test_of_itself
	echo "# $(objects "$REPO_DIR/Kbuild" | wc -l) objects," \
		"$(grep -c '^down' "$TEMP/uses") downward uses," \
		"$(grep -c '^UP' "$TEMP/uses") upward uses"
	[ "$FAILURES" -eq 0 ]
}

# objects KBUILD: the module's objects, from the highest layer down
objects()
{
	sed -n '/^hwtimer-y :=/,/[^\\]$/ s/^\t\([a-z0-9_]*\.o\).*/\1/p' "$1"
}

# lists_all KBUILD DIR: whether objects() finds what the module in DIR is made of, without its
# unit tests. Fails if the list is written in a way that objects() does not understand.
lists_all()
{
	diff <(objects "$1" | sort) \
		<(grep -o '[^/ ]*\.o$' <(grep -v '/tests/\|^tests/' "$2/hwtimer.mod") | sort)
}

# write_uses KBUILD DIR FILE: writes a line for each use of a symbol of another object:
#
#	down|UP USER OWNER SYMBOL
#
# Fails if an object is missing or has no symbols, or if two objects define the same symbol.
write_uses()
{
	local object

	: >"$3"
	for object in $(objects "$1"); do
		nm --format=posix --extern-only "$2/$object" | grep . |
			sed "s/^/$object /" || return
	done >"$TEMP/symbols"
	# A symbol that is undefined has type U; or v or w if it may stay so.
	awk -v order="$(objects "$1" | tr '\n' ' ')" '
	BEGIN {
		count = split(order, names, " ")
		for (i = 1; i <= count; i++)
			layer[names[i]] = i
	}
	$3 == "U" || NF == 3 && ($3 == "v" || $3 == "w") {
		used[$1, $2] = 1
		next
	}
	{
		if ($2 in owner) {
			print $1 " and " owner[$2] " define " $2 >"/dev/stderr"
			failed = 1
		}
		owner[$2] = $1
	}
	END {
		for (use in used) {
			split(use, part, SUBSEP)
			if (!(part[2] in owner))
				continue
			print layer[owner[part[2]]] < layer[part[1]] ? \
				"UP" : "down", part[1], owner[part[2]], part[2]
		}
		exit failed
	}' "$TEMP/symbols" >"$3"
}

# uses_nothing_above OBJECT USES
uses_nothing_above()
{
	local object=$1 owner symbol

	grep -q "^UP $object " "$2" || return 0
	while read -r _ _ owner symbol; do
		echo "$object uses $symbol of $owner, which is above it in Kbuild"
	done < <(grep "^UP $object " "$2")
	echo "Move $object, or what it uses, or have the upper one hand a function down."
	return 1
}

# ---- the test of this script: two layers of its own ----

test_of_itself()
{
	two_layers 'int high(void);'
	check "layers: an upward use is found" finds_upward_use
	two_layers 'int high(void) __attribute__((weak));'
	check "layers: a weak upward use is found" finds_upward_use
	two_layers 'int high(void);' && rm "$TEMP/hwtimer_high.o"
	check "layers: an object that is missing is found" \
		fails write_uses "$TEMP/Kbuild" "$TEMP" "$TEMP/own"
	two_layers 'int high(void);' && : >"$TEMP/hwtimer_high.o"
	check "layers: an object without symbols is found" \
		fails write_uses "$TEMP/Kbuild" "$TEMP" "$TEMP/own"
	two_layers 'int high(void);' &&
		cp "$TEMP/hwtimer_low2.o" "$TEMP/hwtimer_high.o"
	check "layers: a symbol that is defined twice is found" \
		fails write_uses "$TEMP/Kbuild" "$TEMP" "$TEMP/own"
	two_layers 'int high(void);' &&
		sed -i 's/^hwtimer-y := .*/&\nhwtimer-y += hwtimer_more.o/' "$TEMP/Kbuild"
	check "layers: an object that is not in the list is found" \
		fails lists_all "$TEMP/Kbuild" "$TEMP"
}

# two_layers DECLARATION: a Kbuild with two layers, and their objects. The low one uses a
# symbol of the high one, which DECLARATION declares.
two_layers()
{
	printf 'hwtimer-y := \\\n\thwtimer_high.o \\\n\thwtimer_low2.o\n\n' \
		>"$TEMP/Kbuild"
	printf '%s\n' /x/hwtimer_high.o /x/hwtimer_low2.o /x/hwtimer_more.o \
		/x/tests/own.o >"$TEMP/hwtimer.mod"
	echo 'int low(void); int high(void); int high(void) { return low(); }' |
		gcc -x c -c -o "$TEMP/hwtimer_high.o" -
	echo "$1 int low(void); int low(void) { return high(); }" |
		gcc -x c -c -o "$TEMP/hwtimer_low2.o" -
}

# Only the upward use is one: the high object may use the low one.
finds_upward_use()
{
	local said

	write_uses "$TEMP/Kbuild" "$TEMP" "$TEMP/own" &&
		uses_nothing_above hwtimer_high.o "$TEMP/own" || return
	said=$(uses_nothing_above hwtimer_low2.o "$TEMP/own") && return 1
	grep -q '^hwtimer_low2.o uses high of hwtimer_high.o' <<<"$said"
}

fails()
{
	! "$@"
}

main "$@"
