#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures hwtimer and its rivals in each place where they can run, and writes the
# report. The Makefile calls this script for make bench.
#
#	usage: bench/bench.sh [OPTION...]
#
#	--quick			two repetitions, fewer sizes and variants: minutes
#	--reps NUMBER		number of repetitions (default 5)
#	--only NUMBER		run this repetition only and keep the results of the others,
#				so that the machine need not be idle for all in a row
#	--places "NAME..."	of host, uml, qemu, this (default: host uml qemu)
#	--no-netty		leave Netty out, which needs a JDK
#
# host is this machine without the module: it measures systems in user space and the
# kernel's own timers. uml is User-Mode Linux, where the module runs natively. qemu is
# an emulated machine with Debian's kernel. this is this machine with the module loaded.
# Documentation/benchmark.md tells what each place distorts.
#
# Every repetition goes through all places, and the program through all systems, in
# another order each time. build/bench/results keeps all results, one JSON object per
# line; bench/report.py makes build/bench.json, .txt and .png from them.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

RESULTS=$BUILD_DIR/bench/results
PROGRAM=$BUILD_DIR/bench/timer-bench
IN_USER_SPACE=floor,floor-list,libuv,libevent
BULKS="hierarchical, bulks of 4096"
# The variants that take turns with the floor, and the turns of each per repetition
RIVALS_OF_FLOOR=("$BULKS" "hierarchical, batches of 4096" "hierarchical, rings")
TURNS=2
# The number of the turn with ten million timers
TEN_MILLION=100
IN_KERNEL=timerfd,posix,io_uring

NETTY_JAR=/usr/share/java/netty-common.jar

REPS=5
ONLY=
PLACES=(host uml qemu)
QUICK=0
NETTY=1
# File of the results of the running measurement
PART=

main()
{
	local rep i

	parse_arguments "$@"
	cd "$REPO_DIR"
	prepare
	on_exit tell_of_failure
	[ -n "$ONLY" ] || rm -rf "$RESULTS"
	mkdir -p "$RESULTS"
	for rep in ${ONLY:-$(seq "$REPS")}; do
		for ((i = 0; i < ${#PLACES[@]}; i++)); do
			measure "${PLACES[(rep + i) % ${#PLACES[@]}]}" "$rep"
		done
	done
	python3 bench/report.py "$RESULTS" "$BUILD_DIR/bench"
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
		--quick) QUICK=1; REPS=2; shift; continue ;;
		--no-netty) NETTY=0; shift; continue ;;
		--reps) REPS=${2-} ;;
		--only) ONLY=${2-} ;;
		--places) read -r -a PLACES <<<"${2-}" ;;
		*) die "bench/bench.sh: no such option: $1" ;;
		esac
		[ $# -ge 2 ] || die "bench/bench.sh: $1 needs a value"
		shift 2
	done
}

prepare()
{
	local place

	need_packages make python3 gnuplot-nox
	make --no-print-directory bench-programs >&2
	[ "$NETTY" = 0 ] || prepare_netty
	for place in "${PLACES[@]}"; do
		case $place in
		host) ;;
		this) need_module ;;
		uml) "$VM_DIR/build.sh" uml-7.3 >/dev/null ;;
		qemu) "$VM_DIR/build.sh" stock-6.12 >/dev/null ;;
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
		"module's kthread: sudo make bench-host"
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

# sizes MOST: prints the numbers of timers up to MOST; with --quick only some of them
sizes()
{
	local size list='' all=(1000 10000 100000 1000000)

	[ "$QUICK" = 0 ] || all=(10000 1000000)
	for size in "${all[@]}"; do
		[ "$size" -gt "$1" ] || list+=${list:+,}$size
	done
	echo "$list"
}

# Prints the filter for hwtimer's variants: with --quick one kind only, because the
# variants with one timer per call are slow in User-Mode Linux.
variants()
{
	[ "$QUICK" = 1 ] && echo "hierarchical, " || echo ""
}

measure_host()
{
	measure_native host "$1" --systems "$IN_USER_SPACE,$IN_KERNEL"
}

measure_this()
{
	measure_native this "$1"
	"$PROGRAM" --where this --rep "$1" --timers "$(sizes 1000000)" \
		--systems hwtimer --variants "$BULKS" --ticks
	"$PROGRAM" --where this --rep "$1" --extras --pairs "$(pairs)"
}

