#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# Runs the examples in a test machine, and checks each from outside: by the counts of
# its peers, and by the keys in Redis. test/vm/check.sh starts it in the directory of
# hwtimer.ko and the examples, with Redis at its usual place. Prints TAP.
#
# Only one check depends on time: the locks must be renewed in time, which is the
# purpose of that example. In all others the two sides of an example must agree,
# however slow the machine is.

CONNECTIONS=10000
LOCKS=1000
TTL=15000 # ms

export PATH=$PATH:/usr/bin

# shellcheck source=examples/helpers.sh
. ./helpers.sh

main()
{
	echo "TAP version 13"
	insmod hwtimer.ko || exit
	run numbers
	run pushes
	run retries
	run heartbeats
	run leases
	run restores
	run survivals
	run rings
	# io_uring lets go of its files some time after its program has ended.
	check "nothing keeps the module loaded" await unloaded
	[ "$FAILED" = 0 ]
}

unloaded()
{
	rmmod hwtimer 2>/dev/null
}

# ---- options and output of all examples ----

numbers()
{
	check "a negative number is refused" refused --tasks -1 "a number from 1 on"
	check "one that strtoul() takes for 1, too" \
		refused --tasks -18446744073709551615 "a number from 1 on"
	check "0 is refused where it means nothing" refused --tasks 0 "a number from 1 on"
	check "a number with something behind it is refused" refused --tasks 1x "a number from 1 on"
	check "a port that is none is refused" refused --port 70000 "a number from 1 to 65535"
	check "a time that would be another one in ns is refused" refused --cap 5000000 \
		"a number from 1 to 3600000"
	# Nobody listens at that port.
	./retry --tasks 1 --limit 1 --port 1 2>/tmp/said >/dev/full
	check "what cannot be printed is an error" grep -q "standard output: No space" /tmp/said
}

# refused OPTION VALUE TEXT
refused()
{
	./retry "$1" "$2" 2>/tmp/said
	[ $? = 2 ] && grep -q -e "$1 needs $3" /tmp/said
}

# ---- epoll-server, and how often it calls the kernel for its timers ----

# As 10,000 connections with a request each second and a timeout of 30 s, but with times
# that are 2.5 times shorter, and fewer connections. While the module's timers come early in
# groups, each tick takes two calls at most, however slow the machine is. Calls count once all
# connections are accepted.
pushes()
{
	local connections most

	# A machine that stands still for a timeout cuts connections off.
	for connections in 600 100 10; do
		serve_steadily $connections && break
	done
	check "all requests are answered in time" [ "$CLIENTS" = 0 ]
	most=$((2 * $(value ms steady) / 100 + 20))
	check "at most two system calls for timers in a tick of 100 ms" \
		[ "$(value calls server)" -le $most ]
	check "and some, as each timer was pushed out" [ "$(value calls server)" -gt 0 ]
	# A machine that cannot send so many requests has as many ticks for fewer of them.
	if [ $connections != 600 ] || [ "$(value ms steady)" -gt 25000 ]; then
		skip "at most 0.01 system calls for timers per request" \
			"the machine is too slow for the rate"
	else
		check "at most 0.01 system calls for timers per request" \
			[ $(($(value calls server) * 100)) -le "$(value answered steady)" ]
	fi
}

# serve_steadily CONNECTIONS: leaves the exit status of the clients in CLIENTS
serve_steadily()
{
	local server

	./epoll-server-counted 7171 12000 >/tmp/server &
	server=$!
	await listens 7171 tcp
	./steady --connections "$1" --requests 45 --interval 400 >/tmp/steady
	CLIENTS=$?
	stop TERM $server
	show /tmp/server /tmp/steady
	[ $CLIENTS = 0 ]
}

# ---- uring-server, timeouts-clients ----

rings()
{
	echo 16384 >/proc/sys/net/core/somaxconn
	serve $CONNECTIONS
	check "no client is cut off too early, or answered unasked" \
		[ $CLIENTS = 0 ]
	check "the server's connections and timers add up" [ "$SERVER" = 0 ]
	check "each connection has ended once, and none without an answer" \
		[ $(($(value answered server) + $(value timed_out server) + \
		     $(value reaped server))) = $CONNECTIONS ]
	check "clients and server agree on the number answered" \
		[ "$(value answered server)" = "$(value answered clients)" ]
	check "clients and server agree on the numbers cut off" both_agree_on_cuts
	check "some clients are answered" some_are_answered
	./uring-server 2>/tmp/ring.stopped &
	check "uring-server ends when its instance is stopped" ends_if_stopped $! 7171 tcp
	check "it says why" said 'the instance is stopped' ring.stopped
}

# serve CONNECTIONS: leaves the exit statuses in SERVER and CLIENTS
serve()
{
	local server options="--connections $1"

	options="$options --request-timeout 3000 --idle-timeout 8000"
	# shellcheck disable=SC2086 # several words, here and below
	./uring-server $options >/tmp/server &
	server=$!
	await listens 7171 tcp
	# shellcheck disable=SC2086
	./timeouts-clients $options >/tmp/clients
	CLIENTS=$?
	wait $server
	SERVER=$?
	show /tmp/server /tmp/clients
}

