# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shared code of the host scripts: messages, clean-up on exit, long commands, directories,
# Debian packages, Debian's archive, Redis, and lines of TAP. Sourced by test/vm/*.sh; never run
# by itself.

# shellcheck disable=SC2034 # some of the variables are for the scripts that source this

set -euo pipefail

# What we start and read speaks English. Test machines that are for people speak this user's language.
export HWTIMER_LANG=${HWTIMER_LANG-${LC_ALL:-${LC_CTYPE:-${LANG-}}}}
export LC_ALL=C

# In test machines other users run the programs.
umask 022

# make may have called us. Its options must not reach the makes that we call.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Our own programs must compile without a warning, other people's builds need not.
export WERROR=1

# With this, cd may go elsewhere, and prints where it went.
unset CDPATH

# An ordinary user's PATH has none of it on Debian, and modinfo is there.
[[ :$PATH: == *:/usr/sbin:* ]] || export PATH=$PATH:/usr/sbin:/sbin

# Physical, as make and the compiler have it: their messages name the files by it.
VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
REPO_DIR=${VM_DIR%/*/*}
BUILD_DIR=$REPO_DIR/build
JOBS=$(nproc)

# The version of LLVM with which the kernel kmsan-6.12 and its modules are built, as the
# kernel's make takes it
LLVM_VERSION=-19

# shellcheck source=test/vm/arch.sh
. "$VM_DIR/arch.sh"

# Messages go to stderr: stdout belongs to what a script hands to its caller.
say()
{
	printf 'hwtimer: %s\n' "$*" >&2
}

die()
{
	printf 'hwtimer: error: %s\n' "$*" >&2
	exit 1
}

# ---- directories ----

# Characters that make, sh, sed or QEMU would take for something else in a path
SPECIAL=$' \t\n"\'\\$`#%:;,=&|()<>*?[]'

# plain WHAT DIRECTORY: dies if the path of a directory has any of them.
plain()
{
	[[ $2 != *["$SPECIAL"]* ]] ||
		die "$1 is \"$2\": its path must have no spaces, no quotes and none of" \
			'\ $ ` # % : ; , = & | ( ) < > * ? [ ]'
}

# The directory that all checkouts share. At its first use, HWTIMER_CACHE_SAID is said of it.
CACHE_DIR=

# choose_cache: sets CACHE_DIR, for all that we start, too. A service often has no HOME, or one
# that it may not write to.
choose_cache()
{
	local parent

	if [ -n "${HWTIMER_CACHE-}" ]; then
		CACHE_DIR=$HWTIMER_CACHE
		[[ $CACHE_DIR == /* ]] || CACHE_DIR=$PWD/$CACHE_DIR
	else
		settle_home
		parent=${XDG_CACHE_HOME-}
		[[ $parent == /* ]] || parent=$HOME/.cache
		CACHE_DIR=$parent/hwtimer
		can_make "$CACHE_DIR" || {
			HWTIMER_CACHE_SAID="$CACHE_DIR cannot be written to"
			CACHE_DIR=$BUILD_DIR/cache
		}
		[ -z "${HWTIMER_CACHE_SAID-}" ] || export HWTIMER_CACHE_SAID+="; the cache is
			$CACHE_DIR (HWTIMER_CACHE=DIRECTORY has another one)"
	fi
	[ ! -d "$CACHE_DIR" ] || CACHE_DIR=$(cd "$CACHE_DIR" && pwd -P)
	plain "the cache" "$CACHE_DIR"
	export HWTIMER_CACHE=$CACHE_DIR
}

# settle_home: HOME, if it is not set, as some programs need one
settle_home()
{
	[ -z "${HOME-}" ] || return 0
	HOME=$(getent passwd "$(id -u)" | cut -d : -f 6) || true
	export HOME=${HOME:-$BUILD_DIR}
	[ -n "${XDG_CACHE_HOME-}" ] || HWTIMER_CACHE_SAID="HOME is not set"
}

# can_make DIRECTORY: whether we may write to it, or make it
can_make()
{
	local dir=$1

	until [ -e "$dir" ] || [ -z "$dir" ]; do
		dir=${dir%/*}
	done
	[ -d "${dir:-/}" ] && [ -w "${dir:-/}" ]
}

# use_cache NAME...: makes these directories in the cache
use_cache()
{
	# shellcheck disable=SC2086 # a line break is a space
	[ -z "${HWTIMER_CACHE_SAID-}" ] || say $HWTIMER_CACHE_SAID
	export HWTIMER_CACHE_SAID=
	if ! mkdir -p "${@/#/$CACHE_DIR/}" || ! [ -w "$CACHE_DIR/$1" ]; then
		die "$CACHE_DIR cannot be written to: HWTIMER_CACHE=DIRECTORY has another cache"
	fi
}

# need_exec_tmp: temporary directories from now on are where a program can run. /tmp may be
# mounted noexec.
need_exec_tmp()
{
	local probe status=0

	[ -z "${HWTIMER_EXEC_TMP-}" ] || return 0
	export HWTIMER_EXEC_TMP=1
	probe=$(mktemp)
	printf '#!/bin/sh\n' >"$probe"
	chmod +x "$probe"
	"$probe" 2>/dev/null || status=$?
	rm "$probe"
	[ "$status" -ne 0 ] || return 0
	export TMPDIR=$BUILD_DIR/tmp
	mkdir -p "$TMPDIR"
	say "no program can run in ${probe%/*}: temporary files are in $TMPDIR"
}

plain "the directory of this checkout" "$REPO_DIR"
plain TMPDIR "${TMPDIR-}"
choose_cache

# ---- clean-up ----

# on_exit COMMAND...: run COMMAND when the script ends, also by a signal. The command
# given last runs first. bash runs no EXIT trap for a script that a signal kills; so a
# signal is turned into an exit.
EXIT_COMMANDS=()
on_exit()
{
	EXIT_COMMANDS=("$(printf '%q ' "$@")" "${EXIT_COMMANDS[@]}")
	trap run_exit_commands EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

run_exit_commands()
{
	local status=$? command

	trap '' HUP INT TERM
	for command in "${EXIT_COMMANDS[@]}"; do
		eval "$command" || true
	done
	exit "$status"
}

# end_jobs: stop our background jobs that still run
end_jobs()
{
	local pids

	pids=$(jobs -pr)
	# shellcheck disable=SC2086 # one word each
	[ -z "$pids" ] || { kill $pids; wait $pids; } 2>/dev/null || true
}

# run_long WHAT LOG COMMAND...: run a command that takes minutes, with its output in LOG.
# Reports every 30 s that the command still runs. If it fails, shows the log's last lines.
run_long()
{
	local what=$1 log=$2 start=$SECONDS beat status=0

	shift 2
	mkdir -p "$(dirname "$log")"
	on_exit end_jobs
	heartbeat "$what" "$log" &
	beat=$!
	# In the background: bash handles a signal only between foreground commands.
	"$@" >"$log" 2>&1 </dev/null &
	wait $! || status=$?
	kill "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$status" -ne 0 ]; then
		tail -n 40 "$log" | sed 's/^/    /' >&2
		say "$what failed after $((SECONDS - start)) s; the whole log is $log"
	fi
	return "$status"
}

heartbeat()
{
	local what=$1 log=$2 start=$SECONDS nap=

	# An ended heartbeat must not leave its sleep running: the sleep would keep our
	# caller's stderr open.
	trap 'kill $nap 2>/dev/null; exit 0' TERM
	while :; do
		sleep 30 >/dev/null 2>&1 &
		nap=$!
		wait "$nap"
		say "$what: $((SECONDS - start)) s, at: $(tail -n 1 "$log" | cut -c -60)"
	done
}

# ---- packages ----

# Whether a question can be asked, as whoever started the first script has a terminal. Its jobs,
# whose output goes to logs, ask there, too.
if [ -z "${HWTIMER_ASK-}" ]; then
	HWTIMER_ASK=0
	[ ! -t 0 ] || [ ! -t 2 ] || HWTIMER_ASK=1
	export HWTIMER_ASK
fi

# need_packages PACKAGE...: dies unless what these Debian packages have is here, or is installed
# now. It may be here without apt.
need_packages()
{
	offer_packages "$@" || die "$WHY"
}

# Why offer_packages() has failed
WHY=

# offer_packages PACKAGE...: succeeds if all is here, or is installed now. Installs only what it is
# told to, by HWTIMER_INSTALL=1 (make check, make demo) or on the terminal. One process at a time
# asks and installs, as apt-get does not wait for another one; so what is missing is looked up
# again.
offer_packages()
{
	local missing fd status=0

	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0
	if ! have apt-get; then
		WHY="missing, by the names of Debian's packages: $missing."
		[[ $missing != *lib* ]] || have pkg-config ||
			WHY+=" pkg-config, which finds libraries, is missing here."
		WHY+=" There is no apt-get"
		WHY+=" here; Documentation/installing.md has the names of other distributions"
		return 1
	fi
	use_cache lock
	exec {fd}>"$CACHE_DIR/lock/packages"
	flock "$fd"
	missing=$(missing_packages "$@")
	WHY="missing packages: $missing. Either: sudo apt-get install $missing."
	WHY+=" Or: HWTIMER_INSTALL=1 in the environment has them installed"
	# shellcheck disable=SC2086 # one word each
	[ -z "$missing" ] || { may_install "$missing" && install_packages $missing; } || status=$?
	# A caller that goes without them must not hold up others.
	exec {fd}>&-
	return "$status"
}

# may_install PACKAGES
may_install()
{
	local answer=

	case ${HWTIMER_INSTALL-} in
	1) return 0 ;;
	?*) return 1 ;;
	esac
	[ "$HWTIMER_ASK" = 1 ] || return
	{
		printf 'hwtimer: install these packages with apt-get? %s [y/N] ' "$1" >&3
		read -r answer <&3
	} 2>/dev/null 3<>/dev/tty || return
	[[ $answer == [yY]* ]]
}

# install_packages PACKAGE...: the only place that installs any
install_packages()
{
	local install

	say "installing packages: $*"
	# A fresh machine may be installing its own updates.
	install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes
		 --option DPkg::Lock::Timeout=600
		 --quiet --no-install-recommends "$@")
	# Fails if the package lists are missing or too old: then fetch them.
	as_root "${install[@]}" >&2 </dev/null || {
		say "fetching the package lists, then again"
		as_root apt-get update --quiet >&2 </dev/null ||
			say "not all package lists could be fetched"
		as_root "${install[@]}" >&2 </dev/null ||
			die "could not install them; as root: apt-get install $*"
	}
}

# missing_packages PACKAGE...: those of which nothing is here
missing_packages()
{
	local package missing=()

	for package in "$@"; do
		is_here "$package" || package_installed "$package" || missing+=("$package")
	done
	echo "${missing[*]}"
}

# is_here PACKAGE: whether what we use of a Debian package is here, whatever installed it. Most
# have a program of their own name.
is_here()
{
	case $1 in
	build-essential) have gcc g++ make && gcc_takes '#include <stdio.h>' -c ;;
	libc6-dev) gcc_takes 'int main(void) { return 0; }' -static ;;
	gcc-multilib) gcc_takes 'int main(void) { return 0; }' -m32 ;;
	libboost-dev) gcc_takes '#include <boost/version.hpp>' -c ;;
	libelf-dev) has_libraries libelf ;;
	libevent-dev) has_libraries libevent_core libevent_extra ;;
	libglib2.0-dev) has_libraries glib-2.0 ;;
	libhiredis-dev) has_libraries hiredis ;;
	libjansson-dev) has_libraries jansson ;;
	libssl-dev) has_libraries libssl ;;
	libsystemd-dev) has_libraries libsystemd ;;
	liburing-dev) has_libraries liburing ;;
	libuv1-dev) has_libraries libuv ;;
	python3-*) /usr/bin/python3 -c "import $(tr - _ <<<"${1#*-}")" 2>/dev/null ;;
	busybox-static) find_busybox ;;
	gnuplot-nox) have gnuplot ;;
	kmod) have modinfo modprobe depmod ;;
	man-db) have man ;;
	nodejs) have node ;;
	qemu-system-x86) have qemu-system-x86_64 ;;
	redis-tools) have redis-cli redis-check-rdb ;;
	xz-utils) have xz ;;
	*) have "$1" ;;
	esac
}

# have PROGRAM...
have()
{
	local program

	for program in "$@"; do
		command -v "$program" >/dev/null || return
	done
}

# has_libraries NAME...: as pkg-config calls them
has_libraries()
{
	pkg-config --exists "$@" 2>/dev/null
}

# gcc_takes SOURCE OPTION...
gcc_takes()
{
	gcc -x c "${@:2}" -o /dev/null - <<<"$1" 2>/dev/null
}

package_installed()
{
	local state

	state=$(dpkg-query --show --showformat '${db:Status-Status}' "$1" \
		2>/dev/null) || return 1
	[ "$state" = installed ]
}

# need_debian WHAT: dies at once, before anything is built, where WHAT cannot work
need_debian()
{
	local program missing=()

	[ "$(uname -m)" = x86_64 ] ||
		die "$1 needs an x86-64 machine, as the test machines are; this one is $(uname -m)"
	for program in apt-get apt-cache dpkg-deb dpkg-query; do
		have "$program" || missing+=("$program")
	done
	[ "${#missing[@]}" -eq 0 ] ||
		die "$1 needs Debian's archive, and this machine lacks the programs that read it:" \
			"${missing[*]}. Run the command in a container with Debian 12. make demo and" \
			"make vm can also take the kernel that you have: add KERNEL=host" \
			"(Documentation/installing.md)"
}

# no_headers DIRECTORY: dies, as a kernel's headers are not there
no_headers()
{
	die "no headers of a kernel in $1: install them (Debian: linux-headers-$(uname -r))," \
		"or say where they are: make KDIR=..."
}

# make_outside DIRECTORY: a PATH as on another distribution, for tests: links to all programs of this
# machine but Debian's
make_outside()
{
	mkdir -p "$1"
	ln -sf /usr/bin/* /usr/sbin/* "$1"
	rm -f "$1"/apt* "$1"/dpkg*
}

# find_busybox: sets BUSYBOX to a static one, as a test machine has no libraries
find_busybox()
{
	local name

	for name in busybox busybox.static; do
		BUSYBOX=$(command -v "$name") && [ -z "$(libraries_of "$BUSYBOX" || true)" ] && return
	done
	return 1
}

# use_ccache: what gcc and clang compile from now on comes from the cache if any checkout of
# this user compiled the same before. Links are not cached. No CCACHE_BASEDIR: it writes
# relative paths into the files of dependencies, where make has absolute ones, and make then
# compiles nothing again when a header changes.
use_ccache()
{
	need_packages ccache
	use_cache ccache
	export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$CACHE_DIR/ccache CCACHE_MAXSIZE=1G
	export CCACHE_NOHASHDIR=1
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		# In the background, sudo would wait for a password that nobody can type.
		sudo ${HWTIMER_SUDO:+"$HWTIMER_SUDO"} -- "$@"
	else
		die "this needs root, and sudo is not installed; run as root: $*"
	fi
}

# ---- the machine's Debian archive ----

ARCHIVE_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

release_codename()
{
	# shellcheck source=/dev/null
	(. /etc/os-release && echo "${VERSION_CODENAME-}")
}

# own_sources: where apt gets this machine's release from, a line "URI RELEASE" each
own_sources()
{
	local codename

	codename=$(release_codename)
	# Without --no-release-info, apt prints nothing before the first apt-get update.
	# shellcheck disable=SC2016 # apt's variables, not ours
	apt-get indextargets --no-release-info \
		--format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(CREATED_BY)' |
		awk -v name="$codename" '
			$3 == "main" && $4 == "Packages" &&
			($2 == name || index($2, name "-") == 1) {
				print $1, $2
			}' | sort -u
}

# source_lines [ARCHITECTURES]: turns lines "URI RELEASE" on stdin into lines for
# sources.list
source_lines()
{
	local options=arch=${1-amd64}

	[ ! -e "$ARCHIVE_KEYRING" ] || options+=" signed-by=$ARCHIVE_KEYRING"
	sed "s|^|deb [$options] |; s|\$| main|"
}

# ---- the sources ----

# source_files: the files that git knows or does not ignore, each with a 0 byte behind it; without
# git (a tarball), all files but those in build/
source_files()
{
	cd "$REPO_DIR"
	if is_repository; then
		our_git ls-files -z --cached --others --exclude-standard
	else
		find . \( -path ./build -o -path ./.git -o -name __pycache__ \) -prune -o \
			-type f -printf '%P\0' | sort -z
	fi
}

# A tarball may be in a repository that is not ours.
is_repository()
{
	[ -e "$REPO_DIR/.git" ] && our_git rev-parse >/dev/null 2>&1
}

# module_objects: what the module is linked from, by Kbuild, without its unit tests
module_objects()
{
	sed -n '/^hwtimer-y :=/,/[^\\]$/ s/^\t\([a-z_/]*\.o\).*/\1/p' "$REPO_DIR/Kbuild"
}

