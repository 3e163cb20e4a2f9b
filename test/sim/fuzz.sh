#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the inputs of test/sim/corpus/ in the simulation, which AFL++ found there; a line of TAP
# for each. Called by test/vm/check.sh.
#
#	usage: test/sim/fuzz.sh [--minutes N] [--minimise]
#
# --minutes N: before that, looks for more inputs for N minutes, and prints those that fail.
# --minimise: puts what was found into the corpus, without inputs that reach nothing new.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

CORPUS=$REPO_DIR/test/sim/corpus
OUT=$BUILD_DIR/sim
FOUND=$OUT/afl-found

# Longer inputs are not worth their time.
BYTES_MAX=2000

MINUTES=0
MINIMISE=

# AFL++ counts a status of 1, the oracle's, as a crash. It need not set up the machine.
export AFL_CRASH_EXITCODE=1 AFL_NO_AFFINITY=1 AFL_SKIP_CPUFREQ=1 AFL_NO_UI=1
export AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1

# How long a run may take, ms, while other programs take most of the processor
AFL_TIMEOUT=20000

main()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--minutes) MINUTES=${2-}; shift ;;
		--minimise) MINIMISE=1 ;;
		*) die "test/sim/fuzz.sh: no such option: $1" ;;
		esac
		shift
	done
	need_packages build-essential
	[ "$MINUTES" = 0 ] || search
	[ -z "$MINIMISE" ] || minimise
	build plain
	exec "$OUT/plain/fuzz" "$CORPUS"/* "$FOUND"/default/crashes/id* \
		"$FOUND"/default/hangs/id*
}

build()
{
	make --no-print-directory -C "$REPO_DIR/test/sim" OUT="$OUT" KIND="$1" -j"$JOBS" fuzz >&2
}

search()
{
	need_packages afl++ clang
	build afl
	rm -rf "$FOUND"
	say "looking for new inputs for $MINUTES minutes"
	# Addresses must be the same each time.
	setarch -R timeout $((MINUTES * 60)) \
		afl-fuzz -i "$CORPUS" -o "$FOUND" -t "$AFL_TIMEOUT" -- \
		"$OUT/afl/fuzz" >"$OUT/afl.log" 2>&1 || true
	grep -E '^(execs_done|execs_per_sec|corpus_count|saved_|edges_found|total_edges)' \
		"$FOUND/default/fuzzer_stats" | sed 's/^/# /'
}

# How often a branch is taken (without -e) would keep twice as many inputs. AFL++ numbers them; a hash as the name keeps a file's name when it is found again.
minimise()
{
	local all=$OUT/afl-all least=$OUT/afl-least file

	rm -rf "$all" "$least"
	mkdir -p "$all"
	find "$CORPUS" "$FOUND/default/queue" -maxdepth 1 -type f -size "-${BYTES_MAX}c" \
		-exec cp -t "$all" {} +
	setarch -R afl-cmin -e -t "$AFL_TIMEOUT" -i "$all" -o "$least" -- \
		"$OUT/afl/fuzz" >&2
	find "$CORPUS" -type f -delete
	for file in "$least"/*; do
		cp "$file" "$CORPUS/$(sha256sum <"$file" | cut -c 1-16)"
	done
}

shopt -s nullglob
main "$@"
