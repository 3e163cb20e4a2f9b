#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes the root file system of a test machine from a busybox, test/vm/init and the given files.
# Called by test/vm/run.sh.
#
#	usage: test/vm/initramfs.sh OUTPUT BUSYBOX HOSTPATH=GUESTPATH...
#
# It has no libraries but those among the given files: link programs statically.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

main()
{
	local output=$1 busybox=$2 root file

	shift 2
	need_packages busybox-static cpio
	root=$(mktemp -d)
	on_exit rm -rf "$root"
	chmod 755 "$root"

	add "$busybox" "$root/bin/busybox"
	add "$VM_DIR/init" "$root/init"
	mkdir -p "$root/hwtimer"
	for file in "$@"; do
		[[ $file == *=/* ]] || die "not HOSTPATH=GUESTPATH: $file"
		add "${file%%=*}" "$root/${file#*=/}"
	done
	# Not compressed: under emulation, inflating takes longer than copying.
	(cd "$root" && find . | cpio --quiet --create --format newc \
		--owner +0:+0) >"$output"
}

add()
{
	[ -f "$1" ] || die "the test machine needs $1, which does not exist"
	install -D --mode "$(stat --format %a "$1")" "$1" "$2"
}

main "$@"
