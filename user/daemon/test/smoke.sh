#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Goes once through what hwtimerd does: from a machine without the module to two daemons
# that share a queue, with users of Redis that have the rights of hwtimerd(8) and no others.
# Prints TAP. Runs in a test machine, in the directory of hwtimer.ko and hwtimerd, with
# Redis at its usual place.
#
# Nothing depends on speed: each check waits for what must come. What must not come is
# looked for when something later has come. A timer that is to be moved or cancelled is an
# hour away, as the machine may stand still for a while.

# How often await() looks, at most ten times a second: for minutes, as a loaded machine may take
# that long. After a failure, which others may follow, IMPATIENCE: still longer than anything
# here takes by itself.
PATIENCE=3000
IMPATIENCE=600

WORK=/tmp/smoke
NUMBER=0
FAILED=0

export PATH=$PATH:/usr/bin

main()
{
	echo "TAP version 13"
	mkdir -p $WORK
	hostname smoke
	wrong_usage
	without_module
	insmod hwtimer.ko || exit
	redis-server --bind 127.0.0.1 --save "" --dir $WORK --daemonize yes >/dev/null
	await redis ping >/dev/null
	without_messages
	fifo_for_password
	without_functions
	make_users
	daemon a
	check "the daemon serves all shards" await serves a 4
	timers
	any_bytes
	names_of_others
	rights
	acknowledged
	idle
	two_daemons
	stale_clock
	the_end
	lost_connections
	overwritten_slot
	short_outage
	late_width
	full_redis
	lost_wheels
	no_room
	other_server
	clocks_apart
	nodes_without_addresses
	silent_clients
	check "nothing keeps the module loaded" rmmod hwtimer
	echo "1..$NUMBER"
	[ "$FAILED" = 0 ]
}

# ---- before it runs ----

wrong_usage()
{
	check "a queue without shards is refused" refused serve --queue q
	check "a brace in a name is refused" refused serve --queue 'q}:1'
	check "a width that is no power of two is refused" refused serve --queue q:1:1000
	check "too many shards are refused" refused serve --queue q:16385
	check "a name with a space is refused" refused serve --queue q:1 --name 'a b'
	check "an option without its value is refused" refused serve --queue
	check "serve without a queue is refused" refused serve
	check "an unknown command is refused" refused server
	check "an empty address is refused" refused status --queue q:1 --redis ""
	check "the help that cannot be printed is an error" unprinted --help
	check "so is the version" unprinted --version
	check "so is the help of a command" unprinted serve --help
}

# unprinted ARGUMENT...: whether it fails, and says why, when nothing can be printed
unprinted()
{
	./hwtimerd "$@" 2>$WORK/said >/dev/full
	[ $? = 1 ] && grep -q "standard output: No space" $WORK/said
}

# refused ARGUMENT...: whether hwtimerd ends with status 2, and says why
refused()
{
	./hwtimerd "$@" 2>$WORK/said
	[ $? = 2 ] && grep -q "hwtimerd --help" $WORK/said
}

without_module()
{
	./hwtimerd serve --queue q:1 2>$WORK/said
	check "without the module, the daemon ends" [ $? = 1 ]
	check "it says how to load it" grep -q "modprobe hwtimer" $WORK/said
}

# Whatever is opened gets the lowest free number. That of standard error must not be a
# connection: Redis would get the messages.
without_messages()
{
	local pid

	./hwtimerd serve --queue q:1 2>&- &
	pid=$!
	check "without standard error, messages go nowhere" await messages_go_nowhere $pid
	kill $pid
}

# A shell makes a FIFO of <(), and it is empty when the password is read once more.
fifo_for_password()
{
	local pid

	mkfifo $WORK/fifo
	./hwtimerd serve --queue q:1 --password-file $WORK/fifo 2>$WORK/f &
	pid=$!
	check "a FIFO for the password does not hold up the daemon" \
		await grep -q "no password can be read" $WORK/f
	kill $pid
	check "it ends at SIGTERM" await not grep -q . /proc/$pid/cmdline
}

messages_go_nowhere()
{
	[ "$(readlink /proc/"$1"/fd/2)" = /dev/null ]
}

without_functions()
{
	daemon a
	check "without the functions, it says how to install them" \
		await grep -q "hwtimerd load" $WORK/a
	check "load installs them" ./hwtimerd load
	check "if it cannot say so, that is an error" unprinted load
	check "the daemon then works without being started again" await serves a 4
	check "SIGTERM ends it with status 0" ends TERM a
	redis flushall >/dev/null
}

