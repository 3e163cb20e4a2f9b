#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests test/vm/jobs.sh with jobs that write down when they ran. Prints TAP. Called by test/vm/lint.sh.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=test/vm/jobs.sh
. "$(dirname "$0")/jobs.sh"

# What test/vm/check.sh sets
RESULTS=$(mktemp -d)
LONGEST=longest-here
# shellcheck disable=SC2034 # test/vm/jobs.sh uses it
QUICK=
on_exit rm -rf "$RESULTS"

# Where the jobs write down what they do, and finish_job() what it is told
DONE=$RESULTS/done

main()
{
	echo "TAP version 13"
	queue_jobs
	say_nothing run_jobs
	check "jobs: a step waits for its first build" in_order "end first" "begin needs-both"
	check "jobs: a step waits for its second build" in_order "end second" "begin needs-both"
	check "jobs: a build runs once" [ "$(grep -c '^begin first' "$DONE")" = 1 ]
	check "jobs: a step that needs nothing does not wait" \
		in_order "begin free" "begin needs-both"
	check "jobs: a step whose build failed does not run" \
		says "not run needs-broken here build job-that-fails-broken failed"
	check "jobs: nor does it begin" fails says "begin needs-broken"
	check "jobs: what others need goes on" says "finish 0 needs-both"
	check "jobs: the longest step waits for no place" \
		in_order "begin longest" "end free"
	check "jobs: the processor time of a step that fails counts" \
		[ "$(processor_time "$RESULTS/burns-here.log")" -ge 1 ]
	check "jobs: its exit status is told" says "finish 3 burns"
	check "jobs: no place is taken at the end" [ "$(sum_taken)" = 0 ]
	[ "$FAILURES" -eq 0 ]
}

# All places are taken by steps that wait until the longest one has begun.
queue_jobs()
{
	local i

	for ((i = 1; i < PLACES[steps]; i++)); do
		queue "free-$i" here status job_that_waits_for longest "free-$i"
	done
	queue free here status job_that_waits_for longest free
	prepare job first
	prepare job second
	queue needs-both here status job needs-both
	needs_nothing
	prepare job_that_fails broken
	queue needs-broken here status job needs-broken
	needs_nothing
	prepare job first
	queue longest here status job longest
	needs_nothing
	queue burns here status burn
}

job()
{
	echo "begin $1" >>"$DONE"
	sleep 0.1
	echo "end $1" >>"$DONE"
}

job_that_fails()
{
	return 1
}

# job_that_waits_for OTHER NAME: OTHER has begun before it ends. If it never does, the test
# has to end, too.
job_that_waits_for()
{
	local tries=600

	echo "begin $2" >>"$DONE"
	until says "begin $1" >/dev/null || [ $((tries--)) -eq 0 ]; do
		sleep 0.1
	done
	echo "end $2" >>"$DONE"
}

# Takes two seconds of a processor, however fast that is: then the kernel ends awk. Fails.
burn()
{
	(
		ulimit -c 0
		ulimit -t 2
		exec awk 'BEGIN { while (1) sum++ }'
	) || return 3
}

# ---- what test/vm/check.sh defines ----

JOB_FAILURES=0

finish_job()
{
	JOB_FAILURES=$1
	echo "finish $1 $3" >>"$DONE"
}

fail_job()
{
	echo "not run $*" >>"$DONE"
}

clock()
{
	echo "$1"
}

# ---- what the tests ask ----

says()
{
	grep -x -F "$1" "$DONE"
}

# in_order LINE...: whether the jobs wrote the lines in this order
in_order()
{
	local line at=0 next

	for line; do
		next=$(grep -n -x -F "$line" "$DONE" | head -n 1 | cut -d : -f 1)
		if [ "${next:-0}" -le "$at" ]; then
			cat "$DONE"
			return 1
		fi
		at=$next
	done
}

fails()
{
	! "$@"
}

say_nothing()
{
	"$@" 2>"$RESULTS/said"
}

sum_taken()
{
	local lane sum=0

	for lane in "${!TAKEN[@]}"; do
		sum=$((sum + TAKEN[$lane]))
	done
	echo "$sum"
}

main "$@"
