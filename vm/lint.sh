#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything that can be said of the sources without running them, one TAP
# line for each check of each file. Called by vm/check.sh, which counts them.
#
# The rules are the kernel's own: its checkpatch, its .clang-format, its sparse
# annotations.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

# checkpatch's findings that do not apply, and why:
# FILE_PATH_CHANGES: asks for a MAINTAINERS file, which a module has not
IGNORED=FILE_PATH_CHANGES
# LINUX_VERSION_CODE: kernel code must not ask for the version, but a module
# for several kernels has to, in the one file that is for it
# CONSTANT_COMPARISON: takes the name of that macro for a constant
IGNORED_IN_COMPAT_H=LINUX_VERSION_CODE,CONSTANT_COMPARISON
# Tracepoints are declared by macros that look like functions, and are not indented
# like their arguments
IGNORED_IN_TRACE_H=PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
# BIT_MACRO: user space has no BIT(); checkpatch itself knows that of
# include/uapi, which is where the kernel keeps such headers
IGNORED_IN_UAPI=BIT_MACRO
# MACRO_ARG_REUSE: a macro about a structure's member has to name it twice, and
# a name has no side effects
IGNORED_IN_ABI_TEST=MACRO_ARG_REUSE

# In a library and a tool for user space: the types, macros and format names of the
# C library are the ones to use
IGNORED_IN_USER_SPACE=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,CAMELCASE,BIT_MACRO

SPARSE_FLAGS='-D__CHECK_ENDIAN__ -Wbitwise -Wcontext -Wdecl -Wnon-pointer-null'

TEMP=

# What has passed is not looked at again: an empty file for each, named by a hash of
# all that it depends on.
KNOWN=$BUILD_DIR/lint
RULES=
SCRIPT_RULES=