# The lines of hwtimerd(8), section "RIGHTS"
make_users()
{
	setuser hwtimerd '~{q}*' '~{q:*' -@all +fcall +fcall_ro +role +time +exists \
		+get +set +del +pttl +hget +hmget +hset +hsetnx +hdel +hlen \
		+hexists +hscan +zadd +zrem +zrange +zcard +xadd +xread +xrange \
		+xtrim +xlen +xpending '+xinfo|groups'
	setuser producer '~{q:*' -@all +fcall +fcall_ro +time +exists +hget +hmget \
		+hset +hsetnx +hdel +hlen +hexists +del +zadd +zrem +zrange +xadd
	setuser consumer '~{q:*' -@all +fcall +xreadgroup +xack +xautoclaim \
		'+xgroup|create' '+xinfo|groups' +exists +xdel
	echo secret-hwtimerd >$WORK/password
	# Without a user, nothing is allowed: so all that follows shows that rights suffice.
	redis acl setuser default -@all +acl +flushall +ping +keys +xlen +xrange +get +config \
		+client +monitor >/dev/null
}

setuser()
{
	local name=$1

	shift
	redis acl setuser "$name" on ">secret-$name" "$@" >$WORK/acl
	grep -q OK $WORK/acl || cat $WORK/acl
	AS="--user hwtimerd --password-file $WORK/password"
}

# ---- timers ----

timers()
{
	check "the consumers' group is made" \
		as consumer xgroup create '{q:0}:due' group 0 mkstream
	check "a timer is scheduled" schedules 1 one +300 payload
	check "a batch is scheduled" schedules 3 two +3600000 p2 three 1 p3 four +3600000 p4
	check "a timer is moved" schedules 0 two +200 moved
	check "a timer is cancelled" [ "$(produce hwt_cancel four)" = 1 ]
	check "the three come" await has_due 3
	as consumer xreadgroup group group me count 10 streams '{q:0}:due' '>' >$WORK/read
	check "a timer has come once, with its payload" came_once one payload
	check "the moved one has its last payload" came_once two moved
	check "the one that was due long ago has come" came_once three p3
	check "the cancelled one has not" not grep -q four $WORK/read
	check "none has come before its deadline" none_early
	check "an entry is acknowledged and removed by hwt_ack" \
		[ "$(ack)" = 1 ]
	check "it is gone" [ "$(redis xlen '{q:0}:due')" = 2 ]
	check "no timer is left" [ "$(pending)" = 0 ]
}

schedules()
{
	local wanted=$1

	shift
	[ "$(produce hwt_schedule "$@")" = "$wanted" ]
}

# produce FUNCTION ARGUMENT...: call it for shard 0, as a producer
produce()
{
	local function=$1

	shift
	as producer fcall "$function" 1 '{q:0}' "$@"
}

has_due()
{
	[ "$(redis xlen '{q:0}:due')" = "$1" ]
}

# Entries are lines: the entry's id, "id", id, "deadline", deadline, "payload", payload
came_once()
{
	[ "$(grep -x -A 4 "$1" $WORK/read | tail -n 1)" = "$2" ] &&
		[ "$(grep -c -x "$1" $WORK/read)" = 1 ]
}

none_early()
{
	awk '/^[0-9]+-[0-9]+$/ { split($0, entry, "-") }
	     before == "deadline" && $0 > entry[1] { early = 1 }
	     { before = $0 }
	     END { exit early || !NR }' $WORK/read
}

ack()
{
	as consumer fcall hwt_ack 1 '{q:0}' group "$(grep -m 1 -E '^[0-9]+-[0-9]+$' $WORK/read)"
}

pending()
{
	as producer hlen '{q:0}' | awk '{ print $1 - 1 }'
}

# Ids and payloads may have any bytes; redis-cli takes them from a pipe only.
any_bytes()
{
	# shellcheck disable=SC2016 # that is no variable
	{
		printf '*3\r\n$4\r\nAUTH\r\n$8\r\nproducer\r\n$15\r\nsecret-producer\r\n'
		printf '*7\r\n$5\r\nFCALL\r\n$12\r\nhwt_schedule\r\n$1\r\n1\r\n'
		printf '$5\r\n{q:0}\r\n$6\r\na\0\r\n\377b\r\n$4\r\n+500\r\n$4\r\n\0 \n"\r\n'
	} | redis-cli --pipe >$WORK/pipe 2>&1
	check "a timer with odd bytes comes" await has_due 3
	redis-cli --no-raw --no-auth-warning --user consumer --pass secret-consumer \
		xreadgroup group group me streams '{q:0}:due' '>' >$WORK/read
	check "with all bytes" grep -q -F '"a\x00\r\n\xffb"' $WORK/read
	check "so does its payload" grep -q -F '"\x00 \n\""' $WORK/read
}

# Whoever may write to Redis chooses names, and the terminal must not obey them.
names_of_others()
{
	as_daemon set '{q:9}:lease' "$(printf 'b\033[2J')"
	# shellcheck disable=SC2086 # one word each
	./hwtimerd status --queue q:10 $AS >$WORK/status
	check "status shows a name, and not what a terminal would obey" \
		grep -q -F ' b?[2J' $WORK/status
	as_daemon set '{q:9}:lease' "$(printf 'b\303\234\302\2332J\2332J')"
	# shellcheck disable=SC2086 # one word each
	./hwtimerd status --queue q:10 $AS >$WORK/status
	check "nor the control characters of UTF-8 and of Latin-1" \
		grep -q -F "$(printf ' b\303\234??2J?2J')" $WORK/status
	# shellcheck disable=SC2086 # one word each
	check "what status cannot print is an error" unprinted status --queue q:10 $AS
	as_daemon del '{q:9}:lease'
}

