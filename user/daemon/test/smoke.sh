#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Goes once through what hwtimerd does: from a machine without the module to two daemons that
# share a queue, with users of Redis that have the rights of hwtimerd(8) and no others. Prints
# TAP. Runs in a test machine, in the directory of hwtimer.ko and hwtimerd, with Redis at its
# usual place.
#
#	usage: sh smoke.sh [SECTION...]
#
# Nothing depends on speed: each check waits for what must come. What must not come is looked
# for when something later has come. Most daemons have leases of an hour: nothing comes only
# because a lease is renewed. A timer that is to be moved or cancelled is an hour away, as the
# machine may stand still for a while.

# Options and lists are several words, and daemon() sets PID_NAME.
# shellcheck disable=SC2046,SC2048,SC2086,SC2154

# Each begins with an empty Redis, and starts daemons of its own.
SECTIONS="versions timers rights acknowledged many_acknowledged idle settings
	databases metrics unread share killed clocks silence overwritten
	large_payloads full_redis lost_wheel names cluster silent_clients"

# How often await() looks, at most ten times a second: for minutes, as a loaded machine may take
# that long. After a failure, others may follow: less often.
PATIENCE=3000

WORK=/tmp/smoke
DAEMON_USER="--user hwtimerd --password-file $WORK/hwtimerd.password"
LOADER="--user loader --password-file $WORK/loader.password"
DUE='{q:0}:due'
HOUR=3600000
PAST=100000000000 # a deadline of 1973
DB=0 # the database of redis()

SECTION=begin
NUMBER=0
FAILED=0
RUNNING= # names of daemons

export PATH=$PATH:/usr/bin

main()
{
	echo "TAP version 13"
	mkdir -p $WORK/other
	hostname smoke
	redis-server --bind 127.0.0.1 --unixsocket $WORK/redis.sock --save "" --dir $WORK \
		--daemonize yes >/dev/null
	await redis ping >/dev/null
	make_users
	wrong_usage
	without_module
	for SECTION in ${*:-$SECTIONS}; do
		redis flushall >/dev/null
		"$SECTION"
		end_daemons
	done
	SECTION=end
	check "no daemon lacked a right" not grep -q "NOPERM\|user executing" $WORK/logs
	check "nothing keeps the module loaded" rmmod hwtimer
	echo "1..$NUMBER"
	[ "$FAILED" = 0 ]
}

# The lines of hwtimerd(8), section "RIGHTS". The default user may not call functions, so what
# follows shows that these rights suffice.
make_users()
{
	setuser hwtimerd '~{q:*' +select +fcall +fcall_ro +role +info +time +exists +get +set \
		+zadd +zrem +zrange +zcard +zremrangebyscore +zremrangebyrank +hmget +hdel \
		+xadd +xread +xrange +xlen +xtrim +xpending '+xinfo|groups'
	setuser producer '~{q:*' +select +fcall +fcall_ro +time +exists +get +set +hset +hdel \
		+hmget +zadd +zrem +zmscore +zrange +zcard +zcount +unlink +xadd
	setuser consumer '~{q:*}:due' '+xgroup|create' +xreadgroup +xack +xautoclaim
	setuser loader +fcall '+function|load' '+cluster|slots' +role
	redis acl setuser default -fcall -fcall_ro >/dev/null
}

setuser()
{
	local name=$1

	shift
	echo "secret-$name" >"$WORK/$name.password"
	redis acl setuser "$name" on ">secret-$name" -@all "$@" | grep -v OK
}

wrong_usage()
{
	local arguments

	for arguments in 'serve' 'server' 'serve --queue' 'serve --queue q' 'serve --queue q}:1' \
		'serve --queue q:1:1024' 'serve --queue q:16385' 'serve --queue q:1 --ahead 5' \
		'serve --queue q:1 --db one' 'serve --queue q:1 --user u' \
		'status --queue q:1 --redis redis://u:p@host' 'status --queue q:1 --redis ,'; do
		check "refused: $arguments" fails 2 "hwtimerd --help" ./hwtimerd $arguments
	done
	check "help that cannot be printed is an error" fails 1 "No space" ./hwtimerd --help
}

