#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check: the tests, and one summary of them all.
#
#	usage: vm/check.sh [--all] [STEP...]
#
# The steps: builds selftests kunit lint packages examples demo readme bench userland
# litmus. Without a STEP all of these are run. Two more are run if they are asked for:
# trace, which takes a minute and needs bpftrace, and races, which needs a kernel of its
# own and is run with --all, too.
#
# With --all (make check-all), every kernel runs all selftests that it can, and KUnit
# does all of its random operations under the sanitizers, too: before a release.
# Otherwise each test is run where it is quick, or where it may find most:
# selftests/run.sh has the table.
#
# What is built is built first. The steps run beside each other, some more than there
# are processors, as most wait for clocks; what each prints is shown when it ends, and
# is meanwhile in build/check/STEP-WHERE.log.
#
# Each step prints TAP, or something that is made into counts here; one that fails in
# another way, or that tests nothing, counts as one failure. Nothing can make a
# failure disappear: the last line has them all.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

STOCK_KERNELS="stock-6.12 stock-6.1"
DEBUG_KERNEL="debug-6.12"
RACES_KERNEL="kcsan-6.12"

# KCSAN is to watch one access in 200, not one in 4,000: only the module's are looked at,
# and they are few. For 200 us each, as an emulated processor is slow to come by.
RACES_ARGUMENTS="kcsan.skip_watch=200 kcsan.udelay_task=200 kcsan.report_once_in_ms=0"
UML_KERNEL="uml-7.3"

# How long a machine may take, in seconds, before it is taken for hung. In the slow hours
# of a shared host, one that makes room for another gets a tenth of a processor.
KUNIT_TIMEOUT=1800
SELFTESTS_TIMEOUT=2700
PROGRAM_TIMEOUT=900
EXAMPLES_TIMEOUT=1800

# The step that takes longest
LONGEST=selftests-$DEBUG_KERNEL

# How many steps may run at a time
PLACES=$((JOBS + 1))

# Of the random operations of KUnit, the debug kernel does one of so many.
KUNIT_SCALE=10

# What selftests/run.sh is told
SELFTESTS=()

# Steps that are run with --all only
MORE_STEPS=()

# What each step printed, and the console of its machine
RESULTS=$BUILD_DIR/check
ROWS=()
FAILED_TESTS=()
PASSED=0
FAILED=0
SKIPPED=0