as_daemon()
{
	redis-cli --no-auth-warning --user hwtimerd --pass secret-hwtimerd "$@" >/dev/null
}

# ---- rights ----

rights()
{
	check "a producer cannot read what is due" \
		denied producer xreadgroup group group me streams '{q:0}:due' '>'
	check "a producer cannot schedule in another queue" \
		denied producer fcall hwt_schedule 1 '{other:0}' id 1 payload
	check "a consumer cannot schedule" \
		denied consumer fcall hwt_schedule 1 '{q:0}' id +1000000 payload
	check "the daemon cannot do anything else" denied hwtimerd flushall
	check "the daemon lacked no right" not grep -q NOPERM $WORK/a
	check "the daemon's metrics lacked none" not grep -q NOPERM $WORK/a
}

denied()
{
	as "$@" >$WORK/said 2>&1
	grep -q "NOPERM\|No permissions\|can't run this command\|no permissions" $WORK/said
}

# ---- what is acknowledged ----

# Beside hwt_ack, there is XACK, and that does not remove anything.
acknowledged()
{
	local before

	check "a timer comes for two groups" makes_two_groups
	acknowledge group
	before=$(metric 'commands_total{queue="q",command="trim"}')
	check "the daemon looks for what is acknowledged" await trims_after "$before"
	check "it removes nothing that a group has not acknowledged" has_due 4
	as consumer xreadgroup group slow me streams '{q:0}:due' '>' >$WORK/read
	acknowledge slow
	check "it removes what every group has acknowledged" await has_due 0
	check "metrics count that" await counts 'trimmed_total{queue="q"}' 4
	check "the daemon lacks no right for it" not grep -q acknowledged $WORK/a
	lacks_right
	no_answer
	many
}

lacks_right()
{
	redis acl setuser hwtimerd -xpending >/dev/null
	check "without the right for that, timers come" comes_for_both six
	check "the daemon says what it cannot do, and what is missing" \
		await grep -q "acknowledged cannot be removed: .*hwtimerd(8)" $WORK/a
	redis acl setuser hwtimerd +xpending >/dev/null
	acknowledge group
	acknowledge slow
	check "with the right, it removes what is acknowledged" await has_due 0
	check "it has said that once" [ "$(grep -c acknowledged $WORK/a)" = 1 ]
}

# hwt_trim takes longer than the daemon waits for answers.
no_answer()
{
	local wait='while keys[1] == "{q:0}" and now_us() < stop do end'

	redis acl setuser default '+function|load' >/dev/null
	sed "/^local function hwt_trim/a local stop = now_us() + 3000000 $wait" hwtimer.lua \
		>$WORK/slow.lua
	check "functions are replaced" await loads $WORK/slow.lua
	check "a timer comes" comes_for_both seven
	check "a call without an answer ends the connection" \
		await grep -q "no answer for" $WORK/a
	await loads hwtimer.lua
	redis acl setuser default '-function|load' >/dev/null
	acknowledge group
	acknowledge slow
	check "later, the daemon removes what is acknowledged" await has_due 0
}

loads()
{
	redis -x function load replace <"$1" | grep -q -x hwtimer
}

# The daemon does not wait for the next renewal of its lease while there is much to remove.
# Redis tells in which order the commands come. A slow machine may renew in between, too, but
# not each time.
many()
{
	local tries=0

	while [ $tries -lt 5 ]; do
		tries=$((tries + 1))
		MANY=$((MANY + 10000))
		removes_many && break
	done
	check "10,000 timers come, and are removed when they are acknowledged" has_due 0
	check "that does not wait for renewals of the lease" [ "$MOST" -ge 3 ]
}

# Number of timers that many() has scheduled
MANY=0

# Schedules 10,000 timers, and puts into MOST how often the daemon has removed some of them
# between two renewals. Returns whether that was often, or something else went wrong.
removes_many()
{
	local i=0 monitor

	MOST=0
	while [ $i -lt 10000 ]; do
		# shellcheck disable=SC2046 # many words
		produce hwt_schedule $(seq $i $((i + 999)) | sed 's/$/ 1 p/') >/dev/null
		i=$((i + 1000))
	done
	await has_due 10000 || return 0
	as consumer xreadgroup group group me streams '{q:0}:due' '>' >/dev/null
	as consumer xreadgroup group slow me streams '{q:0}:due' '>' >/dev/null
	acknowledge slow
	redis monitor >$WORK/monitor &
	monitor=$!
	await [ -s $WORK/monitor ]
	acknowledge group
	await has_due 0 || return 0
	kill $monitor
	MOST=$(most_between_renewals)
	[ "$MOST" -ge 3 ]
}

