#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# What the tests of the examples have in common: lines of TAP, waiting, and the outputs of
# programs in /tmp. Sourced by check.sh and check-systemd.sh.

# shellcheck disable=SC2034 # the scripts that source this use the variables

# How often await() looks, at most 20 times a second
PATIENCE=2000

NUMBER=0
FAILED=0

# run EXAMPLE: runs the checks of an example, and prints the time they took
run()
{
	local start

	start=$(uptime_s)
	echo "# ==== $1"
	"$1"
	echo "# ==== $1: $(($(uptime_s) - start)) s"
}

# The resolution is 10 ms. Nothing suspends this machine, so uptime is CLOCK_MONOTONIC. In
# the first second there is no leading 0, which would make the number octal.
uptime_ms()
{
	sed 's/\.\([0-9]*\) .*/\10/; s/^0*\(.\)/\1/' /proc/uptime
}

uptime_s()
{
	sed 's/\..*//' /proc/uptime
}

# check NAME COMMAND...: prints whether the command succeeds, as a test of TAP
check()
{
	local name=$1

	shift
	NUMBER=$((NUMBER + 1))
	if "$@"; then
		echo "ok $NUMBER - $name"
	else
		FAILED=1
		echo "not ok $NUMBER - $name"
		return 1
	fi
}

skip()
{
	NUMBER=$((NUMBER + 1))
	echo "ok $NUMBER - $1 # SKIP $2"
}

not()
{
	! "$@"
}

# await COMMAND...: repeats the command until it succeeds
await()
{
	local looks=0

	until "$@"; do
		looks=$((looks + 1))
		[ $looks -lt $PATIENCE ] || {
			echo "# it never happens: $*"
			return 1
		}
		# test/vm/run.sh ends a machine that is silent for long.
		[ $((looks % 1000)) -ne 0 ] || echo "# still waits: $*"
		usleep 50000
	done
}

# listens PORT tcp|udp: whether a socket listens there; states: 0A for TCP, 07 for UDP
listens()
{
	grep -q "$(printf ':%04X 00000000:0000 0[7A]' "$1")" "/proc/net/$2"
}

# said WORDS FILE: whether a program printed the words to that file
said()
{
	grep -q -e "$1" "/tmp/$2"
}

# value NAME FILE: prints the value of NAME=VALUE; -1, which matches nothing, if missing
value()
{
	sed -n "s/.* $1=\\([0-9]*\\).*/\\1/p" "/tmp/$2" | grep . || echo -1
}

# account JOURNAL TIMERS SPAN: leaves the account of a run of survive in /tmp/account, and
# shows it
account()
{
	awk -v timers="$2" -v span="$3" -f survive.awk "$1" >/tmp/account
	show /tmp/account
}

# check_account TIMERS: checks that each timer counted, and how often, however often the process
# was killed
check_account()
{
	local what

	check "each of $1 timers was acted on" [ "$(value acted account)" = "$1" ]
	for what in lost other early moved strange reopened; do
		check "no timer: $what" [ "$(value $what account)" = 0 ]
	done
	check "each kill had one action repeated at most" [ "$(value excess account)" = 0 ]
	check "timers came due while there was no process" \
		[ "$(value waited account)" -gt 0 ]
}

# stop SIGNAL PID: ends a process and leaves its exit status in STATUS
stop()
{
	kill "-$1" "$2"
	STATUS=0
	wait "$2" 2>/dev/null || STATUS=$?
}

show()
{
	sed 's/^/# /; 12q' "$@"
}
