#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check: runs the tests and prints one summary of them all.
#
#	usage: test/vm/check.sh [--all] [STEP...]
#	       test/vm/check.sh --kernel NAME [--tests "PROGRAM..."] selftests
#	       test/vm/check.sh --suites GLOB kunit
#
# Without a STEP, all steps of ALL_STEPS below run, with --all those of MORE_STEPS, too. trace,
# which needs bpftrace, runs only on request.
#
# --kernel, --tests and --suites choose a part of a step, for a developer who wants an answer in
# seconds (make selftests, make kunit): the kernel on which the selftests run; some of the
# selftests, NAME.32 for the 32-bit program; and the KUnit suites whose names match GLOB, or with
# SUITE.TEST a test of theirs. A choice that names nothing lists what there is, and one of which
# no test ran fails.
#
# --all (make check-all) is for releases: all kernels, all selftests on those that users have, and
# larger sizes. Otherwise each test runs only where it is quick or finds most bugs, as the table in
# selftests/run.sh says. What takes longer than this has commands of its own: make mutants, torture
# and fuzz.
#
# Steps run in parallel, and each starts as soon as what it needs is built (test/vm/jobs.sh). Those
# that need no kernel and are over soon come first, so that a failure shows early. A step's
# output is shown when the step ends; meanwhile it is in build/check/STEP-WHERE.log, where
# WHERE is mostly a kernel.
#
# Each step prints TAP, or output that this script turns into counts. A step that fails in
# another way, or that tests nothing, counts as one failure. The last line counts all
# failures.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=test/vm/jobs.sh
. "$(dirname "$0")/jobs.sh"

STOCK_KERNELS="stock-6.12 stock-6.1"
DEBUG_KERNEL="debug-6.12"
UML_DEBUG_KERNEL="uml-kasan-7.3"
RACES_KERNEL="kcsan-6.12"
UNINIT_KERNEL="kmsan-6.12"
UML_KERNEL="uml-7.3"

# The step matrix: the kernels on which selftests run besides those above, and the programs
# that they run. They are those in which threads meet, on kernels that preempt them
# elsewhere, and those about layouts and memory, on other architectures.
RT_KERNELS="rt-6.12"
FOREIGN_KERNELS="arm64-16k-6.12"
THREADS=(concurrency order periodic cancel_all notify lifetime uring bound copy starved realtime)
LAYOUTS=(abi setup schedule read list)

# The programs that are built for other architectures; if this is empty, all
FOREIGN_PROGRAMS=("${LAYOUTS[@]}")

# All these programs use one in this many of their timers; if this is empty, as many as
# elsewhere.
MATRIX_SCALE=10

# Only with --all: a big-endian kernel by whose name the wheels are run as a program of its
# architecture; a kernel whose selftests run as on the stock ones; and the models of preemption of a
# stock kernel
BIG_ENDIAN=
NEWEST_KERNEL=
PREEMPT_MODELS=

# The step that takes longest
LONGEST=selftests-stock-6.12

# The steps that need no kernel and take seconds: the first answers that a developer gets
QUICK="lint-files counts-native proofs-native functions-native simulate-native
	fuzz-corpus wheel-native bench-native"

# Kernels of the step selftests
SELFTESTS_KERNELS="$UML_KERNEL $STOCK_KERNELS"

# The selftests that are built and run in the step selftests, and the glob of kunit.filter_glob for
# the step kunit, as --tests and --suites choose them; if they are empty, all
TESTS=()
SUITES=

# Kernels of the step debug, which do one in this many of KUnit's random operations
DEBUG_KERNELS=$DEBUG_KERNEL
KUNIT_SCALE=20

# The kernels that are all instrumented are slower still.
SANITIZED_SCALE=40

# Random operations on hwtimerd's functions, in multiples of what `make check` does
FUNCTIONS_SCALE=1

# Arguments for selftests/run.sh
SELFTESTS=()

# Kernels of the step tenants, and the arguments for selftests/tenants/run.sh
TENANTS_KERNELS=stock-6.12
TENANTS=()

# Kernels of the step torture, the minutes on each, and the machine's processors. User-Mode
# Linux does most per second; only the others can switch processors off, and suspend.
TORTURE_KERNELS=$UML_KERNEL
TORTURE_MINUTES=1
TORTURE_CPUS=3

# Kernels of the step fuzz, none without --all, and the seconds that it takes on each, besides
# booting: more on the one that is native, which makes most of the steps. On a busy machine it
# goes on until each call was used.
FUZZ_KERNELS=
FUZZ_SECONDS=15
FUZZ_SECONDS_NATIVE=30

# Arguments for test/sim/fuzz.sh, and whether faults are put in that the fuzzer is to find
FUZZ_CORPUS=()
FUZZ_FAULTS=

# Arguments for examples/check-systemd.sh: numbers of timers and kills
SURVIVE=(10000 20)

# Arguments for user/daemon/test/chaos.sh, and those of its scenarios that have a machine of their
# own, as they take half of the time
CHAOS=()
CLUSTER_CHAOS="failover cluster migration"