without_module()
{
	# Whatever is opened gets the lowest free number. That of standard error must not be a
	# connection: Redis would get the messages.
	./hwtimerd serve --queue q:1 2>&- &
	check "without standard error, messages go nowhere" await is /dev/null readlink /proc/$!/fd/2
	kill $!

	# A shell makes a FIFO of <(), and it is empty when the password is read once more.
	mkfifo $WORK/fifo
	daemon a --password-file $WORK/fifo
	check "a FIFO for the password does not hold up a daemon" says a "no password can be read"

	daemon b
	check "without the functions, a daemon says what installs them" says b "hwtimerd load"
	check "load that cannot print is an error" fails 1 "No space" ./hwtimerd load $LOADER
	check "but it has installed them: the daemon serves" await serves b 4
	check "a timer comes" comes one
	check "metrics tell that there is no module" is 0 metric b kernel_timers
	check "the daemon has said so once" is 1 grep -c "using libevent's timers" $WORK/b.log
	end_daemons

	insmod hwtimer.ko || exit
	daemon c
	check "with the module, a daemon uses that" await is 1 metric c kernel_timers
	check "it says nothing of libevent's timers" not grep -q libevent $WORK/c.log
	end_daemons
}

# ---- sections ----

versions()
{
	functions_of_version 99.0
	check "load does not replace newer functions" \
		fails 1 "has functions 99.0.*nothing is replaced" ./hwtimerd load $LOADER
	daemon a
	check "a daemon does not work with them" says a "version 99.0"
	redis function delete hwtimer >/dev/null
	check "load installs its own when they are gone" has installed ./hwtimerd load $LOADER
	check "the daemon then serves, without being started again" await serves a 4
	functions_of_version 0.1
	check "load replaces older ones" has installed ./hwtimerd load $LOADER
	check "a timer comes" comes one
}

functions_of_version()
{
	sed "s/^local LIBRARY = '[^']*'/local LIBRARY = '$1'/" hwtimer.lua |
		redis -x function load replace >/dev/null
}

timers()
{
	starts a
	check "a timer is scheduled" is 1 produce hwt_schedule one +300 p1
	check "a batch is scheduled" \
		is 4 produce hwt_schedule two +$HOUR p2 three $PAST p3 four +$HOUR p4 five +$HOUR p5
	check "a timer is replaced" is 0 produce hwt_schedule two +200 new
	check "a timer is moved" is 1 produce hwt_move five +200
	check "what is there is not added" is 1 produce hwt_add five $PAST wrong six +200 p6
	check "what is not there is not updated" \
		is 1 produce hwt_update six +300 new seven $PAST wrong
	check "a timer is cancelled" is 1 produce hwt_cancel four
	check "each has come once, with its last payload; others have not" \
		await is "five p5 one p1 six new three p3 two new" has_come
	check "none has come before its deadline" none_early
	check "metrics count them" await is 5 metric a fired_total
	check "metrics count how late they were" is 5 metric a lateness_seconds_count

	check "an id and a payload may have odd bytes" is 1 as producer --quoted-input \
		fcall hwt_schedule 1 '{q:0}' '"a\x00\r\n\xffb"' +300 '"\x00 \n\""'
	check "such an id comes" \
		await has '"a\\x00\\r\\n\\xffb"' redis --no-raw xrange $DUE - +
	check "so does its payload" has '"\\x00 \\n\\""' redis --no-raw xrange $DUE - +

	end_daemons
	check "status shows that the daemon has left" has "nobody$" status
	redis zadd '{q:0}:daemons' inf "$(printf 'b\033[2J\303\234\302\2332J\2332J')" >/dev/null
	check "it shows a name, and not what a terminal would obey" \
		has "$(printf ' b?\\[2J\303\234??2J?2J')" status
	check "what it cannot print is an error" fails 1 "No space" status
}

