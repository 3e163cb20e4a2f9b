#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures hwtimer and its rivals in each place where they can run, and writes the
# report. The Makefile calls this script for make bench.
#
#	usage: bench/bench.sh [OPTION...]
#
#	--quick			two repetitions, fewer sizes and variants: minutes
#	--pages			one repetition of what the pages of the documentation show,
#				a quarter of an hour; then writes their tables
#	--tiny			as --pages with the smallest sizes, to see that all of it runs;
#				writes no page, and its figures mean nothing
#	--reps NUMBER		number of repetitions (default 5)
#	--places "NAME..."	of core, host, uml, qemu, instructions, server, this
#				(default: all but this)
#	--no-netty		leave Netty out, which needs a JDK
#
# core is the module as a program (bench/core). host is this machine without the module: it
# measures systems in user space and the kernel's own timers. uml is User-Mode Linux, where
# the module runs natively. qemu is an emulated machine with Debian's kernel. instructions is
# the same with a clock that counts instructions. server is the server of bench/server in
# User-Mode Linux. this is this machine with the module loaded.
# Documentation/benchmark.md tells what each place distorts.
#
# Every repetition goes through all places, and the program through all systems, in
# another order each time. build/bench/results keeps all results, one JSON object per
# line; bench/report.py makes build/bench.json, .txt and .png from them.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../test/vm/lib.sh"

RESULTS=$BUILD_DIR/bench/results
PROGRAM=$BUILD_DIR/bench/timer-bench
IN_USER_SPACE=floor,floor-list,libuv,libevent
BULKS="bulks of 4096"
# The variants that take turns with the floor
RIVALS_OF_FLOOR=("$BULKS" "batches of 4096")
# The number of the turn with ten million timers
TEN_MILLION=100
IN_KERNEL=timerfd,io_uring

NETTY_JAR=/usr/share/java/netty-common.jar

REPS=
PLACES=()
NETTY=1
PAGES=0

# How much of it: see choose_scale
SCALE=full
# Numbers of timers; that which is compared with the floor; ten million
SIZES=1000,10000,100000,1000000
MILLION=1000000
LARGEST=10000000
# Turns with the floor of bulks, and of the other variants, in a repetition
TURNS=2
OTHER_TURNS=2
# The most system calls of a measurement in User-Mode Linux
CALLS=800000
# Pairs for dead entries
PAIRS=100000000
# Options of the programs
CORE_OPTIONS=()
# Options of each run of server-bench. A server of 10,000 connections, each with a request a
# second, is what a target is about.
PACED="--connections 10000 --every 1000 --timeout 30000 --seconds 65 --reps 1"
SERVER_RUNS=("--most 300000" "--systems none,libevent,hwtimer $PACED")

# File of the results of the running measurement
PART=

main()
{
	local rep i

	parse_arguments "$@"
	choose_scale
	cd "$REPO_DIR"
	prepare
	on_exit tell_of_failure
	rm -rf "$RESULTS"
	mkdir -p "$RESULTS"
	python3 bench/machine.py "$RESULTS/machine"
	for rep in $(seq "$REPS"); do
		for ((i = 0; i < ${#PLACES[@]}; i++)); do
			measure "${PLACES[(rep + i) % ${#PLACES[@]}]}" "$rep"
		done
	done
	python3 bench/machine.py "$RESULTS/machine"
	python3 bench/report.py "$RESULTS" "$BUILD_DIR/bench"
	[ "$PAGES" = 0 ] || python3 bench/pages.py --take "$BUILD_DIR"
	say "make bench-redis measures timers in Redis: hwtimerd and its rivals"
}

# shellcheck disable=SC2317 # called by on_exit
tell_of_failure()
{
	[ -n "$PART" ] || return 0
	say "failed; the end of $PART:"
	tail -n 3 "$PART" >&2
}

parse_arguments()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--quick) SCALE=quick; shift; continue ;;
		--pages) SCALE=pages; shift; continue ;;
		--tiny) SCALE=tiny; shift; continue ;;
		--no-netty) NETTY=0; shift; continue ;;
		--reps) REPS=${2-} ;;
		--places) read -r -a PLACES <<<"${2-}" ;;
		*) die "bench/bench.sh: no such option: $1" ;;
		esac
		[ $# -ge 2 ] || die "bench/bench.sh: $1 needs a value"
		shift 2
	done
}

