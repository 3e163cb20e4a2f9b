#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots a test machine, runs one command in it, and exits with the command's status.
# Called by the Makefile and test/vm/check.sh.
#
#	usage: test/vm/run.sh --kernel NAME [OPTION...] -- COMMAND [ARGUMENT...]
#
#	--kernel NAME		a kernel of test/vm/kernel.sh
#	--file HOST=GUEST	put a file into the machine (repeatable)
#	--share HOST=GUEST	a directory of this machine is the test machine's, too, which may only
#				read it (repeatable; amd64; kernels uml-*, and those whose modules are
#				at hand: stock-*, rt-*, host)
#	--share-rw HOST=GUEST	the same, and it may write
#	--patience SECONDS	how long the machine may print nothing (default 600; 1800 with
#				KCSAN and KMSAN)
#	--mem MEGABYTES		memory (default 1024; 3072 with KMSAN, which keeps two
#				thirds of it)
#	--cpus NUMBER		processors (default 2; uml-kasan-7.3 has only one)
#	--append "ARGUMENTS"	more arguments for the kernel's command line
#	--log FILE		keep the console's log in FILE
#	--quiet			print nothing unless something goes wrong
#	--interactive		the command has the terminal, and may be silent
#	--icount SHIFT		QEMU on amd64: a clock that counts instructions: each takes
#				2^SHIFT ns, and idle time is skipped. The machine's hours pass
#				as fast as this one can emulate them, and if this one stands
#				still, so does its clock. All processors share one thread.
#	--systemd		the first process is systemd, and runs the command as a unit
#	--again			if the machine printed nothing for too long, or if this host stood
#				still while the machine ran and its kernel reports no more than
#				that something took long: run the command again. What it has
#				printed until then does not count (AGAIN)
#
# The kernels uml-* run as programs of this machine; all others run in QEMU.
#
# The command runs in /hwtimer; its output appears here as it is written. The kernel's
# console goes to a log of its own. A machine passes only if it reported the command's
# exit status (see test/vm/init) and its kernel printed no report of trouble. If the exit
# status is not the command's, it is 124 if the machine hung, 125 if it died, 126 if the
# kernel reported trouble.
#
# No test fails because it takes long: a machine may run for as long as its command prints
# something now and then. Tests that wait for what must come wait without a limit. If it does
# not come, the machine is silent, and that is found here, in one place for all tests. A slow
# machine may be silent, too; so a test that was silent runs again, and hangs only if it is
# silent again. If a machine of the same `make check` hung, none is given a second time, as the
# run has failed already: a kernel that hangs everywhere must not take hours to say so.
#
# KCSAN and KMSAN look at the whole kernel, and find faults in it, too; so does lockdep in
# uml-kasan-7.3, as to RCU. Only reports that name the module are trouble (see
# test/vm/foreign.awk). The others are counted and listed.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Patterns of what a kernel prints when something is wrong with it. A program's crash is
# not among them: the command's exit status shows it. Nor is a memory cgroup that is full,
# "Out of memory and no killable processes": if the machine was, the kernel would panic next.
REPORTS='WARNING:|BUG:|BUG [a-z]|KASAN:|K[CM]SAN:|KFENCE:|UBSAN:|ODEBUG:'
REPORTS+='|cut here|Oops|Kernel panic|general protection fault[,:]'
REPORTS+='|possible (circular|recursive|irq)|inconsistent lock state'
REPORTS+='|INFO: (task|rcu|trying|lockdep|possible)|rcu.*(stall|detected)'
REPORTS+='|soft lockup|hard lockup|LOCKUP|hung task|scheduling while atomic'
REPORTS+='|sleeping function called|bad: scheduling|suspicious RCU'
REPORTS+='|unreferenced object|new suspected memory leak|refcount_t:'
REPORTS+='|list_(add|del) corruption|still has objects|Objects remaining'
REPORTS+='|Bad page|bad unlock|Out of memory:|double free|use-after-free'
REPORTS+='|out-of-bounds'

