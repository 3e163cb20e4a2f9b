#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# Runs the examples in a test machine, and looks from outside at whether each does what
# it promises: at what its peers counted, and at what Redis holds. Started in the
# directory that has hwtimer.ko and the examples, with Redis at its usual place; prints
# TAP. Called by vm/check.sh.
#
# Nothing here depends on how late something is, but that the locks are renewed in
# time, which is what that example is for. What the two sides of an example say has to
# agree however slow the machine is.

CONNECTIONS=10000
LOCKS=1000
TTL=15000 # ms

# How long to wait for something that is to happen, in seconds
PATIENCE=30

export PATH=$PATH:/usr/bin

NUMBER=0
FAILED=0

main()
{
	echo "TAP version 13"
	insmod hwtimer.ko || exit
	run timeouts
	run retries
	run heartbeats
	run leases
	run restores
	check "nothing keeps the module loaded" rmmod hwtimer
	[ "$FAILED" = 0 ]
}

# ---- timeouts-server, timeouts-clients ----

timeouts()
{
	echo 16384 >/proc/sys/net/core/somaxconn
	serve $CONNECTIONS
	check "no client is cut off too early, or answered unasked" \
		[ $CLIENTS = 0 ]
	check "the server's connections and timers add up" [ $SERVER = 0 ]
	check "each connection has ended once, and none without an answer" \
		[ $(($(value answered server) + $(value timed_out server) + \
		     $(value reaped server))) = $CONNECTIONS ]
	check "who was answered knows it" \
		[ "$(value answered server)" = "$(value answered clients)" ]
	check "who was cut off knows it" both_agree_on_cuts
	check "some were answered" some_are_answered
}

# serve CONNECTIONS: leaves the exit statuses in SERVER and CLIENTS
serve()
{
	local server options="--connections $1"

	options="$options --request-timeout 3000 --idle-timeout 8000"
	# shellcheck disable=SC2086 # several words, here and below
	./timeouts-server $options >/tmp/server &
	server=$!
	await listens 7171 tcp
	# shellcheck disable=SC2086
	./timeouts-clients $options >/tmp/clients
	CLIENTS=$?
	wait $server
	SERVER=$?
	show /tmp/server /tmp/clients
}

# Clients ask when all are connected. On a slow machine the first connections have
# ended by then, or all of them: then fewer will do.
some_are_answered()
{
	local connections

	for connections in 1000 100 10; do
		[ "$(value answered server)" = 0 ] || break
		serve $connections
	done
	[ "$(value answered server)" -gt 0 ]
}

# Who was cut off while sending does not hear whether it was for this or for that.
both_agree_on_cuts()
{
	local timed_out reaped

	timed_out=$(($(value timed_out server) - $(value timed_out clients)))
	reaped=$(($(value reaped server) - $(value reaped clients)))
	[ $timed_out -ge 0 ] && [ $reaped -ge 0 ] &&
		[ $((timed_out + reaped)) = "$(value reset clients)" ]
}

# ---- retry ----

retries()
{
	try_with 150 7172 --tasks 50 --limit 1000
	check "after 150 failures all 50 tasks are done" [ $RETRY = 0 ]
	check "the server has seen each attempt" \
		[ "$(value refused flaky) $(value served flaky)" = "150 50" ]
	check "as many as the tasks have made" [ "$(value attempts retry)" = 200 ]

	try_with 1000000 7174 --tasks 20 --limit 4
	check "where there is no success, retry fails" [ $RETRY = 1 ]
	check "after four attempts, each task gives up" \
		[ "$(value gave_up retry) $(value refused flaky)" = "20 80" ]
	check "waits are at most 20, 40 and 80 ms, and never shorter than chosen" \
		[ "$(waits)" = "20 40 80 " ]

	./retry --tasks 1 --limit 6 --base 200 --cap 500 --port 7175 >/tmp/retry
	check "without a server, retry fails" [ $? = 1 ]
	show /tmp/retry
	check "waits are not longer than the cap" \
		[ "$(waits)" = "200 400 500 500 500 " ]
}

# try_with FAILURES PORT OPTION...: leaves retry's exit status in RETRY
try_with()
{
	local failures=$1 port=$2 server

	shift 2
	./flaky-server --failures "$failures" --port "$port" >/tmp/flaky &
	server=$!
	await listens "$port" tcp
	./retry --base 20 --cap 200 --port "$port" "$@" >/tmp/retry
	RETRY=$?
	stop KILL $server
	tail -n 1 /tmp/flaky >/tmp/flaky.last
	mv /tmp/flaky.last /tmp/flaky
	tail -n 5 /tmp/retry >/tmp/retry.end
	show /tmp/flaky /tmp/retry.end
}