most_between_renewals()
{
	awk '/"hwt_lease" "1" "[{]q:0[}]"/ { number = 0 }
	     /"hwt_trim" "1" "[{]q:0[}]"/ && ++number > most { most = number }
	     END { print most + 0 }' $WORK/monitor
}

# comes_for_both ID: whether a timer comes, and both groups read it
comes_for_both()
{
	schedules 1 "$1" 1 payload && await has_due 1 &&
		as consumer xreadgroup group group me streams '{q:0}:due' '>' >/dev/null &&
		as consumer xreadgroup group slow me streams '{q:0}:due' '>' >/dev/null
}

makes_two_groups()
{
	as consumer xgroup create '{q:0}:due' slow 0 >/dev/null
	schedules 1 five 1 payload && await has_due 4 &&
		as consumer xreadgroup group group me streams '{q:0}:due' '>' >/dev/null
}

# acknowledge GROUP: all that is in the stream
acknowledge()
{
	# shellcheck disable=SC2046 # many words
	as consumer xack '{q:0}:due' "$1" $(entries) >/dev/null
}

# The ids of all entries
entries()
{
	redis xrange '{q:0}:due' - + | grep -x -E '[0-9]{13}-[0-9]+'
}

# Two commands are one attempt, and of the first one we cannot tell when it began.
trims_after()
{
	[ "$(metric 'commands_total{queue="q",command="trim"}')" -ge $(($1 + 4)) ]
}

# ---- idle ----

idle()
{
	# shellcheck disable=SC2046 # many words
	schedules 300 $(seq 300 | sed 's/.*/far& +3600000 p/')
	check "leases are renewed" await renewed "$(renewals)"
	check "with timers an hour away, nothing else is sent" sends_nothing
	check "metrics count the timers that fired" counts 'fired_total{queue="q"}' $((MANY + 7))
	check "metrics count pending timers" await counts 'timers_pending{queue="q"}' 300
	check "metrics tell the lag of consumers" \
		[ "$(metric 'group_lag{shard="{q:0}",group="group"}')" = 0 ]
	check "metrics end as OpenMetrics does" [ "$(metrics | tail -n 1)" = "# EOF" ]
	as consumer xgroup create '{q:1}:due' "$(printf 'odd\001')" 0 mkstream >/dev/null
	as consumer xgroup create '{q:1}:due' "$(printf 'odd\002')" 0 >/dev/null
	check "groups whose names look alike are no reason to ..." \
		await has_metric 'group_lag{shard="{q:1}",group="odd?"}'
	check "... have the same labels twice" \
		[ -z "$(metrics | sed -n 's/^\([^#].*\) .*/\1/p' | sort | uniq -d)" ]
	# shellcheck disable=SC2154 # daemon() sets it
	kill -STOP "$PID_a"
	check "status does not wait for ever for a daemon that stands still" \
		not ./hwtimerd status --lease 200 --metrics $WORK/a.metrics
	kill -CONT "$PID_a"
}

has_metric()
{
	metrics | grep -q -F "hwtimerd_$1 "
}

# metrics [DAEMON]
metrics()
{
	./hwtimerd status --metrics $WORK/"${1:-a}".metrics
}

# metric NAME [DAEMON]
metric()
{
	metrics "$2" | grep -F "hwtimerd_$1 " | sed 's/.* //'
}

# counts NAME NUMBER: whether a metric is that number. It may be less if the machine has stood
# still: what Redis did is not counted if the answer was lost with a lease or a connection.
counts()
{
	local value

	value=$(metric "$1")
	[ "$value" = "$2" ] || { [ "$value" -lt "$2" ] && troubles | grep -q -v ' 0$'; }
}

# Commands other than heartbeats and those of the metrics themselves
commands()
{
	metrics | sed -n 's/^hwtimerd_commands_total{.*command="\(.*\)"} /\1 /p' |
		grep -v "^lease\|^join\|^metrics"
}

# Whether it sends nothing else while leases are renewed. If the machine stands still for
# longer than a lease, the daemon begins anew; that does not count. It may also do so some time
# after it has lost a lease, so a trouble counts from before the daemon has settled.
sends_nothing()
{
	local before trouble tries=0

	while [ $tries -lt 10 ]; do
		trouble=$(troubles)
		await settled || return
		before=$(commands)
		await renewed "$(renewals)" || return
		[ "$(commands)" != "$before" ] || return 0
		[ "$(troubles)" != "$trouble" ] || return 1
		tries=$((tries + 1))
	done
	return 1
}

# Leases and connections that were lost
troubles()
{
	metrics | grep -E '^hwtimerd_(leases_lost|reconnects)_total'
}

# Whether it serves all shards, and has sent nothing else while leases were renewed: what it
# does with a lease that it has got again, it does not later than that.
settled()
{
	local before

	before=$(commands)
	await serves a 4 && await listens && await renewed "$(renewals)" &&
		[ "$(commands)" = "$before" ]
}

# renewals [DAEMON]: number of times that it has asked for leases
renewals()
{
	metric 'commands_total{queue="q",command="lease"}' "$1"
}