# Those that say no more than that something took long. A kernel whose host stands still
# prints them, too, as its clock goes on.
LONG='rcu.*(stall|detected)|INFO: rcu|soft lockup|workqueue lockup|INFO: task .* blocked'
LONG+='|took too long|Kernel panic - not syncing: (softlockup|hung_task|RCU Stall)'

# For how many seconds this host must stand still to excuse such a report, and how often the
# command runs again then; after a silent machine, once
STANDSTILL=10
MAX_AGAIN=2

# The file that says that a machine of this run of test/vm/check.sh hung; empty outside of such a run
HUNG_BEFORE=${HWTIMER_RUN:+$HWTIMER_RUN/hung}

# What test/vm/check.sh looks for: what the machine has printed above does not count.
AGAIN="what the machine has printed so far does not count"

# Arguments of every kernel
KERNEL_ARGUMENTS="rdinit=/init panic=-1 oops=panic"

# KCSAN watches one in 8,000 of the kernel's accesses, and one in 80 of the module's (see
# test/vm/kcsan-watch.c), each for 40 us on average. /init switches it on.
KCSAN_ARGUMENTS="kcsan.early_enable=0 kcsan.skip_watch=8000 kcsan.module_weight=100
	kcsan.udelay_task=80"

# How long a task may hang, and whether the kernel dies of a warning. A slow kernel may take
# minutes for one test of KUnit, which a task waits for. A sanitizer of the whole kernel
# warns of the kernel's own faults, too.
HUNG_TASK=60
PANIC_ON_WARN=1

KERNEL=
PATIENCE=
MEM=
CPUS=
APPEND=
LOG=
QUIET=0
INTERACTIVE=0
ICOUNT=
SYSTEMD=0
TRY_AGAIN=0
FILES=()
SHARES=()
COMMAND=()
TEMP=
CONSOLE=

# Whether something of what the machine has printed could not be passed on
OUTPUT_LOST=0

# test/vm/machine-KIND.sh defines MACHINE_PACKAGES, the packages it needs; machine_command
# ENTRY, which sets MACHINE (the command that runs the machine) and MACHINE_SAID (a
# description of the machine); and machine_may_boot_again, which says whether a machine
# that died may be booted again. The machine's second serial line is MACHINE's standard
# input and output. The first serial line and MACHINE's own messages are appended to
# $CONSOLE, to which its standard error goes. In the machine, the second one is
# MACHINE_PORT.
MACHINE_PACKAGES=()
MACHINE_PORT=ttyS1
MACHINE=()
MACHINE_SAID=

main()
{
	local entry

	parse_arguments "$@"
	choose_arch "$KERNEL"
	[ -z "$ICOUNT" ] || [[ $ARCH_NAME = amd64 && $KERNEL != uml-* ]] ||
		die "test/vm/run.sh: --icount is only for kernels for amd64 that QEMU runs, not for $KERNEL"
	kind_of_machine
	settle_sanitizer
	need_packages busybox-static cpio "${MACHINE_PACKAGES[@]}"
	find_busybox
	entry=$("$VM_DIR/kernel.sh" "$KERNEL")

	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	CONSOLE=$TEMP/console
	: >"$CONSOLE"
	[ -z "$LOG" ] || on_exit keep_log

	[ "$SYSTEMD" = 0 ] || add_systemd
	[ "${#SHARES[@]}" -eq 0 ] || share_directories "$entry"
	machine_command "$entry"
	make_guest "$entry"
	tell "booting $KERNEL ($(<"$entry/release"), $MACHINE_SAID)"
	if [ "$INTERACTIVE" = 1 ]; then
		run_on_terminal
	else
		run_unattended
		boot_again_if_need_be
		run_again_if_need_be
	fi
	judge
}