# The bounds of the waits, of those that were not too short and not too long
waits()
{
	sed -n 's/.*waited \(.*\) of \(.*\) ms, at most \(.*\)/\1 \2 \3/p' \
		/tmp/retry | while read -r waited delay most; do
			[ "$delay" -le "$most" ] && [ "$waited" -ge "$delay" ] &&
				printf '%s ' "$most"
		done
}

# ---- heartbeat ----

heartbeats()
{
	local watcher a b c missed

	./heartbeat watch --interval 200 --misses 5 >/tmp/watch &
	watcher=$!
	await listens 7173 udp
	./heartbeat beat a --interval 200 &
	a=$!
	./heartbeat beat b --interval 200 >/tmp/beat-b &
	b=$!
	./heartbeat beat c --interval 200 &
	c=$!
	check "all three are seen" await all_alive a b c
	send_no_beat

	await all_alive b
	missed=$(missed_by b)
	kill -STOP "$b"
	sleep 1 # So it misses some, whatever it was doing.
	check "one that is stopped is found to be dead" await is_dead b
	kill -CONT "$b"
	check "when it goes on, it is alive again" await all_alive b
	check "it knows that it has missed some" \
		await has_missed_more_than "$missed" b
	check "as many as the watcher found missing" await both_agree_on b

	await all_alive c
	stop KILL "$c"
	check "one that is killed is found to be dead" await is_dead c
	stop KILL "$a"
	stop KILL "$b"
	stop TERM $watcher
	check "nobody was taken for dead too early" [ "$STATUS" = 143 ]
	check "what is no beat is ignored" not grep -q -v '^[abc][: ]' /tmp/watch
	show /tmp/watch /tmp/beat-b
}

# A datagram as long as a beat, and with an empty name: a request of TFTP, of which
# there is no answer.
send_no_beat()
{
	timeout 1 tftp -g -l /tmp/none -r "$(printf '%023d' 0)" \
		127.0.0.1 7173 >/dev/null 2>&1
}

# The last that the watcher found of one: here, alive or dead. On a slow machine it may
# have been dead before.
state_of()
{
	sed -n "s/^$1 is \\([a-z]*\\).*/\\1/p" /tmp/watch | tail -n 1
}

is_dead()
{
	[ "$(state_of "$1")" = dead ]
}

all_alive()
{
	local name

	for name; do
		case $(state_of "$name") in
		here | alive) ;;
		*) return 1 ;;
		esac
	done
}

# How many beats one says it has missed, all in all
missed_by()
{
	sed 's/.*: missed \([0-9]*\) beats/\1/' "/tmp/beat-$1" | sum
}

has_missed_more_than()
{
	[ "$(missed_by "$2")" -gt "$1" ]
}

# All in all, with those before the first that the watcher has seen: one that is
# stopped between its timer and its sending sends an old beat when it goes on, so that
# what is missing is not found in the beat that says that it is alive again.
both_agree_on()
{
	[ "$(missed_by "$1")" = "$(missing_of "$1")" ]
}

missing_of()
{
	sed -n -e "s/^$1 is here, at beat \\(.*\\)/\\1 - 1/p" \
		-e "s/^$1.* \\([0-9]*\\) beats are missing/\\1/p" \
		/tmp/watch | sum
}

# Of the numbers on stdin, one a line; those before the first beat are "NUMBER - 1".
sum()
{
	awk '{ all += $1 - $3 } END { print all + 0 }'
}

# ---- lease ----

leases()
{
	local redis lease

	redis-server --save '' >/tmp/redis &
	redis=$!
	check "Redis runs" await listens 6379 tcp || return

	./lease --locks $LOCKS --ttl $TTL >/tmp/lease &
	lease=$!
	check "$LOCKS locks are held" await said "held=$LOCKS" lease
	steal lock:7
	ask del lock:8 >/dev/null
	check "it is seen that one was stolen" await said 'lost lock:7' lease
	check "it is seen that one was deleted" await said 'lost lock:8' lease
	check "all others live for longer than their time" \
		always_exist $((5 * TTL / 4000)) $((LOCKS - 1))
	check "no other was lost" [ "$(grep -c lost /tmp/lease)" = 2 ]
	stop KILL $lease
	check "when their owner is killed, they end" await exist 1
	show /tmp/lease

	./lease --locks 100 --ttl 60000 >/tmp/lease &
	lease=$!
	check "another gets all but the stolen one" await said held=99 lease
	steal lock:9
	stop TERM $lease
	check "it tells that another was stolen" [ "$STATUS" = 1 ]
	check "it releases what is its own" [ "$(value released lease)" = 98 ]
	check "what others hold it leaves alone" exist 2
	check "both stolen locks are as the thief made them" stolen 7 9
	show /tmp/lease

	./lease --locks 5 >/tmp/lease &
	lease=$!
	await said held=5 lease
	stop TERM $lease
	check "an owner who ends in peace succeeds" [ "$STATUS" = 0 ]
	show /tmp/lease
	stop KILL $redis
}

