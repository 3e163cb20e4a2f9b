#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures hwtimerd and its rivals, each with a Redis server of its own on this machine,
# and prints one table. The Makefile calls this script for make bench-redis.
#
#	usage: user/daemon/bench/bench.sh [OPTION...]
#
#	--quick			fewer timers, one repetition
#	--reps NUMBER		number of repetitions (default 3)
#	--only NUMBER		run this repetition only and keep the results of the others
#	--places "NAME..."	of host, split, uml (default: all)
#	--no-bullmq		leave BullMQ out, which npm fetches
#	--check			no figures: TAP, whether each system delivers each timer
#				exactly once, and none early
#	--fetch			only fetch BullMQ and its client with npm, and print where
#				they are; nothing if that is not possible
#
# host is this machine without the module: the rivals, and what hwtimerd's functions cost
# Redis. The daemon needs /dev/hwtimer, so it runs in User-Mode Linux: in the place split
# alone there, with Redis and its clients on this machine; in the place uml with all of
# them, and a rival beside it. split needs root, for a network between the two.
# Documentation/benchmark.md tells what is measured, and what distorts it.
#
# build/bench-redis/results keeps all results, one JSON object per line;
# user/daemon/bench/report.py makes build/bench-redis.txt and .json from them.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../../../test/vm/lib.sh"

HERE=user/daemon/bench
OUT=$BUILD_DIR/bench-redis
RESULTS=$OUT/results
DRIVE=$OUT/redis-drive
SERVER=$OUT/redis-server
FUNCTIONS=user/daemon/functions/hwtimer.lua

REPS=3
ONLY=
PLACES=(host split uml)
BULLMQ=1
CHECK=0
FETCH=0
QUICK=0

# Sizes; --quick divides them
MANY=1000000
SOME=300000
FEW=100000
SECONDS_OF_LATENESS=10
SECONDS_OF_IDLE=10

# Rates that a system may try until it keeps up with one
RATES="10000 5000 2000 1000 500"
# A system keeps up if its last timer comes so soon after its deadline, in ms.
BEHIND=1000

main()
{
	local rep place

	parse_arguments "$@"
	cd "$REPO_DIR"
	if [ "$FETCH" = 1 ]; then
		may_have_bullmq
		prepare_bullmq
		[ "$BULLMQ" = 0 ] || echo "$BULLMQ_DIR/node_modules"
		return
	fi
	prepare
	if [ "$CHECK" = 1 ]; then
		check_all
		return
	fi
	on_exit tell_of_failure
	[ -n "$ONLY" ] || rm -rf "$RESULTS"
	mkdir -p "$RESULTS"
	! places_have host || measure_functions_alone
	for rep in ${ONLY:-$(seq "$REPS")}; do
		for place in "${PLACES[@]}"; do
			[ -n "$place" ] || continue
			measure "$place" "$rep"
		done
	done
	python3 "$HERE/report.py" "$RESULTS" "$BUILD_DIR/bench-redis"
}

parse_arguments()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--quick) QUICK=1; REPS=1; shift; continue ;;
		--no-bullmq) BULLMQ=0; shift; continue ;;
		--check) CHECK=1; shift; continue ;;
		--fetch) FETCH=1; CHECK=1; shift; continue ;;
		--reps) REPS=${2-} ;;
		--only) ONLY=${2-} ;;
		--places) read -r -a PLACES <<<"${2-}" ;;
		*) die "$HERE/bench.sh: no such option: $1" ;;
		esac
		[ $# -ge 2 ] || die "$HERE/bench.sh: $1 needs a value"
		shift 2
	done
	[ "$QUICK" = 0 ] || {
		say "the bounds are for full sizes: --quick shows only that all of it works"
		MANY=100000 SOME=50000 FEW=20000
		SECONDS_OF_LATENESS=3 SECONDS_OF_IDLE=3
	}
}

# Debian's package redis-server would start a server of its own; its program is also
# redis-check-rdb, under another name.
prepare()
{
	need_packages make python3 libhiredis-dev redis-tools
	make --no-print-directory -C "$HERE/drive" OUT="$OUT" >&2
	cp /usr/bin/redis-check-rdb "$SERVER"
	may_have_bullmq
	prepare_bullmq
	if places_have split && [ "$(id -u)" -ne 0 ]; then
		[ "$CHECK" = 1 ] || say "split is left out: it needs root"
		PLACES=("${PLACES[@]/split/}")
	fi
	if places_have uml || places_have split; then
		prepare_guest
	fi
}

places_have()
{
	[[ " ${PLACES[*]} " == *" $1 "* ]]
}

