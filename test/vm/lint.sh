#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the sources without running them, and prints a line of TAP for each check of each
# file. Called by test/vm/check.sh, which counts the lines.
#
#	usage: test/vm/lint.sh [files|module]
#
# files: what needs no kernel. module: what needs the module built for stock-6.12 and uml-7.3.
#
# The rules are the kernel's own: its checkpatch, its .clang-format, its sparse
# annotations.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# checkpatch's findings that do not apply here, and why:
# FILE_PATH_CHANGES: asks for a MAINTAINERS file, which a module does not have
# ALLOC_WITH_SIZEOF: asks for kzalloc_obj(), which older kernels do not have
IGNORED=FILE_PATH_CHANGES,ALLOC_WITH_SIZEOF
# LINUX_VERSION_CODE: kernel code must not ask for the version, but a module for several
# kernels has to, in the files that are for it
# CONSTANT_COMPARISON: takes the name of that macro for a constant
IGNORED_IN_COMPAT_H=LINUX_VERSION_CODE,CONSTANT_COMPARISON
# Tracepoints are declared by macros that look like functions; their arguments are
# indented in another way
IGNORED_IN_TRACE_H=PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
# The simulation's tracepoints make functions and structures of what these macros are given
IGNORED_IN_TRACEPOINTS=MULTISTATEMENT_MACRO_USE_DO_WHILE,TRAILING_SEMICOLON
# BIT_MACRO: user space has no BIT(). checkpatch knows that only of include/uapi, where
# the kernel keeps such headers
# MACRO_ARG_REUSE: a constant expression that names its argument more than once
IGNORED_IN_UAPI=BIT_MACRO,MACRO_ARG_REUSE
# MACRO_ARG_REUSE: a macro about a structure's member has to name it twice, and a name has
# no side effects
IGNORED_IN_ABI_TEST=MACRO_ARG_REUSE

# The library, the tool and the examples are user-space programs: they use the types,
# macros and format names of the C library.
IGNORED_IN_USER_SPACE=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,CAMELCASE,BIT_MACRO

# The library's header has a macro for C++ that is a function: what returns is that
IGNORED_IN_LIBHWTIMER_H=MACRO_WITH_FLOW_CONTROL

# The simulation has the kernel's functions and macros under their own names: as macros
# that look like those of the kernel, and typedefs and barriers among them. It reports
# faults of the caller by the name of the function that was called.
IGNORED_IN_SIMULATION=EMBEDDED_FUNCTION_NAME,NEW_TYPEDEFS,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,MACRO_ARG_PRECEDENCE,OPEN_ENDED_LINE,MEMORY_BARRIER,DATA_RACE,UNCOMMENTED_DEFINITION,COMPLEX_MACRO,SPACING,IS_ENABLED_CONFIG,LINUX_VERSION_CODE,WAITQUEUE_ACTIVE,UNSPECIFIED_INT,FUNCTION_ARGUMENTS

TEMP=

# A check that passed is not run again until something that it depends on changes, not even
# in another checkout: here is an empty file for each, named by hashes of all that it depends
# on. `rm -r` of the directory has all of them run.
KNOWN=$CACHE_DIR/lint
RULES=
SCRIPT_RULES=

