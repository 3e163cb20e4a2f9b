#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the selftests in a test machine: every program, and then the checks of loading and
# unloading the module. Runs in the directory that has hwtimer.ko and the programs. Where a
# program is built for 64 and for 32 bits, the 32-bit one is NAME.32; elsewhere NAME may be
# either.
#
#	usage: run.sh [--all | [--quick] PROGRAM...]
#
# Without an argument, runs the programs with an `x` in the table below; with --all, also
# those with an `a`; with --quick, each PROGRAM with as few rounds of a race as without an
# argument. Prints TAP; programs that are left out are a SKIP with the reason.
# Exit status 0: nothing failed.
#
# HWTIMER_COUNTERS in the environment: gcov's counters are written at each unloading.
#
# HWTIMER_SCALE=N in the environment makes the tests with very many timers use an Nth of
# them. HWTIMER_ROUNDS=N makes those that repeat a race for a minute do an Nth of its rounds.
# If they are not set, they are chosen here.

# The table of programs says which kernel runs which program; they run in this order. The
# columns:
#
#	uml	the newest kernel, at native speed; it has no 32-bit programs
#	kasan	the same with sanitizers and fault injection, with fewer timers
#	stock	Debian's kernel, emulated
#	older	the oldest supported kernel, emulated
#	debug	as kasan, but emulated, with two processors, which preempt threads
#	foreign	a kernel of another architecture, emulated; it has no 32-bit programs
#	*-32	32-bit programs
#
# The entries:
#
#	x	runs always
#	a	runs before a release (make check-all)
#	-	never runs: it shows nothing that it does not show elsewhere, or the
#		machine is not fit for it
#	.	does not exist
#
# Each program always runs where it is quick. It always runs as a 32-bit program if it
# passes pointers or sizes of several kinds; on kasan and debug, if a sanitizer may find
# something in what it makes the module do; on older, if it is about differences between kernels
# (clocks, tracing, users) or about the interface's
# layout.
PROGRAMS="
program     uml kasan stock stock-32 older older-32 debug debug-32 foreign
abi         x   x     a     x        x     x        x     a        a
setup       x   x     a     x        x     -        x     -        a
schedule    x   x     a     a        x     -        x     -        a
cancel      x   x     a     a        a     -        x     -        a
reschedule  x   x     a     a        a     -        x     -        a
rearm       x   x     a     x        x     -        x     -        a
submit      x   x     a     x        a     a        x     -        a
bulk        x   x     a     x        a     a        x     -        a
read        x   x     a     x        x     a        x     a        a
bound       x   x     a     a        a     -        x     -        a
copy        x   x     x     x        a     a        x     a        a
poll        x   x     a     a        x     -        x     -        a
cancel_all  x   x     a     x        a     -        x     -        a
uring       x   x     x     x        x     x        x     -        a
ack         x   x     a     x        a     -        x     -        a
query       x   x     a     a        a     -        x     -        a
list        x   x     x     x        a     a        x     -        a
privacy     x   x     a     a        x     -        x     -        a
order       -   -     x     -        -     -        -     -        a
periodic    -   x     x     a        a     -        x     -        a
slack       -   -     x     a        a     -        -     -        a
clock       -   x     x     -        a     -        x     -        a
leap        -   x     x     -        a     -        x     -        a
timens      -   -     x     a        x     -        -     -        a
notify      -   x     x     x        x     -        x     -        a
stats       x   x     a     a        a     -        x     -        a
lifetime    x   x     a     a        a     -        x     -        a
cgroups     x   x     x     -        x     -        x     -        a
starved     x   x     x     -        a     -        x     -        a
concurrency x   x     a     -        a     -        x     -        a
memory      x   -     a     -        a     -        -     -        a
shrink      x   x     x     -        a     -        x     -        a
scarcity    x   -     a     -        a     -        -     -        a
fault       .   x     .     .        .     .        x     .        .
idle        -   -     x     -        -     -        -     -        -
library     x   a     a     x        a     a        a     -        a
timer_objects x a     a     x        a     a        a     -        a
adapters    x   -     a     .        a     .        -     .        .
adapters_shared x .   .     .        .     .        .     .        .
tool        x   -     x     .        a     .        -     .        a
snapshot    a   -     x     .        a     .        -     .        a
trace       .   .     x     .        x     .        x     .        a
realtime    -   -     x     -        a     -        -     -        a
debugfs     .   x     x     .        a     .        x     .        a
limits      -   x     x     a        a     -        x     -        a
user_limits x   x     x     a        x     -        x     -        a
"