main()
{
	local steps step

	if [ "${1-}" = --all ]; then
		shift
		choose_all
	fi
	steps=("$@")
	# What takes longest comes first.
	[ $# -gt 0 ] ||
		steps=(builds selftests kunit lint packages examples demo
		       readme bench userland litmus
		       ${MORE_STEPS[@]+"${MORE_STEPS[@]}"})
	cd "$REPO_DIR"
	need_packages make python3
	# If a password is to be typed, then now.
	[ $# -gt 0 ] || as_root true
	mkdir -p "$RESULTS"
	on_exit end_steps
	for step in "${steps[@]}"; do
		declare -F "step_$step" >/dev/null ||
			die "vm/check.sh: no such step: $step"
		"step_$step"
	done
	run_queue
	summary
	[ "$FAILED" -eq 0 ]
}

choose_all()
{
	SELFTESTS=(--all)
	MORE_STEPS=(races)
	KUNIT_SCALE=1
	SELFTESTS_TIMEOUT=3600
	KUNIT_TIMEOUT=3600
}

# ---- the steps ----

step_builds()
{
	local kernel programs

	for kernel in "$DEBUG_KERNEL" "$DEBUG_KERNEL-kunit" $STOCK_KERNELS \
		"$UML_KERNEL" "$UML_KERNEL-kunit"; do
		build "$kernel" "$VM_DIR/build.sh" "$kernel"
	done
	for programs in selftest demo bench; do
		build "$programs-programs" make --no-print-directory \
			-j"$JOBS" "$programs-programs"
	done
	run_queue
}

# build WHAT COMMAND...
build()
{
	local what=$1

	shift
	PREPARED[$*]=1
	queue build "$what" status "$@"
}

step_lint()
{
	queue lint all tap "$VM_DIR/lint.sh"
}

step_litmus()
{
	queue litmus spin tap "$VM_DIR/litmus.sh"
}

step_userland()
{
	queue userland native tap "$VM_DIR/userland.sh"
}

step_packages()
{
	queue packages stock-6.12 tap "$VM_DIR/packages.sh"
}

# With all random operations where they take seconds, and with a part of them
# under the sanitizers.
step_kunit()
{
	kunit_on "$DEBUG_KERNEL" kunit_scale="$KUNIT_SCALE"
	kunit_on "$UML_KERNEL"
}

# kunit_on KERNEL [PARAMETER...]
kunit_on()
{
	local kernel=$1

	shift
	prepare "$VM_DIR/build.sh" "$kernel-kunit"
	queue kunit "$kernel" kunit \
		guest kunit "$kernel" "$KUNIT_TIMEOUT" \
		--append log_buf_len=4M \
		--file "build/$kernel-kunit/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file vm/guest-kunit=/hwtimer/guest-kunit \
		-- sh guest-kunit "$@"
}

# The guest's side is selftests/run.sh, started in /hwtimer, where the module
# and all programs lie, each for 64 and for 32 bits (NAME.32).
step_selftests()
{
	local kernel

	prepare make --no-print-directory -j"$JOBS" selftest-programs
	for kernel in "$DEBUG_KERNEL" $STOCK_KERNELS "$UML_KERNEL"; do
		prepare "$VM_DIR/build.sh" "$kernel"
		queue selftests "$kernel" tap selftests_on "$kernel" -- \
			sh run.sh ${SELFTESTS[@]+"${SELFTESTS[@]}"}
	done
}

# The programs in which several threads meet, on a kernel that sees two of them at the
# same word. A report of KCSAN is trouble with the kernel, as any other.
step_races()
{
	prepare make --no-print-directory -j"$JOBS" selftest-programs
	prepare "$VM_DIR/build.sh" "$RACES_KERNEL"
	# shellcheck disable=SC2016 # the guest's variables
	queue races "$RACES_KERNEL" tap selftests_on "$RACES_KERNEL" \
		--append "$RACES_ARGUMENTS" -- sh -c 'HWTIMER_SCALE=40 exec sh run.sh "$@"' sh \
		concurrency ring ring_abuse notify stop debugfs clock
}

# selftests_on KERNEL [RUN-OPTION...] -- COMMAND...: run COMMAND beside all programs
selftests_on()
{
	local kernel=$1 program files=()

	shift
	for program in $(make --silent -C selftests names); do
		files+=(--file "build/selftests/$program=/hwtimer/$program")
	done
	guest selftests "$kernel" "$SELFTESTS_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "build/$kernel/samples/watchdog/hwtimer_watchdog.ko=/hwtimer/hwtimer_watchdog.ko" \
		--file selftests/run.sh=/hwtimer/run.sh \
		"${files[@]}" "$@"
}

step_demo()
{
	prepare make --no-print-directory demo-programs
	program_step demo build/demo/hwtimer-demo
}

step_readme()
{
	local kernel=$UML_KERNEL

	rm -rf build/readme
	prepare make --no-print-directory readme-programs
	prepare "$VM_DIR/build.sh" "$kernel"
	# shellcheck disable=SC2016 # the guest's variables
	queue readme "$kernel" tap \
		guest readme "$kernel" "$PROGRAM_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/readme/example-1=/hwtimer/example-1 \
		--file build/readme/example-2=/hwtimer/example-2 \
		-- sh -c 'insmod hwtimer.ko || exit
			echo 1..2
			for i in 1 2; do
				./example-$i && echo ok $i || echo not ok $i
			done
			rmmod hwtimer'
}

# One machine for all of them, with TCP/IP.
step_examples()
{
	local kernel=stock-6.12

	rm -rf build/examples
	prepare make --no-print-directory -j"$JOBS" examples
	prepare "$VM_DIR/build.sh" "$kernel"
	queue examples "$kernel" tap examples_on "$kernel"
}

# Redis comes with its libraries and the loader, each at the path where it expects the
# others.
examples_on()
{
	local kernel=$1 file root files=()

	root=$("$VM_DIR/kernel.sh" redis)/root || return
	while read -r file; do
		files+=(--file "$root$file=$file")
	done < <(find "$root" -type f -printf '/%P\n')
	for file in build/examples/*; do
		files+=(--file "$file=/hwtimer/$(basename "$file")")
	done
	guest examples "$kernel" "$EXAMPLES_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file examples/check.sh=/hwtimer/check.sh \
		"${files[@]}" -- sh check.sh
}

# Only whether each system delivers all timers once and none early: what they
# take is no matter of pass or fail.
step_bench()
{
	prepare make --no-print-directory bench-programs
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	# The wheels natively, as the benchmark turns them
	queue wheel native status build/bench/hwtimer-wheel-bench --check
	queue bench native tap build/bench/timer-bench --check \
		--timers 2000 --systems \
		floor,floor-list,timerfd,posix,io_uring,libuv,libevent
	queue bench "$UML_KERNEL" tap \
		guest bench "$UML_KERNEL" "$PROGRAM_TIMEOUT" \
		--file "build/$UML_KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/bench/timer-bench=/hwtimer/timer-bench \
		-- sh -c 'insmod hwtimer.ko && ./timer-bench --check --timers 2000 \
			--systems hwtimer,timerfd,posix && rmmod hwtimer'
}

# The one-liners of the documentation. That tracing tells each timer's story, a
# selftest says.
step_trace()
{
	queue trace stock-6.12 tap "$VM_DIR/trace.sh"
}

# A program that loads nothing and tells by its exit status how it went.
program_step()
{
	local name=$1 program=$2 kernel=$UML_KERNEL

	prepare "$VM_DIR/build.sh" "$kernel"
	queue "$name" "$kernel" status \
		guest "$name" "$kernel" "$PROGRAM_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$program=/hwtimer/program" \
		-- sh -c 'insmod hwtimer.ko && ./program && rmmod hwtimer'
}

# What a step needs is built by it too, as it may be run alone; once, however many
# steps need it. If that fails, that is a failure: the step would find what was built
# before.
declare -A PREPARED=()
prepare()
{
	[ -z "${PREPARED[$*]-}" ] || return 0
	PREPARED[$*]=1
	"$@" >/dev/null && return
	say "failed: $*"
	FAILED=$((FAILED + 1))
	note_failure "$*"
}

# guest NAME KERNEL TIMEOUT RUN-ARGUMENT...
guest()
{
	local name=$1 kernel=$2 timeout=$3

	shift 3
	"$VM_DIR/run.sh" --kernel "$kernel" --timeout "$timeout" \
		--log "$RESULTS/$name-$kernel.console" "$@"
}

# ---- running ----

# What is to be run: a line of quoted words each, NAME WHERE KIND COMMAND...
QUEUE=()

# What runs, by its process: NAME WHERE KIND, and when it was started
declare -A RUNNING=()
declare -A STARTED=()

# Whether what the only step prints is shown while it prints it
WATCHED=

# queue NAME WHERE KIND COMMAND...: see finish_step() for KIND
queue()
{
	QUEUE+=("${*@Q}")
}

run_queue()
{
	local next=0

	WATCHED=
	[ "${#QUEUE[@]}" -ne 1 ] || WATCHED=1
	while [ "$next" -lt "${#QUEUE[@]}" ] || [ "${#RUNNING[@]}" -gt 0 ]; do
		if [ "$next" -lt "${#QUEUE[@]}" ] &&
			[ "${#RUNNING[@]}" -lt "$PLACES" ]; then
			eval "start_step ${QUEUE[next]}"
			next=$((next + 1))
		else
			wait_for_step
		fi
	done
	QUEUE=()
}

# start_step NAME WHERE KIND COMMAND...: in a process group of its own, so that all of
# it can be ended
start_step()
{
	local name=$1 where=$2 kind=$3 log

	shift 3
	log=$RESULTS/$name-$where.log
	say "---- $name, $where: started (at $(clock "$SECONDS")) ----"
	set -m
	run_into "$log" "$name-$where" "$@" </dev/null &
	set +m
	RUNNING[$!]="$name $where $kind"
	STARTED[$!]=$SECONDS
}

# run_into LOG STEP COMMAND...: leaves in LOG.time what it took of the processors. All
# others make room for the one that takes longest.
run_into()
{
	local log=$1 step=$2 TIMEFORMAT='%0U %0S'

	shift 2
	[ "$step" = "$LONGEST" ] || renice --priority 10 "$BASHPID" >/dev/null
	if [ -n "$WATCHED" ]; then
		{ time "$@" 2>&1 | tee "$log"; } 2>"$log.time"
	else
		{ time "$@" >"$log" 2>&1; } 2>"$log.time"
	fi
}

wait_for_step()
{
	local pid status=0 words=()

	wait -n -p pid "${!RUNNING[@]}" || status=$?
	read -r -a words <<<"${RUNNING[$pid]}"
	unset "RUNNING[$pid]"
	finish_step "$status" $((SECONDS - STARTED[$pid])) "${words[@]}"
}

# Each ends its machine when it is told to.
# shellcheck disable=SC2317 # called by on_exit
end_steps()
{
	local pid tries

	for pid in "${!RUNNING[@]}"; do
		kill -- "-$pid" 2>/dev/null || true
	done
	wait
	for pid in "${!RUNNING[@]}"; do
		tries=100
		while kill -0 -- "-$pid" 2>/dev/null && ((tries-- > 0)); do
			sleep 0.1
		done
		kill -KILL -- "-$pid" 2>/dev/null || true
	done
}

# ---- counting ----

# finish_step STATUS SECONDS NAME WHERE KIND: shows what it printed, unless that was
# seen, and counts its results in the way of its KIND:
#	tap	by its lines of TAP
#	kunit	by what the kernel's kunit.py makes of its KTAP
#	status	as one test
finish_step()
{
	local status=$1 seconds=$2 name=$3 where=$4 kind=$5
	local log=$RESULTS/$name-$where.log passed=0 failed=0 skipped=0
	local user=0 system=0

	[ -n "$WATCHED" ] || cat "$log"
	"count_$kind" "$log" "$status" "$name $where"
	if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
		failed=1
		note_failure "$name $where: exit status $status"
	elif [ $((passed + failed + skipped)) -eq 0 ]; then
		failed=1
		note_failure "$name $where: not a single test"
	fi
	PASSED=$((PASSED + passed))
	FAILED=$((FAILED + failed))
	SKIPPED=$((SKIPPED + skipped))
	read -r user system <"$log.time" || true
	ROWS+=("$name" "$where" "$passed" "$failed" "$skipped" "$seconds"
	       "$((user + system))")
	say "---- $name, $where: $passed passed, $failed failed, $skipped skipped, $seconds s"
}

note_failure()
{
	FAILED_TESTS+=("$1")
}

count_status()
{
	[ "$2" -ne 0 ] || passed=1
}

# A program prints its plan, then its results. Where results are missing (it
# died half way), each is a failure.
count_tap()
{
	local log=$1 what=$3 counts missing line

	counts=$(awk '
		function settle() {
			if (plan > seen)
				missing += plan - seen
			plan = seen = 0
		}
		/^1\.\.[0-9]+/ { settle(); plan = substr($1, 4) + 0 }
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
		note_failure "$what: $line"
	done < <(grep -E '^not ok [0-9]+' "$log" | grep -v '# *SKIP' || true)
	[ "$missing" -eq 0 ] ||
		note_failure "$what: $missing planned tests have no result"
}

# The last line of kunit.py is: Testing complete. Ran 5 tests: passed: 4, ...
count_kunit()
{
	local log=$1 what=$3 tools summary

	tools=$("$VM_DIR/kernel.sh" tools-6.12)/source
	python3 "$tools/tools/testing/kunit/kunit.py" parse "$log" \
		>"$log.parsed" 2>&1 || status=1
	summary=$(grep 'Testing complete' "$log.parsed" | tail -n 1)
	say "kunit.py: ${summary:-no summary}"
	passed=$(kunit_number passed)
	failed=$(($(kunit_number failed) + $(kunit_number crashed) +
		  $(kunit_number errors)))
	skipped=$(kunit_number skipped)
	[ "$failed" -eq 0 ] || note_failure "$what: $summary"
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
	for test in ${FAILED_TESTS[@]+"${FAILED_TESTS[@]}"}; do
		printf 'failed: %s\n' "$test"
	done
	printf '%d passed, %d failed' "$PASSED" "$FAILED"
	[ "$SKIPPED" -eq 0 ] || printf ', %d skipped' "$SKIPPED"
	printf '\n'
}

main "$@"
