# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A test machine that is a kernel run as a program: User-Mode Linux. Sourced by
# vm/run.sh, which says what each kind of machine has to define; never run by
# itself.

# shellcheck disable=SC2034,SC2153 # vm/run.sh sets and uses these

MACHINE_PACKAGES=()
MACHINE_SAID="User-Mode Linux"

# Without seccomp there is one processor only, and user space dies where the
# registers of the machine's processor are large.
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

# What gives a command the place for its memory; in MEMORY. Large pages are half
# of what a benchmark takes: with small ones the host's processor misses an
# address translation for each timer. A file system that has them is mounted for
# the machine alone, if we may.
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

# The machine's memory is a file, unlinked, on which pages with code are mapped
# too. Where it is on a disk, the machine's own writing to it slows it down.
memory_dir()
{
	local dir

	for dir in ${UML_DIR:-} /dev/shm "${TMPDIR:-/tmp}"; do
		if [ -w "$dir" ] && ! mounted_noexec "$dir" &&
			[ "$(megabytes_free "$dir")" -ge "$MEM" ]; then
			echo "$dir"
			return
		fi
		say "no room for the machine's memory of $MEM MiB in $dir"
	done
	die "no room for the machine's memory: free some, or set TMPDIR"
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

# Nothing is known that would be a reason.
machine_may_boot_again()
{
	return 1
}
