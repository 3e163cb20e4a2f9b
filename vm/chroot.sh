#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes sure that a freshly installed Debian of this machine's release is in the cache,
# and prints the tarball that it is. Called by vm/packages.sh.
#
#	usage: vm/chroot.sh PACKAGE...
#
# It has the essential packages, and those given with what they depend on. They come
# from where this machine's own packages do. Needs root, as its files are root's.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

# To be raised when what this script puts into a tarball changes.
RECIPE=1

main()
{
	local name tarball fd

	[ $# -gt 0 ] || die "usage: vm/chroot.sh PACKAGE..."
	name=chroot-$(release_codename)-$(recipe_hash "$@")
	tarball=$CACHE_DIR/$name.tar.zst
	mkdir -p "$CACHE_DIR"/{lock,log,tmp}
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

# Renamed into place when it is complete.
make_tarball()
{
	local name=$1 dir

	shift
	need_packages mmdebstrap zstd
	dir=$(mktemp -d "$CACHE_DIR/tmp/$name.XXXXXX")
	on_exit rm -rf "$dir"
	own_sources | source_lines >"$dir/sources.list"
	say "preparing a clean Debian, once, for $*"
	run_long "installing it (some 1 minute)" "$CACHE_DIR/log/chroot.log" \
		as_root mmdebstrap --variant=minbase \
		--include="$(tr ' ' , <<<"$*")" "$(release_codename)" \
		"$dir/$name.tar.zst" "$dir/sources.list" ||
		die "a clean Debian could not be installed"
	mv "$dir/$name.tar.zst" "$CACHE_DIR"
	forget_old
}

# Those of other packages go, once nobody has used them for a week: until then
# another may be about to unpack one.
forget_old()
{
	find "$CACHE_DIR" -mindepth 1 -maxdepth 1 -type f \
		-name 'chroot-*.tar.zst' -mtime +7 -delete
}

main "$@"
