# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the jobs of test/vm/check.sh: the steps, and the builds that they need. A step starts when
# what it needs is built and a place is free; so the first steps run while kernels are still
# being built. Sourced by test/vm/check.sh, which defines finish_job(); never run by itself.
#
# A job is in one of these lanes. Each has its places, and its jobs start in the order in
# which they were queued:
#
#	steps		tests; most of them wait for clocks, so there are more places than
#			processors
#	longest		the step that takes longest: it never waits for a place
#	builds		modules and programs: many steps wait for them, and each uses all
#			processors
#	kernels		kernels that are compiled here
#	downloads	what comes from Debian's archive

# shellcheck disable=SC2034 # test/vm/check.sh uses some of the variables

# The places of each lane
declare -A PLACES=([steps]=$((JOBS + 2)) [longest]=1 [builds]=2 [kernels]=1 [downloads]=1)

# What a job adds to its niceness. What others wait for comes first, and so do the steps that
# are over soon (QUICK, see test/vm/check.sh).
declare -A NICENESS=([steps]=10 [longest]=3 [builds]=0 [kernels]=5 [downloads]=0)

# The jobs by number: a line of quoted words each, NAME WHERE KIND COMMAND...; the numbers of
# the jobs that they need; the lane; and one of waiting, running, passed, failed
JOB=()
JOB_NEEDS=()
JOB_LANE=()
JOB_STATE=()

# The builds, by their command: the number of the job
declare -A BUILDS=()

# The numbers of the builds that the steps need which are queued next
NEEDED=

# The jobs that run, by process id: the number of the job, and the time of its start
declare -A RUNNING=()
declare -A STARTED=()

# The number of jobs that run in each lane
declare -A TAKEN=()

# Not empty if there is only one step: its output is then shown as it comes
WATCHED=

# add_job LANE NEEDS NAME WHERE KIND COMMAND...
add_job()
{
	JOB_LANE+=("$1")
	JOB_NEEDS+=("$2")
	shift 2
	JOB+=("${*@Q}")
	JOB_STATE+=(waiting)
}

# needs_nothing: the steps that are queued from now on need nothing, until prepare() is called
needs_nothing()
{
	NEEDED=
}

# prepare COMMAND...: the steps that are queued from now on need what COMMAND builds. Each
# COMMAND runs once, however many steps need it.
prepare()
{
	local lane=builds name=build needs=$NEEDED kernel

	if [ -z "${BUILDS[$*]-}" ]; then
		NEEDED=
		case $1 in
		"$VM_DIR/kernel.sh")
			name=kernel
			lane=$(lane_of_kernel "$2") ;;
		"$VM_DIR/build.sh")
			kernel=${2%-kunit}
			prepare "$VM_DIR/kernel.sh" "${kernel%-small}" ;;
		make | foreign_programs) prepare_tools "$*" ;;
		esac
		BUILDS[$*]=${#JOB[@]}
		add_job "$lane" "$NEEDED" "$name" "$(label_of "$@")" status "$@"
	fi
	NEEDED="$needs ${BUILDS[$*]}"
}

# prepare_tools COMMAND: what a COMMAND of make needs, if it builds selftests
prepare_tools()
{
	case $1 in
	*selftest-programs* | *tenants-programs* | foreign_programs*)
		prepare "$VM_DIR/kernel.sh" tools-7.3 ;;
	esac
}