# The pages need ten pairs of bulks and the floor. A repetition has two of each otherwise.
choose_scale()
{
	local places=(core host uml qemu instructions server) reps=5

	case $SCALE in
	quick)
		reps=2 SIZES=10000,1000000 LARGEST='' PAIRS=10000000
		CORE_OPTIONS=(--timers "10000,1000000" --pairs 3)
		SERVER_RUNS=("--connections 100,1000 --most 20000") ;;
	pages)
		reps=1 TURNS=11 OTHER_TURNS=1 PAGES=1
		places=(core host uml instructions server)
		# A request takes up to 0.4 ms there: 100,000 connections would take 10 minutes.
		SERVER_RUNS=("--connections 100,1000,10000 --most 40000 --reps 1"
			     "--systems hwtimer $PACED") ;;
	tiny)
		reps=1 SIZES=1000 MILLION=10000 LARGEST=20000 PAIRS=100000 CALLS=2000
		NETTY=0
		places=(core host uml instructions server)
		CORE_OPTIONS=(--timers 1000 --pairs 1)
		SERVER_RUNS=("--connections 100 --most 2000 --reps 1"
			     "--connections 100 --every 100 --timeout 500 --seconds 2 --reps 1") ;;
	esac
	REPS=${REPS:-$reps}
	[ "${#PLACES[@]}" -gt 0 ] || PLACES=("${places[@]}")
}

prepare()
{
	local place

	[[ " ${PLACES[*]} " != *\ @(uml|server|qemu|instructions)\ * ]] || need_debian "make bench"
	need_packages make python3 gnuplot-nox
	make --no-print-directory bench-programs >&2
	for place in "${PLACES[@]}"; do
		case $place in
		core)
			need_packages valgrind
			make --no-print-directory -C bench OUT="$BUILD_DIR/bench" \
				core >&2 ;;
		host) [ "$NETTY" = 0 ] || prepare_netty ;;
		this)
			need_module
			[ "$NETTY" = 0 ] || prepare_netty ;;
		uml | server) "$VM_DIR/build.sh" uml-7.3 >/dev/null ;;
		qemu | instructions) "$VM_DIR/build.sh" stock-6.12 >/dev/null ;;
		*) die "bench/bench.sh: no such place: $place" ;;
		esac
	done
}

prepare_netty()
{
	need_packages libnetty-java default-jdk-headless
	javac -Xlint:all -Werror -d "$BUILD_DIR/bench/netty" -cp "$NETTY_JAR" \
		bench/netty/NettyBench.java
}

need_module()
{
	[ -c /dev/hwtimer ] || die "/dev/hwtimer does not exist: load the module" \
		"first, with 'make && sudo insmod build/$(uname -r)/hwtimer.ko'"
	[ "$(id -u)" -eq 0 ] || die "the benchmark needs root, because it holds up the" \
		"module's kthread: sudo make bench HERE=1"
}

# measure PLACE REP: runs one repetition in a place
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

# sizes MOST: prints the numbers of timers up to MOST
sizes()
{
	local size list='' all

	IFS=, read -r -a all <<<"$SIZES"
	for size in "${all[@]}"; do
		[ "$size" -gt "$1" ] || list+=${list:+,}$size
	done
	echo "$list"
}

# The module as a program, in turns with the floor; and its instructions, which are the same
# each time
measure_core()
{
	"$BUILD_DIR/bench/bench-core" --json --rep "$1" "${CORE_OPTIONS[@]}"
	[ "$1" != 1 ] || bench/core/counts.sh --json
}

measure_host()
{
	measure_native host "$1" --systems "$IN_USER_SPACE,$IN_KERNEL"
}