# Clients send requests once all are connected. On a slow machine the first connections,
# or all, have ended by then. So this function tries again with fewer.
some_are_answered()
{
	local connections

	for connections in 1000 100 10; do
		[ "$(value answered server)" = 0 ] || break
		serve $connections
	done
	[ "$(value answered server)" -gt 0 ]
}

# A client that was cut off while sending does not learn by which of the timeouts.
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
	check "the server has counted 150 failures and 50 successes" \
		[ "$(value refused flaky) $(value served flaky)" = "150 50" ]
	check "the tasks have made 200 attempts" [ "$(value attempts retry)" = 200 ]

	try_with 1000000 7174 --tasks 20 --limit 4
	check "without any success, retry fails" [ $RETRY = 1 ]
	check "after four attempts, each task gives up" \
		[ "$(value gave_up retry) $(value refused flaky)" = "20 80" ]
	check "waits are at most 20, 40 and 80 ms, and none ends early" \
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

# Prints the upper bounds of the waits, without waits that were too short or too long
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
	check "the watcher sees all three" await all_alive a b c
	send_no_beat

	await all_alive b
	missed=$(missed_by b)
	kill -STOP "$b"
	sleep 1 # long enough to miss beats, whatever it was doing
	check "a stopped peer is found dead" await is_dead b
	kill -CONT "$b"
	check "when it continues, it is alive again" await all_alive b
	check "it notices that it missed beats" \
		await has_missed_more_than "$missed" b
	check "watcher and peer agree on the number of missed beats" await both_agree_on b

	await all_alive c
	stop KILL "$c"
	check "a killed peer is found dead" await is_dead c
	stop KILL "$a"
	stop KILL "$b"
	stop TERM $watcher
	check "no peer was declared dead too early" [ "$STATUS" = 143 ]
	./heartbeat watch 2>/tmp/watch.stopped &
	check "heartbeat ends when its instance is stopped" ends_if_stopped $! 7173 udp
	./epoll-server 2>>/tmp/watch.stopped &
	check "epoll-server does, too" ends_if_stopped $! 7171 tcp
	check "they say why" [ "$(grep -c 'endpoint is not connected' /tmp/watch.stopped)" = 2 ]
	check "a datagram that is no beat is ignored" not grep -q -v '^[abc][: ]' /tmp/watch
	show /tmp/watch /tmp/beat-b
}

# ends_if_stopped PID PORT tcp|udp: stops the instance of a program once it listens
ends_if_stopped()
{
	await listens "$2" "$3" && ./stop_wheels "$1" && await has_ended "$1" || return
	stop KILL "$1"
	[ "$STATUS" = 1 ]
}

# A program that has ended has no descriptors, even before its parent has noticed.
has_ended()
{
	[ ! -e "/proc/$1/fd/0" ]
}

# Sends a TFTP request, which nobody answers: as a beat, it has the right length and an
# empty name.
send_no_beat()
{
	timeout 1 tftp -g -l /tmp/none -r "$(printf '%023d' 0)" \
		127.0.0.1 7173 >/dev/null 2>&1
}

# Prints the last state that the watcher found a peer in: here, alive or dead. On a slow
# machine the peer may have been dead before.
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

# Prints the number of beats that a peer says it missed, in total
missed_by()
{
	sed 's/.*: missed \([0-9]*\) beats/\1/' "/tmp/beat-$1" | sum
}

has_missed_more_than()
{
	[ "$(missed_by "$2")" -gt "$1" ]
}

# Returns whether a peer and the watcher agree on the total of missed beats, including
# those before the first beat that the watcher saw. The totals count because a peer that
# was stopped between its timer and its sending first sends an old beat; so the gap does
# not show in the beat that makes it alive again.
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

# Adds the numbers on stdin, one per line. A line may also be "NUMBER - 1".
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
	check "the owner notices the stolen lock" await said 'lost lock:7' lease
	check "the owner notices the deleted lock" await said 'lost lock:8' lease
	check "all others outlive their time to live" \
		always_exist $((5 * TTL / 4000)) $((LOCKS - 1))
	check "no other lock was lost" [ "$(grep -c lost /tmp/lease)" = 2 ]
	stop KILL $lease
	check "when their owner is killed, the locks expire" await exist 1
	show /tmp/lease

	./lease --locks 100 --ttl 60000 >/tmp/lease &
	lease=$!
	check "another owner gets all locks but the stolen one" await said held=99 lease
	steal lock:9
	stop TERM $lease
	check "its exit status tells that another lock was stolen" [ "$STATUS" = 1 ]
	check "it releases its own locks" [ "$(value released lease)" = 98 ]
	check "it leaves the locks of others alone" exist 2
	check "both stolen locks are still the thief's" stolen 7 9
	show /tmp/lease

	./lease --locks 5 >/tmp/lease &
	lease=$!
	await said held=5 lease
	stop TERM $lease
	check "an owner that lost no lock succeeds" [ "$STATUS" = 0 ]
	show /tmp/lease
	stop KILL $redis
}

