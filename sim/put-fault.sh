#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Copies the module's sources and puts a fault into the copy.
#
#	usage: sim/put-fault.sh FAULT DIRECTORY
#
# FAULT: name of a patch in sim/faults/. DIRECTORY: where the copy goes; what is there is
# replaced, but a file that has not changed keeps its time, so that little is built anew.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

main()
{
	local patch=$REPO_DIR/sim/faults/$1.patch copy=$2

	[ -f "$patch" ] || die "sim/put-fault.sh: no such fault: $1"
	need_packages patch
	rm -rf "$copy"
	mkdir -p "$copy"
	(cd "$REPO_DIR" && module_files | xargs cp -p --parents --target-directory="$copy" Kbuild)
	patch --quiet --directory="$copy" --strip=1 --fuzz=0 <"$patch" ||
		die "sim/faults/$1.patch does not fit the sources any more"
}

main "$@"
