#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Has systemd start, restart and stop hwtimerd as its package installs it, in a test machine
# where systemd is the first process. Prints TAP. Started by test/vm/packages.sh, with Redis at
# its usual place.
#
# Nothing depends on speed: each check waits for what must come.

# How often await() looks, ten times a second
PATIENCE=1200

WORK=/tmp/service
UNIT=hwtimerd.service
DROP_IN=/run/systemd/system/$UNIT.d
NUMBER=0
FAILED=0

export PATH=$PATH:/usr/bin:/usr/sbin

main()
{
	echo "TAP version 13"
	mkdir -p $WORK $DROP_IN
	redis-server --save "" --dir $WORK --requirepass secret --daemonize yes >/dev/null
	await redis ping >/dev/null
	without_queue
	configure
	without_device
	insmod /lib/modules/*/updates/dkms/hwtimer.ko* || exit
	chgrp hwtimer /dev/hwtimer
	chmod 660 /dev/hwtimer
	starts
	confined
	killed
	stopped
	check "nothing keeps the module loaded" rmmod hwtimer
	echo "1..$NUMBER"
	[ "$FAILED" = 0 ]
}

# The file that the package installs names no queue.
without_queue()
{
	check "without a queue, it cannot be started" not systemctl start $UNIT
	check "its status says that the command line is wrong" \
		[ "$(property ExecMainStatus)" = 2 ]
	check "systemd does not try again" [ "$(property ActiveState)" = failed ]
}

# As /etc/default/hwtimerd says
configure()
{
	echo secret >/etc/hwtimerd.password
	chmod 600 /etc/hwtimerd.password
	printf '[Service]\nLoadCredential=password:/etc/hwtimerd.password\n' \
		>$DROP_IN/password.conf
	systemctl daemon-reload
	echo 'HWTIMERD_OPTIONS="--queue q:2 --password-file' \
		'/run/credentials/hwtimerd.service/password"' >/etc/default/hwtimerd
	check "the functions are installed" hwtimerd load --password-file /etc/hwtimerd.password
}

without_device()
{
	check "systemd starts it without the device" systemctl start $UNIT
	check "it serves all shards" await serves 2
	check "a timer comes" comes zero 1
	check "its metrics tell that the device is not used" await shows 'kernel_timers 0'
	check "systemd stops it" systemctl stop $UNIT
}

# systemctl returns when the daemon has said that it is ready.
starts()
{
	check "systemd starts it" systemctl start $UNIT
	check "it serves all shards" await serves 2
	check "a timer comes" comes one 2
	check "its metrics are where the unit says" await shows 'fired_total{queue="q"} 1'
	check "they tell that the device is used" shows 'kernel_timers 1'
	check "it reports to systemd's watchdog" \
		await reported "$(property WatchdogTimestampMonotonic)"
}

# shows LINE: whether its metrics have it
shows()
{
	hwtimerd status --metrics /run/hwtimerd/metrics 2>$WORK/metrics |
		grep -q -x -F "hwtimerd_$1"
}

reported()
{
	[ "$(property WatchdogTimestampMonotonic)" -gt "$1" ]
}

confined()
{
	check "it is not root" [ "$(status_of_process Uid)" -gt 0 ]
	check "it has the device's group" \
		[ -n "$(process_groups | grep -x "$(stat -c %g /dev/hwtimer)")" ]
	check "it has no capability" [ "$(status_of_process CapPrm)" = 0000000000000000 ]
	check "its system calls are filtered" [ "$(status_of_process Seccomp)" = 2 ]
	check "it may have as many descriptors as the unit says" \
		grep -q "^Max open files  *65536  *65536" "/proc/$(property MainPID)/limits"
}

process_groups()
{
	sed -n 's/^Groups:\t//p' "/proc/$(property MainPID)/status" | tr ' ' '\n'
}

status_of_process()
{
	sed -n "s/^$1:\t\([^\t]*\).*/\1/p" "/proc/$(property MainPID)/status"
}

# What is due meanwhile comes when it is back.
killed()
{
	local before

	before=$(property MainPID)
	check "a timer is scheduled" schedule two +100
	kill -KILL "$before"
	check "it is started again after SIGKILL" await another "$before"
	check "what came due meanwhile comes" await has_due 3
	check "it serves all shards again" await serves 2
}

another()
{
	[ "$(property MainPID)" != 0 ] && [ "$(property MainPID)" != "$1" ]
}

stopped()
{
	check "systemd stops it" systemctl stop $UNIT
	check "its status is 0" [ "$(property Result) $(property ExecMainStatus)" = "success 0" ]
	check "it has left its shards" serves 0
	check "its directory is gone" not [ -e /run/hwtimerd ]
}

# ---- parts ----

property()
{
	systemctl show --property "$1" --value $UNIT
}

redis()
{
	redis-cli --no-auth-warning --pass secret "$@"
}

# serves NUMBER: whether so many shards have a daemon
serves()
{
	[ "$(redis keys '{q:*}:daemons' | grep -c .)" = "$1" ]
}

schedule()
{
	[ "$(redis fcall hwt_schedule 1 '{q:0}' "$1" "$2" payload)" = 1 ]
}

# comes ID NUMBER: whether a timer becomes entry NUMBER
comes()
{
	schedule "$1" +100 && await has_due "$2"
}

has_due()
{
	[ "$(redis xlen '{q:0}:due')" = "$1" ]
}

check()
{
	local name=$1

	shift
	NUMBER=$((NUMBER + 1))
	if "$@"; then
		echo "ok $NUMBER $name"
	else
		FAILED=1
		echo "not ok $NUMBER $name"
		systemctl status $UNIT --no-pager 2>&1 | sed 's/^/# /'
	fi
}

not()
{
	! "$@"
}

await()
{
	local left=$PATIENCE

	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return
		usleep 100000
	done
}

main