parse_arguments()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel) KERNEL=${2-} ;;
		--file) FILES+=("${2-}") ;;
		--share) SHARES+=("ro=${2-}") ;;
		--share-rw) SHARES+=("rw=${2-}") ;;
		--patience) PATIENCE=${2-} ;;
		--mem) MEM=${2-} ;;
		--cpus) CPUS=${2-} ;;
		--append) APPEND=${2-} ;;
		--log) LOG=${2-} ;;
		--icount) ICOUNT=${2-} ;;
		--quiet) QUIET=1; shift; continue ;;
		--interactive) INTERACTIVE=1; shift; continue ;;
		--systemd) SYSTEMD=1; shift; continue ;;
		--again) TRY_AGAIN=1; shift; continue ;;
		--) shift; COMMAND=("$@"); break ;;
		*) die "test/vm/run.sh: no such option: $1" ;;
		esac
		[ $# -ge 2 ] || die "test/vm/run.sh: $1 needs a value"
		shift 2
	done
	[ -n "$KERNEL" ] || die "test/vm/run.sh: --kernel is missing"
	[ "${#COMMAND[@]}" -gt 0 ] || die "test/vm/run.sh: the command is missing"
	[[ $ICOUNT =~ ^([0-9]|10)?$ ]] ||
		die "test/vm/run.sh: --icount needs a number from 0 to 10, not \"$ICOUNT\""
	[ "$INTERACTIVE" = 0 ] || [ -t 0 ] ||
		die "test/vm/run.sh: --interactive (make vm) needs a terminal for its standard input"
}

kind_of_machine()
{
	case $KERNEL in
	uml-*)
		# shellcheck source=test/vm/machine-uml.sh
		. "$VM_DIR/machine-uml.sh" ;;
	*)
		# shellcheck source=test/vm/machine-qemu.sh
		. "$VM_DIR/machine-qemu.sh" ;;
	esac
}

settle_sanitizer()
{
	local mem=1024 cpus=2 patience=600

	[[ $KERNEL != kmsan-* ]] || mem=3072
	MEM=${MEM:-$mem}
	# See test/vm/uml-kasan.config.
	[[ $KERNEL != uml-kasan-* ]] || cpus=1
	CPUS=${CPUS:-$cpus}
	case $KERNEL in
	kcsan-* | kmsan-*)
		HUNG_TASK=1800
		PANIC_ON_WARN=0
		patience=1800 ;;
	esac
	[[ $KERNEL != kcsan-* ]] || KERNEL_ARGUMENTS+=" $KCSAN_ARGUMENTS"
	PATIENCE=${PATIENCE:-$patience}
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

