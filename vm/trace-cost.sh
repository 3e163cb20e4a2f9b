#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what tracepoints cost when nobody listens: compares the machine code of the
# functions that every timer passes through, with and without tracepoints. With --run,
# also compares the time that a timer takes, with both modules in turn in one machine
# with Debian's kernel.
#
#	usage: vm/trace-cost.sh [--run ROUNDS]
#
# The benchmark's User-Mode Linux has no tracepoints, so there is nothing to compare.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=stock-6.12
FUNCTIONS="bulk_run_locked requests_run_locked hwtimer_harvest_take
	   hwtimer_harvest_finish hwtimer_turn event_put
	   hwtimer_period_rearm hwtimer_op_cancel_other"
TEMP=

main()
{
	cd "$REPO_DIR"
	need_packages python3 binutils
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	module without HWTIMER_NOTRACE=y
	module with
	# shellcheck disable=SC2086 # one word each
	python3 bench/trace_cost.py "$TEMP/with.ko" "$TEMP/without.ko" \
		$FUNCTIONS
	case ${1-} in
	--run) run "${2:-5}" | summary ;;
	esac
}

# module NAME [MAKE-ARGUMENT...]
module()
{
	local name=$1

	shift
	"$VM_DIR/build.sh" "$KERNEL" "$@" >/dev/null
	cp "build/$KERNEL/hwtimer.ko" "$TEMP/$name.ko"
}

# run ROUNDS: prints the benchmark's lines, each after the name of the module
run()
{
	make --no-print-directory bench-programs >&2
	# shellcheck disable=SC2016 # the guest's variables
	"$VM_DIR/run.sh" --kernel "$KERNEL" --timeout $((120 + 120 * $1)) \
		--file "$TEMP/with.ko=/hwtimer/with.ko" \
		--file "$TEMP/without.ko=/hwtimer/without.ko" \
		--file build/bench/timer-bench=/hwtimer/timer-bench \
		-- sh -c 'for i in $(seq '"$1"'); do
			for module in without with with without; do
				insmod $module.ko || exit
				./timer-bench --systems hwtimer --timers 100000 \
					--variants "hierarchical, bulks of 4096" |
					sed "s/^/$module /"
				rmmod hwtimer
			done
		done'
}

# Prints the minima of all rounds; the life-cycle is defined as in the README.
summary()
{
	awk '/hierarchical, bulks/ && match($0, /"phase": "(schedule|cancel|expire|deliver)"/) {
			phase = substr($0, RSTART + 10, RLENGTH - 11)
			match($0, /"value": [0-9.]*/)
			value = substr($0, RSTART + 9, RLENGTH - 9) + 0
			key = $1 SUBSEP phase
			if (!(key in least) || value < least[key])
				least[key] = value
		}
		function half(module, phase) {
			return least[module, phase] / 2
		}
		function life(module,	ended) {
			ended = half(module, "expire") + half(module, "deliver")
			return least[module, "schedule"] + half(module, "cancel") + ended
		}
		function line(name, without, with) {
			if (without)
				printf "%-12s %8.1f %8.1f %6.3f\n",
				       name, without, with, with / without
		}
		END {
			printf "%-12s %8s %8s %6s\n",
			       "ns a timer", "without", "with", "ratio"
			n = split("schedule cancel expire deliver", names)
			for (i = 1; i <= n; i++)
				line(names[i], least["without", names[i]],
				     least["with", names[i]])
			line("life-cycle", life("without"), life("with"))
		}'
}

main "$@"
