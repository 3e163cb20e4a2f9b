#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the virtual machine of bench.sh: Redis, hwtimerd, and what drives them. Each
# measure gets a server without data.
#
#	usage: guest.sh measure REP MANY FEW SECONDS IDLE
#	       guest.sh check
#	       guest.sh serve OUR-ADDRESS SERVER PACE

export PATH=$PATH:/usr/bin

PORT=7000
QUEUE=bench:1

start_server()
{
	redis-server --port $PORT --save '' --appendonly no >/tmp/redis.log 2>&1 &
	server=$!
	until ./hwtimerd load --redis 127.0.0.1:$PORT 2>/tmp/load.log; do
		kill -0 $server || { cat /tmp/redis.log /tmp/load.log >&2; exit 1; }
		usleep 100000
	done
}

# start_daemon OPTION...
start_daemon()
{
	./hwtimerd serve --redis 127.0.0.1:$PORT --queue $QUEUE "$@" >/tmp/daemon.log 2>&1 &
	daemon=$!
}

# end PROCESS: none of them has anything to save
end()
{
	[ -n "$1" ] || return 0
	kill -KILL "$1"
	wait "$1" 2>/dev/null
}

# run SYSTEM VARIANT DAEMON-OPTION... -- OPTION...: one measure
run()
{
	local system=$1 variant=$2 daemon='' server='' status options=''

	shift 2
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	start_server
	# shellcheck disable=SC2086 # one word each
	[ "$system" != hwtimerd ] || start_daemon $options
	./redis-drive --port $PORT --where uml --rep "$rep" --system "$system" \
		--variant "$variant" "$@"
	status=$?
	[ $status -eq 0 ] || [ "$system" != hwtimerd ] || cat /tmp/daemon.log >&2
	end "$daemon"
	end "$server"
	return $status
}

measure()
{
	local timers=$((10000 * seconds)) pace

	for pace in 16 1; do
		run hwtimerd "pace $pace ms" --pace $pace -- --measure lateness \
			--rate 10000 --timers $timers --lead 15000 || return
	done
	run hwtimerd "pace 16 ms" -- --measure burst --timers "$few" --lead 15000 &&
	run hwtimerd "pace 16 ms" -- --measure idle --timers "$many" \
		--seconds "$idle" &&
	run stream-poller "every 10 ms" -- --measure lateness --rate 10000 \
		--timers $timers --lead 15000 --period 10 &&
	run stream-poller "every 10 ms" -- --measure burst --timers "$few" \
		--lead 15000 --period 10
}

insmod hwtimer.ko || exit
case $1 in
measure)
	rep=$2 many=$3 few=$4 seconds=$5 idle=$6
	measure ;;
serve)
	ifconfig vec0 "$2" netmask 255.255.255.252 up
	exec ./hwtimerd serve --redis "$3" --queue $QUEUE --pace "$4" ;;
check)
	rep=1
	run hwtimerd '' -- --measure check --timers 2000 --rate 1000 --lead 5000 ;;
esac
