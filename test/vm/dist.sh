#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Writes the source of this tree as a tarball: the files that git knows or does not ignore,
# without debian/, which belongs to Debian's packaging of it. The same files make the same
# tarball. In a tree that is from a tarball itself, the date is that of its newest file. Called
# by `make dist` and test/vm/packages.sh.
#
#	usage: test/vm/dist.sh OUTPUT.tar.xz

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

main()
{
	local output=$1 version date

	cd "$REPO_DIR"
	if is_repository; then
		date=@$(our_git log -1 --format=%ct)
	else
		date=@$(source_files | xargs -0 stat --format %Y | sort -n | tail -n 1)
	fi
	version=$(sed -n 's/^#define HWTIMER_VERSION "\(.*\)"/\1/p' version.h)
	mkdir -p "$(dirname "$output")"
	# Files that were removed, but not in git, are listed, too.
	source_files | grep -z -v '^debian/' |
		while read -r -d '' file; do
			[ ! -e "$file" ] || printf '%s\0' "$file"
		done |
		tar --create --null --files-from=- --sort=name --format=gnu \
			--owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
			--mtime="$date" \
			--transform="s|^|hwtimer-$version/|" |
		xz --threads=1 >"$output.new"
	mv "$output.new" "$output"
}

main "$@"