# ---- servers of this machine ----

# The running server: its process, directory and port
SERVER_PID=
SERVER_DIR=
PORT=
ADDRESSES=127.0.0.1

start_server()
{
	SERVER_DIR=$(mktemp -d)
	PORT=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	# shellcheck disable=SC2086 # one word each
	"$SERVER" --port "$PORT" --bind $ADDRESSES --save '' --appendonly no \
		--protected-mode no --dir "$SERVER_DIR" >"$SERVER_DIR/log" 2>&1 &
	SERVER_PID=$!
	on_exit stop_server
	until redis-cli -p "$PORT" ping >/dev/null 2>&1; do
		kill -0 "$SERVER_PID" || die "Redis does not start: $(<"$SERVER_DIR/log")"
		sleep 0.05
	done
}

stop_server()
{
	[ -n "$SERVER_PID" ] || return 0
	kill -KILL "$SERVER_PID" 2>/dev/null
	wait "$SERVER_PID" 2>/dev/null || true
	rm -rf "$SERVER_DIR"
	SERVER_PID=
}

load_functions()
{
	redis-cli -p "$PORT" -x FUNCTION LOAD REPLACE <"$FUNCTIONS" >/dev/null
}

# with_server COMMAND...: runs a command beside a server without data, with its --port
with_server()
{
	local status=0

	start_server
	load_functions
	"$@" --port "$PORT" || status=$?
	stop_server
	return "$status"
}

# ---- this machine ----

# File of the results of the running measurement
PART=

measure()
{
	local start=$SECONDS

	say "repetition $2 of $REPS, $1"
	PART=$RESULTS/$1-$2.part
	"measure_$1" "$2" >"$PART"
	mv "$PART" "$RESULTS/$1-$2"
	PART=
	say "repetition $2 of $REPS, $1: $((SECONDS - start)) s"
}

# shellcheck disable=SC2317 # called by on_exit
tell_of_failure()
{
	[ -n "$PART" ] || return 0
	say "failed; the end of $PART:"
	tail -n 3 "$PART" >&2
}

measure_host()
{
	local rep=$1

	measure_functions "$rep"
	measure_pollers "$rep"
	[ "$BULLMQ" = 0 ] || measure_bullmq "$rep"
}

# The functions beside Redis's own commands; the report prints the lines as they are
measure_functions_alone()
{
	say "the functions beside Redis's own commands"
	"$HERE/redis.sh" "$MANY" "$REPS" >"$RESULTS/functions.part"
	mv "$RESULTS/functions.part" "$RESULTS/functions"
}

# What does not need the daemon
measure_functions()
{
	drive_on_host "$1" hwtimerd --measure schedule --timers "$SOME" --batch 1
	drive_on_host "$1" hwtimerd --measure schedule --timers "$SOME"
	drive_on_host "$1" hwtimerd --measure memory --timers "$MANY"
}

measure_pollers()
{
	local rep=$1 period variant

	drive_on_host "$rep" poller --measure schedule --timers "$SOME" --batch 1
	drive_on_host "$rep" poller --measure schedule --timers "$SOME"
	drive_on_host "$rep" poller --measure memory --timers "$MANY"
	for period in 10 1; do
		for system in poller stream-poller; do
			variant="every $period ms"
			drive_on_host "$rep" "$system" --variant "$variant" \
				--period "$period" --measure burst --timers "$FEW"
			drive_on_host "$rep" "$system" --variant "$variant" \
				--period "$period" --measure idle \
				--timers "$MANY" --seconds "$SECONDS_OF_IDLE"
			lateness drive_on_host "$rep" "$system" \
				--variant "$variant" --period "$period"
		done
	done
}

# drive_on_host REP SYSTEM OPTION...
drive_on_host()
{
	local rep=$1 system=$2

	shift 2
	with_server "$DRIVE" --where host --rep "$rep" --system "$system" "$@"
}

# lateness COMMAND...: runs COMMAND at falling rates until it keeps up with one, and
# prints the results of that one. Not in a subshell, which would run our exit commands.
lateness()
{
	local rate behind results=$OUT/lateness

	for rate in $RATES; do
		"$@" --measure lateness --rate "$rate" \
			--timers $((rate * SECONDS_OF_LATENESS)) >"$results"
		behind=$(sed -n 's/.*"behind", *"value": *\(-\?[0-9]*\).*/\1/p' \
			"$results")
		[ "$behind" -ge "$BEHIND" ] || break
		say "$* fell $behind ms behind at $rate timers a second"
	done
	cat "$results"
}

# ---- BullMQ ----

# bullmq/package.json has its version and that of its client. It pins the versions of its
# other dependencies itself.
BULLMQ_DIR=

