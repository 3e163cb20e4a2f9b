#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check: runs the tests and prints one summary of them all.
#
#	usage: vm/check.sh [--all] [STEP...]
#
# The steps are: builds selftests tenants kunit hwtimerd lint packages examples survive demo
# readme guide bench userland functions litmus. Without a STEP, all of these run. Three more
# steps run only on request: trace, which takes a minute and needs bpftrace; races, which
# needs a kernel of its own; and rivals, which needs npm. The last two are also part of --all.
#
# --all (make check-all) is for releases: every kernel runs all selftests that it can, and
# KUnit does all of its random operations under the sanitizers, too. Otherwise each test
# runs only where it is quick or finds most bugs, as the table in selftests/run.sh says.
#
# Builds come first. Then the steps run in parallel, one more of them than the machine has
# processors, as most steps wait for clocks. A step's output is shown when the step ends;
# meanwhile it is in build/check/STEP-WHERE.log, where WHERE is mostly a kernel.
#
# Each step prints TAP, or output that this script turns into counts. A step that fails in
# another way, or that tests nothing, counts as one failure. The last line counts all
# failures.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

STOCK_KERNELS="stock-6.12 stock-6.1"
DEBUG_KERNEL="debug-6.12"
RACES_KERNEL="kcsan-6.12"

# KCSAN watches one access in 200, not one in 4,000: only the module's accesses are
# instrumented, and they are few. It watches each for 200 us, because the other processor
# is emulated, too, and may pause for a while.
RACES_ARGUMENTS="kcsan.skip_watch=200 kcsan.udelay_task=200 kcsan.report_once_in_ms=0"
UML_KERNEL="uml-7.3"

# How long a machine may take, in seconds, before it counts as hung. On a shared and busy
# host, a step with a low priority may get a tenth of a processor.
KUNIT_TIMEOUT=1800
SELFTESTS_TIMEOUT=2700
PROGRAM_TIMEOUT=900
EXAMPLES_TIMEOUT=1800
SURVIVE_TIMEOUT=3600
TENANTS_TIMEOUT=1800
HWTIMERD_TIMEOUT=1800

# The step that takes longest; it alone keeps its priority
LONGEST=selftests-$DEBUG_KERNEL

# Maximum number of steps that run at a time
PLACES=$((JOBS + 1))

# The debug kernel does one in this many of KUnit's random operations.
KUNIT_SCALE=10

# Random operations on hwtimerd's functions, in multiples of what `make check` does
FUNCTIONS_SCALE=1

# Arguments for selftests/run.sh
SELFTESTS=()

# Kernels of the step tenants, and the arguments for selftests/tenants/run.sh. The machine
# has more processors than an attack and the victim can use.
TENANTS_KERNELS=$UML_KERNEL
TENANTS_CPUS=3
TENANTS=()

# Arguments for examples/check-systemd.sh: numbers of timers and kills
SURVIVE=(10000 20)

# Arguments for daemon/test/chaos.sh
CHAOS=()

# Steps that run only with --all
MORE_STEPS=()

