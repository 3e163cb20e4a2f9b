#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots a test machine, runs one command in it, and exits with the command's status.
# Called by the Makefile and vm/check.sh.
#
#	usage: vm/run.sh --kernel NAME [OPTION...] -- COMMAND [ARGUMENT...]
#
#	--kernel NAME		a kernel of vm/kernel.sh
#	--file HOST=GUEST	put a file into the machine (repeatable)
#	--timeout SECONDS	time limit (default 300)
#	--mem MEGABYTES		memory (default 1024)
#	--cpus NUMBER		processors (default 2)
#	--append "ARGUMENTS"	more arguments for the kernel's command line
#	--log FILE		keep the console's log in FILE
#	--quiet			print nothing unless something goes wrong
#	--interactive		the command has the terminal, and no time limit
#	--systemd		the first process is systemd, and runs the command as a unit
#
# The kernels uml-* run as programs of this machine; all others run in QEMU.
#
# The command runs in /hwtimer; its output appears here as it is written. The kernel's
# console goes to a log of its own. A machine passes only if it reported the command's
# exit status (see vm/init) and its kernel printed no report of trouble. If the exit
# status is not the command's, it is 124 if the machine hung, 125 if it died, 126 if the
# kernel reported trouble.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Patterns of what a kernel prints when something is wrong with it. A program's crash is
# not among them: the command's exit status shows it.
REPORTS='WARNING:|BUG:|BUG [a-z]|KASAN:|KCSAN:|KFENCE:|UBSAN:|ODEBUG:'
REPORTS+='|cut here|Oops|Kernel panic|general protection fault[,:]'
REPORTS+='|possible (circular|recursive|irq)|inconsistent lock state'
REPORTS+='|INFO: (task|rcu|trying|lockdep|possible)|rcu.*(stall|detected)'
REPORTS+='|soft lockup|hard lockup|LOCKUP|hung task|scheduling while atomic'
REPORTS+='|sleeping function called|bad: scheduling|suspicious RCU'
REPORTS+='|unreferenced object|new suspected memory leak|refcount_t:'
REPORTS+='|list_(add|del) corruption|still has objects|Objects remaining'
REPORTS+='|Bad page|bad unlock|Out of memory|double free|use-after-free'
REPORTS+='|out-of-bounds'

# Arguments of every kernel
KERNEL_ARGUMENTS="rdinit=/init panic=-1 oops=panic"

KERNEL=
TIMEOUT=300
MEM=1024
CPUS=2
APPEND=
LOG=
QUIET=0
INTERACTIVE=0
SYSTEMD=0
FILES=()
COMMAND=()
TEMP=
CONSOLE=

# vm/machine-KIND.sh defines MACHINE_PACKAGES, the packages it needs; machine_command
# ENTRY, which sets MACHINE (the command that runs the machine) and MACHINE_SAID (a
# description of the machine); and machine_may_boot_again, which says whether a machine
# that died may be booted again. The machine's second serial line is MACHINE's standard
# input and output. The first serial line and MACHINE's own messages are appended to
# $CONSOLE, to which its standard error goes.
MACHINE_PACKAGES=()
MACHINE=()
MACHINE_SAID=

main()
{
	local entry

	parse_arguments "$@"
	kind_of_machine
	need_packages busybox-static cpio "${MACHINE_PACKAGES[@]}"
	entry=$("$VM_DIR/kernel.sh" "$KERNEL")

	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	CONSOLE=$TEMP/console
	: >"$CONSOLE"
	[ -z "$LOG" ] || on_exit keep_log

	[ "$SYSTEMD" = 0 ] || add_systemd
	make_guest
	machine_command "$entry"
	tell "booting $KERNEL ($(<"$entry/release"), $MACHINE_SAID)"
	if [ "$INTERACTIVE" = 1 ]; then
		run_on_terminal
	else
		run_unattended
		boot_again_if_need_be
	fi
	judge
}

parse_arguments()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel) KERNEL=${2-} ;;
		--file) FILES+=("${2-}") ;;
		--timeout) TIMEOUT=${2-} ;;
		--mem) MEM=${2-} ;;
		--cpus) CPUS=${2-} ;;
		--append) APPEND=${2-} ;;
		--log) LOG=${2-} ;;
		--quiet) QUIET=1; shift; continue ;;
		--interactive) INTERACTIVE=1; shift; continue ;;
		--systemd) SYSTEMD=1; shift; continue ;;
		--) shift; COMMAND=("$@"); break ;;
		*) die "vm/run.sh: no such option: $1" ;;
		esac
		[ $# -ge 2 ] || die "vm/run.sh: $1 needs a value"
		shift 2
	done
	[ -n "$KERNEL" ] || die "vm/run.sh: --kernel is missing"
	[ "${#COMMAND[@]}" -gt 0 ] || die "vm/run.sh: the command is missing"
	[ "$INTERACTIVE" = 0 ] || [ -t 0 ] ||
		die "vm/run.sh: --interactive (make vm) needs a terminal for its standard input"
}