# module_files: the module's sources, as names from the root: those in the folders of its objects
module_files()
{
	local room

	(cd "$REPO_DIR" && for room in $(module_objects | xargs -n1 dirname | sort -u); do
		printf '%s\n' "$room"/*.[ch]
	done | sed 's|^\./||' && printf '%s\n' uapi/linux/*.h)
}

# In a container, the checkout may be another user's, which git refuses unless it is told.
our_git()
{
	git -C "$REPO_DIR" -c safe.directory="$REPO_DIR" "$@"
}

# ---- files for test machines ----

# Puts into REDIS_FILES the options of test/vm/run.sh that bring Redis into a machine. Redis
# needs its libraries and the loader, each file at its path in the package.
find_redis()
{
	local root file

	REDIS_FILES=()
	root=$("$VM_DIR/kernel.sh" redis)/root || return
	while read -r file; do
		REDIS_FILES+=(--file "$root$file=$file")
	done < <(find "$root" -type f -printf '/%P\n')
}

# libraries_of PROGRAM...: lists the shared libraries that programs of this machine need,
# and the loader
libraries_of()
{
	ldd "$@" 2>/dev/null | sed -n 's|^[^/]*\(/[^: ]*\) (.*|\1|p' | sort -u
}

# copy_libraries ROOT PROGRAM...: copies these to the same places in ROOT
copy_libraries()
{
	local library

	libraries_of "${@:2}" | while read -r library; do
		install -D "$library" "$1$library"
	done
}

# ---- TAP ----

CHECKS=0
FAILURES=0
CHECK_OUTPUT=

# check NAME COMMAND...: one line of TAP. If COMMAND fails, its output is shown first.
check()
{
	local name=$1

	shift
	if [ -z "$CHECK_OUTPUT" ]; then
		CHECK_OUTPUT=$(mktemp)
		on_exit rm -f "$CHECK_OUTPUT"
	fi
	CHECKS=$((CHECKS + 1))
	if "$@" >"$CHECK_OUTPUT" 2>&1; then
		echo "ok $CHECKS $name"
	else
		FAILURES=$((FAILURES + 1))
		sed 's/^/# /' "$CHECK_OUTPUT"
		echo "not ok $CHECKS $name"
	fi
}

# skip NAME REASON: a line of TAP for what cannot be checked here
skip()
{
	CHECKS=$((CHECKS + 1))
	echo "ok $CHECKS $1 # SKIP $2"
}

# silent: succeeds if stdin is empty, and otherwise shows it
silent()
{
	! grep .
}