steal()
{
	ask eval "\"redis.call('del', KEYS[1])" \
		"return redis.call('hset', KEYS[1], 'thief', 1)\"" \
		1 "$1" >/dev/null
}

# stolen NUMBER...: are these the thief's still, and for ever?
stolen()
{
	local lock

	for lock; do
		[ "$(ask hexists "lock:$lock" thief)" = 1 ] &&
			[ "$(ask hlen "lock:$lock")" = 1 ] &&
			[ "$(ask pttl "lock:$lock")" = -1 ] || return
	done
}

# exist COUNT: is that the number of locks that there are?
exist()
{
	EXIST=$(ask eval "\"local count = 0;" \
		"for lock = 0, ARGV[1] - 1 do" \
		"count = count + redis.call('exists', 'lock:' .. lock) end;" \
		"return count\"" 0 $LOCKS)
	[ "$EXIST" = "$1" ]
}

# ask COMMAND...: what Redis answers, which is a number
ask()
{
	printf '%s\r\nquit\r\n' "$*" | nc 127.0.0.1 6379 |
		sed -n 's/^:\(-*[0-9]*\).*/\1/p'
}

# always_exist SECONDS COUNT
always_exist()
{
	local end looks=0

	end=$(($(uptime_s) + $1))
	while [ "$(uptime_s)" -le $end ]; do
		exist "$2" || {
			echo "# there are $EXIST locks, not $2"
			return 1
		}
		looks=$((looks + 1))
		usleep 200000
	done
	echo "# $looks times there were $2 locks"
}

# ---- restore ----

restores()
{
	local paused last options="--timers 1000 --span 2000 --after 700"

	for paused in 0 1; do
		# shellcheck disable=SC2086 # several words
		./restore save /tmp/timers $options >/tmp/save
		check "the timers that are left are saved" [ $? = 0 ]
		reload
		last=$(last_of /tmp/timers $paused)
		./restore load /tmp/timers --paused $paused >/tmp/load
		check "they go on with the right deadlines (--paused $paused)" \
			[ $? = 0 ]
		check "the last is not early" [ $(($(uptime_ms) + 10)) -ge "$last" ]
		show /tmp/save /tmp/load
		check "all that were saved are loaded" \
			[ "$(value saved save)" = "$(value loaded load)" ]
		check "each timer expires as often as it should" \
			[ $(($(value expired save) + \
			     $(value expired load))) = 1200 ]
	done
}

# last_of FILE PAUSED: when the last of the timers is due, in ms of uptime. A line has
# user_data, deadline, remaining, interval, slack, count, flags.
last_of()
{
	awk -v paused="$2" -v now="$(uptime_ms)" '
		NF == 7 {
			due = paused ? now * 1e6 + $3 : $2
			if ($4)
				due += $4 * ($6 - 1)
			if (due > last)
				last = due
		}
		END { printf "%d\n", last / 1e6 }' "$1"
}

reload()
{
	check "the module is unloaded" rmmod hwtimer
	check "the device is gone" [ ! -e /dev/hwtimer ]
	check "the module is loaded again" insmod hwtimer.ko
}

# ---- what they need ----

# run EXAMPLE: and tell how long it took
run()
{
	local start

	start=$(uptime_s)
	echo "# ==== $1"
	"$1"
	echo "# ==== $1: $(($(uptime_s) - start)) s"
}

# To 10 ms. Nothing suspends this machine, so it is CLOCK_MONOTONIC, too.
uptime_ms()
{
	sed 's/\.\([0-9]*\) .*/\10/' /proc/uptime
}

uptime_s()
{
	sed 's/\..*//' /proc/uptime
}

# check NAME COMMAND...
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

not()
{
	! "$@"
}

# await COMMAND...: until it succeeds
await()
{
	local end

	end=$(($(uptime_s) + PATIENCE))
	until "$@"; do
		[ "$(uptime_s)" -le $end ] || {
			echo "# in vain: $*"
			return 1
		}
		usleep 50000
	done
}

# listens PORT tcp|udp: 0A is a socket that listens, 07 one of UDP
listens()
{
	grep -q "$(printf ':%04X 00000000:0000 0[7A]' "$1")" "/proc/net/$2"
}

# said WORDS FILE: as a program printed there
said()
{
	grep -q -e "$1" "/tmp/$2"
}

# value NAME FILE: of NAME=VALUE; -1 if that was not printed, which nothing is
value()
{
	sed -n "s/.* $1=\\([0-9]*\\).*/\\1/p" "/tmp/$2" | grep . || echo -1
}

# stop SIGNAL PID: leaves the exit status in STATUS
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

main
