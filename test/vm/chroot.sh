#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs a clean Debian of this machine's release into a tarball in the cache, unless it
# is there, and prints the tarball's path. Called by test/vm/packages.sh.
#
#	usage: test/vm/chroot.sh PACKAGE...
#
# The tarball has Debian's essential packages, and each PACKAGE with its dependencies.
# They come from where this machine's own packages come from. Needs root, as the files in
# the tarball belong to root.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Raise this when what this script puts into a tarball changes.
RECIPE=1

main()
{
	local name tarball fd

	[ $# -gt 0 ] || die "usage: test/vm/chroot.sh PACKAGE..."
	name=chroot-$(release_codename)-$(recipe_hash "$@")
	tarball=$CACHE_DIR/$name.tar.zst
	use_cache lock log tmp
	need_exec_tmp
	exec {fd}>"$CACHE_DIR/lock/chroot"
	flock "$fd"
	[ -e "$tarball" ] || make_tarball "$name" "$@"
	as_root touch "$tarball"
	printf '%s\n' "$tarball"
}

recipe_hash()
{
	echo "$RECIPE" "$@" | sha256sum | cut -c -10
}

# The tarball is renamed into place when it is complete.
make_tarball()
{
	local name=$1 dir

	shift
	need_packages mmdebstrap zstd
	dir=$(mktemp -d "$CACHE_DIR/tmp/$name.XXXXXX")
	on_exit rm -rf "$dir"
	own_sources | source_lines amd64 >"$dir/sources.list"
	say "preparing a clean Debian, once, for $*"
	run_long "installing it (about 1 minute)" "$CACHE_DIR/log/chroot.log" \
		as_root env TMPDIR="${TMPDIR-/tmp}" mmdebstrap --variant=minbase \
		--include="$(tr ' ' , <<<"$*")" "$(release_codename)" \
		"$dir/$name.tar.zst" "$dir/sources.list" ||
		die "a clean Debian could not be installed"
	mv "$dir/$name.tar.zst" "$CACHE_DIR"
	forget_old
}

# Removes tarballs that were not used for a week. Another process may be about to unpack
# a younger one.
forget_old()
{
	find "$CACHE_DIR" -mindepth 1 -maxdepth 1 -type f \
		-name 'chroot-*.tar.zst' -mtime +7 -delete
}

main "$@"