rights()
{
	local call

	starts a
	for call in "schedule one +$HOUR p two +$HOUR p" "add three +$HOUR p" "update one +$HOUR p" \
		"move one +$HOUR" "cancel one" "query two" "purge"; do
		check "a producer may do this: $call" not has "ERR\|NOPERM" produce hwt_$call
	done
	check "a producer may do this: list" not has "ERR\|NOPERM" produce hwt_list "1 one" 10
	check "a timer comes" comes three
	for call in "xgroup create $DUE group 0" "xreadgroup group group me streams $DUE >" \
		"xautoclaim $DUE group other 0 0" "xack $DUE group 1-0"; do
		check "a consumer may do this: $call" not has "ERR\|NOPERM" as consumer $call
	done
	check "a producer cannot read what is due" has NOPERM as producer xrange $DUE - +
	check "nor schedule elsewhere" has NOPERM as producer fcall hwt_schedule 1 '{other:0}' id 1 p
	check "a consumer cannot schedule" has NOPERM as consumer fcall hwt_schedule 1 '{q:0}' id 1 p
	check "the daemon cannot do anything else" has NOPERM as hwtimerd flushall

	redis acl setuser hwtimerd -xadd >/dev/null
	produce hwt_schedule one $PAST payload >/dev/null
	check "a daemon that lacks a right says so" says a "hwtimerd(8) lists the rights"
	redis acl setuser hwtimerd +xadd >/dev/null
	check "with the right, the timer comes" await has_come one
	# For "no daemon lacked a right"
	: >$WORK/a.log
}

acknowledged()
{
	starts a --lease 1000
	make_groups
	check "a timer comes" comes one
	as consumer xreadgroup group slow me streams $DUE '>' >/dev/null
	handle fast
	check "the lease is renewed" await at_least $(($(commands a fire) + 24)) commands a fire
	check "what one group has not acknowledged stays" is 1 redis xlen $DUE
	handle slow
	check "what each group has acknowledged is removed" await is 0 redis xlen $DUE
	check "metrics count that" await is 1 metric a trimmed_total
}

many_acknowledged()
{
	local batch

	starts a --lease 1000 --keep
	make_groups
	for batch in 1 2 3 4 5 6 7 8 9 10; do
		produce hwt_schedule $(seq 1000 | sed "s/.*/$batch-& $PAST p/") >/dev/null
	done
	check "10,000 timers come" await is 10000 redis xlen $DUE
	handle fast
	handle slow
	check "the lease is renewed" await at_least $(($(commands a fire) + 24)) commands a fire
	check "with --keep, what is acknowledged stays" is 10000 redis xlen $DUE
	end_daemons
	starts b
	check "without, all is removed before the lease is renewed" await is 0 redis xlen $DUE
}

make_groups()
{
	as consumer xgroup create $DUE fast 0 mkstream >/dev/null
	as consumer xgroup create $DUE slow 0 >/dev/null
}

# handle GROUP: read and acknowledge all
handle()
{
	as consumer xreadgroup group "$1" me streams $DUE '>' >/dev/null
	as consumer xack $DUE "$1" $(entries) >/dev/null
}

# Each shard of a new queue gets two calls of hwt_fire, as the daemon hears that it has come. The
# listener of shard 0 hears of a timer, too.
idle()
{
	starts a
	check "a daemon comes to each shard" await is "20 8 8" sent
	produce hwt_schedule $(seq 300 | sed "s/.*/far& +$HOUR p/") >/dev/null
	check "it hears of timers" await is "20 8 9" sent
	starts b --db 1 --lease 2000
	check "another daemon renews its leases" await at_least 16 commands b listen
	check "it calls six times in two leases, for which it listens" \
		not at_least $((6 * $(commands b listen) + 1)) commands b fire
	check "with timers an hour away, nothing else is sent" is "20 8 9" sent
	check "metrics count pending timers" await is 300 metric a timers_pending
}

# What daemon a has sent: AUTH and hwt_version at each connection, and INFO; hwt_fire; XREAD
sent()
{
	echo "$(commands a connect) $(commands a fire) $(commands a listen)"
}

