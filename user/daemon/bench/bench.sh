#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures hwtimerd and its rivals, each with a Redis server of its own on this machine,
# and prints one table. The Makefile calls this script for make bench-redis.
#
#	usage: user/daemon/bench/bench.sh [OPTION...]
#
#	--quick		fewer timers, one round
#	--reps NUMBER	number of rounds (default 5)
#	--no-bullmq	leave BullMQ out, which npm fetches
#	--check		no figures: TAP, whether each system delivers each timer exactly once, and
#			none early
#	--fetch		only fetch BullMQ and its client with npm, and print where they are;
#			nothing if that is not possible
#
# Needs no module: hwtimerd uses /dev/hwtimer if this machine has it, and otherwise libevent's
# timers. Documentation/benchmark.md tells what is measured.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../../../test/vm/lib.sh"

HERE=$REPO_DIR/user/daemon/bench
OUT=$BUILD_DIR/bench-redis

main()
{
	local bullmq=1 check=0 fetch=0 argument options=()

	for argument in "$@"; do
		case $argument in
		--fetch) fetch=1 check=1 ;;
		--no-bullmq) bullmq=0 ;;
		--check) check=1 options+=(--check) ;;
		*) options+=("$argument") ;;
		esac
	done
	# A test is skipped without npm, and installs none.
	[ "$check" = 0 ] || command -v npm >/dev/null || bullmq=0
	[ "$bullmq" = 0 ] || prepare_bullmq "$check"
	if [ "$fetch" = 1 ]; then
		[ -z "$BULLMQ" ] || echo "$BULLMQ"
		return
	fi
	prepare
	# Debian's Python, which has python3-hiredis
	REDIS_SERVER=$OUT/redis-server HWTIMERD=$OUT/hwtimerd NODE_PATH=$BULLMQ \
		exec /usr/bin/python3 "$HERE/bench.py" ${options[@]+"${options[@]}"}
}

# bullmq/package.json has BullMQ's version and that of its client. It pins the versions of its
# other dependencies itself.
BULLMQ=

# prepare_bullmq CHECK: fetches it, if it is not in the cache
prepare_bullmq()
{
	local version dir

	need_packages nodejs npm
	version=$(sha256sum <"$HERE/bullmq/package.json")
	dir=$CACHE_DIR/bullmq-${version:0:10}
	if [ ! -d "$dir" ]; then
		say "fetching BullMQ with npm"
		use_cache tmp
		rm -rf "$dir.new"
		mkdir "$dir.new"
		cp "$HERE/bullmq/package.json" "$dir.new"
		(cd "$dir.new" && npm install --ignore-scripts --no-package-lock --no-audit \
			--no-fund) >&2 || {
			[ "$1" = 1 ] || die "npm could not fetch BullMQ"
			return 0
		}
		mv "$dir.new" "$dir"
	fi
	BULLMQ=$dir/node_modules
}

# Debian's package redis-server would start a server of its own; its program is also
# redis-check-rdb, under another name.
prepare()
{
	need_packages gcc libc6-dev libevent-dev libhiredis-dev make pkg-config python3 \
		python3-hiredis redis-tools
	make --no-print-directory --silent -C "$REPO_DIR/user/daemon" OUT="$OUT" >&2
	cp /usr/bin/redis-check-rdb "$OUT/redis-server"
}

main "$@"
