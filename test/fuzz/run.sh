#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the fuzzer in a test machine, in the directory that has hwtimer.ko and the program
# `fuzz`.
#
#	usage: run.sh [ARGUMENT...]
#
# The ARGUMENTs go to the program. Without --steps, a phase is shorter where the machine is
# emulated. Prints TAP. Exit status 0: nothing failed.

# The world with little memory is in this cgroup.
CGROUP=/sys/fs/cgroup/fuzz

# Its limit, bytes: some instances fit, some do not
LIMIT=12000000

main()
{
	local cgroup=''

	# The kernel changes its own code when the first cgroup gets a limit, and QEMU
	# before 8.1 does not correctly emulate that with two processors.
	set_processors 0
	make_cgroup && cgroup="--cgroup $CGROUP"
	set_processors 1
	# shellcheck disable=SC2046,SC2086 # several words, or none
	./fuzz --module hwtimer.ko $(pace) $cgroup "$@" && return
	[ ! -e /sys/module/hwtimer ] || users
	return 1
}

# If the module cannot be unloaded, what there is says who still uses it.
users()
{
	local process fd

	echo "# references of the module: $(cat /sys/module/hwtimer/refcnt)"
	sed 's/^/# /' /sys/kernel/debug/hwtimer/instances
	for process in /proc/[0-9]*; do
		[ -s "$process/cmdline" ] || continue
		echo "# $process: $(tr '\0' ' ' <"$process/cmdline")"
		grep '^State' "$process/status"
		for fd in "$process"/fd/*; do
			readlink "$fd"
		done
		cat "$process"/task/*/stack 2>/dev/null
	done | sed 's/^/# /'
}

# Fewer steps in a phase, and fewer loads with a fault, if each takes long
pace()
{
	if emulated; then
		echo --steps 60 --faults 40
	elif [ -e /sys/kernel/debug/kmemleak ]; then
		# The sanitizers of uml-kasan-7.3 make each load take a second.
		echo --steps 300 --faults 40
	else
		echo --steps 1500 --faults 400
	fi
}

emulated()
{
	grep -q '^model name.*TCG' /proc/cpuinfo
}

make_cgroup()
{
	mkdir -p $CGROUP && [ -e $CGROUP/memory.max ] &&
		echo $LIMIT >$CGROUP/memory.max
}

# set_processors 0|1: switch all processors of an emulated machine but the first off or on
set_processors()
{
	local online

	emulated || return 0
	for online in /sys/devices/system/cpu/cpu*/online; do
		[ ! -e "$online" ] || echo "$1" >"$online" ||
			echo "# $online cannot be set to $1"
	done
}

main "$@"