# Programs that have the kernel change its own code: each tracepoint that is switched on or
# off does
PATCHING_PROGRAMS="trace realtime"

# Programs that run alone, with a small limit
SMALL_PROGRAMS="user_limits"
SMALL="max_memory_user=1"

# The entries of the table with which a program runs
WANTED=x

KERNEL=
NUMBER=0
FAILED=0

main()
{
	find_kernel
	choose_scale
	echo "TAP version 13"
	export KSFT_TAP_LEVEL=1 # the programs must not repeat that line
	if [ "${1-}" = --all ]; then
		WANTED=xa
		run_all
	elif [ $# -gt 0 ]; then
		[ "$1" != --quick ] || { shift; choose_rounds; }
		run_only "$@"
	else
		run_all
	fi
	[ "$FAILED" = 0 ]
}

# Sets KERNEL to the table's name of this kernel. Only those with sanitizers have kmemleak.
find_kernel()
{
	if grep -q 'User Mode Linux' /proc/cpuinfo; then
		KERNEL=uml
		[ ! -e /sys/kernel/debug/kmemleak ] || KERNEL=kasan
	elif [ "$(uname -m)" != x86_64 ]; then
		KERNEL=foreign
	elif [ -e /sys/kernel/debug/kmemleak ]; then
		KERNEL=debug
	else
		case $(uname -r) in
		6.1.*) KERNEL=older ;;
		*) KERNEL=stock ;;
		esac
	fi
}

choose_scale()
{
	SCALE_DEBUG=1
	case $KERNEL in debug | kasan) SCALE_DEBUG=40 ;; esac
	SCALE_64=${HWTIMER_SCALE:-$SCALE_DEBUG}
	# What depends on the number of timers does not depend on the word size.
	SCALE_32=${HWTIMER_SCALE:-$((SCALE_DEBUG * 5))}
}

# ---- the table ----

# listed WHAT COLUMN...: the programs whose entry in a COLUMN is one of WHAT's characters
listed()
{
	local what=$1

	shift
	echo "$PROGRAMS" | awk -v what="$what" -v columns=" $* " '
		NF == 0 { next }
		!columns_seen++ { split($0, name); next }
		{
			for (i = 2; i <= NF; i++)
				if (index(columns, " " name[i] " ") &&
				    index(what, $i))
					print $1 (name[i] ~ /-32$/ ? ".32" : "")
		}'
}

# Checks that each program that was built always runs on some kernel.
check_table()
{
	local program

	for program in *; do
		case $program in
		*.* | hwtimerctl | guest-*) continue ;;
		esac
		[ -x "$program" ] || continue
		check "$program always runs on some kernel" \
			is_in "$program" "$(listed x uml kasan stock | xargs)"
	done
}

# is_in WORD WORDS: whether WORD is one of WORDS
is_in()
{
	case " $2 " in *" $1 "*) return 0 ;; esac
	return 1
}

# tell_left_out COLUMN...: print a SKIP for the programs that do not run
tell_left_out()
{
	local later never

	never=$(listed - "$@" | xargs)
	[ -z "$never" ] || skip "$(echo "$never" | wc -w) programs" \
		"they show nothing more on this kernel: $never"
	[ "$WANTED" = x ] || return 0
	later=$(listed a "$@" | xargs)
	[ -z "$later" ] || skip "$(echo "$later" | wc -w) programs" \
		"make check-all runs them on this kernel: $later"
}