# measure_native WHERE REP ARGUMENT...: runs timer-bench and Netty on this machine
measure_native()
{
	local where=$1 rep=$2

	shift 2
	"$PROGRAM" --where "$where" --rep "$rep" \
		--timers "$(sizes 1000000)" "$@"
	[ "$QUICK" = 1 ] || "$PROGRAM" --where "$where" --rep "$rep" \
		--timers 10000000 --systems floor,floor-list
	[ "$NETTY" = 0 ] || netty "$where" "$rep"
}

# netty WHERE REP: runs Netty on this machine
netty()
{
	local sizes

	IFS=, read -r -a sizes <<<"$(sizes 1000000)"
	java -Xms1g -Xmx4g -cp "$BUILD_DIR/bench/netty:$NETTY_JAR" \
		NettyBench "$1" "$2" "${sizes[@]}"
}

pairs()
{
	[ "$QUICK" = 1 ] && echo 10000000 || echo 100000000
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
	local bench="./timer-bench --where uml --rep $1 --calls 500000"
	local script="insmod hwtimer.ko"
	local -a PREFIX=(taskset --cpu-list $(($(nproc) - 1)))

	script+=" && $bench --systems hwtimer --timers 1000000 \
		--variants '$BULKS' >/dev/null && $(turns_in_guest "$bench")"
	script+=" && $bench --unseen --systems $IN_KERNEL \
		--timers $(sizes 10000)"
	script+=" && $bench --systems hwtimer --timers 10000,1000000 \
		--variants '$(variants)'"
	[ "$QUICK" = 1 ] || script+=" && $bench --systems hwtimer \
		--timers 1000,100000 --variants '$BULKS'"
	# The floor in this place shows how much the place alone slows a program.
	script+=" && $bench --systems floor,floor-list --timers 1000000"
	# Together with a million in one turn, because the report compares the two
	[ "$QUICK" = 1 ] || script+=" && $bench --turn $TEN_MILLION \
		--systems hwtimer --timers 1000000,10000000 --variants '$BULKS'"
	guest uml-7.3 4096 "$script" | turns_of_floor "$1"
	PREFIX=()
	guest uml-7.3 4096 "insmod hwtimer.ko \
		&& $bench --extras --pairs $(pairs)"
}

# The machine's speed changes within minutes. So the ratio of a guest's figure to a native
# one has a meaning only if both are measured within the same seconds. The guest prints
# "pause" before it sleeps for PAUSE seconds, and the floor runs natively in that time.
PAUSE=4

# turns_in_guest COMMAND: prints a script of one line that runs the turns
turns_in_guest()
{
	local round turn=0 variant script=true

	for ((round = 0; round < TURNS; round++)); do
		for variant in "${RIVALS_OF_FLOOR[@]}"; do
			turn=$((turn + 1))
			script+=" && echo pause $turn && sleep $PAUSE && $1 \
				--turn $turn --systems hwtimer \
				--timers 1000000 --variants '$variant'"
		done
	done
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
				--timers 1000000 --systems floor)
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
	qemu_extras "insmod hwtimer.ko \
		&& $bench --extras --pairs 1000000 --crowd 100000"
}

# To trace waits for locks, the kernel patches its code while another processor runs it.
# QEMU 7.2 does not always survive that: see vm/machine-qemu.sh.
qemu_extras()
{
	local console=$BUILD_DIR/bench/extras.console tries=3

	until guest stock-6.12 2048 "$1" --log "$console" >"$console.out"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] && grep -q 'Oops: int3' "$console" || return
		say "QEMU's known fault with patched code: trying again"
	done
	cat "$console.out"
	rm -f "$console" "$console.out"
}

# The command that starts a guest's machine, such as taskset
PREFIX=()

# guest KERNEL MEGABYTES SCRIPT [RUN-ARGUMENT...]: runs a script in a virtual machine
guest()
{
	local kernel=$1 memory=$2 script=$3

	shift 3
	${PREFIX[@]+"${PREFIX[@]}"} "$VM_DIR/run.sh" --kernel "$kernel" \
		--mem "$memory" --cpus 2 --timeout 1800 --quiet "$@" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$PROGRAM=/hwtimer/timer-bench" -- sh -c "$script"
}

main "$@"