# As a guest of its own: all that the other places measure, each where it is
measure_this()
{
	local program=("$PROGRAM" --where this --rep "$1")
	local bulks=(--systems hwtimer --variants "$BULKS") run

	measure_native this "$1"
	native_turns "$1"
	"${program[@]}" "${bulks[@]}" --timers "$(sizes 1000000)" --ticks
	"${program[@]}" "${bulks[@]}" --timers "$(sizes 100000)" --idle 5
	"${program[@]}" --extras --pairs "$PAIRS"
	for run in "${SERVER_RUNS[@]}"; do
		# shellcheck disable=SC2086 # several options
		"$BUILD_DIR/bench/server-bench" --json --where this --rep "$1" $run
	done
}

# measure_native WHERE REP ARGUMENT...: runs timer-bench and Netty on this machine
measure_native()
{
	local where=$1 rep=$2

	shift 2
	"$PROGRAM" --where "$where" --rep "$rep" --timers "$SIZES" "$@"
	[ -z "$LARGEST" ] || "$PROGRAM" --where "$where" --rep "$rep" \
		--timers "$LARGEST" --systems floor,floor-list
	[ "$NETTY" = 0 ] || netty "$where" "$rep"
}

# netty WHERE REP: runs Netty on this machine
netty()
{
	local sizes

	IFS=, read -r -a sizes <<<"$SIZES"
	java -Xms1g -Xmx4g -cp "$BUILD_DIR/bench/netty:$NETTY_JAR" \
		NettyBench "$1" "$2" "${sizes[@]}"
}

# native_turns REP: the floor and the module, in turns, where both run natively
native_turns()
{
	local turn=0 variant system
	local program=("$PROGRAM" --where this --rep "$1")

	while read -r variant; do
		turn=$((turn + 1))
		for system in floor hwtimer; do
			"${program[@]}" --turn "$turn" --timers "$MILLION" \
				--systems "$system" --variants "$(of "$system" "$variant")"
		done
	done < <(all_turns)
	[ -z "$LARGEST" ] || for system in floor hwtimer; do
		"${program[@]}" --turn "$TEN_MILLION" --timers "$MILLION,$LARGEST" \
			--systems "$system" --variants "$(of "$system" "$BULKS")"
	done
}

# of SYSTEM VARIANT: prints the variant of a system that takes turns with VARIANT
of()
{
	[ "$1" = floor ] && echo vectors || echo "$2"
}

# Prints the variant of each turn.
all_turns()
{
	local round variant

	for ((round = 0; round < TURNS || round < OTHER_TURNS; round++)); do
		for variant in "${RIVALS_OF_FLOOR[@]}"; do
			if [ "$variant" = "$BULKS" ]; then
				[ "$round" -ge "$TURNS" ] || echo "$variant"
			else
				[ "$round" -ge "$OTHER_TURNS" ] || echo "$variant"
			fi
		done
	done
}

# In User-Mode Linux the kernel's own timers are slow, and work in interrupts cannot be
# timed.
#
# Ten million timers run only with the bulks, which are what the targets are about. The
# first run does not count: it is the first to use the guest's memory, so it also pays
# for the allocation of the host's.
#
# The phases run on one processor of the host, the same as the native programs. A system
# call there is a switch between two processes of the host; it takes 4 us on one
# processor, but up to 77 us if it has to wake another processor.
measure_uml()
{
	local bench="./timer-bench --where uml --rep $1 --calls $CALLS"
	local of_bulks="--systems hwtimer --variants '$BULKS'"
	local script="insmod hwtimer.ko"
	local -a PREFIX=(taskset --cpu-list $(($(nproc) - 1)))

	script+=" && $bench $of_bulks --timers $MILLION >/dev/null"
	script+=" && $(turns_in_guest "$bench")"
	script+=" && $bench --unseen --systems $IN_KERNEL --timers $(sizes 10000)"
	script+=" && $(ways_in_guest "$bench")"
	script+=" && $bench $of_bulks --timers $(sizes 100000) --idle 5"
	# The floor in this place shows how much the place alone slows a program.
	script+=" && $bench --systems floor,floor-list --timers $MILLION"
	# Together with a million in one turn, because the report compares the two
	[ -z "$LARGEST" ] || script+=" && $bench $of_bulks --turn $TEN_MILLION \
		--timers $MILLION,$LARGEST"
	guest uml-7.3 4096 "$script" | turns_of_floor "$1"
	PREFIX=()
	guest uml-7.3 4096 "insmod hwtimer.ko \
		&& $bench --extras --pairs $PAIRS"
}