# renewed BEFORE [DAEMON]: whether it has asked three times since, for each shard
renewed()
{
	[ "$(renewals "$2")" -ge $(($1 + 12)) ]
}

# ---- two daemons ----

two_daemons()
{
	daemon b --keep
	check "another daemon gets shards" await not serves b 0
	check "together they serve all of them" await together 4
	check "SIGTERM ends the first one with status 0" ends TERM a
	check "the other one serves all shards" await serves b 4
	keeps
	ends KILL b
	daemon a
	check "so does a new one, after the second was killed" await serves a 4
	check "it removes what was acknowledged before" await has_due 0
}

# A daemon with --keep serves all shards.
keeps()
{
	check "a timer comes" comes_for_both kept
	acknowledge group
	acknowledge slow
	check "the lease is renewed" await renewed "$(renewals b)" b
	check "with --keep, what is acknowledged stays" has_due 1
}

# serves NAME NUMBER: whether the daemon has the leases of that many shards
serves()
{
	[ "$(leases | grep -c -x "$1")" = "$2" ]
}

together()
{
	[ "$(leases | grep -c -x 'a\|b')" = "$1" ]
}

leases()
{
	local shard

	for shard in 0 1 2 3; do
		redis get "{q:$shard}:lease"
	done
}

# ---- clocks ----

# The machine's clock is Redis's, too; so what moves is both.
stale_clock()
{
	schedules 1 tomorrow +86400000 payload
	schedules 1 soon +100 payload
	check "a timer comes before the clock is moved" await has_due 1
	date -s "@$(($(date +%s) + 86400))" >/dev/null
	check "those of tomorrow come when the clock is moved there" await has_due 302
}

the_end()
{
	check "SIGTERM ends the daemon with status 0" ends TERM a
	check "its leases have ended with it" serves a 0
	check "its membership has, too" [ -z "$(redis keys '{q}:daemons')" ]
	check "its socket is gone" not [ -e $WORK/a.metrics ]
	check "it complained of nothing" not grep -v "serving as\|clocks\|lease" $WORK/a
}

# ---- connections that die without a word ----

lost_connections()
{
	redis flushall >/dev/null
	./relay 6400 6379 >>$WORK/relay &
	RELAY=$!
	daemon c --redis 127.0.0.1:6400
	check "a daemon serves through a relay" await serves c 4
	as consumer xgroup create '{q:0}:due' group 0 mkstream >/dev/null
	unheard
	older_functions
	check "SIGTERM ends the daemon with status 0" ends TERM c
	unreleased
	kill $RELAY
}

# The daemon waits for news on connections that are lost.
unheard()
{
	local before

	await listens
	before=$(listen_commands)
	loses_connections USR1
	check "a timer comes that is scheduled after the connection for news was lost" \
		comes near
	check "it has not come before its deadline" none_early
	check "the daemon waits on another connection" await listened "$before"
	check "it says what was wrong" grep -q "died without a word" $WORK/c
	check "the other connection tells of news" tells_of_news
	check "each timer has come once" [ "$(entries | wc -l)" = 2 ]
}

# comes ID: whether a timer comes
comes()
{
	schedules 1 "$1" +300 payload && await reads "$1"
}

reads()
{
	redis xrange '{q:0}:due' - + >$WORK/read
	came_once "$1" payload
}

# Connections of Redis that wait at the streams of the four shards
listens()
{
	[ "$(redis client list | grep -c "flags=b.* cmd=xread ")" -ge 5 ]
}

# loses_connections SIGNAL
loses_connections()
{
	: >$WORK/relay
	kill -"$1" $RELAY
	await grep -q lost $WORK/relay
}

# After news, the daemon sends a further XREAD.
tells_of_news()
{
	local before

	before=$(listen_commands)
	comes later && await listened "$before"
}

listen_commands()
{
	metric 'commands_total{queue="q",command="listen"}' c
}

listened()
{
	[ "$(listen_commands)" -gt "$1" ]
}

# Those of version 1.0.0 took two arguments, and no cursor.
older_functions()
{
	local refuse='if #args > 2 then return bad_argument("daemon ttl_ms are needed") end'

	redis acl setuser default '+function|load' >/dev/null
	sed "/^local function hwt_lease/a $refuse" hwtimer.lua >$WORK/older.lua
	check "functions are replaced by older ones" await loads $WORK/older.lua
	check "leases are renewed" await renewed "$(renewals c)" c
	check "a timer comes" comes older
	check "nothing was wrong with that" not grep -q HWTARG $WORK/c
	redis acl setuser default '-function|load' >/dev/null
}

# Redis does not get to know of releases, because these connections are lost. The daemon
# could wait for answers as long as its lease is.
unreleased()
{
	LEASE=60000
	daemon c --redis 127.0.0.1:6400
	LEASE=
	check "a daemon with a long lease serves" await serves c 4
	await listens
	loses_connections USR2
	check "SIGTERM ends it with status 0, though releases get no answer" ends TERM c
	check "it has left the queue before that" [ -z "$(redis keys '{q}:daemons')" ]
}