steal()
{
	ask eval "\"redis.call('del', KEYS[1])" \
		"return redis.call('hset', KEYS[1], 'thief', 1)\"" \
		1 "$1" >/dev/null
}

# stolen NUMBER...: whether these locks are the thief's, and never expire
stolen()
{
	local lock

	for lock; do
		[ "$(ask hexists "lock:$lock" thief)" = 1 ] &&
			[ "$(ask hlen "lock:$lock")" = 1 ] &&
			[ "$(ask pttl "lock:$lock")" = -1 ] || return
	done
}

# exist COUNT: whether this is the number of locks in Redis
exist()
{
	EXIST=$(ask eval "\"local count = 0;" \
		"for lock = 0, ARGV[1] - 1 do" \
		"count = count + redis.call('exists', 'lock:' .. lock) end;" \
		"return count\"" 0 $LOCKS)
	[ "$EXIST" = "$1" ]
}

# ask COMMAND...: prints the answer of Redis, which must be a number
ask()
{
	printf '%s\r\nquit\r\n' "$*" | nc 127.0.0.1 6379 |
		sed -n 's/^:\(-*[0-9]*\).*/\1/p'
}

# always_exist SECONDS COUNT: whether Redis has COUNT locks for SECONDS
always_exist()
{
	local end polls=0

	end=$(($(uptime_s) + $1))
	while [ "$(uptime_s)" -le $end ]; do
		exist "$2" || {
			echo "# $EXIST locks exist, not $2"
			return 1
		}
		polls=$((polls + 1))
		usleep 200000
	done
	echo "# $2 locks existed at each of $polls polls"
}

# ---- restore ----

restores()
{
	local paused last options="--timers 1000 --span 2000 --after 700"

	for paused in 0 1; do
		# shellcheck disable=SC2086 # several words
		./restore save /tmp/timers $options >/tmp/save
		check "the remaining timers are saved" [ $? = 0 ]
		reload
		last=$(last_of /tmp/timers $paused)
		./restore load /tmp/timers --paused $paused >/tmp/load
		check "they continue with the right deadlines (--paused $paused)" \
			[ $? = 0 ]
		check "the last timer is not early" [ $(($(uptime_ms) + 10)) -ge "$last" ]
		show /tmp/save /tmp/load
		check "all saved timers are loaded" \
			[ "$(value saved save)" = "$(value loaded load)" ]
		check "each timer expires as often as it should" \
			[ $(($(value expired save) + \
			     $(value expired load))) = 1200 ]
	done
}

# last_of FILE PAUSED: prints the last deadline of all timers, in ms of uptime. A line has
# user_data, deadline, remaining, interval, slack, expirations_left, flags.
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

# ---- survive, keeper ----

# The process kills itself at its 29th to 31st step: in the middle of scheduling, before an
# action, between the action and its acknowledgement, or after that. The next one begins only
# after a while, so that timers expire meanwhile.
survivals()
{
	local keeper timers=3000 span=5000

	./keeper sh -c "usleep 20000; exec ./survive /tmp/journal \
		--timers $timers --span $span --die \$((29 + \$\$ % 3))"
	check "survive ends with success, and so does keeper" [ $? = 0 ]
	account /tmp/journal $timers $span
	check "it was killed more often than $((timers / 15)) times" \
		[ "$(value processes account)" -gt $((timers / 15)) ]
	check "some had to schedule what others had not" \
		[ "$(value schedulers account)" -gt 1 ]
	check "actions were repeated that were not acknowledged" \
		[ "$(value twice account)" -gt 0 ]
	check "and not after each kill" \
		[ "$(value twice account)" -lt $(($(value processes account) - 1)) ]
	check_account $timers

	./keeper ./survive /tmp/journal.2 --timers 1 --span 3600000 &
	keeper=$!
	check "another one begins" await grep -q start /tmp/journal.2
	stop TERM $keeper
	check "SIGTERM ends both" not pidof survive
	./keeper false
	check "keeper passes an exit status on" [ $? = 1 ]
	./keeper ./sender >/tmp/sender 2>/tmp/keeper
	check "keeper holds one descriptor, however many it is sent" [ $? = 0 ]
	check "it says that others are closed" said 'more than one descriptor' keeper
	show /tmp/sender
	strange_instances
}

# What another program has done to the instance, survive tells; it neither writes outside
# of its arrays nor spins.
strange_instances()
{
	./manager alien ./survive /tmp/journal.3 --timers 10 2>/tmp/alien
	check "survive refuses an instance with timers that it cannot know" [ $? = 1 ]
	check "it says why" said 'a run with more timers' alien
	./manager stopped ./survive /tmp/journal.4 --timers 10 \
		--span 3600000 2>/tmp/stopped
	check "survive ends when its instance is stopped" [ $? = 1 ]
	check "it says why" said 'the instance is stopped' stopped
	show /tmp/alien /tmp/stopped
}

main