settings()
{
	redis config set maxmemory-policy allkeys-lru >/dev/null
	starts a --lease 1000 --max-payload 10 --max-id 5
	check "the daemon warns of eviction" says a "evicts keys (maxmemory-policy allkeys-lru)"
	check "so do its metrics" is 1 metric a redis_evicts
	redis config set maxmemory-policy noeviction >/dev/null
	check "a timer comes" comes one
	redis flushall >/dev/null
	check "the daemon says that keys are gone" says a "{q:0}: its keys are gone (FLUSHALL?)"
	check "metrics count that" await is 4 metric a flushes_total
	check "a timer comes again" comes two
	check "the limit of payloads is as before" \
		has HWTPAYLOAD produce hwt_schedule three +$HOUR "more than 10"
	check "so is that of ids" has HWTID produce hwt_schedule longer +$HOUR payload
}

databases()
{
	starts a
	DB=2
	check "a database that no daemon serves has no shards" \
		has HWTSHARD produce hwt_schedule one $PAST payload
	DB=0
	check "a timer of the first one comes" comes one
	starts b --redis $WORK/redis.sock --db 1
	DB=1
	check "one of the other comes, through a Unix socket" comes two
	redis client kill user hwtimerd >/dev/null
	check "the daemon names the socket" says b "Redis at $WORK/redis.sock: connected"
	check "a timer comes when it is connected again" comes three
	check "SIGTERM ends it with status 0" ends TERM b
	starts c --redis redis://127.0.0.1:6379/1
	check "a URL chooses a database, too" comes four
	DB=0
	check "a timer of the first one still comes" comes five
	check "those of others have not" is "five payload one payload" has_come
}

metrics()
{
	starts a
	daemon b --db 1 --metrics 127.0.0.1:9123
	check "metrics are served over TCP, too" \
		await has 'served{queue="q"} 4' wget -q -O - http://127.0.0.1:9123/metrics
	check "they end as OpenMetrics does" [ "$(scrape a | tail -n 1)" = "# EOF" ]
	as consumer xgroup create '{q:1}:due' "$(printf 'odd\001')" 0 mkstream >/dev/null
	as consumer xgroup create '{q:1}:due' "$(printf 'odd\002')" 0 >/dev/null
	check "groups whose names look alike are no reason to ..." \
		await is 0 metric a 'group_lag{shard="{q:1}",group="odd?"}'
	check "... have the same labels twice" \
		[ -z "$(scrape a | sed -n 's/^\([^#].*\) .*/\1/p' | sort | uniq -d)" ]
	kill -STOP "$PID_a"
	check "status does not wait for ever for a daemon that stands still" \
		fails 1 "no answer" ./hwtimerd status --lease 200 --metrics $WORK/a.metrics
	kill -CONT "$PID_a"
}

# Redis does not know the lag of a group if somebody has deleted entries that it has not read. The
# metrics show what the scrape before has found.
unread()
{
	starts a
	make_groups
	produce hwt_schedule one $PAST p two $PAST p three $PAST p >/dev/null
	check "timers come" await is 3 redis xlen $DUE
	as consumer xreadgroup group fast me count 1 streams $DUE '>' >/dev/null
	redis xdel $DUE "$(entries | tail -n 1)" >/dev/null
	check "metrics tell how long an entry has waited" \
		await has 'unread_seconds{shard="{q:0}",group="fast"} .*[1-9]' scrape a
	check "though Redis does not know how many wait" not has 'lag{.*"fast"' scrape a
	handle fast
	check "none waits when all are read" \
		await is 0 metric a 'group_unread_seconds{shard="{q:0}",group="fast"}'
}

share()
{
	starts a
	daemon b
	check "another daemon gets its share" await serves b 2
	check "the first one has the others" await serves a 2
	check "status shows that" has '^{q:2} .* b$' status
	daemon c --serve-always
	check "with --serve-always, another one serves all shards" await serves c 4
	check "a timer comes once" comes one
	check "those that share do not hear of --serve-always" serves b 2
	check "SIGTERM ends one with status 0" ends TERM a
	check "the other one takes over before leases end" await serves b 4
	check "the one has left" await is b redis zrange '{q:0}:daemons' 0 -1
	check "its socket is gone" not [ -e $WORK/a.metrics ]
}

killed()
{
	starts a --lease 2000
	daemon b --lease 2000
	check "another daemon gets its share" await serves b 2
	ends KILL b 2>/dev/null
	check "when it is killed, the other one takes over" await serves a 4
	daemon b --lease 2000
	check "a new one takes its place, and its socket" await serves b 2
}