# ---- what may be wrong with Redis ----

# Somebody else has overwritten a slot with two timers.
overwritten_slot()
{
	local key slot

	redis flushall >/dev/null
	as consumer xgroup create '{q:0}:due' group 0 mkstream >/dev/null
	slot=$((($(as hwtimerd time | head -n 1) + 3) * 1000 / 1024 * 1024))
	key="{q:0}:$slot"
	schedules 2 inside $slot payload last $((slot + 1023)) payload
	schedules 1 after $((slot + 1024)) payload
	as_daemon set "$key" theirs
	daemon b
	check "the timers of an overwritten slot come" await reads inside
	check "both of them" await reads last
	check "so does one of the next slot" await reads after
	check "none has come before its deadline" none_early
	check "each has come once" [ "$(entries | wc -l)" = 3 ]
	check "the daemon names the key" grep -q -F "overwritten the key $key of" $WORK/b
	as producer fcall hwt_schedule 1 '{q:0}' new $slot payload >$WORK/said 2>&1
	check "so does Redis, when a timer is scheduled there" grep -q -F "$key" $WORK/said
	check "a timer comes after all slots were read again" comes_anew
	check "the daemon has named the key once" [ "$(grep -c -F "$key" $WORK/b)" = 1 ]
	check "what they have written is there" [ "$(redis get "$key")" = theirs ]
	as_daemon del "$key"
	check "with the key deleted, a timer comes that is scheduled there" \
		schedules_and_reads new $slot
	check "SIGTERM ends the daemon with status 0" ends TERM b
}

# Without its connections, the daemon reads all slots again.
comes_anew()
{
	local before

	before=$(metric 'reconnects_total{queue="q"}' b)
	redis client kill user hwtimerd >/dev/null
	await reconnected "$before" && comes anew
}

reconnected()
{
	[ "$(metric 'reconnects_total{queue="q"}' b)" -ge $(($1 + 5)) ]
}

# schedules_and_reads ID DEADLINE
schedules_and_reads()
{
	schedules 1 "$1" "$2" payload && await reads "$1"
}

# A lease is renewed every 20 minutes, and after an outage.
short_outage()
{
	local before

	redis flushall >/dev/null
	LEASE=3600000
	daemon b
	LEASE=
	check "a daemon with a long lease serves" await serves b 4
	before=$(renewals b)
	check "a timer comes after its connections were lost" comes_anew
	check "leases are renewed when it is connected again" await asked_again "$before"
	check "SIGTERM ends the daemon with status 0" ends TERM b
}

asked_again()
{
	[ "$(renewals b)" -ge $(($1 + 4)) ]
}

# The width of --queue waits for a right, and timers do not wait for the width.
late_width()
{
	local pid

	redis flushall >/dev/null
	redis acl setuser hwtimerd -zcard >/dev/null
	# shellcheck disable=SC2086 # one word each
	./hwtimerd serve --queue q:1:64 --name f $AS 2>$WORK/f &
	pid=$!
	check "a daemon that cannot ask for the width says so" \
		await grep -q "width.*hwtimerd(8)" $WORK/f
	check "a timer comes nevertheless" comes early
	redis acl setuser hwtimerd +zcard >/dev/null
	redis client kill user hwtimerd >/dev/null
	check "with the right, the width is set when it is connected again" await has_width 64
	check "the connection has not ended because of that" [ "$(grep -c port $WORK/f)" -le 2 ]
	kill $pid
	wait $pid
}

has_width()
{
	[ "$(as producer hget '{q:0}' '' | cut -d ' ' -f 2)" = "$1" ]
}

# Redis is full, but daemons can still hand over shards.
full_redis()
{
	redis flushall >/dev/null
	daemon b
	check "a daemon serves all shards" await serves b 4
	redis config set maxmemory 1 >/dev/null
	daemon d
	check "another one gets shards though Redis is full" await not serves d 0
	check "together they serve all of them" await has_all b d
	redis config set maxmemory 0 >/dev/null
	check "neither has complained" not grep -q OOM $WORK/b $WORK/d
	check "SIGTERM ends one daemon with status 0" ends TERM b
	check "SIGTERM ends the other one with status 0" ends TERM d
}

has_all()
{
	[ "$(leases | grep -c -x "$1\|$2")" = 4 ]
}

# ---- instances of the module that fail ----

lost_wheels()
{
	redis flushall >/dev/null
	daemon d
	check "a daemon serves all shards" await serves d 4
	as consumer xgroup create '{q:0}:due' group 0 mkstream >/dev/null
	schedules 1 armed +1000 payload
	# shellcheck disable=SC2154 # daemon() sets it
	./stop_wheels "$PID_d"
	check "a timer comes although its wheel has been stopped" await reads armed
	./stop_wheels "$PID_d"
	check "a timer comes after wheels were stopped again" comes again
	check "none has come before its deadline" none_early
	check "each has come once" [ "$(entries | wc -l)" = 2 ]
	check "the daemon has said so once for each shard" \
		[ "$(grep -c "cannot be read" $WORK/d)" = 4 ]
	check "SIGTERM ends the daemon with status 0" ends TERM d
}

