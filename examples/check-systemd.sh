#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# Kills survive.service again and again while its timers run, in a test machine where
# systemd is the first process, and checks that each timer counts once. test/vm/check.sh starts
# it in the directory of hwtimer.ko. Prints TAP.
#
#	usage: check-systemd.sh TIMERS KILLS
#
# No check depends on time. But all kills must come while timers run, so the timers run
# for a time that is chosen by how long a restart takes here, and for twice as long if
# that was too short.

# shellcheck disable=SC3028 # busybox has RANDOM

TIMERS=$1
KILLS=$2

JOURNAL=/run/survive/journal

# shellcheck source=examples/helpers.sh
. ./helpers.sh

main()
{
	echo "TAP version 13"
	insmod hwtimer.ko || exit
	rehearse
	kill_in_time $((KILLS * (6 * RESTART + 400)))
	check "it was killed $KILLS times while timers ran" \
		[ "$(value kills account) $(value after account)" = "$KILLS 0" ]
	check "there was a process after each kill" \
		[ "$(value processes account)" -gt "$KILLS" ]
	check_account "$TIMERS"
	check "systemd keeps no descriptor any more" [ "$(kept)" = 0 ]
	check "nothing keeps the module loaded" rmmod hwtimer
	[ "$FAILED" = 0 ]
}

# Leaves the time that a kill and a restart take in RESTART, ms. Checks that the instance
# ends when the service is stopped.
rehearse()
{
	local start

	begin 1 3600000
	check "systemd keeps one descriptor" [ "$(kept)" = 1 ]
	start=$(uptime_ms)
	kill_and_await 2
	kill_and_await 3
	RESTART=$((($(uptime_ms) - start) / 2))
	echo "# a restart takes $RESTART ms"
	systemctl restart survive
	check "after a restart on demand there is another process" await processes 4
	systemctl daemon-reexec
	check "systemd still keeps the descriptor after starting anew" \
		[ "$(kept)" = 1 ]
	kill_and_await 5
	check "the service has opened one instance" [ "$(lines opened)" = 1 ]
	systemctl stop survive
	check "a service that is stopped keeps nothing" await unloads
	insmod hwtimer.ko
}

kill_and_await()
{
	kill_once
	check "after a kill there is another process" await processes "$1"
}

unloads()
{
	rmmod hwtimer 2>/dev/null
}

# kill_in_time SPAN: kills the service often while its timers run for SPAN ms. If that was
# too short for all kills, tries again with more time.
kill_in_time()
{
	local factor

	for factor in 1 2 4 8 16 32 64; do
		kill_often $((factor * $1))
		[ "$(value after account)" = 0 ] &&
			[ "$(value kills account)" = "$KILLS" ] && return
		echo "# the timers ran for too short a time"
	done
}

# kill_often SPAN: leaves the account of one run in /tmp/account. The last kill is due well
# before the last timer.
kill_often()
{
	local start number=1 slot=$(($1 / (KILLS + 4)))

	# The service needs that many ms, and more on a slow machine.
	PATIENCE=$((4000 + $1 / 10))
	begin "$TIMERS" "$1"
	start=$(uptime_ms)
	while [ $number -le "$KILLS" ] && await begun_or_ended $number && ! ended; do
		pause_until $((start + number * slot - RANDOM % slot))
		kill_once
		echo "# kill $number"
		number=$((number + 1))
	done
	check "the service ends, after $((number - 1)) kills and at least $1 ms" await ended
	account $JOURNAL "$TIMERS" "$1"
}

begun_or_ended()
{
	processes "$1" || ended
}

# begin TIMERS SPAN: starts the service anew
begin()
{
	rm -f $JOURNAL
	mkdir -p /etc/default
	echo "OPTIONS=--timers $1 --span $2" >/etc/default/survive
	systemctl start survive
	check "the service is started" [ $? = 0 ]
}

# A process that is late already is killed soon, but not always at the same point.
pause_until()
{
	local left

	left=$(($1 - $(uptime_ms)))
	[ $left -gt 0 ] || left=$((RANDOM % 100))
	usleep ${left}000
}

# Notes when the process was certainly dead, in the journal: uptime is rounded down to
# 10 ms.
kill_once()
{
	local pid

	pid=$(grep '^start' $JOURNAL | tail -n 1 | awk '{ print $2 }')
	kill -KILL "$pid" 2>/dev/null || return
	printf '%-127s\n' "killed $pid 0 0 0 $(($(uptime_ms) + 10))000000" >>$JOURNAL
}

kept()
{
	systemctl show --property NFileDescriptorStore --value survive
}

ended()
{
	[ "$(systemctl show --property ActiveState --value survive)" = inactive ]
}

# lines WHAT: prints the number of such lines in the journal
lines()
{
	grep -c "^$1" $JOURNAL
}

# processes NUMBER: whether that many processes have begun
processes()
{
	[ "$(lines start)" -ge "$1" ]
}

main