# The machine's clock is Redis's, too; so what moves is both.
clocks()
{
	starts a --lease 500
	produce hwt_schedule tomorrow +86400000 payload >/dev/null
	check "a timer comes" comes today
	date -s "@$(($(date +%s) + 86400))" >/dev/null
	check "one of tomorrow comes when the clock is moved there" await has_come tomorrow
	daemon b --lease 500
	check "another daemon gets its share" await serves b 2
	ends KILL b 2>/dev/null
	date -s "@$(($(date +%s) - 86400))" >/dev/null
	check "when the clock is moved back, that one is not waited for" await serves a 4
	check "a timer comes" comes back
	check "none has come before its deadline" none_early
}

# Connections die without a word.
silence()
{
	local relay

	./relay 6400 6379 >$WORK/relay &
	relay=$!
	starts a --redis 127.0.0.1:6400 --lease 2000
	check "it waits for news" await listens
	kill -USR1 $relay
	check "the connections for news are lost" await grep -q lost $WORK/relay
	check "a timer comes that is scheduled then" comes near
	check "it has not come before its deadline" none_early
	check "the daemon says what was wrong" says a "no answer for 6000 ms"
	check "it connects again" says a "Redis at .*: connected"
	check "it waits for news again" await listens
	kill -STOP $relay
	check "the daemon says if all connections are lost" says a "no answer for 2000 ms"
	kill -CONT $relay
	check "a timer comes when Redis answers again" comes again
	kill -STOP $relay
	check "SIGTERM ends it with status 0, though Redis does not answer" ends TERM a
	kill -KILL $relay
}

# The ids of connections that wait for news
listeners()
{
	redis client list | sed -n '/ flags=b.* cmd=xread /s/^id=\([0-9]*\) .*/\1/p'
}

listens()
{
	[ "$(listeners | wc -l)" = 4 ]
}

# Somebody else has overwritten the deadlines of a shard.
overwritten()
{
	starts a
	redis set '{q:0}:deadlines' theirs >/dev/null
	redis client kill user hwtimerd >/dev/null
	check "the daemon says what is wrong with which shard" says a "{q:0}.*WRONGTYPE"
	as producer fcall hwt_schedule 1 '{q:1}' other $PAST payload >/dev/null
	check "a timer of another shard comes" await is 1 redis xlen '{q:1}:due'
	check "what they have written is there" is theirs redis get '{q:0}:deadlines'
	redis del '{q:0}:deadlines' >/dev/null
	check "without it, a timer comes" comes two
}

# All are due when the daemon comes. No call may be too much for Redis, nor for a small buffer.
large_payloads()
{
	local payload id

	payload=$(head -c 65000 /dev/zero | tr '\0' x)
	starts a
	end_daemons
	{
		echo "auth producer secret-producer"
		for id in $(seq 1500); do
			echo "fcall hwt_schedule 1 {q:0} $id $PAST $payload"
		done
		echo quit
	} | nc 127.0.0.1 6379 >/dev/null
	redis config set client-output-buffer-limit "normal 64kb 64kb 0" >/dev/null
	starts b
	check "1,500 timers with payloads of 65,000 bytes come" await is 1500 redis xlen $DUE
	check "in many calls, between which Redis answers others" at_least 40 commands b fire
	redis config set client-output-buffer-limit "normal 0 0 0" >/dev/null
}

# What makes room, and what daemons agree upon, is allowed.
full_redis()
{
	starts a
	end_daemons
	produce hwt_schedule one $PAST payload >/dev/null
	redis config set maxmemory 1 >/dev/null
	check "Redis is full" has OOM produce hwt_schedule two $PAST payload
	starts b
	check "a timer comes that was there" await has_come one
	daemon c
	check "another daemon gets its share" await serves c 3
	check "SIGTERM ends one with status 0" ends TERM b
	check "the other one takes over" await serves c 4
	redis config set maxmemory 0 >/dev/null
	check "a timer comes when there is room" comes two
	check "neither has complained" not grep -q OOM $WORK/b.log $WORK/c.log
}

