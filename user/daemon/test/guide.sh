#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the examples of Documentation/hwtimerd.md, and prints TAP: the commands in User-Mode
# Linux with Redis and hwtimerd, without the module and with it, and compares what they print
# with what the page shows; the programs and the rules for access on this machine.
#
#	usage: user/daemon/test/guide.sh

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../../../test/vm/lib.sh"

PAGE=Documentation/hwtimerd.md
GUIDE=(/usr/bin/python3 user/daemon/test/guide.py) # Debian's, which has python3-redis
KERNEL=uml-7.3
DAEMON=$BUILD_DIR/daemon-static/hwtimerd
TEMP=

main()
{
	cd "$REPO_DIR"
	need_packages make python3 python3-redis redis-tools
	need_exec_tmp
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	make --no-print-directory -C user/daemon OUT="${DAEMON%/*}" LDFLAGS=-static >&2
	run_commands
	NODE_PATH=$(user/daemon/bench/bench.sh --fetch) \
		"${GUIDE[@]}" native "$PAGE" "$DAEMON" || FAILURES=$((FAILURES + 1))
	[ "$FAILURES" -eq 0 ]
}

run_commands()
{
	"$VM_DIR/build.sh" "$KERNEL" >/dev/null
	find_redis
	"${GUIDE[@]}" script "$PAGE" >"$TEMP/script"
	# shellcheck disable=SC2016 # the guest's variables
	"$VM_DIR/run.sh" --kernel "$KERNEL" --quiet --log "$TEMP/console" \
		--file "$BUILD_DIR/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$DAEMON=/usr/bin/hwtimerd" \
		--file "$TEMP/script=/hwtimer/script" "${REDIS_FILES[@]}" \
		-- sh -c 'export PATH=$PATH:/usr/bin
			redis-server --save "" >/tmp/redis &
			until redis-cli ping >/dev/null 2>&1; do usleep 100000; done
			echo "@@@ @@@ without the module"
			. ./script
			redis-cli flushall >/dev/null
			insmod hwtimer.ko || exit
			echo "@@@ @@@ with the module"
			. ./script' >"$TEMP/output" || FAILURES=$((FAILURES + 1))
	"${GUIDE[@]}" compare "$PAGE" "$TEMP/output" || FAILURES=$((FAILURES + 1))
}

main "$@"
