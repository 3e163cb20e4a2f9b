#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests what test/vm/lib.sh makes of odd environments: without HOME, in odd directories, without git,
# where no program can run in /tmp; that test/vm/sparse.sh tells when sparse has given up; and how
# test/vm/check.sh counts results. Prints TAP. Called by test/vm/lint.sh.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

TEMP=$(mktemp -d)
on_exit rm -rf "$TEMP"
TEMP=$(cd "$TEMP" && pwd -P)

# What chooses the cache in a shell of its own
UNSET=(-u HOME -u XDG_CACHE_HOME -u HWTIMER_CACHE -u HWTIMER_CACHE_SAID)

main()
{
	echo "TAP version 13"
	check "lib: without HOME, the cache is in the user's home directory" cache_without_home
	check "lib: and that is said once" said_once
	check "lib: a HOME that cannot be written to has no cache" cache_without_a_directory
	check "lib: XDG_CACHE_HOME has one" cache_is "$TEMP/xdg/hwtimer" XDG_CACHE_HOME="$TEMP/xdg"
	check "lib: HWTIMER_CACHE may be relative" cache_is "$PWD/own" HWTIMER_CACHE=own
	check "lib: if it cannot be written to, that is said" \
		says "/dev/null/own cannot be written to: HWTIMER_CACHE=DIRECTORY" \
		HWTIMER_CACHE=/dev/null/own -- 'use_cache lock'
	check "lib: CDPATH does not matter" finds_itself "$TEMP/plain" CDPATH="$TEMP/plain"
	check "lib: links are resolved" finds_itself "$TEMP/link"
	check "lib: a checkout with a space in its path is refused" refuses "a b"
	check "lib: one with a quote is refused" refuses "it's"
	check "lib: without git, the sources are all files" sources_without_git
	check "lib: in somebody else's repository, too" sources_in_another
	check "lib: git is not asked whose checkout it is" sources_of_another_user
	if (in_noexec true) 2>/dev/null; then
		check "lib: where no program can run in /tmp, temporary files are elsewhere" \
			tmp_elsewhere
	else
		skip "lib: where no program can run in /tmp, temporary files are elsewhere" \
			"no file system can be mounted here"
	fi
	check "lib: make check needs root, or sudo" needs_root
	need_packages sparse
	check "sparse: it sees all of a source" sparse_sees 0 'int x;'
	check "sparse: what it finds has the source's name" sparse_finds
	check "sparse: an error in a header makes it give up, which is seen" sparse_gives_up
	check "summary: what passed, failed and was skipped" counts "1 1 1" \
		1..3 "ok 1 - a" "not ok 2 - b" "ok 3 - c # SKIP no d"
	check "summary: planned tests without a result have failed" counts "1 2 0" 1..3 "ok 1"
	check "summary: also if a plan comes after its results" counts "1 2 0" "ok 1" 1..3
	check "summary: a plan does not hide what is missing of the one before" \
		counts "3 1 0" 1..2 "ok 1" "ok 1" "ok 2" 1..2
	check "summary: results without a plan count" counts "1 1 0" "ok 1" "not ok 2"
	[ "$FAILURES" -eq 0 ]
}

# in_shell VARIABLE=VALUE... -- SCRIPT: run SCRIPT after lib.sh, in another environment
in_shell()
{
	local variables=()

	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	env "${UNSET[@]}" "${variables[@]}" bash -c ". '$VM_DIR/lib.sh'
		$2"
}

# cache_is DIRECTORY VARIABLE=VALUE...
cache_is()
{
	# shellcheck disable=SC2016 # the other shell's variables
	[ "$(in_shell "${@:2}" -- 'echo "$CACHE_DIR"')" = "$1" ]
}

cache_without_home()
{
	local home expected=$BUILD_DIR/cache

	home=$(getent passwd "$(id -u)" | cut -d : -f 6) || true
	[ ! -w "$home" ] || expected=$(readlink -m "$home/.cache/hwtimer")
	cache_is "$expected"
}

# Also not by what the script starts
said_once()
{
	# shellcheck disable=SC2016 # the other shell's variables
	[ "$(in_shell XDG_CACHE_HOME= -- "mkdir() { true; }
		use_cache lock; use_cache log
		bash -c '. \"\$0\"; mkdir() { true; }; use_cache lock' '$VM_DIR/lib.sh'" 2>&1 |
		grep -c 'HOME is not set; the cache is /.* (HWTIMER_CACHE=')" = 1 ]
}

cache_without_a_directory()
{
	cache_is "$BUILD_DIR/cache" HOME=/dev/null
}

# says TEXT VARIABLE=VALUE... -- SCRIPT: whether SCRIPT fails and says so
says()
{
	in_shell "${@:2}" >"$TEMP/said" 2>&1 && return 1
	cat "$TEMP/said"
	grep -q -F "$1" "$TEMP/said"
}

# copy_to DIRECTORY: a checkout there
copy_to()
{
	mkdir -p "$1/test/vm"
	cp "$VM_DIR/lib.sh" "$VM_DIR/arch.sh" "$1/test/vm"
}