# Directory of each step's output and of its machine's console log
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
	# The steps that take longest come first.
	[ $# -gt 0 ] ||
		steps=(builds selftests tenants kunit hwtimerd lint packages examples
		       survive demo readme guide bench userland functions litmus
		       ${MORE_STEPS[@]+"${MORE_STEPS[@]}"})
	cd "$REPO_DIR"
	need_packages make python3
	# as_root may ask for a password now, but not in the middle of the run.
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
	TENANTS=(--full)
	TENANTS_KERNELS="$UML_KERNEL $STOCK_KERNELS"
	SURVIVE=(100000 100)
	MORE_STEPS=(races rivals)
	KUNIT_SCALE=1
	FUNCTIONS_SCALE=10
	SELFTESTS_TIMEOUT=3600
	TENANTS_TIMEOUT=3600
	CHAOS=(--full)
	HWTIMERD_TIMEOUT=10800
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

# UML does all of KUnit's random operations in seconds, the debug kernel one in
# KUNIT_SCALE.
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

# In the machine, selftests/run.sh runs in /hwtimer, beside the module and all programs,
# each for 64 and for 32 bits (NAME.32).
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

# Attackers beside a victim. The suite compares times that were measured in turns, so other
# steps may run meanwhile.
step_tenants()
{
	local kernel

	prepare make --no-print-directory tenants-programs
	for kernel in $TENANTS_KERNELS; do
		prepare "$VM_DIR/build.sh" "$kernel"
		queue tenants "$kernel" tap \
			guest tenants "$kernel" "$TENANTS_TIMEOUT" \
			--cpus "$TENANTS_CPUS" \
			--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
			--file build/tenants/tenants=/hwtimer/tenants \
			--file selftests/tenants/run.sh=/hwtimer/run.sh \
			-- sh run.sh ${TENANTS[@]+"${TENANTS[@]}"}
	done
}

# Runs the programs with several threads on a kernel that reports data races. vm/run.sh
# fails at such a report, as at any other report of the kernel.
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

# The examples of the guide to hwtimerd: its commands in a machine, its programs here
step_guide()
{
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	queue guide "$UML_KERNEL" tap daemon/test/guide.sh
}

# One machine, with TCP/IP, runs all examples.
step_examples()
{
	local kernel=stock-6.12

	rm -rf build/examples
	prepare make --no-print-directory -j"$JOBS" examples
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
	guest examples "$kernel" "$EXAMPLES_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file examples/check.sh=/hwtimer/check.sh \
		--file examples/helpers.sh=/hwtimer/helpers.sh \
		--file examples/survive.awk=/hwtimer/survive.awk \
		"${REDIS_FILES[@]}" "${files[@]}" -- sh check.sh
}

# The daemon, as a user sees it, and as it is killed, cut off and stopped. Both on the
# kernel that is as fast as this machine.
step_hwtimerd()
{
	local kernel=$UML_KERNEL

	prepare make --no-print-directory -j"$JOBS" daemon-static daemon-tests
	prepare "$VM_DIR/build.sh" "$kernel"
	queue hwtimerd-smoke "$kernel" tap hwtimerd_on "$kernel" hwtimerd-smoke smoke.sh
	queue hwtimerd "$kernel" tap hwtimerd_on "$kernel" hwtimerd \
		chaos.sh ${CHAOS[@]+"${CHAOS[@]}"}
}

# hwtimerd_on KERNEL NAME SCRIPT [ARGUMENT...]: run a script of daemon/test
hwtimerd_on()
{
	local kernel=$1 name=$2 script=$3

	shift 3
	find_redis || return
	guest "$name" "$kernel" "$HWTIMERD_TIMEOUT" --mem 2048 \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file build/daemon-static/hwtimerd=/hwtimer/hwtimerd \
		--file build/daemon-tests/accounts=/hwtimer/accounts \
		--file build/daemon-tests/hold=/hwtimer/hold \
		--file build/daemon-tests/relay=/hwtimer/relay \
		--file build/daemon-tests/stop_wheels=/hwtimer/stop_wheels \
		--file build/daemon-tests/clock_shift.so=/hwtimer/clock_shift.so \
		--file daemon/functions/hwtimer.lua=/hwtimer/hwtimer.lua \
		--file "daemon/test/$script=/hwtimer/$script" \
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
		guest survive "$kernel" "$SURVIVE_TIMEOUT" --systemd \
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
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	# The wheels run natively, as in the benchmark.
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

# As step_bench(), for hwtimerd and its rivals
step_rivals()
{
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	queue rivals "$UML_KERNEL" tap daemon/bench/bench.sh --check
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
		guest "$name" "$kernel" "$PROGRAM_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$program=/hwtimer/program" \
		-- sh -c 'insmod hwtimer.ko && ./program && rmmod hwtimer'
}

# prepare COMMAND...: build what a step needs, as the step may run alone. Each COMMAND
# runs once, however many steps need it. One that fails counts as a failure, as the step
# would test an older build.
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

# The steps still to run, a line of quoted words each: NAME WHERE KIND COMMAND...
QUEUE=()

# The steps that run, by process id: NAME WHERE KIND, and the time of their start
declare -A RUNNING=()
declare -A STARTED=()

# Not empty if there is only one step: its output is then shown as it comes
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

# start_step NAME WHERE KIND COMMAND...: the step gets a process group of its own, so that
# all of its processes can be ended
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

# run_into LOG STEP COMMAND...: run COMMAND with its output in LOG and its processor time
# in LOG.time. All steps but the longest one lower their priority.
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

# A step ends its machine when it gets SIGTERM.
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

# finish_step STATUS SECONDS NAME WHERE KIND: show the step's output, unless it was shown
# as it came, and count its results by KIND:
#	tap	by the lines of TAP
#	kunit	by what the kernel's kunit.py makes of the KTAP
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
		note_failure "$name $where: it ran no test"
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

# A program prints its plan, then its results, or the other way round. If it died half way,
# each missing result is a failure.
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
			if (plan || !seen)
				settle()
			plan = substr($1, 4) + 0
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