# Arguments for test/vm/proofs.sh
PROOFS=()

# Arguments for test/sim/check.sh
SIMULATE=()

# The steps: first those that are quick, then those that take longest. The kernels are built in
# the order in which the steps need them. userland does one thing after the other for five minutes.
ALL_STEPS=(lint counts functions userland simulate proofs fuzz hwtimerd selftests kunit packages
	   torture tenants survive examples matrix bench guide python checkers readme demo builds)

# Steps that run only with --all
MORE_STEPS=()

# Directory of each step's output and of its machine's console log
RESULTS=$BUILD_DIR/check
ROWS=()
FAILED_TESTS=()
RAN_AGAIN=()
PASSED=0
FAILED=0
SKIPPED=0

main()
{
	local steps step

	cd "$REPO_DIR"
	# No test depends on the language of whoever runs it.
	export HWTIMER_LANG=de_DE.UTF-8
	need_debian "test/vm/check.sh"
	need_packages make python3
	while [[ ${1-} == --* ]]; do
		case $1 in
		--all) choose_all ;;
		--kernel) SELFTESTS_KERNELS=$2 ;;
		--tests) choose_tests "$2" ;;
		--suites) choose_suites "$2" ;;
		*) die "test/vm/check.sh: no such option: $1" ;;
		esac
		[ "$1" = --all ] || shift
		shift
	done
	steps=("$@")
	[ $# -gt 0 ] ||
		steps=("${ALL_STEPS[@]}" ${MORE_STEPS[@]+"${MORE_STEPS[@]}"})
	use_ccache
	[[ " ${steps[*]} " != *" packages "* ]] || need_root
	# sudo may ask for a password until now, but not in the middle of the run.
	export HWTIMER_SUDO=--non-interactive
	need_exec_tmp
	mkdir -p "$RESULTS"
	HWTIMER_RUN=$(mktemp -d)
	export HWTIMER_RUN
	on_exit rm -rf "$HWTIMER_RUN"
	on_exit end_jobs_of_run
	for step in "${steps[@]}"; do
		declare -F "step_$step" >/dev/null ||
			die "test/vm/check.sh: no such step: $step"
		needs_nothing
		"step_$step"
	done
	[ "${#JOB[@]}" -gt 0 ] || die "test/vm/check.sh: no kernel to run on"
	run_jobs
	summary
	[ "$FAILED" -eq 0 ]
}