# finds_itself DIRECTORY [VARIABLE=VALUE]...: $TEMP/link is a link to $TEMP/plain.
finds_itself()
{
	copy_to "$TEMP/plain"
	ln -sfn plain "$TEMP/link"
	# shellcheck disable=SC2016 # the other shell's variables
	[ "$(cd "$1" && env "${@:2}" bash -c '. test/vm/lib.sh && echo "$REPO_DIR"')" = "$TEMP/plain" ]
}

refuses()
{
	copy_to "$TEMP/$1"
	bash -c '. "$0"' "$TEMP/$1/test/vm/lib.sh" >"$TEMP/said" 2>&1 && return 1
	grep -F "the directory of this checkout is \"$TEMP/$1\": its path must have no spaces, no quotes" \
		"$TEMP/said"
}

# sources_are DIRECTORY: lib.sh and arch.sh, but neither what is in build/ nor in .git/
sources_are()
{
	mkdir -p "$1/build"
	touch "$1/build/x"
	diff <(bash -c '. "$0" && source_files | tr "\0" "\n" | sort' "$1/test/vm/lib.sh") \
		<(printf '%s\n' test/vm/arch.sh test/vm/lib.sh)
}

sources_without_git()
{
	copy_to "$TEMP/tarball"
	sources_are "$TEMP/tarball"
}

# That one ignores all.
sources_in_another()
{
	command -v git >/dev/null || return 0
	copy_to "$TEMP/other/tarball"
	git init --quiet "$TEMP/other"
	echo '*' >"$TEMP/other/.gitignore"
	sources_are "$TEMP/other/tarball"
}

# Without git's answer, the file that git ignores would be among them.
sources_of_another_user()
{
	command -v git >/dev/null || return 0
	copy_to "$TEMP/theirs"
	git init --quiet "$TEMP/theirs"
	printf '/build/\n/ignored\n/.gitignore\n' >"$TEMP/theirs/.gitignore"
	touch "$TEMP/theirs/ignored"
	[ "$(id -u)" -ne 0 ] || chown -R 12345 "$TEMP/theirs"
	sources_are "$TEMP/theirs"
}

# in_noexec COMMAND...: runs COMMAND where TMPDIR is mounted noexec
in_noexec()
{
	mkdir -p "$TEMP/noexec"
	# shellcheck disable=SC2016 # the other shell's variables
	unshare --mount sh -c 'mount -t tmpfs -o noexec tmpfs "$0" && TMPDIR=$0 exec "$@"' \
		"$TEMP/noexec" env -u HWTIMER_EXEC_TMP "$@"
}

# A checkout of its own: the directory is made in its build/. Where a program can run, nothing
# changes.
tmp_elsewhere()
{
	copy_to "$TEMP/plain"
	# shellcheck disable=SC2016 # the other shell's variables
	[ "$(env -u HWTIMER_EXEC_TMP TMPDIR="$TEMP" bash -c '. "$0" && need_exec_tmp && echo "$TMPDIR"' \
		"$TEMP/plain/test/vm/lib.sh")" = "$TEMP" ] || return
	# shellcheck disable=SC2016 # the other shell's variables
	in_noexec bash -c '. "$0" && need_exec_tmp && mktemp && bash -c "echo \$TMPDIR"' \
		"$TEMP/plain/test/vm/lib.sh" >"$TEMP/said" || return
	grep "^$TEMP/plain/build/tmp/tmp" "$TEMP/said" && grep "^$TEMP/plain/build/tmp$" "$TEMP/said"
}

# An ordinary user, and no sudo
needs_root()
{
	says "sudo is not installed; run as root: true" -- \
		'id() { echo 1000; }; command() { false; }; as_root true'
}

# sparse_sees STATUS SOURCE: sparse ends with STATUS, and has seen all of the source
sparse_sees()
{
	echo "$2" >"$TEMP/source.c"
	"$VM_DIR/sparse.sh" -I "$TEMP" "$TEMP/source.c" >"$TEMP/said" 2>&1
	[ "$?" = "$1" ] && grep -x -F "sparse has seen all of $TEMP/source.c" "$TEMP/said"
}

sparse_finds()
{
	sparse_sees 0 'static int here(int __attribute__((noderef)) *p) { return *p; }' &&
		grep "^$TEMP/source.c:1:.*: warning: dereference of noderef" "$TEMP/said"
}

sparse_gives_up()
{
	echo 'int x = ;' >"$TEMP/header.h"
	! sparse_sees 0 '#include "header.h"'
}

# counts "PASSED FAILED SKIPPED" LINE...: whether a step that printed the lines is counted like that
counts()
{
	local expected=$1 passed failed skipped

	shift
	printf '%s\n' "$@" >"$TEMP/log"
	eval "$(sed -n '/^count_tap()/,/^}/p; /^why()/,/^}/p' "$VM_DIR/check.sh")"
	# shellcheck disable=SC2317 # count_tap() calls it
	note_failure() { true; }
	count_tap "$TEMP/log" ok "a step"
	[ "$passed $failed $skipped" = "$expected" ]
}

main "$@"