# A test is skipped without npm, and installs none.
may_have_bullmq()
{
	[ "$CHECK" = 0 ] || command -v npm >/dev/null || BULLMQ=0
}

prepare_bullmq()
{
	local version

	[ "$BULLMQ" = 1 ] || return 0
	command -v npm >/dev/null || need_packages nodejs npm
	version=$(sha256sum <"$HERE/bullmq/package.json")
	BULLMQ_DIR=$CACHE_DIR/bullmq-${version:0:10}
	[ ! -d "$BULLMQ_DIR" ] || return 0
	say "fetching BullMQ with npm"
	use_cache tmp
	rm -rf "$BULLMQ_DIR.new"
	mkdir "$BULLMQ_DIR.new"
	cp "$HERE/bullmq/package.json" "$BULLMQ_DIR.new"
	(cd "$BULLMQ_DIR.new" && npm install --ignore-scripts --no-package-lock --no-audit \
		--no-fund) >&2 || {
		[ "$CHECK" = 1 ] || die "npm could not fetch BullMQ"
		BULLMQ=0
		return
	}
	mv "$BULLMQ_DIR.new" "$BULLMQ_DIR"
}

measure_bullmq()
{
	local rep=$1

	bullmq "$rep" --measure schedule --timers $((SOME / 5)) --batch 1
	bullmq "$rep" --measure schedule --timers $((SOME / 5))
	bullmq "$rep" --measure memory --timers "$FEW"
	bullmq "$rep" --measure burst --timers $((FEW / 2))
	bullmq_idle "$rep"
	lateness bullmq "$rep"
}

# bullmq REP OPTION...
bullmq()
{
	local rep=$1

	shift
	NODE_PATH=$BULLMQ_DIR/node_modules with_server \
		node "$HERE/bullmq/bullmq.js" --where host --rep "$rep" "$@"
}

# A worker waits at a server full of jobs, and redis-drive watches.
bullmq_idle()
{
	local worker line

	start_server
	coproc WORKER {
		NODE_PATH=$BULLMQ_DIR/node_modules exec node \
			"$HERE/bullmq/bullmq.js" --port "$PORT" --measure idle \
			--timers "$FEW"
	}
	worker=$WORKER_PID
	read -r line <&"${WORKER[0]}" || line=
	[ "$line" = idle ] || die "BullMQ's worker did not start"
	sleep 5
	"$DRIVE" --port "$PORT" --where host --rep "$1" --system BullMQ \
		--measure monitor --timers "$FEW" --seconds $((SECONDS_OF_IDLE * 2))
	kill "$worker"
	wait "$worker" 2>/dev/null || true
	stop_server
}

# ---- User-Mode Linux ----

KERNEL=uml-7.3
GUEST_FILES=()

# Redis needs its libraries and the loader, each file at its path in the package.
prepare_guest()
{
	local root file

	"$VM_DIR/build.sh" "$KERNEL" >/dev/null
	make --no-print-directory -C user/daemon OUT="$BUILD_DIR/daemon-static" \
		LDFLAGS=-static >&2
	root=$("$VM_DIR/kernel.sh" redis)/root
	while read -r file; do
		GUEST_FILES+=(--file "$root$file=$file")
	done < <(find "$root" -type f -printf '/%P\n')
	GUEST_FILES+=(
		--file "$BUILD_DIR/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko"
		--file "$BUILD_DIR/daemon-static/hwtimerd=/hwtimer/hwtimerd"
		--file "$FUNCTIONS=/hwtimer/hwtimer.lua"
		--file "$DRIVE=/hwtimer/redis-drive"
		--file "$HERE/guest.sh=/hwtimer/guest.sh")
}

# guest ARGUMENT...: runs guest.sh in a virtual machine. A system call there is a switch
# between two processes of the host. It costs 4 us if both are on one processor, and ten
# times as much if it has to wake another processor; Redis reads the clock, which is a
# system call there, three times for each command. So the machine has one processor.
guest()
{
	taskset --cpu-list $(($(nproc) - 1)) \
		"$VM_DIR/run.sh" --kernel "$KERNEL" --mem 4096 --cpus 1 --patience 1800 \
		--quiet "${GUEST_FILES[@]}" -- sh guest.sh "$@"
}

measure_uml()
{
	guest measure "$1" "$MANY" "$FEW" "$SECONDS_OF_LATENESS" "$SECONDS_OF_IDLE"
}

# ---- the daemon in User-Mode Linux, all else here ----