main()
{
	local tools kernel_sources user_sources scripts

	cd "$REPO_DIR"
	need_packages perl sparse clang-format shellcheck
	tools=$("$VM_DIR/kernel.sh" tools-6.12)/source
	# Here, as it may take minutes, and tells of it; a check is silent.
	"$VM_DIR/kernel.sh" debug-6.12 >/dev/null
	"$VM_DIR/kernel.sh" uml-7.3 >/dev/null
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	shopt -s nullglob
	kernel_sources=(*.[ch] include/linux/*.h uapi/linux/*.h tests/*.[ch]
		samples/*/*.c)
	user_sources=(selftests/*.[ch] demo/*.[ch] bench/*.[ch] vm/*.c
		lib/*.[ch] lib/adapters/*.h tool/*.[ch] examples/*.[ch]
		bench/wheel/*.[ch] bench/wheel/include/linux/{,sched/}*.h)
	scripts=(vm/*.sh vm/init vm/guest-* .ci/run selftests/*.sh bench/*.sh
		examples/*.sh tool/*.bash)

	mkdir -p "$KNOWN"
	RULES=$(rules)
	SCRIPT_RULES=$(rules_of_scripts)
	echo "TAP version 13"
	check_each checkpatch "${kernel_sources[@]}" "${user_sources[@]}"
	check_each format "${kernel_sources[@]}" "${user_sources[@]}"
	check_each shell "${scripts[@]}"
	check "compiles without a warning for debug-6.12" \
		compiles debug-6.12-kunit
	check "compiles without a warning for uml-7.3" \
		compiles uml-7.3-kunit
	check_sparse
	check_layers
	[ "$FAILURES" -eq 0 ]
}

# check_each CHECK FILE...: as many at a time as there are processors
check_each()
{
	local what=$1 file i=0

	shift
	for file in "$@"; do
		[ "$(jobs -pr | wc -l)" -lt "$JOBS" ] || wait -n || true
		look_at "$what" "$file" >"$TEMP/said.$i" 2>&1 &&
			: >"$TEMP/passed.$i" &
		i=$((i + 1))
	done
	wait
	i=0
	for file in "$@"; do
		check "$what $file" has_passed "$i"
		i=$((i + 1))
	done
	rm -f "$TEMP"/said.* "$TEMP"/passed.*
}

# Of the checks' rules: the tools, and, as scripts include each other, all scripts
rules()
{
	{
		clang-format --version
		cat vm/lint.sh "$tools"/.clang-format "$tools"/scripts/*
	} | sha256sum
}

rules_of_scripts()
{
	{
		shellcheck --version
		cat "${scripts[@]}"
	} | sha256sum
}

# look_at CHECK FILE: unless it passed as it is
look_at()
{
	local rules=$RULES known

	[ "$1" != shell ] || rules=$SCRIPT_RULES
	known=$({ echo "$1 $2 $rules" && cat "$2"; } | sha256sum)
	known=$KNOWN/${known%% *}
	[ ! -e "$known" ] || return 0
	"$1" "$2" && : >"$known"
}

# has_passed NUMBER: of what check_each() has run; repeats what it said
has_passed()
{
	cat "$TEMP/said.$1"
	[ -e "$TEMP/passed.$1" ]
}

checkpatch()
{
	local ignored=$IGNORED

	case $1 in
	compat.h) ignored+=,$IGNORED_IN_COMPAT_H ;;
	hwtimer_trace.h) ignored+=,$IGNORED_IN_TRACE_H ;;
	uapi/*) ignored+=,$IGNORED_IN_UAPI ;;
	lib/* | tool/* | examples/* | selftests/library.c)
		ignored+=,$IGNORED_IN_USER_SPACE ;;
	selftests/abi.c) ignored+=,$IGNORED_IN_ABI_TEST ;;
	esac
	# It leaves a file behind where it is run.
	(cd "$(mktemp -d -p "$TEMP")" && perl "$tools/scripts/checkpatch.pl" --strict --no-tree \
		--terse --show-types --no-summary --ignore "$ignored" \
		--file "$REPO_DIR/$1" | sed "s|$REPO_DIR/||g")
}

format()
{
	clang-format --style="file:$tools/.clang-format" --dry-run -Werror "$1"
}

shell()
{
	# SC2187: that it takes busybox's ash for dash is what we want.
	shellcheck --external-sources --exclude=SC2187 "$1"
}

# compiles NAME: for the module's files warnings are errors anyway; but what
# the tests, or modpost, warn of is no better.
compiles()
{
	"$VM_DIR/build.sh" "$1" 2>&1 >/dev/null | tee "$TEMP/compiler" ||
		return
	! grep -q -i 'warning' "$TEMP/compiler"
}

# sparse finds much in the kernel's headers. What counts is what it finds in
# our own files, each of which is a check.
check_sparse()
{
	local file

	check "sparse runs" run_sparse
	for file in "${kernel_sources[@]}"; do
		check "sparse $file" sparse_is_silent "$file"
	done
}

run_sparse()
{
	# C=2: check all files, not only those that have to be compiled
	if ! "$VM_DIR/build.sh" debug-6.12-kunit C=2 CF="$SPARSE_FLAGS" \
		>/dev/null 2>"$TEMP/sparse"; then
		tail -n 40 "$TEMP/sparse"
		return 1
	fi
}

sparse_is_silent()
{
	[ -e "$TEMP/sparse" ] && ! grep "^${1//./\\.}:" "$TEMP/sparse"
}

# Its lines of TAP become lines of ours; a crash of it must not pass for success.
check_layers()
{
	local result name ended=0

	"$VM_DIR/layers.sh" >"$TEMP/layers" 2>&1 || ended=$?
	while read -r result name; do
		check "$name" [ "$result" = ok ]
	done < <(sed -n -E 's/^not ok [0-9]+ /failed /p; s/^ok [0-9]+ /ok /p' \
		"$TEMP/layers")
	check "the layers are in order" [ "$ended" -eq 0 ]
	grep '^# ' "$TEMP/layers" || true
}

main "$@"
