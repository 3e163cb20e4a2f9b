#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs `torture` in a test machine, in the directory that has it and hwtimer.ko. Started by
# test/vm/check.sh and test/torture/torture.sh.
#
#	usage: run.sh MINUTES [ARGUMENT...]
#
# The ARGUMENTs go to the program. Prints TAP; the verdict is among its comments. Exit
# status 0: nothing failed.

CGROUPS=/sys/fs/cgroup
GROUPS_OF_WORKERS="g0 g1 g2 g3"

NUMBER=0
FAILED=0

main()
{
	local minutes=$1

	shift
	echo "TAP version 13"
	echo 1..3
	# Suspend, processors and the OOM killer write much, and the console is slow. All
	# that test/vm/run.sh looks for is a warning or worse.
	dmesg -n 6
	# The kernel changes its own code when the first cgroup gets a controller or a
	# limit, and QEMU before 8.1 does not correctly emulate that with two processors.
	set_processors 0
	make_cgroups
	set_processors 1
	# One of the disturbers takes a user's memory, all of it.
	check "hwtimer loads" insmod hwtimer.ko max_memory_user=4
	chmod 666 /dev/hwtimer
	check "programs under torture" ./torture -m "$minutes" "$@"
	check "hwtimer unloads" unload
	[ "$FAILED" = 0 ]
}

# check NAME COMMAND...
check()
{
	local name=$1

	shift
	NUMBER=$((NUMBER + 1))
	if "$@"; then
		echo "ok $NUMBER - $name"
	else
		FAILED=1
		echo "not ok $NUMBER - $name"
	fi
}

# A worker thread of hwtimer may need a moment to end.
unload()
{
	until rmmod hwtimer 2>/dev/null; do
		sleep 0.1
	done
}

# The group `keys` has limits that limit nothing. They keep the kernel's code as it is when
# the limits of other cgroups come and go.
make_cgroups()
{
	local controller dir group

	mkdir -p $CGROUPS/torture
	for controller in cpu cpuset memory; do
		for dir in $CGROUPS $CGROUPS/torture; do
			grep -q -w $controller "$dir/cgroup.controllers" &&
				echo +$controller >"$dir/cgroup.subtree_control"
		done
	done
	for group in keys $GROUPS_OF_WORKERS; do
		mkdir -p "$CGROUPS/torture/$group"
	done
	[ ! -e $CGROUPS/torture/keys/cpu.max ] ||
		echo 10000000 100000 >$CGROUPS/torture/keys/cpu.max
	[ ! -e $CGROUPS/torture/keys/memory.max ] ||
		echo 100G >$CGROUPS/torture/keys/memory.max
}

# set_processors 0|1: switch all processors of an emulated machine but the first off or on
set_processors()
{
	local online

	grep -q '^model name.*TCG' /proc/cpuinfo || return 0
	for online in /sys/devices/system/cpu/cpu*/online; do
		[ ! -e "$online" ] || echo "$1" >"$online" ||
			echo "# $online cannot be set to $1"
	done
}

main "$@"