lost_wheel()
{
	starts a
	produce hwt_schedule one +1000 payload >/dev/null
	./stop_wheels "$PID_a"
	check "a timer comes although the wheel has been stopped" await has_come one
	check "another one comes" comes two
	check "none has come before its deadline" none_early
	check "the daemon has said so once" is 1 grep -c "using libevent's timers" $WORK/a.log
	check "metrics tell that" is 0 metric a kernel_timers
}

# A connection for news that ends is opened anew to the server at which the shard's other one is.
# The other server gets the functions late, so all are at the first one.
names()
{
	local id

	printf '127.0.0.1 redis\n127.0.0.2 redis\n' >/etc/hosts
	redis-server --bind 127.0.0.2 --save "" --dir $WORK/other --daemonize yes >/dev/null
	await redis -h 127.0.0.2 ping >/dev/null
	redis acl list | sed 's/^user/acl setuser/' | grep -v "setuser default" |
		redis -h 127.0.0.2 >/dev/null
	starts a --redis redis:6379
	check "it waits for news" await listens
	redis -h 127.0.0.2 -x function load <hwtimer.lua >/dev/null
	for id in $(listeners); do
		redis client kill id "$id" >/dev/null
	done
	check "it waits there again when those connections have ended" await listens
	check "a timer comes" comes one
	end_daemons
	redis -h 127.0.0.2 shutdown

	daemon b --redis later
	check "a daemon says that a name leads nowhere" says b "Redis at later port 6379: "
	echo "127.0.0.1 later" >>/etc/hosts
	check "it serves when the name is there" await serves b 4
}

# Two nodes that redirect to a port, without a host. They have no users. The keys of the four
# shards are on both.
cluster()
{
	local DAEMON_USER='' port

	for port in 7101 7102; do
		redis-server --bind 127.0.0.1 --port $port --save "" --dir $WORK/other \
			--cluster-enabled yes --cluster-config-file $port.conf \
			--cluster-preferred-endpoint-type unknown-endpoint \
			--daemonize yes >/dev/null
		await redis -p $port ping >/dev/null
	done
	redis -p 7101 cluster addslotsrange 0 8191 >/dev/null
	redis -p 7102 cluster addslotsrange 8192 16383 >/dev/null
	redis -p 7101 cluster meet 127.0.0.1 7102 >/dev/null
	check "the cluster is ready" await has state:ok redis -p 7101 cluster info
	await has state:ok redis -p 7102 cluster info
	check "a node names no host" has 'MOVED .* :7102' redis -p 7101 get '{q:0}'
	check "load finds both" has 7102.*installed ./hwtimerd load --redis 127.0.0.1:7101
	daemon a --redis 127.0.0.1:7101
	check "a daemon serves shards of both" await serves a 4
	check "status asks both" has '^{q:0}.* a$' status --redis 127.0.0.1:7101
	end_daemons
	redis -p 7101 shutdown
	redis -p 7102 shutdown
}

# On a slow machine, the first ones may be gone before the last ones come.
silent_clients()
{
	local FILES=40

	starts a
	check "clients that say nothing are shown out, though there are no files for all of them" \
		await eval "./hold $WORK/a.metrics 60 && grep -q 'Too many open files' $WORK/a.log"
	check "a timer comes" comes one
	check "metrics are served" await is 1 metric a fired_total
}

# ---- daemons ----

# daemon NAME [OPTION...]
daemon()
{
	local name=$1

	shift
	RUNNING="$RUNNING $name"
	rm -f "$WORK/$name.log"
	(
		${FILES:+ulimit -n $FILES}
		exec ./hwtimerd serve --queue q:4 --name "$name" --lease $HOUR $DAEMON_USER \
			--metrics "$WORK/$name.metrics" "$@" 2>>"$WORK/$name.log"
	) &
	eval "PID_$name=$!"
}

# starts NAME [OPTION...]: and serves all shards
starts()
{
	daemon "$@"
	await serves "$1" 4 || check "daemon $1 serves all shards" false
}

