#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the examples of Documentation/hwtimerd.md, and prints TAP: the commands in User-Mode
# Linux with Redis and hwtimerd, and compares what they print with what the page shows; the
# programs and the rules for access on this machine, with a server of their own.
#
#	usage: user/daemon/test/guide.sh

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../../../test/vm/lib.sh"

PAGE=Documentation/hwtimerd.md
GUIDE=(/usr/bin/python3 user/daemon/test/guide.py) # Debian's, which has python3-redis
KERNEL=uml-7.3
TEMP=

main()
{
	cd "$REPO_DIR"
	need_packages make python3 python3-redis redis-tools
	need_exec_tmp
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	run_commands
	run_programs
	[ "$FAILURES" -eq 0 ]
}

run_commands()
{
	local file root files=()

	"$VM_DIR/build.sh" "$KERNEL" >/dev/null
	make --no-print-directory -C user/daemon OUT="$BUILD_DIR/daemon-static" \
		LDFLAGS=-static >&2
	root=$("$VM_DIR/kernel.sh" redis)/root
	while read -r file; do
		files+=(--file "$root$file=$file")
	done < <(find "$root" -type f -printf '/%P\n')
	"${GUIDE[@]}" script "$PAGE" >"$TEMP/script"
	# shellcheck disable=SC2016 # the guest's variables
	"$VM_DIR/run.sh" --kernel "$KERNEL" --quiet --log "$TEMP/console" \
		--file "$BUILD_DIR/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$BUILD_DIR/daemon-static/hwtimerd=/usr/bin/hwtimerd" \
		--file "$TEMP/script=/hwtimer/script" "${files[@]}" \
		-- sh -c 'export PATH=$PATH:/usr/bin
			insmod hwtimer.ko || exit
			redis-server --save "" >/tmp/redis &
			until redis-cli ping >/dev/null 2>&1; do usleep 100000; done
			. ./script' >"$TEMP/output" || FAILURES=$((FAILURES + 1))
	"${GUIDE[@]}" compare "$PAGE" "$TEMP/output" || FAILURES=$((FAILURES + 1))
}

# shellcheck disable=SC2317 # called by on_exit
end()
{
	kill -KILL "$1"
	wait "$1" 2>/dev/null
}

run_programs()
{
	local port server

	port=$("${GUIDE[0]}" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	cp /usr/bin/redis-check-rdb "$TEMP/redis-server"
	"$TEMP/redis-server" --port "$port" --bind 127.0.0.1 --save '' --dir "$TEMP" \
		>"$TEMP/redis.log" &
	server=$!
	on_exit end "$server"
	until redis-cli -p "$port" ping >/dev/null 2>&1; do
		kill -0 "$server" || die "Redis does not start: $(<"$TEMP/redis.log")"
		sleep 0.05
	done
	redis-cli -p "$port" -x FUNCTION LOAD <user/daemon/functions/hwtimer.lua >/dev/null
	NODE_PATH=$(user/daemon/bench/bench.sh --fetch) \
		"${GUIDE[@]}" native "$PAGE" "$port" || FAILURES=$((FAILURES + 1))
}

main "$@"
