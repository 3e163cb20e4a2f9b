#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures hwtimerd's functions in Redis: the rates at which timers are scheduled and
# fired, beside those of Redis's own commands, and the memory of a timer. Needs no device.
#
#	usage: user/daemon/bench/redis.sh [--check] [TIMERS [ROUNDS [WIDTH]]]
#
# Prints a table with lines of tabs: name, figure, bound, ratio. A ratio is the median of
# those of ROUNDS (5) rounds. In each round all workloads run one after another, so that a
# machine with other work slows them alike. The bounds are for 1,000,000 TIMERS. --check
# fails if one is missed; otherwise "missed" stands behind the line. Lines with # tell the
# same ratios by the processor time of Redis, which other programs disturb less.
#
# WIDTH (128 ms) makes slots of 36 timers: 1,000,000 timers in an hour.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../../../test/vm/lib.sh"

CHECK=
TEMP=
PORT=
MISSED=0

main()
{
	local timers rounds width round workload

	if [ "${1-}" = --check ]; then
		CHECK=1
		shift
	fi
	timers=${1-1000000} rounds=${2-5} width=${3-128}
	need_packages gcc libc6-dev libhiredis-dev redis-tools python3
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	gcc -O2 -Wall -Wextra -Werror -o "$TEMP/redis-load" \
		"$(dirname "$0")/redis-load.c" -lhiredis
	start_redis

	for ((round = 0; round < rounds; round++)); do
		for workload in hset schedule batch fanout floor xadd fire; do
			measure "$workload" "$timers" "$width"
		done
	done
	printf 'name\tfigure\tbound\tratio\n'
	rate "HSET of id and record, pipelined" hset
	rate "hwt_schedule, single calls, pipelined" schedule hset 0.25
	rate "hwt_schedule, batches of 100, same delay" fanout hset 0.5
	rate "hwt_schedule, batches of 100, delays up to 1 h" batch hset 0.5
	rate "  the writes of it alone (floor.lua)" floor hset
	rate "XADD of id, deadline, payload, pipelined" xadd
	rate "hwt_turn that fires 256" fire xadd 0.4
	memory "$timers" "$width"
	[ -z "$CHECK" ] || [ "$MISSED" -eq 0 ]
}

# The server is redis-check-rdb by another name, see user/daemon/test/redis_server.py.
start_redis()
{
	cp /usr/bin/redis-check-rdb "$TEMP/redis-server"
	PORT=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	"$TEMP/redis-server" --port "$PORT" --bind 127.0.0.1 --dir "$TEMP" --save "" \
		>"$TEMP/log" &
	on_exit kill $!
	until redis ping >/dev/null 2>&1; do
		kill -0 $! || die "$(cat "$TEMP/log")"
		sleep 0.1
	done
	redis -x FUNCTION LOAD <"$(dirname "$0")/../functions/hwtimer.lua" >/dev/null
	redis -x FUNCTION LOAD <"$(dirname "$0")/floor.lua" >/dev/null
}

redis()
{
	redis-cli -p "$PORT" "$@"
}

# empty WIDTH: begin with an empty server
empty()
{
	redis FLUSHALL >/dev/null
	redis FCALL hwt_setup 1 '{bench:0}' "$1" 256 65536 >/dev/null
	redis FCALL bench_setup 0 "$1" >/dev/null
}

# measure WORKLOAD TIMERS WIDTH: append a line "rate ns" to the workload's file
measure()
{
	empty "$3"
	[ "$1" != fire ] || "$TEMP/redis-load" "$PORT" due "$2" >/dev/null
	"$TEMP/redis-load" "$PORT" "$1" "$2" >>"$TEMP/$1"
}

median()
{
	sort -g | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

# rate NAME WORKLOAD [BASE [BOUND]]
rate()
{
	local name=$1 file=$TEMP/$2 base=$TEMP/${3-} bound=${4-}
	local figure ratio

	figure="$(cut -d' ' -f1 "$file" | median)/s"
	if [ $# -lt 3 ]; then
		row "$name" "$figure"
		return
	fi
	ratio=$(paste -d' ' "$file" "$base" | awk '{ print $1 / $3 }' | median)
	row "$name" "$figure" "${bound:+>= $bound}" "$ratio"
	ratio=$(paste -d' ' "$file" "$base" | awk '{ print $4 / $2 }' | median)
	printf '# by processor time: %.3f\n' "$ratio"
}

# row NAME FIGURE [BOUND RATIO]: BOUND is like ">= 0.5" or "<= 0.7", or empty
row()
{
	local missed=

	if [ -n "${3-}" ] && awk "BEGIN { exit $4 $3 }"; then
		missed=$'\tmissed'
		MISSED=$((MISSED + 1))
	fi
	printf '%s\t%s\t%s\t%s%s\n' "$1" "$2" "${3-}" "${4:+$(printf %.3f "$4")}" "$missed"
}

memory()
{
	local timers=$1 width=$2 plain ours

	plain=$(bytes zset "$timers" "$width")
	ours=$(bytes batch "$timers" "$width")
	row "memory of a timer, sorted set + hash" "$plain B"
	row "memory of a timer, hwt_schedule" "$ours B" "<= 0.7" \
		"$(awk "BEGIN { print $ours / $plain }")"
}

# bytes WORKLOAD TIMERS WIDTH
bytes()
{
	local before after

	empty "$3"
	before=$(used)
	"$TEMP/redis-load" "$PORT" "$1" "$2" >/dev/null
	after=$(used)
	awk "BEGIN { printf \"%.1f\", ($after - $before) / $2 }"
}

used()
{
	redis INFO memory | tr -d '\r' | sed -n 's/^used_memory://p'
}

main "$@"
