#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Copies the module's sources and puts a fault into the copy.
#
#	usage: test/sim/put-fault.sh FAULT DIRECTORY
#
# FAULT: name of a patch in test/sim/faults/. DIRECTORY: where the copy goes; what is there is
# replaced, but a file that has not changed keeps its time, so that little is built anew.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"

main()
{
	local patch=$REPO_DIR/test/sim/faults/$1.patch copy=$2

	[ -f "$patch" ] || die "test/sim/put-fault.sh: no such fault: $1"
	need_packages patch
	rm -rf "$copy"
	mkdir -p "$copy"
	(cd "$REPO_DIR" && module_files | xargs cp -p --parents --target-directory="$copy" Kbuild)
	patch --quiet --directory="$copy" --strip=1 --fuzz=0 <"$patch" ||
		die "test/sim/faults/$1.patch does not fit the sources any more"
}

main "$@"