# A network between this machine and the guest. The guest's driver (7.3) panics with a tap
# device, which would be simpler.
LINK=hwt-bench
LINK_HOST=10.213.47.1
LINK_GUEST=10.213.47.2
DAEMON_PID=

measure_split()
{
	local rep=$1 pace

	make_network
	for pace in 16 1; do
		lateness with_daemon "$pace" "$rep" --lead 10000
	done
	with_daemon 16 "$rep" --measure burst --timers "$FEW" --lead 10000
	with_daemon 16 "$rep" --measure idle --timers "$MANY" \
		--seconds "$SECONDS_OF_IDLE"
	remove_network
}

make_network()
{
	on_exit remove_network
	ip link add "$LINK" type veth peer name "$LINK-guest"
	ip addr add "$LINK_HOST/30" dev "$LINK"
	# The guest's driver drops packets that are larger than its buffers.
	ip link set "$LINK" gso_max_size 1500 gso_max_segs 1 up
	ip link set "$LINK-guest" gso_max_size 1500 gso_max_segs 1 up
	# It also drops what comes faster than it reads, and TCP waits 200 ms for each loss. So
	# Redis may send only a few packets ahead.
	ip route change "${LINK_HOST%.*}.0/30" dev "$LINK" src "$LINK_HOST" cwnd lock 16
	ADDRESSES="127.0.0.1 $LINK_HOST"
}

remove_network()
{
	ADDRESSES=127.0.0.1
	[ ! -e "/sys/class/net/$LINK" ] || ip link del "$LINK"
}

# with_daemon PACE REP OPTION...: redis-drive, beside a server and a daemon
with_daemon()
{
	local pace=$1 rep=$2 status=0

	shift 2
	start_server
	load_functions
	start_daemon "$pace"
	"$DRIVE" --where split --rep "$rep" --system hwtimerd --port "$PORT" \
		--variant "pace $pace ms" "$@" || status=$?
	[[ " $* " != *" lateness "* ]] || daemon_round_trip "$pace" "$rep"
	stop_daemon
	stop_server
	return "$status"
}

# The round trip that redis-drive has printed is its own, which passes no emulated network.
# The report takes the last one.
daemon_round_trip()
{
	local ms

	ms=$(busybox ping -c 20 -i 0.2 -q "$LINK_GUEST" |
		sed -n 's|.*min/avg/max = [0-9.]*/\([0-9.]*\)/.*|\1|p')
	printf '{"system": "hwtimerd", "variant": "pace %d ms", "where": "split", ' "$1"
	printf '"timers": 20, "rep": %d, "turn": 0, "phase": "one round trip", ' "$2"
	printf '"value": %s, "unit": "us"}\n' "$(awk "BEGIN { print ${ms:-0} * 1000 }")"
}

start_daemon()
{
	taskset --cpu-list $(($(nproc) - 1)) \
		"$VM_DIR/run.sh" --kernel "$KERNEL" --cpus 1 --patience 1800 --quiet \
		--append "vec0:transport=raw,ifname=$LINK-guest" "${GUEST_FILES[@]}" \
		-- sh guest.sh serve "$LINK_GUEST" "$LINK_HOST:$PORT" "$1" \
		>"$SERVER_DIR/daemon" 2>&1 &
	DAEMON_PID=$!
	on_exit stop_daemon
	until [ "$(redis-cli -p "$PORT" exists '{bench:0}:lease')" = 1 ]; do
		kill -0 "$DAEMON_PID" ||
			die "hwtimerd does not start: $(<"$SERVER_DIR/daemon")"
		sleep 0.2
	done
}

stop_daemon()
{
	[ -n "$DAEMON_PID" ] || return 0
	kill "$DAEMON_PID" 2>/dev/null || true
	wait "$DAEMON_PID" 2>/dev/null || true
	DAEMON_PID=
}

# ---- the check ----

# Few timers, slow enough for an emulated machine
CHECKED=(--measure check --timers 2000 --rate 1000 --lead 3000)

check_all()
{
	local system

	echo "TAP version 13"
	if places_have host; then
		for system in poller stream-poller; do
			check "$system delivers each timer once, none early" \
				with_server "$DRIVE" --system "$system" "${CHECKED[@]}"
		done
		check_bullmq
	fi
	! places_have uml || check "hwtimerd delivers each timer once, none early" \
		guest check
	[ "$FAILURES" -eq 0 ]
}

check_bullmq()
{
	local name="BullMQ delivers each timer once, none early"

	if [ "$BULLMQ" = 1 ]; then
		check "$name" bullmq 1 "${CHECKED[@]}"
	else
		skip "$name" "there is no npm, or it could not fetch BullMQ"
	fi
}

main "$@"