# label_of COMMAND...: what a COMMAND builds: the last target of make, a kernel, or what a
# function of test/vm/check.sh is called
label_of()
{
	local word label=

	case $1 in
	make)
		for word in "${@:2}"; do
			case $word in
			-* | *=*) ;;
			*) label=$word ;;
			esac
		done ;;
	*/*) label=$2 ;;
	*)
		label=$(printf '%s-' "${@//_/-}")
		label=${label%-} ;;
	esac
	echo "$label"
}

# The kernels that test/vm/kernel.sh unpacks, and those that it compiles
lane_of_kernel()
{
	case $1 in
	stock-* | rt-* | arm64-* | s390x-* | tools-* | redis | systemd | gcc-*)
		echo downloads ;;
	*) echo kernels ;;
	esac
}

# queue NAME WHERE KIND COMMAND...: a step, which needs what was prepared. See finish_job()
# for KIND.
queue()
{
	local lane=steps

	[ "$1-$2" != "$LONGEST" ] || lane=longest
	add_job "$lane" "$NEEDED" "$@"
}

# steps_queued: the number of jobs that are no builds
steps_queued()
{
	local lane count=0

	for lane in "${JOB_LANE[@]}"; do
		case $lane in steps | longest) count=$((count + 1)) ;; esac
	done
	echo "$count"
}

run_jobs()
{
	WATCHED=
	[ "$(steps_queued)" -ne 1 ] || WATCHED=1
	while :; do
		if find_ready; then
			start_job "$READY"
		elif [ "${#RUNNING[@]}" -gt 0 ]; then
			wait_for_job
		else
			break
		fi
	done
}

# find_ready: sets READY to the number of the first job that can start. Ends those whose needs
# could not be built: they would test an older build.
READY=
find_ready()
{
	local job lane need

	for job in "${!JOB[@]}"; do
		[ "${JOB_STATE[job]}" = waiting ] || continue
		need=$(unmet "$job") || {
			leave_out "$job" "$need"
			continue
		}
		lane=${JOB_LANE[job]}
		if [ -z "$need" ] && [ "${TAKEN[$lane]-0}" -lt "${PLACES[$lane]}" ]; then
			READY=$job
			return 0
		fi
	done
	return 1
}

# unmet JOB: prints the number of a job that JOB needs and that has not passed. Fails if that
# one has failed.
unmet()
{
	local need

	for need in ${JOB_NEEDS[$1]}; do
		case ${JOB_STATE[need]} in
		passed) ;;
		failed) echo "$need" && return 1 ;;
		*) echo "$need" && return 0 ;;
		esac
	done
}

# leave_out JOB NEED: JOB cannot run, because NEED has failed.
leave_out()
{
	local words need

	eval "words=(${JOB[$1]})"
	eval "need=(${JOB[$2]})"
	JOB_STATE[$1]=failed
	fail_job "${words[0]}" "${words[1]}" "${need[0]} ${need[1]} failed"
}

# start_job JOB: the job gets a process group of its own, so that all of its processes can be
# ended.
start_job()
{
	local job=$1 lane=${JOB_LANE[$1]} words nice log

	eval "words=(${JOB[job]})"
	nice=${NICENESS[$lane]}
	[[ " $QUICK " != *" ${words[0]}-${words[1]} "* ]] || nice=0
	log=$RESULTS/${words[0]}-${words[1]}.log
	say "---- ${words[0]}, ${words[1]}: started (at $(clock "$SECONDS")) ----"
	set -m
	run_into "$log" "$nice" "${words[@]:3}" </dev/null &
	set +m
	RUNNING[$!]=$job
	STARTED[$!]=$SECONDS
	JOB_STATE[job]=running
	TAKEN[$lane]=$((${TAKEN[$lane]-0} + 1))
}

# run_into LOG NICENESS COMMAND...: run COMMAND with its output in LOG, and the times of its
# processes in LOG.time, also if it fails
run_into()
{
	local log=$1 nice=$2

	shift 2
	# shellcheck disable=SC2064 # the log's name of now
	trap "times >'$log.time'" EXIT
	renice --priority $(($(nice) + nice)) "$BASHPID" >/dev/null
	if [ -n "$WATCHED" ]; then
		"$@" 2>&1 | tee "$log"
	else
		"$@" >"$log" 2>&1
	fi
}

# processor_time LOG: the seconds that the processes of a job took
processor_time()
{
	# The second line of bash's times is of the processes that have ended: 1m2.345s 0m1.234s
	awk 'NR == 2 {
		for (i = 1; i <= 2; i++) {
			split($i, part, /[ms]/)
			sum += part[1] * 60 + part[2]
		}
	}
	END { printf "%.0f\n", sum }' "$1.time"
}

wait_for_job()
{
	local pid status=0 job lane words

	wait -n -p pid "${!RUNNING[@]}" || status=$?
	job=${RUNNING[$pid]}
	lane=${JOB_LANE[job]}
	unset "RUNNING[$pid]"
	TAKEN[$lane]=$((${TAKEN[$lane]} - 1))
	eval "words=(${JOB[job]})"
	JOB_STATE[job]=passed
	finish_job "$status" $((SECONDS - STARTED[$pid])) "${words[@]:0:3}"
	[ "$JOB_FAILURES" -eq 0 ] || JOB_STATE[job]=failed
}

# end_jobs_of_run: a step ends its machine when it gets SIGTERM.
# shellcheck disable=SC2317 # called by on_exit
end_jobs_of_run()
{
	local pid tries

	for pid in "${!RUNNING[@]}"; do
		kill -- "-$pid" 2>/dev/null || true
	done
	wait
	for pid in "${!RUNNING[@]}"; do
		tries=100
		while kill -0 -- "-$pid" 2>/dev/null && ((tries-- > 0)); do
			sleep 0.1
		done
		kill -KILL -- "-$pid" 2>/dev/null || true
	done
}