# ---- the programs ----

run_only()
{
	load || return
	run_programs "$@"
}

# run_programs PROGRAM...: with the module loaded, which they unload; then those that need
# small limits
run_programs()
{
	local program small=

	for program; do
		if is_in "${program%.32}" "$SMALL_PROGRAMS"; then
			small="$small $program"
		else
			run_program "$program"
		fi
	done
	unload
	run_small "$small"
}

# The rounds of a race cost the same everywhere, and all find the same. So only User-Mode Linux
# does a quarter of them, and the others enough to show that the kernel has what the race needs.
choose_rounds()
{
	[ "$WANTED" = x ] || return 0
	case $KERNEL in
	uml) : "${HWTIMER_ROUNDS:=4}" ;;
	*) : "${HWTIMER_ROUNDS:=10}" ;;
	esac
	export HWTIMER_ROUNDS
}

run_all()
{
	choose_rounds
	check_table
	load || return
	# shellcheck disable=SC2046 # one word each
	run_programs $(listed "$WANTED" "$KERNEL" "$KERNEL-32")
	tell_left_out "$KERNEL" "$KERNEL-32"
	check_module
}

run_small()
{
	local program

	[ -n "$1" ] || return 0
	# shellcheck disable=SC2086 # several parameters
	load $SMALL || return
	for program in $1; do
		run_program "$program"
	done
	unload
}

# The seconds that all processors of the machine have worked
processor_time()
{
	awk '/^cpu / { printf "%d\n", ($2 + $3 + $4 + $7 + $8) / 100 }' /proc/stat
}

run_program()
{
	local program=$1 bits start worked status=0

	bits=$(bits_of "$program")
	echo "# ==== $program, $bits-bit"
	start=$(date +%s)
	worked=$(processor_time)
	is_in "${program%.32}" "$PATCHING_PROGRAMS" && set_processors 0
	if [ "$bits" = 32 ]; then
		HWTIMER_SCALE=$SCALE_32 "./$program" 2>&1 || status=$?
	else
		HWTIMER_SCALE=$SCALE_64 "./$program" 2>&1 || status=$?
	fi
	is_in "${program%.32}" "$PATCHING_PROGRAMS" && set_processors 1
	echo "# ==== $program, $bits-bit: exit status $status, $(($(date +%s) - start)) s," \
		"$(($(processor_time) - worked)) of a processor"
	case $status in
	0) ;;
	1) FAILED=1 ;; # the program has printed which test failed
	*) not_ok "$program, $bits-bit: exit status $status" ;;
	esac
}

# set_processors 0|1: switch all processors of an emulated machine but the first off or on.
# QEMU before 8.1 does not correctly emulate code that one processor changes while another
# runs it. A processor then hangs, or the kernel reports an int3 that nobody set. With one
# processor no other runs the code.
set_processors()
{
	local online

	grep -q '^model name.*TCG' /proc/cpuinfo || return 0
	for online in /sys/devices/system/cpu/cpu*/online; do
		[ ! -e "$online" ] || echo "$1" >"$online" ||
			echo "# $online cannot be set to $1"
	done
}

# bits_of PROGRAM: 64 or 32, by the fifth byte of the file
bits_of()
{
	case $(dd if="./$1" bs=1 skip=4 count=1 2>/dev/null | od -An -tu1) in
	*1) echo 32 ;;
	*2) echo 64 ;;
	esac
}

# ---- TAP ----

ok()
{
	NUMBER=$((NUMBER + 1))
	echo "ok $NUMBER - $1"
}

not_ok()
{
	NUMBER=$((NUMBER + 1))
	FAILED=1
	echo "not ok $NUMBER - $1"
}

skip()
{
	NUMBER=$((NUMBER + 1))
	echo "ok $NUMBER - $1 # SKIP $2"
}

# check NAME COMMAND...: a test that passes if the command succeeds
check()
{
	local name=$1

	shift
	if "$@"; then
		ok "$name"
	else
		not_ok "$name"
	fi
}