kind_of_machine()
{
	case $KERNEL in
	uml-*)
		# shellcheck source=vm/machine-uml.sh
		. "$VM_DIR/machine-uml.sh" ;;
	*)
		# shellcheck source=vm/machine-qemu.sh
		. "$VM_DIR/machine-qemu.sh" ;;
	esac
}

tell()
{
	[ "$QUIET" = 1 ] || say "$@"
}

# shellcheck disable=SC2317 # called by on_exit
keep_log()
{
	mkdir -p "$(dirname "$LOG")"
	cp "$CONSOLE" "$LOG"
}

# add_systemd: systemd, its libraries and the loader, each at its path in the package
add_systemd()
{
	local root file

	root=$("$VM_DIR/kernel.sh" systemd)/root
	while read -r file; do
		FILES+=("$root$file=$file")
	done < <(find "$root" ! -type d -printf '/%P\n')
	FILES+=("$VM_DIR/guest.service=/etc/systemd/system/guest.service")
}

# The command goes into the machine as a file: a kernel's command line has no room for it.
make_guest()
{
	local term=dumb rows=24 columns=80

	if [ -t 1 ]; then
		term=${TERM:-dumb}
		read -r rows columns < <(stty size <&1 2>/dev/null || echo 24 80)
	fi
	[ "${rows:-0}" -gt 0 ] || rows=24
	[ "${columns:-0}" -gt 0 ] || columns=80
	printf '%s=%q\n' INTERACTIVE "$INTERACTIVE" SYSTEMD "$SYSTEMD" TERM "$term" \
		ROWS "$rows" COLUMNS "$columns" CPUS "$CPUS" >"$TEMP/conf"
	printf 'exec %s\n' "${COMMAND[*]@Q}" >"$TEMP/command"
	"$VM_DIR/initramfs.sh" "$TEMP/initramfs" \
		"$TEMP/conf=/etc/hwtimer.conf" \
		"$TEMP/command=/etc/hwtimer-command" \
		${FILES[@]+"${FILES[@]}"}
}

# The machine makes its standard output non-blocking. All processes that share ours would
# notice that; so a cat is between the two. A machine that hung is killed, as a kernel of
# User-Mode Linux complains if it is asked to end.
run_unattended()
{
	local status=0

	rm -f "$TEMP/results"
	mkfifo "$TEMP/results"
	cat "$TEMP/results" &
	setpriv --pdeathsig TERM \
		timeout --signal KILL --kill-after 5 "$TIMEOUT" \
		"${MACHINE[@]}" </dev/null >"$TEMP/results" 2>>"$CONSOLE" &
	on_exit end_jobs
	# Without the redirection, bash would report that a process was killed.
	{ wait $! || status=$?; } 2>/dev/null
	wait # until cat has copied the last of the output
	[ "$status" -ne 137 ] || HUNG=1
}

boot_again_if_need_be()
{
	local tries=2

	while [ "$tries" -gt 0 ] && [ "$HUNG" = 0 ] && machine_may_boot_again; do
		grep -E -m 3 "$REPORTS" "$CONSOLE" | sed 's/^/    /' >&2 || true
		say "$KERNEL died while it booted, before any of our code ran: booting it again"
		: >"$CONSOLE"
		run_unattended
		tries=$((tries - 1))
	done
}

run_on_terminal()
{
	local state

	if state=$(stty --save 2>/dev/null); then
		on_exit stty "$state"
	fi
	# Opened anew, so that the machine does not make our caller's files non-blocking.
	[ ! -t 0 ] || exec </proc/self/fd/0
	[ ! -t 1 ] || exec >/proc/self/fd/1
	"${MACHINE[@]}" 2>>"$CONSOLE" || true
}

HUNG=0

judge()
{
	local status

	status=$(sed -n 's/.*HWTIMER-GUEST-EXIT \([0-9][0-9]*\).*/\1/p' \
		"$CONSOLE" | tail -n 1)
	if grep -E -q "$REPORTS" "$CONSOLE"; then
		grep -E -m 5 "$REPORTS" "$CONSOLE" | sed 's/^/    /' >&2
		fail 126 "the kernel reported trouble (above: its first lines)"
	elif [ "$HUNG" = 1 ]; then
		fail 124 "the machine hung: no end after $TIMEOUT s"
	elif [ -z "$status" ]; then
		fail 125 "the machine died before it reported an exit status"
	fi
	exit "$status"
}

fail()
{
	say "$KERNEL: the end of its console:"
	tail -n 40 "$CONSOLE" | sed 's/\r$//; s/^/    /' >&2
	say "$KERNEL: FAILED: $2"
	exit "$1"
}

main "$@"
