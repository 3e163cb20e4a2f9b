# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shared code of the host scripts: messages, clean-up on exit, long commands, Debian
# packages, Debian's archive, Redis, and lines of TAP. Sourced by vm/*.sh; never run by
# itself.

# shellcheck disable=SC2034 # some of the variables are for the scripts that source this

set -euo pipefail
export LC_ALL=C

# In test machines other users run the programs.
umask 022

# make may have called us. Its options must not reach the makes that we call.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Our own programs must compile without a warning, other people's builds need not.
export WERROR=1

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO_DIR=$(dirname "$VM_DIR")
BUILD_DIR=$REPO_DIR/build
CACHE_DIR=${HWTIMER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hwtimer}
JOBS=$(nproc)

# The version of LLVM with which the kernel kmsan-6.12 and its modules are built, as the
# kernel's make takes it
LLVM_VERSION=-19

# shellcheck source=vm/arch.sh
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

# need_packages PACKAGE...: install those of these Debian packages that are missing
need_packages()
{
	local package

	for package in "$@"; do
		package_installed "$package" || {
			install_packages "$@"
			return
		}
	done
}

# One process at a time, as apt-get does not wait for another one. Which packages are
# missing is therefore checked with the lock held.
install_packages()
{
	local package missing=() install fd

	command -v apt-get >/dev/null ||
		die "this needs a Debian machine, or these packages: $*"
	mkdir -p "$CACHE_DIR/lock"
	exec {fd}>"$CACHE_DIR/lock/packages"
	flock "$fd"
	for package in "$@"; do
		package_installed "$package" || missing+=("$package")
	done
	if [ "${#missing[@]}" -gt 0 ]; then
		say "installing packages: ${missing[*]}"
		install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes
			 --quiet --no-install-recommends "${missing[@]}")
		# Fails if the package lists are missing or too old: then fetch them.
		as_root "${install[@]}" >&2 </dev/null || {
			say "fetching the package lists, then again"
			as_root apt-get update --quiet >&2 </dev/null ||
				say "not all package lists could be fetched"
			as_root "${install[@]}" >&2 </dev/null ||
				die "could not install ${missing[*]}"
		}
	fi
	exec {fd}>&-
}

package_installed()
{
	local state

	state=$(dpkg-query --show --showformat '${db:Status-Status}' "$1" \
		2>/dev/null) || return 1
	[ "$state" = installed ]
}

# use_ccache: what gcc and clang compile from now on comes from the cache if any checkout of
# this user compiled the same before. Links are not cached. No CCACHE_BASEDIR: it writes
# relative paths into the files of dependencies, where make has absolute ones, and make then
# compiles nothing again when a header changes.
use_ccache()
{
	need_packages ccache
	export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$CACHE_DIR/ccache CCACHE_MAXSIZE=1G
	export CCACHE_NOHASHDIR=1
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
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

# ---- files for test machines ----

# Puts into REDIS_FILES the options of vm/run.sh that bring Redis into a machine. Redis
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