# ---- the module ----

# load [PARAMETER...]: load the module for tests that need it
load()
{
	insmod hwtimer.ko "$@" && return
	not_ok "the module loads${*:+ with $*}"
	return 1
}

unload()
{
	rmmod hwtimer && return
	not_ok "the module unloads"
	return 1
}

loaded()
{
	grep -q '^hwtimer ' /proc/modules
}

parameter()
{
	cat "/sys/module/hwtimer/parameters/$1"
}

# The process ids of the workers. One command searches all processes: on a slow kernel,
# each command is slow.
worker_pids()
{
	grep -l '^hwtimer/' /proc/[0-9]*/comm 2>/dev/null | tr -dc '0-9\n'
}

# Waits, as a thread ends a moment before it leaves /proc. test/vm/run.sh ends a machine that waits
# for ever.
no_worker_is_left()
{
	while [ -n "$(worker_pids)" ]; do
		sleep 0.1
	done
}

worker_names()
{
	grep -h '^hwtimer/' /proc/[0-9]*/comm 2>/dev/null | sort | xargs
}

# The debug kernel tries few parameters: which values are valid does not depend on the
# kernel, and a slow kernel shows nothing about priorities.
check_module()
{
	check_leaves_nothing "after all programs"
	if [ "$SCALE_DEBUG" = 1 ]; then
		check_parameters
		check_priority
	else
		skip "all module parameters" "most are tried on faster kernels only"
		check_refused workers workers=65
		check_refused rt_prio rt_prio=100
	fi
	check_workers
	check_in_use
	check_small_scale
	check_rounds
}

check_parameters()
{
	local parameters

	load || return
	for parameters in max_memory_user workers; do
		check "$parameters has a default" \
			[ "$(parameter $parameters)" -gt 0 ]
	done
	check "rt_prio is 0 by default" [ "$(parameter rt_prio)" = 0 ]
	check "there are up to eight workers by default" [ "$(parameter workers)" -le 8 ]
	unload
	# shellcheck disable=SC2086 # several parameters
	load $SMALL || return
	check "max_memory_user can be chosen" \
		[ "$(parameter max_memory_user)" = 1 ]
	unload

	check_refused workers workers=65
	check_refused workers workers=-1
	check_refused workers workers=many
	check_refused rt_prio rt_prio=100
	check_refused rt_prio rt_prio=-1
	check_refused max_memory_user max_memory_user=-1
}

# check_refused NAME PARAMETER...: the module does not load, and the kernel's log names
# the wrong parameter
check_refused()
{
	local name=$1

	shift
	dmesg -c >/dev/null
	if insmod hwtimer.ko "$@" 2>/tmp/insmod; then
		not_ok "$* is refused"
		rmmod hwtimer
		return
	fi
	check "$* is refused as invalid" \
		grep -q -i 'invalid\|out of range' /tmp/insmod
	check "$* is refused with a message about $name" \
		sh -c "dmesg | grep -q 'hwtimer.*$name'"
	check_leaves_nothing "after $*"
}

check_workers()
{
	load || return
	check "no worker without an instance" [ -z "$(worker_names)" ]
	unload
	load workers=1 || return
	check "none is created before the first timer" [ -z "$(worker_names)" ]
	check "timers work with one worker" quietly ./read
	check "the one worker stays" [ "$(worker_names)" = hwtimer/0 ]
	check "races are safe with one worker" quietly ./concurrency
	check "it is still the only one" [ "$(worker_names)" = hwtimer/0 ]
	unload
	load workers=3 || return
	check "races are safe with three workers" quietly ./concurrency
	check "there are three at most" \
		[ -z "$(worker_names | sed 's|hwtimer/[012]||g' | tr -d ' ')" ]
	unload
	check "unload ends the workers" no_worker_is_left
}

quietly()
{
	HWTIMER_SCALE=$SCALE_32 "$@" >/tmp/output 2>&1 && return
	sed 's/^/# /' /tmp/output
	return 1
}