main()
{
	local kernel_sources

	case ${1-} in
	'' | files | module) ;;
	*) die "usage: test/vm/lint.sh [files|module]" ;;
	esac
	cd "$REPO_DIR"
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	shopt -s nullglob
	mapfile -t kernel_sources < <(module_files)
	kernel_sources+=(test/kunit/*.[ch])

	echo "TAP version 13"
	[ "${1-files}" != files ] || check_files
	[ "${1-module}" != module ] || check_module
	[ "$FAILURES" -eq 0 ]
}

check_files()
{
	local tools user_sources scripts

	need_packages perl clang-format shellcheck
	tools=$("$VM_DIR/kernel.sh" tools-7.3)/source
	user_sources=(uapi/*.h test/torture/*.[ch] selftests/*.[ch] selftests/tenants/*.[ch] examples/demo/*.[ch] bench/*.[ch] bench/server/*.[ch] test/vm/*.c
		user/lib/*.[ch] user/lib/adapters/*.h user/lib/shared/*.[ch] user/lib/test/*.[ch] user/tool/*.[ch] user/tool/test/*.c
		examples/*.[ch] examples/test/*.c examples/test/count/*.[ch] user/daemon/*.[ch] user/daemon/test/*.[ch]
		bench/core/*.[ch] bench/wheel/*.[ch] bench/wheel/include/linux/{,sched/}*.h
		test/proofs/states/*.[ch] test/fuzz/*.[ch]
		test/sim/*.[ch] test/sim/include/{linux,linux/sched,sim,trace,uapi/linux/sched}/*.h)
	scripts=(test/vm/*.sh test/vm/init test/vm/guest-* .ci/run test/mutants/guest selftests/*.sh selftests/tenants/*.sh bench/*.sh
		bench/core/*.sh
		examples/*.sh test/torture/*.sh user/daemon/bench/*.sh user/daemon/test/*.sh user/tool/*.bash test/fuzz/*.sh
		test/sim/*.sh)

	use_cache lint
	find "$KNOWN" -type f -mtime +60 -delete
	RULES=$(rules)
	SCRIPT_RULES=$(rules_of_scripts)
	check_each checkpatch "${kernel_sources[@]}" "${user_sources[@]}"
	check_each format "${kernel_sources[@]}" "${user_sources[@]}" \
		user/lib/adapters/*.hpp user/lib/test/*.cc selftests/*.cc
	check_each shell "${scripts[@]}"
	check_barriers
	check_rooms
	check "the kernel's own races are told from the module's" tells_races_apart
	repeat_checks "$VM_DIR/lib-test.sh"
	repeat_checks "$VM_DIR/jobs-test.sh"
	repeat_checks "$VM_DIR/run-test.sh"
	repeat_checks "$VM_DIR/outside-test.sh"
}

check_module()
{
	need_packages sparse
	# Built here, as this may take minutes and reports progress; a check is silent.
	"$VM_DIR/kernel.sh" stock-6.12 >/dev/null
	"$VM_DIR/kernel.sh" uml-7.3 >/dev/null
	check "compiles without a warning for stock-6.12" \
		compiles stock-6.12
	check "compiles without a warning for uml-7.3" \
		compiles uml-7.3-kunit
	check_sparse
}

# Number of files that one call of a check gets. To start checkpatch takes as long as to check
# a short file.
BATCH=24

# check_each CHECK FILE...: run CHECK on the files, batch by batch, as many at a time as there
# are processors. A file passes if no message of CHECK begins with "FILE:".
check_each()
{
	local what=$1 file i
	local -A known=()
	local files=() unknown=()

	shift
	files=("$@")
	name_results
	for file in "${files[@]}"; do
		[ -e "${known[$file]}" ] || unknown+=("$file")
	done
	for ((i = 0; i < ${#unknown[@]}; i += BATCH)); do
		[ "$(jobs -pr | wc -l)" -lt "$JOBS" ] || wait -n || true
		look_at "$what" "${unknown[@]:i:BATCH}" &
	done
	wait
	for file in "${files[@]}"; do
		check "$what $file" has_passed "$file"
	done
}

# name_results: for each of $files, set ${known[FILE]} to the file that exists if its check
# $what passed before
name_results()
{
	local rules=$RULES hash file

	[ "$what" != shell ] || rules=$SCRIPT_RULES
	while read -r hash file; do
		known[$file]=$KNOWN/$what-${rules:0:20}-${hash:0:40}-${file//\//,}
	done < <(sha256sum "${files[@]}")
}

# rules: a hash of what the checks depend on, besides the file: the tools and this script
rules()
{
	{
		clang-format --version
		cat test/vm/lint.sh "$tools"/.clang-format "$tools"/scripts/*
	} | sha256sum
}

# rules_of_scripts: the same for scripts. They include each other, so any may matter.
rules_of_scripts()
{
	{
		shellcheck --version
		cat "${scripts[@]}"
	} | sha256sum
}

# look_at CHECK FILE...: note which files pass CHECK, and what it says of the others. Checks end
# with 1 if they find something. If this one ends otherwise, or says what belongs to no file, or
# fails without a word, no file passes.
look_at()
{
	local what=$1 said file status=0

	shift
	said=$(mktemp -p "$TEMP")
	"$what" "$@" >"$said" 2>&1 || status=$?
	# checkpatch reports a name in CamelCase only in the first file that has it.
	if [ "$what" = checkpatch ] && [ "$status" -ne 0 ] && [ $# -gt 1 ]; then
		for file in "$@"; do
			look_at "$what" "$file"
		done
		return
	fi
	for file in "$@"; do
		sed -n "\\|^$file:|p" "$said" >"$TEMP/said-${file//\//,}"
		sed -i "\\|^$file:|d" "$said"
	done
	if [ -s "$said" ] || [ "$status" -gt 1 ] ||
		{ [ "$status" -ne 0 ] && said_nothing "$@"; }; then
		echo "$what ended with $status" >>"$said"
		for file in "$@"; do
			cat "$said" >>"$TEMP/said-${file//\//,}"
		done
	fi
	for file in "$@"; do
		[ -s "$TEMP/said-${file//\//,}" ] || : >"${known[$file]}"
	done
}

# said_nothing FILE...: whether there is no message about any of the files
said_nothing()
{
	local file

	for file in "$@"; do
		[ ! -s "$TEMP/said-${file//\//,}" ] || return 1
	done
}

# has_passed FILE: whether the check $what of that file passed; prints what it said
has_passed()
{
	[ -e "${known[$1]}" ] || {
		cat "$TEMP/said-${1//\//,}"
		return 1
	}
}

# checkpatch FILE...: neighbours for which it ignores the same go to it together.
checkpatch()
{
	local ignored last='' file group=() status=0

	for file in "$@" ''; do
		ignored=${file:+$(ignored_in "$file")}
		if [ "$ignored" != "$last" ] && [ "${#group[@]}" -gt 0 ]; then
			run_checkpatch "$last" "${group[@]}" || status=$(($? > status ? $? : status))
			group=()
		fi
		last=$ignored
		group+=("$REPO_DIR/$file")
	done
	return "$status"
}

ignored_in()
{
	local ignored=$IGNORED

	case $1 in
	user/lib/libhwtimer.h) ignored+=,$IGNORED_IN_LIBHWTIMER_H,$IGNORED_IN_USER_SPACE ;;
	compat.h) ignored+=,$IGNORED_IN_COMPAT_H ;;
	trace.h) ignored+=,$IGNORED_IN_TRACE_H ;;
	uapi/*) ignored+=,$IGNORED_IN_UAPI ;;
	user/lib/* | bench/server/* | user/tool/* | examples/* | user/daemon/* | test/torture/* | test/fuzz/* | selftests/library.c | \
		test/proofs/states/*)
		ignored+=,$IGNORED_IN_USER_SPACE ;;
	test/sim/include/linux/tracepoint.h) ignored+=,$IGNORED_IN_TRACEPOINTS,$IGNORED_IN_SIMULATION,$IGNORED_IN_USER_SPACE ;;
	test/sim/* | bench/core/* | bench/wheel/include/*) ignored+=,$IGNORED_IN_USER_SPACE,$IGNORED_IN_SIMULATION ;;
	selftests/abi.c) ignored+=,$IGNORED_IN_ABI_TEST ;;
	esac
	echo "$ignored"
}

# run_checkpatch IGNORED FILE...: it leaves a file in the directory where it runs. That is its
# home, too, so that it does not read this user's options. At a name in CamelCase it complains
# that there is no kernel whose include/ it could read.
run_checkpatch()
{
	local ignored=$1

	shift
	(HOME=$(mktemp -d -p "$TEMP") && cd "$HOME" &&
		perl "$tools/scripts/checkpatch.pl" --strict --no-tree --terse \
		--show-types --no-summary --ignore "$ignored" --file "$@" 2>&1 | sed "s|$REPO_DIR/||g
			/^Use of uninitialized value .root /d
			/^find: .*include.*: No such file/d")
}

# format FILE...: the messages without the lines of source below them
format()
{
	clang-format --style="file:$tools/.clang-format" --dry-run -Werror "$@" 2>&1 |
		sed -n '/^[^ :]*:[0-9]*:[0-9]*: /p'
}

shell()
{
	# SC2187: shellcheck treats busybox's ash as dash, which is what we want.
	shellcheck --norc --format=gcc --external-sources --exclude=SC2187 "$@"
}

# compiles NAME: fails on any warning. In the module's files warnings are errors anyway;
# this catches those of the tests and of modpost.
compiles()
{
	"$VM_DIR/build.sh" "$1" 2>&1 >/dev/null | tee "$TEMP/compiler" ||
		return
	! grep -q -i 'warning' "$TEMP/compiler"
}

# sparse finds much in the kernel's headers. Only what it finds in our own files counts; each file
# is a check. Both builds have a directory of their own: machines take files from the others.
check_sparse()
{
	local file

	check "sparse runs" run_sparse
	for file in "${kernel_sources[@]}"; do
		check "sparse $file" sparse_is_silent "$file"
	done
}

# Debian's kernel has all that the module uses, but no KUnit. Some sources are there to count what
# the tests cover.
run_sparse()
{
	local name

	for name in stock-6.12-sparse uml-7.3-coverage-kunit-sparse; do
		if ! "$VM_DIR/build.sh" "$name" >/dev/null 2>>"$TEMP/sparse"; then
			tail -n 40 "$TEMP/sparse"
			return 1
		fi
	done
	# The kernel's make goes on without sparse if it does not like it.
	! grep 'C=2 specified, but' "$TEMP/sparse"
}

# Also whether sparse has seen the file: a source at its end, see test/vm/sparse.sh; a header in one
# of the sources.
sparse_is_silent()
{
	[[ $1 == *.h ]] || grep -q -x -F "sparse has seen all of $1" "$TEMP/sparse" || {
		echo "sparse has not seen all of $1"
		return 1
	}
	! grep "^${1//./\\.}:" "$TEMP/sparse"
}

# repeat_checks SCRIPT: its lines of TAP become lines of ours; a crash of it must not pass for
# success.
repeat_checks()
{
	local result name ended=0

	"$1" >"$TEMP/repeated" 2>&1 || ended=$?
	while read -r result name; do
		check "$name" [ "$result" = ok ]
	done < <(sed -n -E 's/^not ok [0-9]+ /failed /p; s/^ok [0-9]+ /ok /p' \
		"$TEMP/repeated")
	check "$(basename "$1") ends well" [ "$ended" -eq 0 ]
}

# The sources that have barriers are those of the module. Also checks that the check finds a barrier that lost its comment, and one that lost its pair.
check_barriers()
{
	local sources

	mapfile -t sources < <(module_files)

	check "each barrier names its pair" awk -f test/vm/barriers.awk "${sources[@]}"
	check "a barrier that names no pair is found" \
		finds_barrier "Pairs with" 's/Pairs with the smp_load_acquire() in hwtimer_instance_drained/Follows/'
	check "a barrier whose pair is gone is found" \
		finds_barrier "stop_first() has no barrier" '/^static void stop_first/,/^}/ s/smp_store_release/WRITE_ONCE/'
}

# Also checks that the check finds an upward include, one of another room's private header, and a
# call of a function that a header in the root has brought.
check_rooms()
{
	local sources

	mapfile -t sources < <(module_files)
	check "files use their own room, and the faces of rooms below it" \
		awk -f test/vm/rooms.awk Kbuild "${sources[@]}"
	check "an include of a room above is found" finds_breach wheel/table.c \
		'includes events/events.h' '/^#include "wheel/i #include "events/events.h"'
	check "an include of another room's own header is found" finds_breach events/read.c \
		'includes wheel/hierarchy.h' '/^#include "trace/i #include "wheel/hierarchy.h"'
	check "a call of a room above is found" finds_breach worker/wakeup.c \
		'calls hwtimer_notice_wake() of events' '/^void hwtimer_wakeup_rearm/,/^{/ s/^{/{\n\thwtimer_notice_wake(instance, 0);/'
}

# finds_breach FILE WHAT SED
finds_breach()
{
	mkdir "$TEMP/rooms"
	cp --parents Kbuild "${sources[@]}" "$TEMP/rooms"
	(cd "$TEMP/rooms" && sed -i "$3" "$1" &&
		awk -f "$VM_DIR/rooms.awk" Kbuild "${sources[@]}") >"$TEMP/found"
	rm -r "$TEMP/rooms"
	grep -q -F "$1:" "$TEMP/found" && grep -q -F "$2" "$TEMP/found"
}

# finds_barrier WHAT SED: whether the check finds WHAT in sources that are changed by SED
finds_barrier()
{
	mkdir "$TEMP/barriers"
	cp --parents "${sources[@]}" "$TEMP/barriers"
	(cd "$TEMP/barriers" && sed -i "$2" instance/instance.c &&
		awk -f "$VM_DIR/barriers.awk" "${sources[@]}") | tee "$TEMP/found"
	rm -r "$TEMP/barriers"
	grep -q -F "$1" "$TEMP/found"
}

# Whether test/vm/foreign.awk leaves out the titles of reports that do not name the module, and
# nothing else
tells_races_apart()
{
	console >"$TEMP/console"
	awk -v foreign="$TEMP/foreign" -v rcu=1 -f test/vm/foreign.awk "$TEMP/console" \
		>"$TEMP/messages"
	diff <(grep -v 'ours not' "$TEMP/console") "$TEMP/messages" &&
		diff <(grep 'ours not' "$TEMP/console") "$TEMP/foreign"
}

# A console with reports of the kernel's own races, of the module's, and one without an end
console()
{
	cat <<-'END'
		[    1.0] Run /init as init process
		[    2.0] ==================================================================
		[    2.0] BUG: KCSAN: data-race in one / ours not
		[    2.0] write to 0xffff888001 of 8 bytes by task 3 on cpu 0:
		[    2.1] WARNING: from the other processor
		[    2.2]  one+0x1/0x2
		[    2.3] ==================================================================
		[    3.0] ==================================================================
		[    3.0] BUG: KCSAN: data-race in hwtimer_two / two
		[    3.1] write to 0xffff888001 of 8 bytes by task 3 on cpu 0:
		[    3.1]  two+0x1/0x2
		[    3.2] read to 0xffff888001 of 8 bytes by task 4 on cpu 1:
		[    3.2]  hwtimer_two+0x1/0x2 [hwtimer]
		[    3.3] ==================================================================
		[    4.0] =====================================================
		[    4.0] BUG: KMSAN: uninit-value in three, ours not
		[    4.1]  three+0x1/0x2
		[    4.2] =====================================================
		[    5.0] ==================================================================
		[    5.0] BUG: KCSAN: data-race in four / four
		[    5.1] write to 0xffffffffa0001000 of 8 bytes by task 3 on cpu 0:
		[    5.2] ==================================================================
		[    5.3] ==================================================================
		[    5.3] BUG: KCSAN: data-race in interrupt / ours not
		[    5.4] read to 0xffff888001 of 8 bytes by interrupt on cpu 1:
		[    5.4]  asm_sysvec_apic_timer_interrupt+0x1/0x2
		[    5.4]  hwtimer_wheel_add+0x1/0x2 [hwtimer]
		[    5.5] ==================================================================
		[    5.6] ==================================================================
		[    5.6] BUG: KCSAN: data-race in interrupt / hwtimer_two
		[    5.7] read to 0xffff888001 of 8 bytes by interrupt on cpu 1:
		[    5.7]  asm_sysvec_apic_timer_interrupt+0x1/0x2
		[    5.7]  nine+0x1/0x2
		[    5.8] write to 0xffff888001 of 8 bytes by task 4 on cpu 0:
		[    5.8]  hwtimer_two+0x1/0x2 [hwtimer]
		[    5.9] ==================================================================
		[    6.0] WARNING: suspicious RCU usage, ours not
		[    6.1] 1 lock held by six/6:
		[    6.2] Call Trace:
		[    6.2]  [<60135140>] ? six+0x0/0x10
		[    6.3] WARNING: suspicious RCU usage
		[    6.3] Call Trace:
		[    6.3]  [<60135140>] hwtimer_seven+0x0/0x10 [hwtimer]
		[    6.4] the end of that report
		[    7.0] BUG: KCSAN: data-race in five / five
	END
}

main "$@"