# ways_in_guest COMMAND: prints a script of one line that runs hwtimer in each way, with each
# number of timers. For the pages, with a million timers, that is the bulks of 4,096 only.
ways_in_guest()
{
	local hwtimer="--systems hwtimer --variants"

	case $SCALE in
	full | quick) echo "$1 $hwtimer '' --timers $SIZES" ;;
	*) echo "$1 $hwtimer '' --timers $(sizes 10000)" \
		"&& $1 $hwtimer 'one by one' --timers 100000" \
		"&& $1 $hwtimer '$BULKS' --timers 100000,$MILLION" ;;
	esac
}

# The machine's speed changes within minutes. So the ratio of a guest's figure to a native
# one has a meaning only if both are measured within the same seconds. The guest prints
# "pause" before it sleeps for PAUSE seconds, and the floor runs natively in that time.
PAUSE=4

# turns_in_guest COMMAND: prints a script of one line that runs the turns
turns_in_guest()
{
	local turn=0 variant script=true

	while read -r variant; do
		turn=$((turn + 1))
		script+=" && echo pause $turn && sleep $PAUSE && $1 \
			--turn $turn --systems hwtimer \
			--timers $MILLION --variants '$variant'"
	done < <(all_turns)
	echo "$script"
}

# turns_of_floor REP: passes the guest's output on, and runs the floor in its pauses. If
# the floor takes longer than a pause, the guest disturbs it. That turn does not count:
# without the floor's figure, the report drops the guest's one, too.
turns_of_floor()
{
	local line start figures

	while IFS= read -r line; do
		case $line in
		"pause "*)
			start=$SECONDS
			figures=$("$PROGRAM" --where host --rep "$1" \
				--turn "${line#pause }" \
				--timers "$MILLION" --systems floor)
			if [ $((SECONDS - start)) -lt $((PAUSE - 1)) ]; then
				printf '%s\n' "$figures"
			else
				say "turn ${line#pause } does not count: the floor ran longer than the guest paused"
			fi ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
}

measure_qemu()
{
	local bench="./timer-bench --where qemu --rep $1"
	local script="insmod hwtimer.ko"

	script+=" && $bench --timers 10000 --systems hwtimer,$IN_KERNEL"
	guest stock-6.12 2048 "$script"
	guest stock-6.12 2048 "insmod hwtimer.ko \
		&& $bench --extras --pairs 1000000"
}

# Here a nanosecond is an instruction: of the program, of the module and of the kernel, the
# entry into which is a few of them. One repetition is enough. In it the server runs three times,
# as the kernel's first run takes some 25 more. The processor's counter is the clock, as
# on a real machine; the kernel would distrust it here, and each reading be a system call.
measure_instructions()
{
	local where="--where instructions --rep $1"

	[ "$1" = 1 ] || return 0
	guest stock-6.12 2048 "insmod hwtimer.ko \
		&& ./timer-bench $where --extras --extra single \
		&& ./server-bench --json $where --connections 1000 --pushes 10 --most 20000 \
			--reps 3" --icount 0 --cpus 1 --append 'clocksource=tsc tsc=reliable'
}

# A guest with as much memory as 100,000 connections need
measure_server()
{
	local script="insmod hwtimer.ko" run

	for run in "${SERVER_RUNS[@]}"; do
		script+=" && ./server-bench --json --counter --where uml --rep $1 $run"
	done
	guest uml-7.3 4096 "$script"
}

# The command that starts a guest's machine, such as taskset
PREFIX=()

# guest KERNEL MEGABYTES SCRIPT [RUN-ARGUMENT...]: runs a script in a virtual machine
guest()
{
	local kernel=$1 memory=$2 script=$3

	shift 3
	${PREFIX[@]+"${PREFIX[@]}"} "$VM_DIR/run.sh" --kernel "$kernel" \
		--mem "$memory" --cpus 2 --patience 1800 --quiet "$@" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$PROGRAM=/hwtimer/timer-bench" \
		--file "$BUILD_DIR/bench/server-bench=/hwtimer/server-bench" \
		-- sh -c "$script"
}

main "$@"
