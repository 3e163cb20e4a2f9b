#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the suite of attackers beside a victim in a test machine, in the directory that has
# hwtimer.ko and the program `tenants`.
#
#	usage: run.sh [--full] [ARGUMENT...]
#
# --full takes more and longer measurements. The ARGUMENTs go to the program; -l lists the
# tests, -v ROW chooses a row. Prints TAP. Exit status 0: nothing failed.
#
# HWTIMER_SCALE=N in the environment makes the attackers with very many objects use an Nth
# of them.

CGROUPS=/sys/fs/cgroup
TESTER=$CGROUPS/tenants/tester

main()
{
	local status=0

	if [ "${1-}" = --full ]; then
		shift
		export HWTIMER_TENANTS=full
	fi
	export HWTIMER_SCALE="${HWTIMER_SCALE-10}"
	make_cgroups
	insmod hwtimer.ko || exit
	./tenants "$@" || status=$?
	rmmod hwtimer || status=1
	exit $status
}

# The tester's cgroup stays. Its limit, which is more than all processors, keeps the
# kernel's code as it is when the limits of other cgroups come and go.
make_cgroups()
{
	local controller dir

	mkdir -p $CGROUPS/tenants
	for controller in cpu cpuset memory pids; do
		for dir in $CGROUPS $CGROUPS/tenants; do
			grep -q -w $controller "$dir/cgroup.controllers" &&
				echo +$controller >"$dir/cgroup.subtree_control"
		done
	done
	mkdir -p $TESTER
	[ ! -e $TESTER/cpu.max ] || echo 10000000 100000 >$TESTER/cpu.max
	[ ! -e $TESTER/memory.max ] || echo 100G >$TESTER/memory.max
}

main "$@"
