#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests what test/vm/run.sh makes of a kernel's reports and of a silent machine: what counts as
# trouble, and when a machine runs again. Prints TAP. Called by test/vm/lint.sh. The machines are
# made up; the host stands still when the process that watches it is stopped.

# shellcheck source=test/vm/run.sh
. "$(dirname "$0")/run.sh"

STALL="rcu: INFO: rcu_preempt self-detected stall on CPU"
LOCKUP="watchdog: BUG: soft lockup - CPU#1 stuck for 29s! [exe:63]
Kernel panic - not syncing: softlockup: hung tasks"
BUG="BUG: KASAN: slab-use-after-free in made_up+0x1/0x2"
INIT="Run /init as init process"
EXITED="HWTIMER-GUEST-EXIT 0"

# A console that is so begins with a machine that prints nothing any more.
SILENT="made up: silent"

# What the machines print before that
PRINTED=

KERNEL=made-up
TEMP=$(mktemp -d)
on_exit rm -rf "$TEMP"
CONSOLE=$TEMP/console
PATIENCE=600
RUNS=0
NUMBER=0
FAILED=0

test_all()
{
	echo "TAP version 13"
	expect "a stall is trouble" 126 1 "" "$STALL" "$EXITED"
	expect "so is a lockup" 126 1 "" "$LOCKUP"
	expect "one before any of our code ran is none" 0 1 "" "$STALL
$INIT
$EXITED"
	expect "one after that is" 126 1 "" "$INIT
$STALL
$EXITED"
	expect "other trouble is trouble even then" 126 1 "" "$BUG
$INIT
$EXITED"
	expect "a stall in a pause of the host is none if it does not come again" \
		0 2 30 "$STALL" "$EXITED"
	expect "nor is a lockup" 0 2 30 "$LOCKUP" "$EXITED"
	expect "other trouble is trouble, pause or not" 126 1 30 "$BUG" "$EXITED"
	expect "other trouble beside a stall is, too" 126 1 30 "$STALL
$BUG" "$EXITED"
	expect "a machine without trouble runs once" 0 1 30 "$EXITED" "$BUG"
	expect "a stall in each pause is trouble" 126 3 30 "$STALL" "$STALL" "$STALL"
	expect "a silent machine runs again" 0 2 "" "$SILENT" "$EXITED"
	expect "one that is silent again hangs" 124 2 "" "$SILENT" "$SILENT"
	expect "trouble in a silent machine is trouble" 126 1 "" "$SILENT $BUG" "$EXITED"
	PRINTED="not ok 7 - made up"
	expect "a failure before the silence counts" 124 1 "" "$SILENT" "$EXITED"
	PRINTED=
	HUNG_BEFORE=$TEMP/hung
	expect "a machine hangs in a run of all tests" 124 2 "" "$SILENT" "$SILENT"
	expect "then no other runs again" 124 1 "" "$SILENT" "$EXITED"
	HUNG_BEFORE=
	OUTPUT_LOST=1
	expect "output that cannot be written is trouble" 125 1 "" "$EXITED"
	OUTPUT_LOST=0
	check "a pause of the host is seen" a_pause_is_seen
	check "a machine that goes on printing goes on" prints_until_its_end
	check "a silent machine is ended" is_ended
	echo "1..$NUMBER"
	[ "$FAILED" = 0 ]
}

# expect WHAT STATUS RUNS GAP CONSOLE...: with one console a run, and the last one from then on
expect()
{
	local what=$1 status=$2 runs=$3

	GAP=$4
	CONSOLES=("${@:5}")
	check "$what" ends_with "$status" "$runs"
}

# ends_with STATUS RUNS: and each run but the last is said not to count
ends_with()
{
	local status=0

	RUNS=0
	HUNG=0
	TRY_AGAIN=1
	run_unattended
	run_again_if_need_be 2>"$TEMP/said"
	(judge) 2>/dev/null || status=$?
	[ "$status after $RUNS runs" = "$1 after $2 runs" ] &&
		[ "$(grep -c ": $AGAIN\$" "$TEMP/said")" = $((RUNS - 1)) ]
}

check()
{
	local name=$1

	shift
	NUMBER=$((NUMBER + 1))
	if "$@"; then
		echo "ok $NUMBER - machine: $name"
	else
		FAILED=1
		echo "not ok $NUMBER - machine: $name"
	fi
}

# test/vm/run.sh's
eval "really_$(declare -f run_unattended)"

# Instead of it
run_unattended()
{
	[ -z "$GAP" ] || echo "$GAP" >"$TEMP/gaps"
	[ -n "$GAP" ] || rm -f "$TEMP/gaps"
	printf '%s\n' "${CONSOLES[0]}" >"$CONSOLE"
	printf '%s\n' "$PRINTED" >"$TEMP/printed"
	[[ ${CONSOLES[0]} != "$SILENT"* ]] || HUNG=1
	[ "${#CONSOLES[@]}" = 1 ] || CONSOLES=("${CONSOLES[@]:1}")
	RUNS=$((RUNS + 1))
}

a_pause_is_seen()
{
	local watcher

	watch $$ &
	watcher=$!
	sleep 2
	[ ! -e "$TEMP/gaps" ] || echo "# the host stood still by itself"
	kill -STOP "$watcher"
	sleep "$((STANDSTILL + 1))"
	kill -CONT "$watcher"
	sleep 2
	kill "$watcher"
	[ -s "$TEMP/gaps" ]
}

prints_until_its_end()
{
	run_really 3 'seq 3; sleep 2; seq 3; sleep 2; seq 3'
	[ "$SAID" = "$(printf '%s\n' 1 2 3 1 2 3 1 2 3 'hung: 0')" ]
}

# So are its processes: tee waits until none has its output open.
is_ended()
{
	run_really 2 'echo begun; sleep 1000 & wait'
	[ "$SAID" = "begun
hung: 1" ] && [ "$(silence)" = 'it printed nothing for 2 s, after "begun"' ]
}

# run_really PATIENCE SCRIPT: a machine that is a script; what it printed is in SAID
run_really()
{
	PATIENCE=$1
	MACHINE=(sh -c "$2")
	HUNG=0
	SAID=$(
		EXIT_COMMANDS=()
		really_run_unattended
		echo "hung: $HUNG"
	)
}

test_all