# share_directories ENTRY: has the test machine mount SHARES. Debian's kernels have modules for that,
# which go into the machine in the order in which it loads them.
share_directories()
{
	local name module number=10 i

	for i in "${!SHARES[@]}"; do
		[[ ${SHARES[i]} == *=/*=/* ]] || die "not HOST=GUEST: ${SHARES[i]#*=}"
	done
	declare -F machine_share >/dev/null || return 0
	machine_share
	[ -d "$1/lib/modules" ] || die "$KERNEL has no modules for directories of this machine"
	for name in virtio_pci 9pnet_virtio 9p; do
		modprobe --dirname "$1" --set-version "$(<"$1/release")" --show-depends "$name" ||
			die "the kernel $KERNEL has no module $name"
	done >"$TEMP/modules"
	while read -r module; do
		case $module in
		*.xz) xz --decompress --stdout "$module" ;;
		*.zst) zstd --quiet --decompress --stdout "$module" ;;
		*.gz) gzip --decompress --stdout "$module" ;;
		*) cat "$module" ;;
		esac >"$TEMP/module-$number"
		FILES+=("$TEMP/module-$number=/etc/hwtimer-modules/$number")
		number=$((number + 1))
	done < <(awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$TEMP/modules")
}

# make_guest ENTRY: the command goes into the machine as a file, as a kernel's command line
# has no room for it.
make_guest()
{
	local busybox=$1/busybox term=dumb lang=C rows=24 columns=80

	if [ -t 1 ]; then
		term=${TERM:-dumb}
		lang=${HWTIMER_LANG:-C}
		# In the substitution, standard output is a pipe.
		{ read -r rows columns < <(stty size <&3 2>/dev/null || echo 24 80); } 3<&1
	fi
	[ "${rows:-0}" -gt 0 ] || rows=24
	[ "${columns:-0}" -gt 0 ] || columns=80
	[ -e "$busybox" ] || busybox=$BUSYBOX
	printf '%s=%q\n' KERNEL "$KERNEL" PORT "/dev/$MACHINE_PORT" \
		INTERACTIVE "$INTERACTIVE" SYSTEMD "$SYSTEMD" TERM "$term" \
		ROWS "$rows" COLUMNS "$columns" CPUS "$CPUS" \
		LANG "$lang" SHARES "${SHARES[*]}" \
		HUNG_TASK "$HUNG_TASK" PANIC_ON_WARN "$PANIC_ON_WARN" >"$TEMP/conf"
	printf 'exec %s\n' "${COMMAND[*]@Q}" >"$TEMP/command"
	"$VM_DIR/initramfs.sh" "$TEMP/initramfs" "$busybox" \
		"$TEMP/conf=/etc/hwtimer.conf" \
		"$TEMP/command=/etc/hwtimer-command" \
		${FILES[@]+"${FILES[@]}"}
}

# The machine makes its standard output non-blocking. All processes that share ours would
# notice that; so a tee is between the two. timeout has no limit of its own here: it kills the
# machine and all of its processes at SIGALRM, which watch() sends. A machine that hung is
# killed, as a kernel of User-Mode Linux complains if it is asked to end.
run_unattended()
{
	local status=0 machine watcher printer

	rm -f "$TEMP/results" "$TEMP/printed"
	mkfifo "$TEMP/results"
	tee "$TEMP/printed" <"$TEMP/results" &
	printer=$!
	setpriv --pdeathsig TERM timeout --signal KILL --kill-after 5 0 \
		"${MACHINE[@]}" </dev/null >"$TEMP/results" 2>>"$CONSOLE" &
	machine=$!
	watch "$machine" &
	watcher=$!
	on_exit end_jobs
	# Without the redirection, bash would report that a process was killed.
	{ wait "$machine" || status=$?; } 2>/dev/null
	{ kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
	wait "$printer" || OUTPUT_LOST=1 # until tee has copied the last of the output
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

# watch MACHINE: looks at the clock each second, and writes down for how many seconds it could
# not. Ends the machine when it has printed nothing between $PATIENCE looks: while this host
# stands still, there are none. Nothing ever comes from the file that it reads, so it needs no
# process for a pause.
watch()
{
	local machine=$1 last now silent=0

	rm -f "$TEMP/gaps" "$TEMP/pause" "$TEMP/seen"
	mkfifo "$TEMP/pause"
	exec <>"$TEMP/pause"
	read -r last _ </proc/uptime
	last=${last%.*}
	while true; do
		read -r -t 1 || true
		read -r now _ </proc/uptime
		now=${now%.*}
		[ $((now - last)) -lt "$STANDSTILL" ] || echo $((now - last)) >>"$TEMP/gaps"
		last=$now
		silent=$((silent + 1))
		if [ "$TEMP/printed" -nt "$TEMP/seen" ]; then
			silent=0
			echo >"$TEMP/seen"
		fi
		[ "$silent" -ne "$PATIENCE" ] || kill -ALRM "$machine"
	done
}

# Something that takes long while this host stands still is no fault of ours, nor does a machine
# hang that is only slow. So all is done once more: if there is a fault, it shows then.
run_again_if_need_be()
{
	local tries=$MAX_AGAIN why

	while [ "$TRY_AGAIN" = 1 ] && [ "$tries" -gt 0 ] && only_took_long; do
		grep -E -m 3 "$REPORTS" "$CONSOLE" | tr -d '\r' | sed 's/^/    /' >&2 || true
		tries=$((tries - 1))
		if [ "$HUNG" = 1 ]; then
			why="the machine stood still: $(silence)"
			tries=0
		else
			why="this host stood still for $(paste -s -d ' ' "$TEMP/gaps") s"
		fi
		say "$KERNEL: $why: $AGAIN"
		: >"$CONSOLE"
		HUNG=0
		run_unattended
	done
}

# Whether the machine was silent before any test had failed, or the kernel reported trouble and
# this host stood still; and there was no trouble except that something took long
only_took_long()
{
	if [ "$HUNG" = 1 ]; then
		[ ! -e "$HUNG_BEFORE" ] && ! grep -q '^ *not ok' "$TEMP/printed" || return
	else
		[ -s "$TEMP/gaps" ] && grep -E -q "$REPORTS" "$CONSOLE" || return
	fi
	! grep -E "$REPORTS" "$CONSOLE" | grep -E -v -q "$LONG"
}

# silence: says how long a machine has printed nothing, and what came before
silence()
{
	local last

	last=$(tail -n 1 "$TEMP/printed" 2>/dev/null | tr -d '\r' | cut -c -100)
	echo "it printed nothing for $PATIENCE s, after \"$last\""
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

# The console, without reports that something took long before any of our code ran
since_init()
{
	if grep -q 'Run /init as init' "$CONSOLE"; then
		sed -E "0,/Run \/init as init/{/$LONG/d}" "$CONSOLE"
	else
		cat "$CONSOLE"
	fi
}

judge()
{
	local status rcu=0

	: >"$TEMP/foreign"
	# User-Mode Linux starts a processor, and flushes another process's memory, without
	# what RCU demands. lockdep is silent of that in debug-6.12.
	[[ $KERNEL != uml-kasan-* ]] || rcu=1
	since_init | awk -v foreign="$TEMP/foreign" -v rcu="$rcu" -f "$VM_DIR/foreign.awk" \
		>"$TEMP/messages"
	tell_watched
	tell_foreign
	status=$(sed -n 's/.*HWTIMER-GUEST-EXIT \([0-9][0-9]*\).*/\1/p' \
		"$CONSOLE" | tail -n 1)
	if grep -E -q "$REPORTS" "$TEMP/messages"; then
		fail 126 "the kernel reported trouble: $(grep -E -m 5 "$REPORTS" \
			"$TEMP/messages" | tr -d '\r' | paste -s -d '|' | sed 's/|/ | /g')"
	elif [ "$HUNG" = 1 ]; then
		[ -z "$HUNG_BEFORE" ] || : >"$HUNG_BEFORE"
		fail 124 "the machine hung: $(silence)"
	elif [ "$OUTPUT_LOST" = 1 ]; then
		fail 125 "what the machine printed could not be written: is the disk full?"
	elif [ -z "$status" ]; then
		fail 125 "the machine died before it reported an exit status"
	elif [ "$WATCHED" = 0 ]; then
		fail 126 "KCSAN watched nothing that the module does"
	fi
	exit "$status"
}

# Number of the module's accesses that KCSAN watched; empty: there is no KCSAN, or the
# machine did not come to its end
WATCHED=

# tell_watched: sets WATCHED, and says how much KCSAN watched
tell_watched()
{
	local accesses

	read -r WATCHED accesses < <(
		sed -n 's/.*HWTIMER-GUEST-WATCHED \([0-9 ]*\).*/\1/p' "$CONSOLE") || return 0
	say "KCSAN watched $WATCHED of the module's $accesses accesses"
}

# tell_foreign: says which faults of its own a sanitizer found in the kernel
tell_foreign()
{
	[ -s "$TEMP/foreign" ] || return 0
	say "$(wc -l <"$TEMP/foreign") reports of the kernel's sanitizer do not name the module:"
	sed 's/\r$//; s/.*\(K[CM]SAN: \|WARNING: \)/\1/' "$TEMP/foreign" | sort | uniq -c |
		sort -rn | sed 's/^/    /' >&2
}

fail()
{
	say "$KERNEL: the end of its console:"
	tail -n 40 "$CONSOLE" | sed 's/\r$//; s/^/    /' >&2
	say "$KERNEL: FAILED: $2"
	exit "$1"
}

[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
