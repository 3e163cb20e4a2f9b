# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The test machine that is a kernel run as a program: User-Mode Linux. Sourced by
# test/vm/run.sh, which says what each kind of machine has to define; never run by itself.

# shellcheck disable=SC2034,SC2153 # test/vm/run.sh sets and uses these

MACHINE_PACKAGES=()
MACHINE_SAID="User-Mode Linux"

# Without seccomp, User-Mode Linux has only one processor, and its user space dies on
# processors with large register state.
machine_command()
{
	local entry=$1 console="null,fd:2" results="null,fd:1" arguments

	[ "$INTERACTIVE" = 0 ] || results="fd:0,fd:1"
	read -r -a arguments <<<"$KERNEL_ARGUMENTS $APPEND"
	memory_command
	MACHINE=("${MEMORY[@]}"
		 "$entry/linux" seccomp=on ncpus="$CPUS" mem="${MEM}M" noreboot
		 uml_dir="$TEMP/uml" initrd="$TEMP/initramfs"
		 console=ttyS0 ssl0="$console" ssl1="$results" "${arguments[@]}")
}

# memory_command: sets MEMORY to a prefix of the machine's command that provides the
# directory for the machine's memory. If we may, that is a file system with large pages,
# mounted for this machine alone. Large pages halve the time that a benchmark takes: with
# small pages, the host's processor misses an address translation for each timer.
memory_command()
{
	local dir=$TEMP/memory

	mkdir "$dir"
	# shellcheck disable=SC2016 # the inner shell's variables
	MEMORY=(unshare --mount sh -c
		'mount -t tmpfs -o "huge=always,size=$1M" tmpfs "$2" &&
		 export TMPDIR="$2" && shift 2 && exec "$@"'
		sh "$((MEM + 64))" "$dir")
	if "${MEMORY[@]}" true 2>/dev/null; then
		MACHINE_SAID="User-Mode Linux, memory in large pages"
	else
		MEMORY=(env TMPDIR="$(memory_dir)")
	fi
}

# The machine's memory is an unlinked file. Pages with code are mapped from it too, so the
# file system must not be noexec. On a disk, writing the file back slows the machine down.
memory_dir()
{
	local dir

	for dir in ${UML_DIR:-} /dev/shm "${TMPDIR:-/tmp}"; do
		if [ -w "$dir" ] && ! mounted_noexec "$dir" &&
			[ "$(megabytes_free "$dir")" -ge "$MEM" ]; then
			echo "$dir"
			return
		fi
		say "$dir has no room for the machine's memory of $MEM MiB"
	done
	die "no room for the machine's memory: free some space, or set TMPDIR"
}

mounted_noexec()
{
	findmnt --noheadings --output OPTIONS --target "$1" |
		grep -q -w noexec
}

megabytes_free()
{
	df --output=avail --block-size=1M "$1" | tail -n 1
}

# No failure is known that would be a reason to try again.
machine_may_boot_again()
{
	return 1
}
