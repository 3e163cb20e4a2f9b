#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows that the kernels with KCSAN and KMSAN find faults: puts one fault after the other
# into a copy of the module, and runs a program of the selftests until the kernel reports
# it. Called by test/vm/check.sh, which counts the lines of TAP.
#
#	usage: test/vm/faults.sh NAME [NUMBER...]
#
# NAME is kcsan-6.12 or kmsan-6.12; the NUMBERs choose faults. The programs are those of
# `make selftest-programs`.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Times that a program is run until the fault counts as not found
TRIES=20

KERNEL=
NUMBER=0
WANTED=

# A copy of the sources, with its own build directory, and another one to mend it from
TREE=
CLEAN=

main()
{
	KERNEL=${1-}
	shift || die "usage: test/vm/faults.sh NAME [NUMBER...]"
	WANTED=" $* "
	TREE=$BUILD_DIR/faults/$KERNEL/tree
	CLEAN=$BUILD_DIR/faults/$KERNEL/clean
	cd "$REPO_DIR"
	copy_sources . "$CLEAN"
	copy_sources "$CLEAN" "$TREE"
	echo "TAP version 13"
	case $KERNEL in
	kcsan-*) races ;;
	kmsan-*) uninitialized ;;
	*) die "test/vm/faults.sh: no faults for $KERNEL" ;;
	esac
	echo "1..$CHECKS"
	[ "$FAILURES" -eq 0 ]
}

races()
{
	# A read holds the lock, and a wake-up is rare. So each access is watched for longer.
	fault "wake-ups are counted without the worker's lock" \
		"concurrency -t wakeups_only_grow" worker/worker.c \
		'/^static void worker_serve/,/^}/ {
			/worker_count_wakeup/d
			s/^\talarm->serve.*/\tworker_count_wakeup(worker, job);\n&/
		}' kcsan.udelay_task=400
}

# A structure is filled member by member, so that a member that is left out keeps what the
# memory had.
ONE_BY_ONE='s/\*\([a-z]*\) = (struct [a-z_]*){$//
	s/^\t\t\.\([a-z_]*\) = \(.*\),$/\tFILLED->\1 = \2;/
	s/^\t};$//'

uninitialized()
{
	fault "LIST does not set a member of what it copies out" \
		list events/period.c \
		"/^void hwtimer_period_describe(/,/^}/ {
			/\\.slack/d
			/ :\$/N
			${ONE_BY_ONE//FILLED/timer}
		}"
	# The records of an instance with few timers are zeroed elsewhere.
	fault "a new timer keeps the status that its record's memory had" \
		"bulk -t each_of_many_parts_is_done" "timers/op.h wheel/table.c" \
		's/record->status = pending.status;/(void)pending;/
		 s/gfp | __GFP_ZERO | __GFP_COMP/gfp | __GFP_COMP/'
	fault "read() copies out a member that nobody has set" \
		read events/read.c \
		"/^static void event_fill(/,/^}/ {
			/\\.lateness/d
			${ONE_BY_ONE//FILLED/event}
		 }"
}

# copy_sources FROM TO: copies what differs, so that only that is built anew. An earlier run
# may have been interrupted, and have left a fault.
copy_sources()
{
	local from=$1 to=$2 file

	mkdir -p "$to"
	(cd "$from" && { module_files; find Kbuild test/kunit test/vm -type f; }) |
		while read -r file; do
			cmp --silent "$from/$file" "$to/$file" ||
				install -D --mode 755 "$from/$file" "$to/$file"
		done
}

# fault NAME PROGRAM FILES SED [ARGUMENT]: a line of TAP, which says whether the kernel, with
# the ARGUMENT, reports the fault that SED puts into the FILES while PROGRAM runs
fault()
{
	local name=$1

	NUMBER=$((NUMBER + 1))
	[[ $WANTED == "  " || $WANTED == *" $NUMBER "* ]] || return 0
	check "$KERNEL finds: $name" found "$2" "$3" "$4" "${5-}"
	sed -n 's/^FOUND/#/p' "$CHECK_OUTPUT"
	copy_sources "$CLEAN" "$TREE"
}

# found PROGRAM FILES SED ARGUMENT
found()
{
	local program=$1 files=$2 argument=$4 start file try status

	for file in $files; do
		sed -i "$3" "$TREE/$file"
		! cmp --silent "$TREE/$file" "$CLEAN/$file" || {
			echo "$file has no place for the fault"
			return 1
		}
	done
	"$TREE/test/vm/build.sh" "$KERNEL" >/dev/null || return
	start=$SECONDS
	for try in $(seq "$TRIES"); do
		status=0
		run_program "$program" "$argument" || status=$?
		if [ "$status" -eq 126 ] && names_module; then
			echo "FOUND by $program after $((SECONDS - start)) s, run $try of $TRIES:" \
				"$(names_module)"
			return 0
		fi
	done
	echo "$program: exit status $status, and no report, after $((SECONDS - start)) s"
	return 1
}

# run_program PROGRAM ARGUMENT: PROGRAM may have arguments, too
run_program()
{
	local program=${1%% *}

	# The first report ends the machine: KMSAN reports each copy, for the quarter of an hour
	# that the program then takes. KCSAN, which has no such option, reports a race once.
	"$VM_DIR/run.sh" --kernel "$KERNEL" \
		--log "$TREE/console" --append "$2 kmsan.panic=1" \
		--file "$TREE/build/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "build/selftests/$program=/hwtimer/$program" \
		-- sh -c "insmod hwtimer.ko && HWTIMER_SCALE=40 ./$1"
}

# names_module: prints the title of the first report that names the module
names_module()
{
	awk -v foreign=/dev/null -f "$VM_DIR/foreign.awk" "$TREE/console" |
		sed -n 's/\r$//; s/.*BUG: \(K[CM]SAN: .*\)/\1/p' | head -n 1 | grep .
}

main "$@"
