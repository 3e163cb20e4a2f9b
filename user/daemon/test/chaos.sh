#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Kills, cuts, stops and confuses hwtimerd and its Redis while a user (accounts) schedules
# and consumes timers, and checks that the user's accounts are exact. Prints TAP.
#
#	usage: chaos.sh [--full] [--but] [SCENARIO...]
#
# Runs in a test machine, in the directory of hwtimer.ko, hwtimerd, accounts and
# hwtimer.lua, with Redis at its usual place. --full: at the sizes of a release.
# --but: all scenarios but these.
#
# Nothing here depends on speed. The user goes on until it is told to end; each disturbance
# waits for what it needs to have happened, not for time to pass. The limits of await()
# only end a test that hangs, and count polls, as clocks are set in here.
#
# The order of events differs from run to run. SEED=... repeats the random numbers.

SCENARIOS="can_fail daemon_killed two_daemons handover long_lease daemon_stopped redis_killed
	failover cluster migration network_cut clock_apart clock_set year full dead_consumer
	upgrade"

# Sizes: timers of a scenario and how many a second; how often it does its worst
TIMERS=1500
RATE=1000
ROUNDS=1
KILLS=6
UPGRADES=10

# With so many, two daemons hardly ever agree that one of them should serve all.
SHARDS=8
LEASE=2000 # ms
PORTS="7001 7002 7003 7004 7005 7006"
FIRST=127.0.0.1:7001
YEAR=31536000 # s

# How often await() looks, ten times a second
PATIENCE=${PATIENCE:-3000}

WORK=/tmp/chaos
REDIS=
RUN= # what daemons and servers are run with
NUMBER=0
FAILED=0
HOPELESS=0 # something has failed in this scenario
TIMED_OUT=0 # something did not come in it
SEED=${SEED:-$(date +%s)}

export PATH=$PATH:/usr/bin