need_root()
{
	local why="make check needs root or sudo, for the step packages"

	[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
		die "$why, and sudo is not installed. test/vm/check.sh STEP... runs others:" \
			"${ALL_STEPS[*]/packages/}"
	as_root true || die "$why"
}

choose_all()
{
	SELFTESTS=(--all)
	RT_KERNELS="rt-6.12 rt-6.1"
	FOREIGN_KERNELS="arm64-16k-6.12 s390x-6.1"
	BIG_ENDIAN=s390x-6.1
	NEWEST_KERNEL=qemu-7.3
	PREEMPT_MODELS="none full"
	TENANTS=(--full)
	TENANTS_KERNELS="stock-6.12 rt-6.12"
	TORTURE_KERNELS="$DEBUG_KERNEL $STOCK_KERNELS $UML_KERNEL"
	TORTURE_MINUTES=5
	SURVIVE=(30000 60)
	MORE_STEPS=(debug coverage races uninit faults rivals)
	FUZZ_KERNELS="$UML_KERNEL $UML_DEBUG_KERNEL $DEBUG_KERNEL $RACES_KERNEL"
	DEBUG_KERNELS="$DEBUG_KERNEL $UML_DEBUG_KERNEL"
	FUZZ_SECONDS=120
	FUZZ_SECONDS_NATIVE=300
	FUZZ_CORPUS=(--minutes 3)
	FUZZ_FAULTS=1
	FUNCTIONS_SCALE=10
	CHAOS=(--full)
	PROOFS=(--full)
	SIMULATE=(--all)
}

# choose_tests "PROGRAM...": an empty list chooses all.
choose_tests()
{
	local all test

	read -r -a TESTS <<<"$1"
	[ "${#TESTS[@]}" -gt 0 ] || return 0
	all=$(selftests_for "$SELFTESTS_KERNELS")
	for test in "${TESTS[@]}"; do
		grep -q -x -F -e "$test" <<<"$all" ||
			die "no selftest $test for $SELFTESTS_KERNELS. There are:" \
				"$(xargs <<<"$all")"
	done
	FOREIGN_PROGRAMS=("${TESTS[@]}")
	SELFTESTS=(--quick "${TESTS[@]}")
}

# selftests_for KERNEL: the programs that can run there. User-Mode Linux runs none for 32 bits, and nor
# does another architecture.
selftests_for()
{
	local only_32='' compiler=''

	[[ $1 != uml-* ]] || only_32=none
	[ "$(arch_of "$1")" = amd64 ] || compiler=any-
	make --silent -C selftests ONLY_32="$only_32" CROSS_COMPILE="$compiler" names |
		tr ' ' '\n' | grep -v -x hwtimerctl
}

# choose_suites GLOB: the prefix that all names have need not be given.
choose_suites()
{
	local all suite

	[ -n "$1" ] || return 0
	SUITES=hwtimer_${1#hwtimer_}
	all=$(sed -n 's/^\t\.name = "hwtimer_\(.*\)",$/\1/p' test/kunit/*_kunit.c | sort | xargs)
	for suite in $all; do
		# shellcheck disable=SC2053 # a glob
		[[ hwtimer_$suite != ${SUITES%%.*} ]] || return 0
	done
	die "no KUnit suite matches $1. There are: $all"
}

# ---- the steps ----

# All that a run without arguments builds; the other steps need most of it.
step_builds()
{
	local kernel programs

	for kernel in "$UML_KERNEL" "$UML_KERNEL-kunit" $STOCK_KERNELS; do
		prepare "$VM_DIR/build.sh" "$kernel"
	done
	prepare_programs selftest
	for programs in demo bench; do
		prepare make --no-print-directory "$programs-programs"
	done
}

step_lint()
{
	prepare "$VM_DIR/kernel.sh" tools-7.3
	queue lint files tap "$VM_DIR/lint.sh" files
	prepare "$VM_DIR/build.sh" "$UML_KERNEL-kunit"
	prepare "$VM_DIR/build.sh" stock-6.12
	queue lint module tap "$VM_DIR/lint.sh" module
}

# Which lines and branches of the module its tests run
step_coverage()
{
	prepare_programs selftest
	queue coverage all tap "$VM_DIR/coverage.sh"
}

# The module as a program, whose threads a seed drives
step_simulate()
{
	prepare_simulation
	queue simulate native tap test/sim/check.sh ${SIMULATE[@]+"${SIMULATE[@]}"}
}

# As test/sim/check.sh and test/sim/fuzz.sh build the same objects, they are built before either runs.
prepare_simulation()
{
	prepare simulation
}

simulation()
{
	make --no-print-directory -C test/sim OUT="$BUILD_DIR/sim" KIND=plain -j"$JOBS" all fuzz
}

# The wheel in all its states, and the states of records in all orders
step_proofs()
{
	queue proofs native tap "$VM_DIR/proofs.sh" ${PROOFS[@]+"${PROOFS[@]}"}
}

step_userland()
{
	# Other steps need them, too.
	prepare make --no-print-directory library tool
	prepare "$VM_DIR/kernel.sh" stock-6.12
	queue userland native tap "$VM_DIR/userland.sh"
}

# hwtimerd's functions in Redis
step_functions()
{
	queue functions native tap env HWTIMER_SCALE="$FUNCTIONS_SCALE" \
		"$VM_DIR/functions.sh"
}

step_packages()
{
	queue packages stock-6.12 tap "$VM_DIR/packages.sh"
}

# UML does all of KUnit's random operations in seconds. The module with the small constants of
# constants.h runs there, too, unless a developer waits for some suites.
step_kunit()
{
	kunit_on "$UML_KERNEL" ""
	[ -n "$SUITES" ] || kunit_on "$UML_KERNEL" -small
}

# kunit_on KERNEL VARIANT [PARAMETER...]: VARIANT is one of test/vm/build.sh's, or empty
kunit_on()
{
	local kernel=$1 variant=$2

	shift 2
	needs_nothing
	prepare "$VM_DIR/kernel.sh" tools-7.3
	prepare "$VM_DIR/build.sh" "$kernel$variant-kunit"
	queue kunit "$kernel$variant" kunit \
		guest "kunit$variant" "$kernel" \
		--append "log_buf_len=4M $(watch_memory "$kernel")${SUITES:+ kunit.filter_glob=$SUITES}" \
		--file "build/$kernel$variant-kunit/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file test/vm/guest-kunit=/hwtimer/guest-kunit \
		-- sh guest-kunit "$@"
}

# In the machine, selftests/run.sh runs in /hwtimer, beside the module and all programs,
# each for 64 and for 32 bits (NAME.32).
step_selftests()
{
	local kernel

	for kernel in $SELFTESTS_KERNELS; do
		all_selftests_on "$kernel"
	done
}

# all_selftests_on KERNEL: all that the table in selftests/run.sh wants there, or those that were
# chosen
all_selftests_on()
{
	local options=()

	# In User-Mode Linux, selftests/memory.c compares STATS with what a cgroup is charged,
	# for which objects must be as large as those who allocate them know.
	[ "$1" = "$UML_KERNEL" ] || options=(--append "$(watch_memory "$1")")
	prepare_selftests "$1"
	queue selftests "$1" tap selftests_on "$1" ${options[@]+"${options[@]}"} -- \
		sh run.sh ${SELFTESTS[@]+"${SELFTESTS[@]}"}
}

# KUnit and the selftests on kernels with KASAN, UBSAN, lockdep, kmemleak and injected faults
step_debug()
{
	local kernel

	for kernel in $DEBUG_KERNELS; do
		kunit_on "$kernel" "" kunit_scale="$KUNIT_SCALE"
		all_selftests_on "$kernel"
	done
}

# The same on kernels of other kinds
step_matrix()
{
	local kernel model

	for kernel in $RT_KERNELS; do
		matrix_on "$kernel" "${THREADS[@]}"
	done
	for kernel in $FOREIGN_KERNELS; do
		matrix_on "$kernel" "${LAYOUTS[@]}"
	done
	[ -z "$BIG_ENDIAN" ] || wheels_for "$BIG_ENDIAN"
	for model in $PREEMPT_MODELS; do
		prepare_selftests stock-6.12
		queue "preempt-$model" stock-6.12 tap selftests_on stock-6.12 \
			--log "$RESULTS/preempt-$model-stock-6.12.console" \
			--append "preempt=$model" -- sh run.sh "${THREADS[@]}" clock
	done
	[ -z "$NEWEST_KERNEL" ] || matrix_on "$NEWEST_KERNEL"
}

# wheels_for KERNEL: the wheels and the table, compiled for user space. QEMU runs the program
# without a kernel, which takes less than a minute.
wheels_for()
{
	needs_nothing
	queue wheel "$(arch_of "$1")" status wheels_on "$1"
}

wheels_on()
{
	local out program

	choose_arch "$1"
	out=$BUILD_DIR/bench$ARCH_SUFFIX
	program=$out/hwtimer-wheel-bench
	need_packages qemu-user
	make --no-print-directory -C bench OUT="$out" CC="${CROSS_COMPILE}gcc" "$program" &&
		"qemu-$ARCH_NAME" "$program" --check
}

# matrix_on KERNEL [PROGRAM...]: a kernel's row; without a PROGRAM, those of the table
matrix_on()
{
	local kernel=$1

	shift
	prepare_selftests "$kernel"
	queue matrix "$kernel" tap selftests_on "$kernel" -- \
		env HWTIMER_SCALE="$MATRIX_SCALE" sh run.sh "$@"
}

# prepare_selftests KERNEL: the module, and the programs for the kernel's architecture; and
# nothing else
prepare_selftests()
{
	needs_nothing
	prepare "$VM_DIR/build.sh" "$1"
	if [ "$(arch_of "$1")" = amd64 ]; then
		prepare_programs selftest
	else
		prepare foreign_programs "$(arch_of "$1")"
	fi
}

# prepare_programs KIND
prepare_programs()
{
	prepare make --no-print-directory -j"$JOBS" ONLY="${TESTS[*]}" \
		ONLY_32="$(programs_32)" "$1-programs"
}

# The programs that the table in selftests/run.sh runs for 32 bits; nothing if that is all
programs_32()
{
	[ "${#SELFTESTS[@]}" -eq 0 ] || return 0
	awk '/^PROGRAMS="/ { inside = 1; next }
	inside && /^"/ { exit }
	inside && !seen++ { split($0, name); next }
	inside {
		for (i = 2; i <= NF; i++)
			if (name[i] ~ /-32$/ && $i == "x") {
				print $1
				next
			}
	}' selftests/run.sh | xargs
}

# foreign_programs ARCHITECTURE: the selftests for another architecture
foreign_programs()
{
	choose_arch "$1-"
	make --no-print-directory -j"$JOBS" selftest-programs ARCH_SUFFIX="$ARCH_SUFFIX" \
		CROSS_COMPILE="$CROSS_COMPILE" ONLY="${FOREIGN_PROGRAMS[*]}"
}

# Lists the programs for the architecture that was chosen last.
selftest_names()
{
	local only=${TESTS[*]}

	[ -z "$CROSS_COMPILE" ] || only=${FOREIGN_PROGRAMS[*]}
	make --silent -C selftests CROSS_COMPILE="$CROSS_COMPILE" ONLY="$only" \
		ONLY_32="$(programs_32)" names
}

# Attackers beside a victim. The suite compares times, so the machine's clock counts
# instructions: neither other steps nor a busy host change what it finds. With 8 ns for each, an
# attack lasts long enough for the scheduler's ticks. The attacker, the victim and the workers
# can have a processor each.
step_tenants()
{
	local kernel

	prepare make --no-print-directory tenants-programs
	for kernel in $TENANTS_KERNELS; do
		prepare "$VM_DIR/build.sh" "$kernel"
		queue tenants "$kernel" tap \
			guest tenants "$kernel" \
			--icount 3 --cpus 3 \
			--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
			--file build/tenants/tenants=/hwtimer/tenants \
			--file selftests/tenants/run.sh=/hwtimer/run.sh \
			-- sh run.sh ${TENANTS[@]+"${TENANTS[@]}"}
	done
}

# Programs beside all that disturbs timers
step_torture()
{
	local kernel

	for kernel in $TORTURE_KERNELS; do
		needs_nothing
		prepare make --no-print-directory torture-program
		prepare "$VM_DIR/build.sh" "$kernel"
		queue torture "$kernel" tap \
			guest torture "$kernel" --cpus "$TORTURE_CPUS" \
			--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
			--file build/torture/torture=/hwtimer/torture \
			--file test/torture/run.sh=/hwtimer/run.sh \
			-- sh run.sh "$TORTURE_MINUTES"
	done
}

# Programs with several threads or processes, or in which the worker meets a program
RACES_PROGRAMS="concurrency bound copy notify cancel_all debugfs clock lifetime list poll read
	periodic stats uring"

# Runs the programs on a kernel that reports data races.
step_races()
{
	# shellcheck disable=SC2086 # one word each
	sanitized races "$RACES_KERNEL" $RACES_PROGRAMS
}

# Programs that make the kernel copy out all that it copies out
UNINIT_PROGRAMS="abi setup schedule cancel reschedule rearm submit bulk read copy poll cancel_all query list
	privacy periodic clock notify stats lifetime debugfs concurrency"

# Runs the programs on a kernel that reports uses of uninitialized memory.
step_uninit()
{
	# shellcheck disable=SC2086 # one word each
	sanitized uninit "$UNINIT_KERNEL" $UNINIT_PROGRAMS
}

# Whether the two kernels find faults that are put into the module
step_faults()
{
	local kernel

	prepare_programs selftest
	for kernel in "$RACES_KERNEL" "$UNINIT_KERNEL"; do
		queue faults "$kernel" tap "$VM_DIR/faults.sh" "$kernel"
	done
}

# sanitized NAME KERNEL PROGRAM...: run the programs with few timers on a kernel that is all
# instrumented. test/vm/run.sh fails at a report that names the module.
sanitized()
{
	local name=$1 kernel=$2

	shift 2
	prepare_selftests "$kernel"
	# shellcheck disable=SC2016 # the guest's variables
	queue "$name" "$kernel" tap selftests_on "$kernel" -- \
		sh -c 'HWTIMER_SCALE=$0 exec sh run.sh "$@"' "$SANITIZED_SCALE" "$@"
}

# The fuzzer, beside neighbours that must not notice it. The inputs that AFL++ found for the
# simulation.
step_fuzz()
{
	local kernel

	prepare_simulation
	queue fuzz corpus tap test/sim/fuzz.sh ${FUZZ_CORPUS[@]+"${FUZZ_CORPUS[@]}"}
	needs_nothing
	prepare make --no-print-directory fuzz-programs
	for kernel in $FUZZ_KERNELS; do
		prepare "$VM_DIR/build.sh" "$kernel"
		queue fuzz "$kernel" tap fuzz_on "$kernel"
	done
	[ -z "$FUZZ_FAULTS" ] || queue fuzz faults tap test/fuzz/faults.sh
}

fuzz_on()
{
	local kernel=$1 seconds=$FUZZ_SECONDS

	case $kernel in
	uml-*) seconds=$FUZZ_SECONDS_NATIVE ;;
	esac
	test/fuzz/vm.sh --kernel "$kernel" --seconds "$seconds" \
		--module "build/$kernel/hwtimer.ko" \
		--log "$RESULTS/fuzz-$kernel.console"
}

# watch_memory KERNEL: parameters with which a kernel without sanitizers reports that memory that
# the module may have had was written to when it was free, or beyond its end: it has a pattern
# there. If the kernel has KFENCE, some objects have a page without access behind them.
watch_memory()
{
	case $1 in
	stock-* | "$UML_KERNEL"*) echo "slub_debug=FZP,hwtimer_*,kmalloc-*" \
			page_poison=1 kfence.sample_interval=20 ;;
	esac
}

# selftests_on KERNEL [RUN-OPTION...] -- COMMAND...: run COMMAND beside all programs
selftests_on()
{
	local kernel=$1 program library files=()

	shift
	choose_arch "$kernel"
	for program in $(selftest_names); do
		files+=(--file "build/selftests$ARCH_SUFFIX/$program=/hwtimer/$program")
	done
	# One program has no static libraries.
	[[ $kernel != uml-* ]] || while read -r library; do
		files+=(--file "$library=$library")
	done < <(libraries_of build/selftests/adapters_shared)
	guest selftests "$kernel" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file selftests/run.sh=/hwtimer/run.sh \
		"${files[@]}" "$@"
}

step_demo()
{
	prepare make --no-print-directory demo-programs
	program_step demo build/demo/hwtimer-demo
	prepare make --no-print-directory library tool
	prepare make --no-print-directory -j"$JOBS" daemon
	queue demo-terminal "$UML_KERNEL" tap "$VM_DIR/terminal-test.py" \
		make --no-print-directory vm KERNEL="$UML_KERNEL"
	prepare "$VM_DIR/build.sh" stock-6.12
	queue demo-terminal host tap terminal_outside
}

# The same in QEMU, on a PATH without Debian's programs, with a kernel that is given by hand
terminal_outside()
{
	local entry

	entry=$("$VM_DIR/kernel.sh" stock-6.12)
	make_outside "$HWTIMER_RUN/outside"
	PATH=$HWTIMER_RUN/outside "$VM_DIR/terminal-test.py" --once \
		make --no-print-directory vm KERNEL=host VMLINUZ="$entry/vmlinuz" \
		KDIR="$entry/build" MODULES="$entry/lib/modules/$(<"$entry/release")"
}

step_readme()
{
	local kernel=$UML_KERNEL

	rm -rf build/readme
	prepare make --no-print-directory readme-programs
	prepare "$VM_DIR/build.sh" "$kernel"
	# shellcheck disable=SC2016 # the guest's variables
	queue readme "$kernel" tap \
		guest readme "$kernel" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/readme/example-1=/hwtimer/example-1 \
		--file build/readme/example-2=/hwtimer/example-2 \
		--file build/readme/example-3=/hwtimer/example-3 \
		--file build/readme/example-4=/hwtimer/example-4 \
		--file build/readme/example-5=/hwtimer/example-5 \
		--file build/readme/example-6=/hwtimer/example-6 \
		--file build/readme/expected-1=/hwtimer/expected-1 \
		-- sh -c 'echo 1..13
			# Without the module, each says why it fails.
			for i in 1 2 3 4 5 6; do
				./example-$i 2>&1 | grep "No such file" &&
					echo ok $i || echo not ok $i
			done
			insmod hwtimer.ko || exit
			for i in 1 2 3 4 5 6; do
				./example-$i >said && echo ok $((i + 6)) ||
					echo not ok $((i + 6))
				cat said
				[ $i != 1 ] || mv said said-1
			done
			cmp said-1 expected-1 && echo ok 13 || echo not ok 13
			# io_uring lets go of its files some time after its program has ended.
			until rmmod hwtimer 2>/dev/null; do sleep 0.1; done'
}

# The guide's servers and its Python, in a machine; and the examples of the guide to hwtimerd:
# its commands in a machine, its programs here
step_guide()
{
	prepare make --no-print-directory -j"$JOBS" examples
	prepare make --no-print-directory library tool
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	queue guide-servers "$UML_KERNEL" tap "$VM_DIR/python.sh" guide
	prepare_daemon
	queue guide "$UML_KERNEL" tap user/daemon/test/guide.sh
}

# The Python package, with this machine's Python
step_python()
{
	prepare make --no-print-directory library tool
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	queue python "$UML_KERNEL" tap "$VM_DIR/python.sh"
}

# The library with MemorySanitizer and valgrind
step_checkers()
{
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	queue checkers "$UML_KERNEL" tap "$VM_DIR/checkers.sh"
}

# One machine, with TCP/IP, runs all examples.
step_examples()
{
	local kernel=stock-6.12

	rm -rf build/examples
	# As other steps do: two builds of the same programs must not run at once.
	prepare make --no-print-directory -j"$JOBS" examples
	prepare_daemon
	prepare "$VM_DIR/build.sh" "$kernel"
	queue examples "$kernel" tap examples_on "$kernel"
}

examples_on()
{
	local kernel=$1 file files=()

	find_redis || return
	for file in build/examples/*; do
		files+=(--file "$file=/hwtimer/$(basename "$file")")
	done
	guest examples "$kernel" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file examples/check.sh=/hwtimer/check.sh \
		--file examples/helpers.sh=/hwtimer/helpers.sh \
		--file examples/survive.awk=/hwtimer/survive.awk \
		--file build/daemon-tests/stop_wheels=/hwtimer/stop_wheels \
		"${REDIS_FILES[@]}" "${files[@]}" -- sh check.sh
}

# The daemon, as a user sees it, and as it is killed, cut off and stopped. Both on the
# kernel that is as fast as this machine.
step_hwtimerd()
{
	local kernel=$UML_KERNEL

	prepare_daemon
	prepare "$VM_DIR/build.sh" "$kernel"
	queue hwtimerd-smoke "$kernel" tap hwtimerd_on "$kernel" hwtimerd-smoke smoke.sh
	# shellcheck disable=SC2086 # one word each
	queue hwtimerd "$kernel" tap hwtimerd_on "$kernel" hwtimerd \
		chaos.sh ${CHAOS[@]+"${CHAOS[@]}"} --but $CLUSTER_CHAOS
	# shellcheck disable=SC2086 # one word each
	queue hwtimerd-cluster "$kernel" tap hwtimerd_on "$kernel" hwtimerd-cluster \
		chaos.sh ${CHAOS[@]+"${CHAOS[@]}"} $CLUSTER_CHAOS
}

prepare_daemon()
{
	prepare make --no-print-directory -j"$JOBS" daemon-static daemon-tests
}

# hwtimerd_on KERNEL NAME SCRIPT [ARGUMENT...]: run a script of user/daemon/test
hwtimerd_on()
{
	local kernel=$1 name=$2 script=$3

	shift 3
	find_redis || return
	guest "$name" "$kernel" --mem 2048 \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/daemon-static/hwtimerd=/hwtimer/hwtimerd \
		--file build/daemon-tests/accounts=/hwtimer/accounts \
		--file build/daemon-tests/hold=/hwtimer/hold \
		--file build/daemon-tests/relay=/hwtimer/relay \
		--file build/daemon-tests/stop_wheels=/hwtimer/stop_wheels \
		--file build/daemon-tests/clock_shift.so=/hwtimer/clock_shift.so \
		--file user/daemon/functions/hwtimer.lua=/hwtimer/hwtimer.lua \
		--file "user/daemon/test/$script=/hwtimer/$script" \
		"${REDIS_FILES[@]}" -- sh "$script" "$@"
}

# A service of systemd that is killed again and again. A restart takes ten times as long
# where processors are emulated.
step_survive()
{
	local kernel=$UML_KERNEL

	prepare make --no-print-directory -j"$JOBS" examples
	prepare "$VM_DIR/build.sh" "$kernel"
	queue survive "$kernel" tap \
		guest survive "$kernel" --systemd \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/examples/survive=/usr/local/bin/survive \
		--file examples/survive.service=/etc/systemd/system/survive.service \
		--file examples/check-systemd.sh=/hwtimer/check-systemd.sh \
		--file examples/helpers.sh=/hwtimer/helpers.sh \
		--file examples/survive.awk=/hwtimer/survive.awk \
		-- sh check-systemd.sh "${SURVIVE[@]}"
}

# Checks only that each system delivers every timer exactly once and none early. No system
# fails by being slow.
step_bench()
{
	prepare make --no-print-directory bench-programs
	# The wheels run natively, as in the benchmark.
	queue wheel native status build/bench/hwtimer-wheel-bench --check
	queue bench native tap build/bench/timer-bench --check \
		--timers 2000 --systems \
		floor,floor-list,timerfd,io_uring,libuv,libevent
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	queue bench "$UML_KERNEL" tap \
		guest bench "$UML_KERNEL" \
		--file "build/$UML_KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/bench/timer-bench=/hwtimer/timer-bench \
		-- sh -c 'insmod hwtimer.ko && ./timer-bench --check --timers 2000 \
			--systems hwtimer,timerfd && rmmod hwtimer'
	# A server whose timeouts are pushed out
	queue bench-server "$UML_KERNEL" tap \
		guest bench-server "$UML_KERNEL" \
		--file "build/$UML_KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/bench/server-bench=/hwtimer/server-bench \
		-- sh -c 'insmod hwtimer.ko && ./server-bench --check --reps 1 \
			--connections 200 --most 5000 --pushes 5 && rmmod hwtimer'
}

# Instructions that a timer takes, by callgrind on the module as a program
step_counts()
{
	queue counts native tap bench/core/counts.sh
}

# As step_bench(), for hwtimerd and its rivals
step_rivals()
{
	queue rivals native tap user/daemon/bench/bench.sh --check
}

# Runs the documentation's one-liners. The selftest `trace` tests the tracepoints
# themselves.
step_trace()
{
	queue trace stock-6.12 tap "$VM_DIR/trace.sh"
}

# program_step NAME PROGRAM: a step that runs PROGRAM, whose exit status is the result
program_step()
{
	local name=$1 program=$2 kernel=$UML_KERNEL

	prepare "$VM_DIR/build.sh" "$kernel"
	queue "$name" "$kernel" status \
		guest "$name" "$kernel" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$program=/hwtimer/program" \
		-- sh -c 'insmod hwtimer.ko && ./program && rmmod hwtimer'
}

# guest NAME KERNEL RUN-ARGUMENT...
guest()
{
	local name=$1 kernel=$2

	shift 2
	"$VM_DIR/run.sh" --again --kernel "$kernel" \
		--log "$RESULTS/$name-$kernel.console" "$@"
}

# ---- counting ----

# The failures of the job that finish_job() counted last
JOB_FAILURES=0

# finish_job STATUS SECONDS NAME WHERE KIND: show the job's output, unless it was shown
# as it came, and count its results by KIND:
#	tap	by the lines of TAP
#	kunit	by what the kernel's kunit.py makes of the KTAP
#	status	as one test
finish_job()
{
	local status=$1 seconds=$2 name=$3 where=$4 kind=$5
	local log=$RESULTS/$name-$where.log passed=0 failed=0 skipped=0 ran

	[ -n "$WATCHED" ] || cat "$log"
	drop_what_does_not_count "$log"
	"count_$kind" "$log" "$status" "$name $where"
	ran=$((passed + failed))
	# To leave out all that was asked for is no success.
	[ -n "${TESTS[*]}$SUITES" ] || ran=$((ran + skipped))
	if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
		failed=1
		note_failure "$name $where: exit status $status$(reason_in "$log")"
	elif [ "$ran" -eq 0 ]; then
		failed=1
		note_failure "$name $where: it ran no test$(
			[ "$skipped" -eq 0 ] || echo ", but skipped $skipped")"
	fi
	JOB_FAILURES=$failed
	count "$name" "$where" "$passed" "$failed" "$skipped" "$seconds" \
		"$(processor_time "$log")"
}

# drop_what_does_not_count LOG: the output of machines that test/vm/run.sh has run again. The summary
# says why they have: a fault that shows now and then may not have shown the second time.
drop_what_does_not_count()
{
	local why uncounted='what the machine has printed so far does not count'

	grep -q ": $uncounted\$" "$1" || return 0
	cp "$1" "$1.whole"
	while read -r why; do
		RAN_AGAIN+=("$why; the first output is in $1.whole")
	done < <(sed -n "s/^hwtimer: \(.*\): $uncounted\$/\1/p" "$1")
	awk '
		/^hwtimer: booting / { flush() }
		/: what the machine has printed so far does not count$/ {
			lines = 0
			print
			next
		}
		{ line[lines++] = $0 }
		END { flush() }
		function flush(i) {
			for (i = 0; i < lines; i++)
				print line[i]
			lines = 0
		}' "$1.whole" >"$1"
}

# reason_in LOG: what test/vm/run.sh said last of why a machine failed
reason_in()
{
	sed -n 's/^.*: FAILED: /, /p' "$1" | tail -n 1
}

# fail_job NAME WHERE REASON: count a job that cannot run as one failure.
fail_job()
{
	note_failure "$1 $2: not run, as $3"
	count "$1" "$2" 0 1 0 - -
}

# count NAME WHERE PASSED FAILED SKIPPED SECONDS PROCESSOR
count()
{
	PASSED=$((PASSED + $3))
	FAILED=$((FAILED + $4))
	SKIPPED=$((SKIPPED + $5))
	ROWS+=("$@")
	say "---- $1, $2: $3 passed, $4 failed, $5 skipped, $6 s"
}

note_failure()
{
	FAILED_TESTS+=("$1")
}

count_status()
{
	[ "$2" -ne 0 ] || passed=1
}

# A program prints its plan, then its results, or the other way round: results beyond the plan
# before them belong to the one behind them. If it died half way, each missing result is a failure.
count_tap()
{
	local log=$1 what=$3 counts missing line

	counts=$(awk '
		function settle() {
			if (plan > seen)
				missing += plan - seen
			plan = seen = 0
		}
		/^1\.\.[0-9]+/ {
			extra = seen - plan
			settle()
			plan = substr($1, 4) + 0
			seen = extra > 0 ? extra : 0
		}
		/^(not )?ok [0-9]+/ { seen++ }
		/^(not )?ok [0-9]+.*# *SKIP/ { skipped++; next }
		/^ok [0-9]+/ { passed++ }
		/^not ok [0-9]+/ { failed++ }
		END {
			settle()
			print passed + 0, failed + missing, skipped + 0,
			      missing + 0
		}' "$log")
	read -r passed failed skipped missing <<<"$counts"
	while read -r line; do
		note_failure "$what: $line$(why "$log" "$line")"
	done < <(grep -E '^not ok [0-9]+' "$log" | grep -v '# *SKIP' || true)
	[ "$missing" -eq 0 ] ||
		note_failure "$what: $missing planned tests have no result"
}

# why LOG LINE: what a test said before its result LINE, the last lines of it, on lines of
# their own. Whoever has nothing but the summary gets to know that much.
why()
{
	awk -v line="$2" '
		$0 == line { exit }
		/^(not )?ok [0-9]+/ { count = 0; next }
		{ said[count++] = $0 }
		END {
			for (i = count > 15 ? count - 15 : 0; i < count; i++)
				printf "\n    %s", said[i]
		}' "$1"
}

# The last line of kunit.py is: Testing complete. Ran 5 tests: passed: 4, ...
count_kunit()
{
	local log=$1 what=$3 tools summary

	tools=$("$VM_DIR/kernel.sh" tools-7.3)/source
	python3 "$tools/tools/testing/kunit/kunit.py" parse "$log" \
		>"$log.parsed" 2>&1 || status=1
	summary=$(grep 'Testing complete' "$log.parsed" | tail -n 1)
	say "kunit.py: ${summary:-no summary}"
	passed=$(kunit_number passed)
	failed=$(($(kunit_number failed) + $(kunit_number crashed) +
		  $(kunit_number errors)))
	skipped=$(kunit_number skipped)
	[ "$failed" -eq 0 ] || note_failure "$what: $summary$(awk '
		/(EXPECTATION|ASSERTION) FAILED|^ *not ok/ && count++ < 15 {
			printf "\n    %s", $0
		}' "$log")"
}

kunit_number()
{
	local number

	number=$(sed -n "s/.*$1: \([0-9]*\).*/\1/p" <<<"$summary")
	echo "${number:-0}"
}

clock()
{
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

summary()
{
	local test

	printf '\n%-14s %-18s %8s %8s %8s %8s %10s\n' \
		step kernel passed failed skipped seconds processor
	printf '%-14s %-18s %8s %8s %8s %8s %10s\n' "${ROWS[@]}"
	for test in ${RAN_AGAIN[@]+"${RAN_AGAIN[@]}"}; do
		printf 'ran again: %s\n' "$test"
	done
	for test in ${FAILED_TESTS[@]+"${FAILED_TESTS[@]}"}; do
		printf 'failed: %s\n' "$test"
	done
	printf '%d passed, %d failed' "$PASSED" "$FAILED"
	[ "$SKIPPED" -eq 0 ] || printf ', %d skipped' "$SKIPPED"
	printf '\n'
}

main "$@"
