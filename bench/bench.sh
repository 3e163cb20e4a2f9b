#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make bench: hwtimer and its rivals, in rounds over the places where they can
# run, and then the report. Called by the Makefile.
#
#	usage: bench/bench.sh [OPTION...]
#
#	--quick			two repetitions, fewer sizes and variants: minutes
#	--reps NUMBER		repetitions (default 5)
#	--only NUMBER		this repetition only; the results of others are kept, so
#				that a machine need not be idle for all of them at a time
#	--places "NAME..."	of host, uml, qemu, this (default: host uml qemu)
#	--no-netty		leave Netty out, which needs a JDK
#
# host is this machine without the module: what runs in user space, and the
# kernel's own timers. uml is User-Mode Linux, where the module runs natively,
# and qemu an emulated machine with Debian's kernel. this is this machine, with
# the module loaded. What each distorts is in Documentation/performance.md.
#
# Every repetition goes through all places, and the program through all systems,
# in another order each time. All results are kept, one JSON object a line, in
# build/bench/results; bench/report.py makes build/bench.json, .txt and .png.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

RESULTS=$BUILD_DIR/bench/results
PROGRAM=$BUILD_DIR/bench/timer-bench
IN_USER_SPACE=floor,floor-list,libuv,libevent
BULKS="hierarchical, bulks of 4096"
# What takes turns with the floor, and how many in a repetition
RIVALS_OF_FLOOR=("$BULKS" "hierarchical, batches of 4096" "hierarchical, rings")
TURNS=2
TEN_MILLION=100
IN_KERNEL=timerfd,posix,io_uring

NETTY_JAR=/usr/share/java/netty-common.jar

REPS=5
ONLY=
PLACES=(host uml qemu)
QUICK=0
NETTY=1
# Results of what runs now
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
	[ "$(id -u)" -eq 0 ] || die "this needs root, as it holds up the" \
		"module's kthread: sudo make bench-host"
}

# measure PLACE REP
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

# sizes MOST: numbers of timers up to MOST; with --quick only some
sizes()
{
	local size list='' all=(1000 10000 100000 1000000)

	[ "$QUICK" = 0 ] || all=(10000 1000000)
	for size in "${all[@]}"; do
		[ "$size" -gt "$1" ] || list+=${list:+,}$size
	done
	echo "$list"
}

# Which of hwtimer's variants; one timer a call is slow in User-Mode Linux.
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

# measure_native WHERE REP ARGUMENT...
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

# netty WHERE REP
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

# The kernel's own timers are slow there, and what interrupts do is not seen.
# Ten million take only the bulks that the targets are about; before them comes a
# run that does not count, as the first to use the guest's memory pays for the
# host's. The phases have one processor of the host, the same as what runs
# natively: a system call is a switch between two of its processes, and takes 4 us
# on one processor, but up to 77 if it has to wake another one up.
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
	# What the place alone makes of a program
	script+=" && $bench --systems floor,floor-list --timers 1000000"
	# In one of the turns, as it is compared with a million
	[ "$QUICK" = 1 ] || script+=" && $bench --turn $TEN_MILLION \
		--systems hwtimer --timers 1000000,10000000 --variants '$BULKS'"
	guest uml-7.3 4096 "$script" | turns_of_floor "$1"
	PREFIX=()
	guest uml-7.3 4096 "insmod hwtimer.ko \
		&& $bench --extras --pairs $(pairs)"
}

# A ratio to what runs natively is worth something only if both are measured in the
# same seconds, as the machine's speed changes within minutes. So the guest says
# when it is about to do nothing for some seconds, in which the floor runs here.
PAUSE=4

# turns_in_guest COMMAND: a script of one line
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

# turns_of_floor REP: passes on what the guest prints, and runs in its pauses. What
# took longer than a pause had the guest beside it, so that turn is not counted: the
# report wants both of a pair.
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
				say "turn ${line#pause } is not counted: the floor ran for longer than the guest waited"
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

# To see who waits for locks, the kernel patches its code while another processor
# runs it, which QEMU 7.2 does not always survive: see vm/machine-qemu.sh.
qemu_extras()
{
	local console=$BUILD_DIR/bench/extras.console tries=3

	until guest stock-6.12 2048 "$1" --log "$console" >"$console.out"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] && grep -q 'Oops: int3' "$console" || return
		say "this was QEMU's known fault with code that is patched: once more"
	done
	cat "$console.out"
	rm -f "$console" "$console.out"
}

# What a guest is started with
PREFIX=()

# guest KERNEL MEGABYTES SCRIPT [RUN-ARGUMENT...]
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