main()
{
	local scenario

	if [ "$1" = --full ]; then
		shift
		TIMERS=20000
		RATE=5000
		ROUNDS=3
		KILLS=30
		UPGRADES=30
	fi
	if [ "$1" = --but ]; then
		shift
		leave_out "$@"
		set --
	fi
	echo "TAP version 13"
	echo "# SEED=$SEED"
	insmod hwtimer.ko || exit
	ip link set lo up
	# shellcheck disable=SC2086 # several words
	[ $# -gt 0 ] || set -- $SCENARIOS
	for scenario; do
		run "$scenario"
	done
	check "nothing keeps the module loaded" rmmod hwtimer
	echo "1..$NUMBER"
	[ "$FAILED" = 0 ]
}

# leave_out SCENARIO...: take them out of SCENARIOS. One that does not exist is a mistake.
leave_out()
{
	local scenario left

	for scenario; do
		left=$(echo "$SCENARIOS" | tr -s ' \t\n' '\n' | grep -v -x "$scenario")
		[ "$(echo "$SCENARIOS" | wc -w)" -gt "$(echo "$left" | wc -w)" ] || exit 2
		SCENARIOS=$left
	done
}

# ---- the accounts themselves ----

# What must be found is done behind the back of daemon and user.
can_fail()
{
	one_redis
	daemon a
	user --patience 20 --far 1000000
	check "an entry is made for a timer long before its deadline, twice" \
		await spoil "for _ = 1, 2 do redis.call('XADD', KEYS[1] .. ':due', '*'," \
		"'id', id, 'deadline', deadline, 'payload', payload) end"
	check "another timer is dropped" await spoil
	ask 7001 xadd '{q:0}:due' '*' id 1 deadline 1 payload 1 >/dev/null
	await said enough accounts
	end TERM accounts
	show accounts
	check "the user notices" [ "$STATUS" = 1 ]
	check "it finds the timer that was early" not [ "$(value early accounts)" = 0 ]
	check "it finds that it was there twice" not [ "$(value duplicates accounts)" = 0 ]
	check "it finds the entry that is no timer" not [ "$(value wrong accounts)" = 0 ]
	# If it moved or cancelled that timer, the answer tells that it was gone.
	check "it finds the timer that was dropped" \
		not [ "$(value lost accounts)$(value answers accounts)" = 00 ]
	check "its accounts do not balance" said 'NO BALANCE' accounts
	end TERM a
}

# spoil LUA...: remove the last timer, which is far away, and run that; fails if there is none
spoil()
{
	[ "$(ask 7001 eval "
		local id, deadline = unpack(redis.call('ZRANGE', KEYS[1] .. ':deadlines',
			'+inf', ARGV[1] + 900000, 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES'))
		if not id then
			return 0
		end
		local payload = redis.call('HGET', KEYS[1] .. ':payloads', id)
		redis.call('ZREM', KEYS[1] .. ':deadlines', id)
		redis.call('HDEL', KEYS[1] .. ':payloads', id)
		$*
		return 1" 1 '{q:0}' "$(redis_ms)")" = 1 ]
}

# ---- the daemon ----

daemon_killed()
{
	local kill

	one_redis
	daemon a
	user
	for kill in $(seq $KILLS); do
		nap 800
		[ $((kill % 4)) != 1 ] || await_all_fire
		end KILL a
		daemon a
	done
	check_accounts "a daemon that is killed $KILLS times"
	check_daemons a
}

two_daemons()
{
	one_redis
	daemon a --serve-always
	daemon b --serve-always
	user
	for _ in $(seq $ROUNDS); do
		signal STOP a
		check "one of two daemons serves all shards" await_all_fire
		signal CONT a
		signal STOP b
		check "so does the other one" await_all_fire
		signal CONT b
		await_all_fire
	done
	check_accounts "two daemons that serve the same shards"
	check_daemons a b
}

handover()
{
	one_redis
	daemon a
	daemon b
	user
	for _ in $(seq $ROUNDS); do
		check "two daemons share the shards" await shared_by a b
		end TERM a
		check "a daemon that is told to end succeeds" [ "$STATUS" = 0 ]
		check "the other one takes all of its shards" await served_by b
		await_all_fire
		daemon a
		check "when it is back, it gets shards" await shared_by a b
		end KILL b
		check "it takes the shards of one that was killed" await served_by a
		await_all_fire
		daemon b
	done
	check_accounts "daemons that come and go"
	check_daemons a b
}

# A daemon also looks for what it should have heard whenever it renews its lease. Here, it does
# not renew any.
long_lease()
{
	one_redis
	daemon a --lease 3600000
	daemon b --lease 3600000
	check "two daemons share the shards" await shared_by a b
	check "they hear of timers that are due before all others" two_fire_each
	end TERM a
	check "one that leaves leaves its shards to the other" await served_by b
	check "the other one has heard of that, and timers fire" two_fire_each
	check_daemons b
}

# The daemons hear of the first timer, and then find the second one.
two_fire_each()
{
	ask_all fcall hwt_schedule 1 SHARD one +10 payload two +1000 payload >/dev/null &&
		await pending_is 0
}

daemon_stopped()
{
	one_redis
	daemon a
	daemon b
	user
	for _ in $(seq $ROUNDS); do
		await shared_by a b
		signal STOP a
		check "the shards of a daemon that stands still are taken" \
			await served_by b
		await_all_fire
		signal CONT a
		check "when it goes on, it gets shards" await shared_by a b
		await_all_fire
	done
	check_accounts "a daemon that stands still for longer than its lease"
	check_daemons a b
}

# ---- Redis ----

redis_killed()
{
	one_redis --appendonly yes --appendfsync always
	daemon a
	user
	for _ in $(seq $ROUNDS); do
		nap 2000
		end KILL redis-7001
		nap 500
		redis 7001 --appendonly yes --appendfsync always
		check "after Redis was killed, timers fire" await_all_fire
	done
	check_accounts "a Redis that is killed"
	check_daemons a
}

# Without WAIT, what the old master had not yet sent to its replica would be lost: timers
# that were scheduled in the last moments, or rather their moves and cancels; and what
# fired in them would fire again.
failover()
{
	local master=7001 replica=7002 other

	one_redis
	redis $replica --replicaof 127.0.0.1 $master
	REDIS=127.0.0.1:7001,127.0.0.1:7002
	await follows $replica
	daemon a
	user --wait 1
	for _ in $(seq $ROUNDS); do
		await_all_fire
		ask $master failover >/dev/null
		check "the replica takes over when it is asked to" await is_master $replica
		other=$master master=$replica replica=$other
		await follows $replica
		await_all_fire

		end KILL redis-$master
		ask $replica replicaof no one >/dev/null
		other=$master master=$replica replica=$other
		redis $replica --replicaof 127.0.0.1 $master
		await follows $replica
		check "after the master was killed, timers fire" await_all_fire
	done
	check_accounts "a Redis whose replica takes over"
	check_daemons a
}

cluster()
{
	local port other

	six_redis
	daemon a
	user --wait 1
	for _ in $(seq $ROUNDS); do
		await_all_fire
		port=$(master_of 0)
		other=$(replica_of "$port")
		ask "$other" cluster failover >/dev/null
		check "the replica of a node takes over when it is asked to" \
			await is_master "$other"
		await follows "$port"
		await_all_fire

		port=$other other=$(replica_of "$other")
		end KILL "redis-$port"
		check "the replica of a node that was killed takes over" \
			await is_master "$other"
		cluster_node "$port"
		await follows "$port"
		await cluster_is_ok
		check "then timers fire on all nodes" await_all_fire
	done
	check_accounts "a Cluster whose nodes die"
	check_daemons a
}

migration()
{
	local from to

	six_redis
	daemon a
	user
	for _ in $(seq $ROUNDS); do
		await_all_fire
		from=$(master_of 1)
		to=$(another_master "$from")
		check "a shard in use moves to another node" migrate 1 "$from" "$to"
		check "there, its timers fire" await_all_fire
	done
	check_accounts "a shard that moves while it is in use"
	check_daemons a
}

# Redis has the room of a few more timers. Those that are pending fire nevertheless.
full()
{
	local used

	one_redis
	daemon a
	user --spread 8000 --window 1000000
	await_all_fire
	used=$(ask 7001 info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
	ask 7001 config set maxmemory $((used + 50000)) >/dev/null
	check "when Redis is full, schedule says so" await said "is full: OOM" accounts
	check "and timers go on firing" await_all_fire
	ask 7001 config set maxmemory 0 >/dev/null
	check "later there is room" await_all_fire
	check_accounts "a Redis that is full"
	check_daemons a
}

# ---- network ----

# The daemon `a` is in another network namespace, which is a host of its own; `b` is here.
network_cut()
{
	another_host
	one_redis --bind 0.0.0.0 --protected-mode no
	daemon b
	daemon_elsewhere a
	user
	for _ in $(seq $ROUNDS); do
		check "daemons on two hosts share the shards" await shared_by a b
		ip link set here down
		check "the shards of a host that is cut off are taken" await served_by b
		await_all_fire
		ip link set here up
		check "when it can be reached again, it gets shards" await shared_by a b
		await_all_fire
		flicker
	done
	end KILL b
	check "alone, it serves all" await served_by a
	await_all_fire
	check_accounts "a network that is cut"
	check_daemons a
	end KILL host
}

# Short cuts, which TCP gets over or not
flicker()
{
	for _ in 1 2 3 4 5; do
		ip link set here down
		nap 600
		ip link set here up
		nap 600
	done
}

# The host is a process with a network namespace of its own.
another_host()
{
	unshare -n sleep 1000000 &
	keep host $!
	await elsewhere host
	# The kernel names the other end.
	ip link add here type veth
	ip link set veth0 netns "$(pid host)"
	ip addr add 10.77.0.1/24 dev here
	ip link set here up
	nsenter -t "$(pid host)" -n sh -c 'ip link set lo up; ip link set veth0 up
		ip addr add 10.77.0.2/24 dev veth0'
}

daemon_elsewhere()
{
	RUN="nsenter -t $(pid host) -n" REDIS=10.77.0.1:7001
	daemon "$@"
	RUN='' REDIS=$FIRST
}

# elsewhere NAME: whether the process has left our network namespace
elsewhere()
{
	[ "$(readlink "/proc/$(pid "$1")/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# ---- clocks ----
#
# Redis also counts by its clock how long an entry is idle: after that was set back, one
# that a consumer left is not idle for long. So here, others claim at once.

# Redis lives in another time than the daemon.
clock_apart()
{
	shift_clock -3600
	RUN="env CLOCK_SHIFT=$WORK/clock LD_PRELOAD=/hwtimer/clock_shift.so"
	one_redis
	RUN=
	check "Redis's clock is an hour behind" \
		[ "$(redis_ms)" -lt $(($(date +%s)000 - 3000000)) ]
	daemon a
	user
	check "then timers fire" await_all_fire
	shift_clock 3600
	check "timers fire when it is an hour ahead" await_all_fire
	check_accounts "a Redis with a clock of its own"
	check_daemons a
}

# shift_clock SECONDS: set the clock of Redis, relative to ours
shift_clock()
{
	printf '%-63s\n' "${1}000" | dd of=$WORK/clock conv=notrunc 2>/dev/null
}

# The clock of this machine, so of both, is set.
clock_set()
{
	one_redis
	daemon a
	user --moving-clock 1 --claim-after 0
	await_all_fire
	for _ in $(seq $ROUNDS); do
		step_clock 10
		check "timers fire after the clock was set forwards" await_all_fire
		step_clock -10
		check "timers fire after it was set back" await_all_fire
		step_clock 86400
		check "timers fire after it was set forwards by a day" await_all_fire
		step_clock -86400
		check "timers fire after it was set back by a day" await_all_fire
	done
	check_accounts "a clock that is set"
	check_daemons a
}

# step_clock SECONDS: no function may be between reading the clock and what it does then
step_clock()
{
	ask 7001 client pause 1000000 write >/dev/null 2>&1
	date -s "@$(($(date +%s) + $1))" >/dev/null
	ask 7001 client unpause >/dev/null 2>&1
}

# Some timers are for next year. accounts would find any that is early.
year()
{
	local far

	one_redis
	daemon a --queue w:1
	user --moving-clock 1 --claim-after 0 --keep-far 1 --far ${YEAR}000 --spread 2000
	await said enough accounts
	signal TERM accounts
	check "what is left is for next year" await all_are_far
	far=$(pending)
	step_clock $((YEAR - 3600))
	check "an hour before, other timers fire" another_fires
	check "but none of those" pending_is "$far"
	step_clock -2592000
	check "a month back, other timers fire" another_fires
	check "but none of those" pending_is "$far"
	step_clock $((2592000 + 7200))
	check "in a year, they fire" await pending_is 0
	check_accounts "a year's delay"
	check_daemons a
	step_clock $((-YEAR - 3600))
}

# Whether there are timers, and none of them within a day
all_are_far()
{
	every next | awk -v tomorrow=$(($(redis_ms) + 86400000)) '
		$1 <= tomorrow { near = 1 }
		END { exit near }' && not pending_is 0
}

# A timer of another queue, of which accounts knows nothing
another_fires()
{
	ask 7001 fcall hwt_schedule 1 '{w:0}' another +10 '' >/dev/null &&
		await none_is_pending '{w:0}'
}

none_is_pending()
{
	[ "$(ask 7001 zcard "$1:deadlines")" = 0 ]
}

pending_is()
{
	[ "$(pending)" = "$1" ]
}

# ---- consumers, upgrades ----

dead_consumer()
{
	one_redis
	daemon a
	user --die-with 1000 --drop 0 --claim-after 200
	check_accounts "a consumer that dies with 1000 entries"
	check "others have got all of them" [ "$(value again accounts)" -ge 1000 ]
	check_daemons a
}

upgrade()
{
	local time

	one_redis
	daemon a
	user
	for time in $(seq $UPGRADES); do
		(cat hwtimer.lua; echo "-- $time") |
			redis-cli -p 7001 -x function load replace >/dev/null
		nap 200
	done
	check "with another library, timers fire" await_all_fire
	check_accounts "a library that is replaced $UPGRADES times"
	check_daemons a
}

# ---- Redis ----

# one_redis [OPTION...]: on port 7001, with the library
one_redis()
{
	REDIS=$FIRST
	redis 7001 "$@"
	load 7001
}

# redis PORT [OPTION...]
redis()
{
	local port=$1

	shift
	mkdir -p "$WORK/$port"
	# shellcheck disable=SC2086 # several words
	$RUN redis-server --port "$port" --dir "$WORK/$port" --save '' \
		--repl-diskless-sync-delay 0 "$@" \
		>>"$WORK/redis-$port.log" 2>&1 &
	keep "redis-$port" $!
	await answers "$port"
}

load()
{
	redis-cli -p "$1" -x function load replace <hwtimer.lua >/dev/null
}

answers()
{
	[ "$(ask "$1" ping 2>/dev/null)" = PONG ]
}

# ask PORT COMMAND...
ask()
{
	local port=$1

	shift
	redis-cli -p "$port" "$@"
}

is_master()
{
	[ "$(ask "$1" role | head -n 1)" = master ]
}

# follows PORT: whether it is a replica that has all that its master has
follows()
{
	ask "$1" info replication >$WORK/info
	grep -q '^role:slave' $WORK/info && grep -q '^master_link_status:up' $WORK/info
}

redis_ms()
{
	ask 7001 time | awk 'NR == 1 { s = $1 } NR == 2 { printf "%d%03d\n", s, $1 / 1000 }'
}

# ---- Cluster ----

# Three masters and a replica of each
six_redis()
{
	local port addresses=

	for port in $PORTS; do
		cluster_node "$port"
		addresses="$addresses 127.0.0.1:$port"
	done
	# shellcheck disable=SC2086 # several words
	redis-cli --cluster create $addresses --cluster-replicas 1 --cluster-yes \
		>$WORK/create.log
	for port in $PORTS; do
		check "node $port has joined the Cluster" await joined "$port"
		! is_master "$port" || load "$port"
	done
	# shellcheck disable=SC2086
	REDIS=$(echo $addresses | tr ' ' ,)
}

cluster_node()
{
	redis "$1" --cluster-enabled yes --cluster-node-timeout 2000 --appendonly yes
}

# joined PORT: whether the node knows of all slots, and is in step if it is a replica
joined()
{
	ask "$1" cluster info | grep -q '^cluster_state:ok' &&
		{ is_master "$1" || follows "$1"; }
}

cluster_is_ok()
{
	local port

	for port in $PORTS; do
		joined "$port" || return
	done
}

# Prints the port of the master of a shard.
master_of()
{
	local slot

	slot=$(ask "$(alive)" cluster keyslot "{q:$1}")
	ask "$(alive)" cluster nodes | awk -v slot="$slot" '
		$3 ~ /master/ && $3 !~ /fail/ {
			for (i = 9; i <= NF; i++) {
				split($i "-" $i, range, "-")
				if (range[1] <= slot && slot <= range[2]) {
					split($2, address, /[:@]/)
					print address[2]
				}
			}
		}'
}

# Prints the port of a replica of the master at that port.
replica_of()
{
	ask "$1" role | sed -n 4p
}

# another_master PORT: prints the port of a master that is not this one
another_master()
{
	ask "$(alive)" cluster nodes | awk -v port="$1" '
		$3 ~ /master/ && $3 !~ /fail/ {
			split($2, address, /[:@]/)
			if (address[2] != port) {
				print address[2]
				exit
			}
		}'
}

# migrate SHARD FROM TO: move its keys one by one, with pauses, as redis-cli does
migrate()
{
	local slot from=$2 to=$3 from_id to_id key

	slot=$(ask 7001 cluster keyslot "{q:$1}")
	from_id=$(ask "$from" cluster myid)
	to_id=$(ask "$to" cluster myid)
	ask "$to" cluster setslot "$slot" importing "$from_id" >/dev/null
	ask "$from" cluster setslot "$slot" migrating "$to_id" >/dev/null
	nap 300
	while key=$(ask "$from" cluster getkeysinslot "$slot" 1) && [ -n "$key" ]; do
		ask "$from" migrate 127.0.0.1 "$to" "$key" 0 60000 >$WORK/migrate
		grep -q -e '^OK$' -e '^NOKEY$' $WORK/migrate || {
			sed "s/^/# $key: /" $WORK/migrate
			return 1
		}
		nap 50
	done
	for port in $to $from $PORTS; do
		! is_master "$port" || ask "$port" cluster setslot "$slot" node "$to_id" >/dev/null
	done
}

# ---- the daemon and its user ----

# daemon NAME [OPTION...]
daemon()
{
	local name=$1

	shift
	# shellcheck disable=SC2086 # several words
	$RUN ./hwtimerd serve --redis "$REDIS" --queue "q:$SHARDS" \
		--name "$name" --lease $LEASE "$@" >>"$WORK/$name.log" 2>&1 &
	keep "$name" $!
}

# user [OPTION...]: schedules and consumes until check_accounts
user()
{
	random 1000000000
	./accounts --redis "$REDIS" --shards $SHARDS --timers $TIMERS --rate $RATE \
		--seed $((RANDOM_NUMBER + 1)) "$@" >$WORK/accounts 2>&1 &
	keep accounts $!
	await said running accounts
}

# check_accounts WHAT: the user ends, once it has done enough
check_accounts()
{
	await said enough accounts
	end TERM accounts
	show accounts
	check "the accounts are exact with $1" [ "$STATUS" = 0 ]
}

# check_daemons NAME...: they end, and succeed
check_daemons()
{
	local name

	for name; do
		end TERM "$name"
		check "the daemon $name succeeds at last" [ "$STATUS" = 0 ] ||
			tail -n 5 "$WORK/$name.log" | sed 's/^/# /'
	done
}

# ask_all COMMAND...: each command has a shard's key for SHARD
ask_all()
{
	local shard

	for shard in $(seq 0 $((SHARDS - 1))); do
		echo "$*" | sed "s/SHARD/{q:$shard}/"
	done | redis-cli -c -p "$(alive)"
}

# every NAME: prints a value of hwt_stats for each shard
every()
{
	ask_all fcall hwt_stats 1 SHARD | awk -v wanted="$1" '
		name == wanted { print }
		{ name = $1 }'
}

served_by()
{
	[ "$(every daemon | grep -c -x "$1")" = $SHARDS ]
}

shared_by()
{
	[ "$(every daemon | sort -u | tr '\n' ' ')" = "$1 $2 " ]
}

# Prints for each shard how many timers have fired.
fired()
{
	ask_all xinfo stream SHARD:due | grep -A 1 '^entries-added' | grep '^[0-9]'
}

# Prints the port of a server that answers.
alive()
{
	local port

	for port in $PORTS; do
		[ ! -e "$WORK/redis-$port.pid" ] || ! answers "$port" || break
	done
	echo "$port"
}

# Waits until timers of every shard have fired since now.
await_all_fire()
{
	await saved_fired &&
		await all_have_fired
}

saved_fired()
{
	fired >$WORK/before
	[ "$(grep -c . $WORK/before)" = $SHARDS ]
}

all_have_fired()
{
	fired >$WORK/after
	[ "$(paste $WORK/before $WORK/after | awk '$2 > $1' | grep -c .)" = $SHARDS ]
}

# Prints the number of timers that are pending.
pending()
{
	every pending | awk '{ all += $1 } END { print all }'
}

# ---- helpers ----

# run SCENARIO: what it started and did not end is ended
run()
{
	local start file

	start=$(uptime_s)
	HOPELESS=0 TIMED_OUT=0
	echo "# ==== $1"
	rm -rf $WORK
	mkdir -p $WORK
	"$1"
	check "all that $1 waited for has come" [ "$TIMED_OUT" = 0 ]
	for file in "$WORK"/*.pid; do
		[ ! -e "$file" ] || end KILL "$(basename "$file" .pid)"
	done
	echo "# ==== $1: $(($(uptime_s) - start)) s"
}

uptime_s()
{
	sed 's/\..*//' /proc/uptime
}

# keep NAME PID, pid NAME: the processes that run
keep()
{
	echo "$2" >"$WORK/$1.pid"
}

pid()
{
	cat "$WORK/$1.pid"
}

# signal SIGNAL NAME
signal()
{
	kill "-$1" "$(pid "$2")" 2>/dev/null
}

# end SIGNAL NAME: leaves the exit status in STATUS
end()
{
	signal "$1" "$2"
	STATUS=0
	wait "$(pid "$2")" 2>/dev/null || STATUS=$?
	rm "$WORK/$2.pid"
}

# random LIMIT: leaves a number below it in RANDOM_NUMBER
random()
{
	SEED=$(((SEED * 1103515245 + 12345) & 0x7fffffff))
	RANDOM_NUMBER=$(((SEED >> 4) % $1))
}

# nap MS: sleeps for at most that long
nap()
{
	random "$1"
	usleep $((RANDOM_NUMBER * 1000))
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
		FAILED=1 HOPELESS=1
		echo "not ok $NUMBER - $name"
		return 1
	fi
}

not()
{
	! "$@"
}

# await COMMAND...: repeats the command until it succeeds. Once something has failed, the
# rest of the scenario is not waited for.
await()
{
	local polls=0

	until "$@"; do
		polls=$((polls + 1))
		if [ "$HOPELESS" = 1 ] || [ $polls -ge "$PATIENCE" ]; then
			echo "# timed out: $*"
			[ "$HOPELESS" = 1 ] || show_all
			HOPELESS=1 TIMED_OUT=1
			return 1
		fi
		# test/vm/run.sh ends a machine that is silent for long.
		[ $((polls % 600)) -ne 0 ] || echo "# still waits: $*"
		usleep 100000
	done
}

# said WORDS FILE: whether a program printed the words to that file
said()
{
	grep -q -s -e "$1" "$WORK/$2"
}

# value NAME FILE: prints the value of NAME=VALUE in the last line that has it
value()
{
	sed -n "s/.* $1=\\([0-9]*\\).*/\\1/p" "$WORK/$2" | tail -n 1 | grep . || echo -1
}

# What may tell why something did not come about
show_all()
{
	echo "# daemons: $(every daemon | tr '\n' ' ')"
	tail -n 3 $WORK/*.log $WORK/accounts | sed 's/^/# /'
}

show()
{
	tail -n 12 "$WORK/$1" | sed 's/^/# /'
}

main "$@"