# ends SIGNAL NAME: whether the daemon ends with status 0
ends()
{
	local pid status

	eval "pid=\$PID_$2"
	RUNNING=$(echo "$RUNNING " | sed "s/ $2 / /")
	kill -"$1" "$pid"
	wait "$pid"
	status=$?
	cat "$WORK/$2.log" >>$WORK/logs
	return $status
}

end_daemons()
{
	local name

	for name in $RUNNING; do
		ends TERM "$name" || check "SIGTERM ends daemon $name with status 0" false
	done
}

# serves NAME NUMBER: whether the daemon serves that many shards
serves()
{
	is "$2" metric "$1" shards_served
}

# says NAME PATTERN
says()
{
	await grep -q -s -e "$2" "$WORK/$1.log"
}

status()
{
	./hwtimerd status --queue q:4 $DAEMON_USER "$@"
}

scrape()
{
	./hwtimerd status --metrics "$WORK/$1.metrics" 2>/dev/null
}

# metric NAME METRIC: one of the queue, or one with its labels
metric()
{
	scrape "$1" | awk -v name="hwtimerd_$2" \
		'$1 == name || $1 == name "{queue=\"q\"}" { print $2 }'
}

# commands NAME KIND: number of commands that the daemon has sent
commands()
{
	metric "$1" "commands_total{queue=\"q\",command=\"$2\"}"
}

# ---- Redis ----

redis()
{
	redis-cli -n $DB "$@"
}

as()
{
	local user=$1

	shift
	redis --no-auth-warning --user "$user" --pass "secret-$user" "$@"
}

# produce FUNCTION ARGUMENT...: call it for shard 0, as a producer
produce()
{
	local function=$1

	shift
	as producer fcall "$function" 1 '{q:0}' "$@"
}

# comes ID: whether a timer comes
comes()
{
	is 1 produce hwt_schedule "$1" +300 payload && await has_come "$1"
}

# has_come: the ids and payloads of all entries; has_come ID: whether there is one with that id,
# and "payload". Entries are lines: the entry's id, "id", id, "deadline", deadline, "payload",
# payload
has_come()
{
	redis xrange $DUE - + >$WORK/read
	awk 'NR % 7 == 3 { id = $0 } NR % 7 == 0 { print id, $0 }' $WORK/read | sort >$WORK/come
	if [ $# = 0 ]; then
		xargs <$WORK/come
	else
		is 1 grep -c -x "$1 payload" $WORK/come
	fi
}

# Of what was read last
none_early()
{
	awk 'NR % 7 == 1 { split($0, entry, "-") }
	     NR % 7 == 5 && $0 > entry[1] { early = 1 }
	     END { exit early || !NR }' $WORK/read
}

# The ids of all entries
entries()
{
	redis xrange $DUE - + | awk 'NR % 7 == 1'
}

# ---- checks ----

not()
{
	! "$@"
}

# is TEXT COMMAND...: whether the command prints that
is()
{
	local text=$1

	shift
	[ "$("$@" 2>&1)" = "$text" ]
}

# at_least NUMBER COMMAND...
at_least()
{
	local number=$1

	shift
	[ "$("$@")" -ge "$number" ]
}

# has PATTERN COMMAND...: whether it prints something like that
has()
{
	local pattern=$1

	shift
	"$@" >$WORK/said 2>&1
	grep -q -e "$pattern" $WORK/said
}

# fails STATUS PATTERN COMMAND...: whether it ends with the status, and says something like that.
# What it prints to standard output, it cannot.
fails()
{
	local status=$1 pattern=$2

	shift 2
	"$@" 2>$WORK/said >/dev/full
	[ $? = "$status" ] && grep -q -e "$pattern" $WORK/said
}

# await COMMAND...: wait until it succeeds
await()
{
	local left=$PATIENCE

	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return
		usleep 100000
	done
}

check()
{
	local name="$SECTION: $1"

	shift
	NUMBER=$((NUMBER + 1))
	if "$@"; then
		echo "ok $NUMBER $name"
	else
		echo "not ok $NUMBER $name"
		FAILED=$((FAILED + 1))
		PATIENCE=600
		for file in "$WORK"/*.log "$WORK"/said; do
			[ ! -s "$file" ] || tail -n 5 "$file" | sed "s|^|# $file: |"
		done
	fi
}

main "$@"