# ---- a module without room ----

# A timer expires here and is moved in Redis, and the turn that is on its way at that moment
# tells of the move. When the next turn finds that the timer is early, it has to be scheduled
# anew, and another program has just taken the last room. So the timer is in no slot and no
# news that the daemon has yet to read.
no_room()
{
	local crowd

	redis flushall >/dev/null
	rmmod hwtimer
	insmod hwtimer.ko default_timers=2
	chmod 666 /dev/hwtimer
	chmod 755 /hwtimer /hwtimer/hwtimerd $WORK
	mkfifo $WORK/commands
	# A client that is connected already
	redis-cli --no-auth-warning --user producer --pass secret-producer \
		<$WORK/commands >/dev/null 2>&1 &
	exec 8>$WORK/commands
	./hwtimerd serve --queue q:1 --name g --lease 60000 \
		--ahead 60000 --user hwtimerd --password-file $WORK/password 2>$WORK/f &
	# shellcheck disable=SC2034 # ends() reads it
	PID_g=$!
	check "a daemon serves a shard" await serves g 1
	as consumer xgroup create '{q:0}:due' group 0 mkstream >/dev/null
	schedules 1 first +3000 payload
	schedules 1 moved +4500 payload
	sleep 1
	./crowd "$PID_g" >$WORK/crowd &
	crowd=$!
	check "another program takes all other timers" await grep -q full $WORK/crowd
	killall -STOP redis-server
	echo "fcall hwt_schedule 1 {q:0} moved +15000 payload" >&8
	sleep 5
	killall -CONT redis-server
	check "the first timer comes" await reads first
	check "the daemon says that there is no room" await grep -q "no room" $WORK/f
	kill $crowd
	check "the one that was moved comes when there is room" await reads moved
	many_without_room
	check "none has come before its deadline" none_early
	exec 8>&-
	check "SIGTERM ends the daemon with status 0" ends TERM g
	rmmod hwtimer
	insmod hwtimer.ko
}

# Each shard has one timer too many, and tries again five times a second. They are so far away
# that none is due before the daemon has come to it.
many_without_room()
{
	local shard=1 id pid

	while [ $shard -lt 64 ]; do
		for id in a b c; do
			as producer fcall hwt_schedule 1 "{q:$shard}" $id +3000000 \
				payload >/dev/null
		done
		shard=$((shard + 1))
	done
	./hwtimerd serve --queue q:64 --name f --serve-always --ahead 3600000 \
		--user hwtimerd --password-file $WORK/password 2>$WORK/e &
	pid=$!
	check "a daemon says that it leaves out messages, if there are too many" \
		await grep -q "messages were left out" $WORK/e
	check "it leaves them out" [ "$(wc -l <$WORK/e)" -le 500 ]
	kill $pid
}

# ---- two servers behind one name ----

# A connection that ends is opened anew to the server at which the daemon's main connections
# are. The other server gets the functions late, so those are all at the first one.
other_server()
{
	redis flushall >/dev/null
	mkdir -p $WORK/other
	printf '127.0.0.1 redis\n127.0.0.2 redis\n' >/etc/hosts
	redis-server --bind 127.0.0.2 --save "" --dir $WORK/other --daemonize yes >/dev/null
	await redis -h 127.0.0.2 ping >/dev/null
	copy_users
	daemon e --redis redis:6379
	check "a daemon serves at a name with two servers" await serves e 4
	await listens
	redis -h 127.0.0.2 -x function load <hwtimer.lua >/dev/null
	end_listeners
	check "it waits for news there after those connections have ended" await listens
	as consumer xgroup create '{q:0}:due' group 0 mkstream >/dev/null
	check "a timer comes" comes named
	check "SIGTERM ends the daemon with status 0" ends TERM e
	redis -h 127.0.0.2 shutdown
}

# A server whose clock is 100 s ahead, so that no shard can be served
clocks_apart()
{
	local pid

	printf '%-63s\n' 100000 >$WORK/clock
	mkdir -p $WORK/apart
	env CLOCK_SHIFT=$WORK/clock LD_PRELOAD=/hwtimer/clock_shift.so redis-server \
		--bind 127.0.0.3 --save "" --dir $WORK/apart --daemonize yes >/dev/null
	await redis -h 127.0.0.3 ping >/dev/null
	redis -h 127.0.0.3 -x function load <hwtimer.lua >/dev/null
	./hwtimerd serve --redis 127.0.0.3 --queue q:4 --lease 300 2>$WORK/f &
	pid=$!
	check "a daemon says for each shard that the clocks are apart" \
		await says_of_clocks -ge 4
	sleep 5
	check "and says so once" says_of_clocks -le 4
	kill $pid
	redis -h 127.0.0.3 shutdown
}