# policy_of PID: the scheduling policy and the real-time priority
policy_of()
{
	awk '{ print $41, $40 }' "/proc/$1/stat"
}

check_priority()
{
	load workers=1 || return
	check "timers work with an ordinary worker" quietly ./poll
	check "workers are SCHED_OTHER by default" \
		[ "$(policy_of "$(worker_pids)")" = "0 0" ]
	unload
	load rt_prio=7 workers=1 || return
	set_processors 0
	check "no ordinary thread stands between a timer and a real-time program" \
		quietly ./realtime
	set_processors 1
	check "rt_prio=7 makes the worker SCHED_RR, 7" \
		[ "$(policy_of "$(worker_pids)")" = "2 7" ]
	unload
}

check_in_use()
{
	load || return
	exec 9<>/dev/hwtimer
	check "unload is refused while the device is open" \
		not rmmod hwtimer 2>/dev/null
	check "the module is still there" loaded
	check "the device still works" quietly ./query
	exec 9>&-
	check "unload works once the device is closed" rmmod hwtimer
	check_leaves_nothing "after being in use"
}

# The tests' tolerances must hold with few timers, too. UML is quick, and has a memory
# cgroup.
check_small_scale()
{
	[ "$KERNEL" = uml ] || return 0
	load || return
	SCALE_32=100 check "memory is accounted for at a hundredth of the timers" \
		quietly ./memory
	unload
}

# check_leaves_nothing WHEN: nothing of the module is left
check_leaves_nothing()
{
	check "no module is left $1" not loaded
	check "no device is left $1" [ ! -e /dev/hwtimer ]
	check "no worker is left $1" no_worker_is_left
	check "no slab cache is left $1" [ -z "$(slab_caches)" ]
}

not()
{
	! "$@"
}

# The module's slab caches, from all places that list them. A cache that the kernel merged
# with another one leaves a symbolic link; so links do not count.
slab_caches()
{
	find /sys/kernel/slab -maxdepth 1 -type d -name 'hwtimer*' 2>/dev/null
	grep '^hwtimer' /proc/slabinfo 2>/dev/null
}

# The memory that the kernel uses for itself, in kB
kernel_memory()
{
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|VmallocUsed|Percpu|KernelStack|PageTables):/ {
			sum += $2
		}
		END { print sum }' /proc/meminfo
}

# rounds COUNT: load and unload COUNT times. In between, a program opens instances,
# schedules timers, and closes the instances while their timers expire. An attempt to
# unload the module meanwhile must fail.
rounds()
{
	local round=0 user

	while [ $round -lt "$1" ]; do
		insmod hwtimer.ko || return
		exec 9<>/dev/hwtimer
		HWTIMER_SCALE=400 ./lifetime -t close_while_timers_expire \
			>/tmp/output 2>&1 &
		user=$!
		not rmmod hwtimer 2>/dev/null || return
		exec 9>&-
		wait $user || return
		rmmod hwtimer || return
		round=$((round + 1))
	done
}

# Many rounds where that takes seconds. Few with kmemleak, which finds a leak without many
# rounds.
check_rounds()
{
	local before after first=3 more=7

	case $KERNEL,$WANTED in
	uml,* | stock,xa | older,xa) first=10 more=90 ;;
	debug,* | kasan,*) first=2 more=2 ;;
	esac
	[ -z "${HWTIMER_COUNTERS-}" ] || first=2 more=2
	check "$first rounds of loading, use and unloading" rounds $first
	before=$(kernel_memory)
	check "$more more rounds of loading, use and unloading" rounds $more
	after=$(kernel_memory)
	echo "# the kernel uses $before kB after $first rounds, $after kB after $more more"
	if [ -z "${HWTIMER_COUNTERS-}" ]; then
		check "the rounds leave no memory in use" \
			[ "$after" -le $((before + 2048)) ]
	else
		skip "the rounds leave no memory in use" \
			"each unloading leaves files of counters there"
	fi
	check_leaves_nothing "after all rounds"
}

main "$@"
