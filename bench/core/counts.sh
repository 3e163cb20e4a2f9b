#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Counts the instructions that a timer takes in each phase of its life, by callgrind on
# bench-core, and compares them with the bounds in bench/core/bounds.
#
#	bench/core/counts.sh			TAP: fails if a count is above its bound
#	bench/core/counts.sh --print		prints the counts, and those of the floor
#	bench/core/counts.sh --update		makes the counts the new bounds
#	bench/core/counts.sh --json		prints the counts as results for bench/report.py,
#						and how many pushing a timeout out takes
#
# The counts are the same in each run, and on each machine, but another compiler makes other
# ones. So with another version of gcc than the bounds are of, nothing is compared, and each
# check is skipped, saying so.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../../test/vm/lib.sh"

BOUNDS=$REPO_DIR/bench/core/bounds
# By how many per cent a count may exceed its bound
SPARE=2
# A count that is lower than its bound by as much is reported: the bounds may be refreshed.
GAIN=5

COUNTS=

main()
{
	need_packages build-essential valgrind
	COUNTS=$(mktemp -d)
	on_exit rm -rf "$COUNTS"
	build
	case ${1-} in
	--update) update ;;
	--print) count 1000,10000,100000 && sort "$COUNTS/all" | show ;;
	--json) count 1000,10000,100000 && results && push ;;
	'') compare_all ;;
	*) die "usage: bench/core/counts.sh [--print|--update|--json]" ;;
	esac
}

build()
{
	make --no-print-directory -j "$JOBS" -C "$REPO_DIR/bench" OUT="$BUILD_DIR/bench" \
		core >"$COUNTS/build" || {
		cat "$COUNTS/build" >&2
		die "bench-core cannot be built"
	}
}

compiler()
{
	gcc -dumpfullversion
}

# count SIZES: writes lines "OPERATION|TIMERS|PHASE|COUNT" to $COUNTS/all. callgrind writes a
# file for each phase, which is named after it.
count()
{
	valgrind -q --tool=callgrind --collect-atstart=no --instr-atstart=no \
		--callgrind-out-file="$COUNTS/out.%p" \
		"$BUILD_DIR/bench/bench-core" --counts --timers "$1"
	awk '/^desc: Trigger: Client Request: / {
		sub(/^.*Request: /, "")
		split($0, name, "|")
	}
	/^totals: / && 4 in name {
		printf "%s|%d|%s|%.1f\n", name[1], name[2], name[3], $2 / name[4]
		delete name
	}' "$COUNTS"/out.* >"$COUNTS/all"
	[ -s "$COUNTS/all" ] || die "callgrind has counted nothing"
}

show()
{
	awk -F '|' '{ printf "%-18s %7d timers  %-9s %8.1f\n", $1, $2, $3, $4 }'
}

# result SYSTEM VARIANT TIMERS PHASE COUNT UNIT: prints a line for bench/report.py
result()
{
	printf '{"system": "%s", "variant": "%s", "where": "counts", "timers": %d, ' \
		"$1" "$2" "$3"
	printf '"rep": 1, "turn": 0, "phase": "%s", "value": %s, "unit": "%s"}\n' \
		"$4" "$5" "$6"
}

# The floor is a system of its own.
results()
{
	local way timers phase instructions system

	while IFS='|' read -r way timers phase instructions; do
		system=hwtimer
		case $way in
		*' floor') system=floor way=vectors ;;
		esac
		result "$system" "$way" "$timers" "$phase" "$instructions" \
			instructions/timer
	done <"$COUNTS/all"
}

# As test/vm/userland.sh, which has a bound for it
push()
{
	local pushes=1000000 again=$BUILD_DIR/bench/again instructions

	make --no-print-directory -C "$REPO_DIR/bench" OUT="$BUILD_DIR/bench" again >&2
	valgrind --tool=callgrind --toggle-collect=hwt_timer_again \
		--callgrind-out-file=/dev/null "$again" "$pushes" 2>"$COUNTS/push"
	instructions=$(awk -v n="$pushes" '/Collected *:/ { printf "%.2f", $NF / n }' \
		"$COUNTS/push")
	result hwtimer "timer objects" 1000 "push" "$instructions" instructions/timer
}

# The floor's instructions are not ours.
guarded()
{
	grep -v ' floor|' "$COUNTS/all" | sort
}

update()
{
	count 1000,10000,100000
	{
		sed '/^[^#]/,$d; /^# gcc /,$d' "$BOUNDS"
		echo "# gcc $(compiler)"
		guarded
	} >"$COUNTS/bounds"
	diff "$BOUNDS" "$COUNTS/bounds" || true
	mv "$COUNTS/bounds" "$BOUNDS"
	chmod 644 "$BOUNDS"
}

# compare BOUNDS: prints a line for each count that is too high, or much lower
compare()
{
	awk -F '|' -v spare=$SPARE -v gain=$GAIN '
	/^#/ { next }
	{ key = $1 "|" $2 "|" $3 }
	NR == FNR { bound[key] = $4; next }
	!(key in bound) {
		print "# " $1 ", " $2 " timers, " $3 ": " $4 " instructions, without a bound"
		next
	}
	{ seen[key] = 1 }
	$4 > bound[key] * (1 + spare / 100) {
		print "not ok " $1 ", " $2 " timers, " $3 ": " $4 \
			" instructions a timer; the bound is " bound[key]
		next
	}
	$4 < bound[key] * (1 - gain / 100) {
		print "# " $1 ", " $2 " timers, " $3 ": " $4 " instructions a timer; the bound is " \
			bound[key] ". bench/core/counts.sh --update refreshes the bounds"
	}
	END {
		for (key in bound)
			if (!(key in seen))
				print "not ok " key ": was not counted"
	}' "$1" "$COUNTS/counted"
}

within_bounds()
{
	compare "$1" | sed 's/^not ok //' | tee "$COUNTS/found"
	! compare "$1" | grep -q '^not ok'
}

# The guard must find a count that is a little above its bound: the same counts against bounds
# of which one is lower by 3%.
finds_excess()
{
	local key='bulks|1000|cancel'

	awk -F '|' -v OFS='|' -v key="$key" \
		'index($0, key "|") == 1 { $4 = $4 / 1.03 } { print }' \
		"$COUNTS/counted" >"$COUNTS/lowered"
	! within_bounds "$COUNTS/lowered" || return 1
	[ "$(wc -l <"$COUNTS/found")" -eq 1 ] &&
		grep -q '^bulks, 1000 timers, cancel: .* instructions a timer; the bound is' \
			"$COUNTS/found"
}

compare_all()
{
	local of reason

	echo "TAP version 13"
	of=$(sed -n 's/^# gcc //p' "$BOUNDS")
	if [ "$of" != "$(compiler)" ]; then
		reason="the bounds are of gcc $of, this is gcc $(compiler)"
		skip "instructions a timer are within their bounds" "$reason"
		echo "1..$CHECKS"
		return
	fi
	count 1000,10000,100000
	guarded >"$COUNTS/counted"
	check "instructions a timer are within their bounds" within_bounds "$BOUNDS"
	[ "$FAILURES" -gt 0 ] || sed 's/^/# /' "$COUNTS/found" | grep . || true
	check "a count that is 3% above its bound is found" finds_excess
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

main "$@"
