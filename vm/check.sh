#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make check: every test there is, and one summary of them all.
#
#	usage: vm/check.sh [STEP...]
#
# The steps, in this order: builds lint litmus userland packages kunit selftests demo
# readme examples bench. Without an argument all of these are run; one more is run if
# it is asked for: trace, which takes a minute and needs bpftrace. When all are run,
# the selftests on some kernels run beside the steps before them, as they mostly wait
# for clocks.
#
# Each step prints TAP, or something that is made into counts here; one that fails in
# another way, or that tests nothing, counts as one failure. Nothing can make a
# failure disappear: the last line has them all.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

STOCK_KERNELS="stock-6.12 stock-6.1"
DEBUG_KERNEL="debug-6.12"
UML_KERNEL="uml-7.3"

# How long a machine may take, in seconds, before it is taken for hung.
KUNIT_TIMEOUT=600
SELFTESTS_TIMEOUT=1800
PROGRAM_TIMEOUT=300
EXAMPLES_TIMEOUT=900

# What each step printed, and the console of its machine
RESULTS=$BUILD_DIR/check
ROWS=()
FAILED_TESTS=()
PASSED=0
FAILED=0
SKIPPED=0

main()
{
	local steps=("$@") step

	[ $# -gt 0 ] ||
		steps=(builds selftests_beside lint litmus userland packages
		       kunit selftests demo readme examples bench)
	cd "$REPO_DIR"
	need_packages make python3
	# If a password is to be typed, then now.
	[ $# -gt 0 ] || as_root true
	mkdir -p "$RESULTS"
	for step in "${steps[@]}"; do
		declare -F "step_$step" >/dev/null ||
			die "vm/check.sh: no such step: $step"
		"step_$step"
	done
	summary
	[ "$FAILED" -eq 0 ]
}

# ---- the steps ----

step_lint()
{
	run_step lint all tap "$VM_DIR/lint.sh"
}

step_litmus()
{
	run_step litmus spin tap "$VM_DIR/litmus.sh"
}

step_builds()
{
	local kernel programs

	for kernel in "$DEBUG_KERNEL" "$DEBUG_KERNEL-kunit" $STOCK_KERNELS \
		"$UML_KERNEL" "$UML_KERNEL-kunit"; do
		run_step build "$kernel" status "$VM_DIR/build.sh" "$kernel"
	done
	for programs in selftest demo bench readme; do
		run_step build "$programs-programs" status make \
			--no-print-directory -j"$JOBS" "$programs-programs"
	done
	# The wheels natively, as the benchmark turns them
	run_step wheel native status build/bench/hwtimer-wheel-bench --check
}

step_userland()
{
	run_step userland native tap "$VM_DIR/userland.sh"
}

step_packages()
{
	run_step packages stock-6.12 tap "$VM_DIR/packages.sh"
}

# With all random operations where they take seconds, and with a part of them
# under the sanitizers.
step_kunit()
{
	kunit_on "$UML_KERNEL"
	kunit_on "$DEBUG_KERNEL" kunit_scale=5
}

# kunit_on KERNEL [PARAMETER...]
kunit_on()
{
	local kernel=$1

	shift
	prepare "$VM_DIR/build.sh" "$kernel-kunit"
	run_step kunit "$kernel" kunit \
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

	[ -n "$SELFTESTS_BESIDE" ] || step_selftests_beside
	prepare "$VM_DIR/build.sh" "$DEBUG_KERNEL"
	run_step selftests "$DEBUG_KERNEL" tap selftests_on "$DEBUG_KERNEL"
	say "waiting for the machines that ran beside it"
	wait "$SELFTESTS_BESIDE"
	for kernel in $STOCK_KERNELS; do
		run_step selftests "$kernel" tap selftests_done "$kernel"
	done
	# Alone: it is quick, and all others have ended.
	prepare "$VM_DIR/build.sh" "$UML_KERNEL"
	run_step selftests "$UML_KERNEL" tap selftests_on "$UML_KERNEL"
}

# The process that sees to them
SELFTESTS_BESIDE=

# Half of the time these machines wait for a clock: let others compute.
step_selftests_beside()
{
	local kernel

	prepare make --no-print-directory -j"$JOBS" selftest-programs
	for kernel in $STOCK_KERNELS; do
		prepare "$VM_DIR/build.sh" "$kernel"
	done
	say "starting selftests on $STOCK_KERNELS beside the next steps"
	# In a process group of its own, so that all of it can be ended.
	set -m
	selftests_on_stock &
	set +m
	SELFTESTS_BESIDE=$!
	on_exit end_selftests_beside
}

end_selftests_beside()
{
	kill -- "-$SELFTESTS_BESIDE" 2>/dev/null || true
	wait "$SELFTESTS_BESIDE" 2>/dev/null || true
}

# The newest kernel, at native speed, runs the selftests that take seconds: the
# others wait for clocks, and did so on the other kernels.
programs_on()
{
	[ "$1" != "$UML_KERNEL" ] ||
		echo abi setup schedule cancel reschedule submit bulk read poll \
			stop query stats lifetime concurrency memory library \
			adapters tool trace debugfs
}

# selftests_on KERNEL
selftests_on()
{
	local kernel=$1 program files=()

	for program in $(make --silent -C selftests names); do
		files+=(--file "build/selftests/$program=/hwtimer/$program")
	done
	# shellcheck disable=SC2046 # several programs, or none for all
	guest selftests "$kernel" "$SELFTESTS_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "build/$kernel/samples/watchdog/hwtimer_watchdog.ko=/hwtimer/hwtimer_watchdog.ko" \
		--file selftests/run.sh=/hwtimer/run.sh \
		"${files[@]}" -- sh run.sh $(programs_on "$kernel")
}

# Leaves for selftests_done() what each kernel printed, and its exit status.
selftests_on_stock()
{
	local kernel file status

	for kernel in $STOCK_KERNELS; do
		file=$RESULTS/selftests-$kernel.beside
		status=0
		rm -f "$file.status"
		selftests_on "$kernel" >"$file" 2>&1 </dev/null || status=$?
		echo "$status" >"$file.status"
	done
}

# selftests_done KERNEL
selftests_done()
{
	local file=$RESULTS/selftests-$1.beside

	cat "$file"
	return "$(<"$file.status")"
}

step_demo()
{
	prepare make --no-print-directory demo-programs
	program_step demo build/demo/hwtimer-demo
}

step_readme()
{
	local kernel=stock-6.12

	rm -rf build/readme
	prepare make --no-print-directory readme-programs
	prepare "$VM_DIR/build.sh" "$kernel"
	# shellcheck disable=SC2016 # the guest's variables
	run_step readme "$kernel" tap \
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
	run_step examples "$kernel" tap examples_on "$kernel"
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
	run_step bench native tap build/bench/timer-bench --check \
		--timers 2000 --systems \
		floor,floor-list,timerfd,posix,io_uring,libuv,libevent
	run_step bench "$UML_KERNEL" tap \
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
	run_step trace stock-6.12 tap "$VM_DIR/trace.sh"
}

# A program that loads nothing and tells by its exit status how it went.
program_step()
{
	local name=$1 program=$2 kernel=stock-6.12

	prepare "$VM_DIR/build.sh" "$kernel"
	run_step "$name" "$kernel" status \
		guest "$name" "$kernel" "$PROGRAM_TIMEOUT" \
		--file "build/$kernel/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$program=/hwtimer/program" \
		-- sh -c 'insmod hwtimer.ko && ./program && rmmod hwtimer'
}

# What a step needs is built by it too, as it may be run alone. If that fails, that
# is a failure: the step would find what was built before.
prepare()
{
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

# ---- counting ----

# run_step NAME WHERE KIND COMMAND...: run it, show what it prints, count its
# results in the way of its KIND:
#	tap	by its lines of TAP
#	kunit	by what the kernel's kunit.py makes of its KTAP
#	status	as one test
run_step()
{
	local name=$1 where=$2 kind=$3 start=$SECONDS status=0 log
	local passed=0 failed=0 skipped=0

	shift 3
	log=$RESULTS/$name-$where.log
	say "---- $name, $where (at $(clock "$SECONDS")) ----"
	"$@" 2>&1 </dev/null | tee "$log" || status=$?
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
	ROWS+=("$name" "$where" "$passed" "$failed" "$skipped"
	       "$((SECONDS - start))")
	say "---- $name, $where: $passed passed, $failed failed, $skipped skipped, $((SECONDS - start)) s"
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

	printf '\n%-14s %-18s %8s %8s %8s %8s\n' \
		step kernel passed failed skipped seconds
	printf '%-14s %-18s %8s %8s %8s %8s\n' "${ROWS[@]}"
	for test in ${FAILED_TESTS[@]+"${FAILED_TESTS[@]}"}; do
		printf 'failed: %s\n' "$test"
	done
	printf '%d passed, %d failed' "$PASSED" "$FAILED"
	[ "$SKIPPED" -eq 0 ] || printf ', %d skipped' "$SKIPPED"
	printf '\n'
}

main "$@"
