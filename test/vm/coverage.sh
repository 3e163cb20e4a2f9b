#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures which lines and branches of the module its tests run, and prints TAP: what the
# tests print, and then what test/vm/coverage.py prints, which says what counts. Called by
# test/vm/check.sh (make check STEPS=coverage).
#
#	usage: test/vm/coverage.sh [kunit | small | selftests | faults | simulation]...
#
# Runs four builds of the module, each in its own machine, and merges what they have run:
# the KUnit suites, the same with the small constants of constants.h, the selftests,
# and, on a kernel that can inject faults, those selftests that need it. The simulation
# (test/sim/) compiles the same sources as a program; what it runs counts, too, as
# test/vm/coverage.py says. Of it alone, no line or branch is known. With arguments,
# runs only those parts; what other parts counted earlier still counts, if the sources have
# not changed. Lists the branches that were never taken in build/coverage/branches.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

PARTS=(kunit small selftests faults simulation)
RESULTS=$BUILD_DIR/coverage
EXCEPTIONS=test/kunit/coverage.exceptions

# Selftests that `make check` runs elsewhere than in User-Mode Linux
MORE_SELFTESTS=(order periodic slack clock timens notify idle limits)

# Builds of the simulation, and the number of operations of each
SIMULATED=(coverage coverage-small)
declare -A OPERATIONS=([coverage]=10000000 [coverage-small]=3000000)

# As in test/sim/check.sh
SHORTAGES=150

# Of all branches, in percent
BRANCHES=96

main()
{
	local parts=("$@") part kind status=0 directories=() native=()

	[ $# -gt 0 ] || parts=("${PARTS[@]}")
	cd "$REPO_DIR"
	need_packages build-essential python3
	for part in "${parts[@]}"; do
		if [ "$part" = simulation ]; then
			simulate || status=1
		else
			measure "$part" || status=1
		fi
	done
	for part in kunit small selftests; do
		[ ! -e "build/$(build_of "$part")/hwtimer_main.gcda" ] ||
			directories+=("build/$(build_of "$part")")
	done
	for kind in "${SIMULATED[@]}"; do
		[ ! -e "build/sim/$kind/hwtimer_main.gcda" ] ||
			native+=(--native "build/sim/$kind")
	done
	[ ! -e "build/$(build_of faults)/hwtimer_main.gcda" ] ||
		native+=(--sanitized "build/$(build_of faults)")
	if [ "${#directories[@]}" -eq 0 ]; then
		echo "# without a kernel's build, the other parts tell no line"
		return "$status"
	fi
	"$VM_DIR/coverage.py" --exceptions "$EXCEPTIONS" --branches "$BRANCHES" \
		--list "$RESULTS/branches" ${native[@]+"${native[@]}"} \
		"${directories[@]}" || status=1
	return "$status"
}

kernel_of()
{
	case $1 in
	kunit | small | selftests) echo uml-7.3 ;;
	faults) echo debug-6.12 ;;
	*) die "test/vm/coverage.sh: no such part: $1" ;;
	esac
}

build_of()
{
	local kernel

	kernel=$(kernel_of "$1")
	case $1 in
	kunit) echo "$kernel-coverage-kunit" ;;
	small) echo "$kernel-coverage-small-kunit" ;;
	*) echo "$kernel-coverage" ;;
	esac
}

# measure PART: build, run, and put what was counted beside the objects
measure()
{
	local part=$1 build log=$RESULTS/$1.log status=0

	build=$(build_of "$part")
	"$VM_DIR/build.sh" "$build" >/dev/null
	find "build/$build" -name "*.gcda" -delete
	mkdir -p "$RESULTS"
	case $part in
	selftests) run_selftests "$part" "${MORE_SELFTESTS[@]}" ;;
	faults) run_selftests "$part" fault trace debugfs leap ;;
	*) run_kunit "$part" ;;
	esac >"$log" || status=$?
	sed '/^HWTIMER-COUNTERS-BEGIN/,$d' "$log"
	unpack_counters "$part"
	merge_counters "$part" "build/$build"
	return "$status"
}

# The simulation's processes add their counters to the same files.
simulate()
{
	local kind

	for kind in "${SIMULATED[@]}"; do
		mkdir -p "build/sim/$kind"
		find "build/sim/$kind" -name "*.gcda" -delete
		check "simulation, build $kind" test/sim/run.sh "$kind" '' \
			--seeds 1 --ops "${OPERATIONS[$kind]}"
		check "simulation without memory, build $kind" test/sim/run.sh "$kind" '' \
			--seeds 1-3 --short "$SHORTAGES" --run 200
	done
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

run_kunit()
{
	run_machine "$1" --append log_buf_len=4M \
		--file test/vm/guest-kunit=/hwtimer/guest-kunit \
		-- sh guest-coverage sh guest-kunit
}

# run_selftests PART PROGRAM...: in User-Mode Linux, those selftests that `make check` runs
# there, too, first
run_selftests()
{
	local part=$1 build program library files=() first=true

	shift
	build=$(build_of "$part")
	[ "$part" != selftests ] || first="sh run.sh"
	make --no-print-directory -j"$JOBS" selftest-programs >&2
	for program in $(make --silent -C selftests names); do
		files+=(--file "build/selftests/$program=/hwtimer/$program")
	done
	# One program has no static libraries.
	while read -r library; do
		files+=(--file "$library=$library")
	done < <(libraries_of build/selftests/adapters_shared)
	# shellcheck disable=SC2016 # the guest's variables
	run_machine "$part" \
		--file selftests/run.sh=/hwtimer/run.sh "${files[@]}" \
		-- sh guest-coverage sh -c '$0; status=$?; sh run.sh "$@" && exit $status' \
			"$first" "$@"
}

# run_machine PART RUN-ARGUMENT...
run_machine()
{
	local part=$1 build

	shift
	build=build/$(build_of "$part")
	"$VM_DIR/run.sh" --kernel "$(kernel_of "$part")" \
		--log "$RESULTS/$part.console" \
		--file "$build/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$build/test/kunit/hwtimer_counters.ko=/hwtimer/hwtimer_counters.ko" \
		--file test/vm/guest-coverage=/hwtimer/guest-coverage "$@"
}

# unpack_counters PART: the files that the machine printed, in a directory for each time
# that the module was unloaded
unpack_counters()
{
	local part=$1 dir=$RESULTS/$1

	rm -rf "$dir"
	mkdir "$dir"
	sed '1,/^HWTIMER-COUNTERS-BEGIN/d; /^HWTIMER-COUNTERS-END/,$d' \
		"$RESULTS/$part.log" | base64 --decode --ignore-garbage |
		tar --extract --gzip --directory "$dir" \
			--transform 's/\([0-9]\)-/\1\//' ||
		die "the machine of the part $part left no counters"
}

# merge_counters PART DIRECTORY: the sums, without those that are all the same
merge_counters()
{
	local part=$1 dir=$2 total=$RESULTS/$1/total set hash file notes
	declare -A seen=()

	for set in "$RESULTS/$part"/[0-9]*; do
		hash=$(cat "$set"/*.gcda | sha256sum)
		[ -z "${seen[$hash]-}" ] || continue
		seen[$hash]=1
		if [ -d "$total" ]; then
			gcov-tool merge --output "$total.new" "$total" "$set"
			rm -r "$total"
			mv "$total.new" "$total"
		else
			cp -r "$set" "$total"
		fi
	done
	for file in "$total"/*.gcda; do
		notes=$(find "$dir" -name "$(basename "$file" .gcda).gcno")
		cp "$file" "${notes%.gcno}.gcda"
	done
}

main "$@"