# Two nodes of a cluster that redirect to a port, without a host
nodes_without_addresses()
{
	local port

	mkdir -p $WORK/nodes
	for port in 7101 7102; do
		redis-server --bind 127.0.0.1 --port $port --save "" --dir $WORK/nodes \
			--cluster-enabled yes --cluster-config-file $port.conf \
			--cluster-preferred-endpoint-type unknown-endpoint \
			--daemonize yes >/dev/null
		await redis -p $port ping >/dev/null
		redis -p $port -x function load <hwtimer.lua >/dev/null
	done
	redis -p 7101 cluster addslotsrange 0 8191 >/dev/null
	redis -p 7102 cluster addslotsrange 8192 16383 >/dev/null
	redis -p 7101 cluster meet 127.0.0.1 7102 >/dev/null
	await cluster_is_ok 7101
	await cluster_is_ok 7102
	check "a node names no host" redirects
	./hwtimerd status --redis 127.0.0.1:7101 --queue q:4 >$WORK/status
	check "status asks the other node" [ "$(grep -c nobody $WORK/status)" = 4 ]
	redis -p 7101 shutdown
	redis -p 7102 shutdown
}

# The keys of the four shards are on both nodes.
redirects()
{
	redis -p 7101 get '{q:0}' 2>&1 | grep -q 'MOVED .* :7102' ||
		redis -p 7101 get '{q:1}' 2>&1 | grep -q 'MOVED .* :7102'
}

cluster_is_ok()
{
	redis -p "$1" cluster info | grep -q cluster_state:ok
}

says_of_clocks()
{
	local count

	count=$(grep -c "our clock is .* behind that of Redis" $WORK/f)
	test "$count" "$@"
}

# The other server has the same users.
copy_users()
{
	redis acl list | sed 's/^user/acl setuser/' | grep -v "setuser default" |
		redis -h 127.0.0.2 >/dev/null
}

end_listeners()
{
	local id

	redis acl setuser default '+client|kill' >/dev/null
	for id in $(redis client list | sed -n '/flags=b.* cmd=xread /s/^id=\([0-9]*\) .*/\1/p'); do
		redis client kill id "$id" >/dev/null
	done
}

# ---- clients of the metrics that say nothing ----

silent_clients()
{
	local before

	redis flushall >/dev/null
	# Fewer files than clients that the daemon would serve at a time
	FILES=40
	daemon f
	FILES=
	check "a daemon with few files serves" await serves f 4
	as consumer xgroup create '{q:0}:due' group 0 mkstream >/dev/null
	check "clients that say nothing are shown out" ./hold $WORK/f.metrics 60
	check "the daemon says that it had no files for them" grep -q "Too many open files" $WORK/f
	check "it says so now and then only" [ "$(wc -l <$WORK/f)" -lt 50 ]
	check "a timer comes" comes crowd
	check "metrics are served" [ "$(metric 'fired_total{queue="q"}' f)" = 1 ]
	check "SIGTERM ends the daemon with status 0" ends TERM f

	daemon f
	await serves f 4
	before=$(files)
	rm -f $WORK/held
	{
		./hold $WORK/f.metrics 100
		echo $? >$WORK/held
	} &
	check "at most 32 clients are served at a time" [ "$(most_files)" -le $((before + 33)) ]
	check "all of them are shown out" grep -q -x 0 $WORK/held
	check "metrics are served" [ "$(metric 'fired_total{queue="q"}' f)" = 0 ]
	check "SIGTERM ends the daemon with status 0" ends TERM f
}

# Number of files that the daemon has open
files()
{
	# shellcheck disable=SC2154 # daemon() sets it
	find /proc/"$PID_f"/fd -type l | wc -l
}

# The most that were open at a time while there were clients
most_files()
{
	local most=0 now

	until [ -s $WORK/held ]; do
		now=$(files)
		[ "$now" -le "$most" ] || most=$now
		usleep 20000
	done
	echo "$most"
}

# ---- parts ----

daemon()
{
	# shellcheck disable=SC2086 # several words
	(
		${FILES:+ulimit -n $FILES}
		exec ./hwtimerd serve --queue q:4 --name "$@" --lease ${LEASE:-2000} $AS \
			--metrics $WORK/"$1".metrics 2>$WORK/"$1"
	) &
	eval "PID_$1=$!"
}

# ends SIGNAL NAME: whether the daemon ends with status 0
ends()
{
	local pid

	eval "pid=\$PID_$2"
	kill -"$1" "$pid"
	wait "$pid"
}

redis()
{
	redis-cli "$@"
}

as()
{
	local user=$1

	shift
	redis-cli --no-auth-warning --user "$user" --pass "secret-$user" "$@"
}

not()
{
	! "$@"
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
	local name=$1

	shift
	NUMBER=$((NUMBER + 1))
	if "$@"; then
		echo "ok $NUMBER $name"
	else
		echo "not ok $NUMBER $name"
		FAILED=$((FAILED + 1))
		PATIENCE=$IMPATIENCE
		for file in "$WORK"/[a-f] "$WORK"/said; do
			[ ! -s "$file" ] || tail -n 5 "$file" | sed "s|^|# $file: |"
		done
	fi
}

main
