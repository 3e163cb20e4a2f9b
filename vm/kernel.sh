#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes sure that a kernel for the test machines is in the cache, and prints the directory
# of its cache entry. Called by the Makefile, vm/run.sh, vm/build.sh, vm/lint.sh and
# vm/check.sh.
#
#	usage: vm/kernel.sh NAME
#
#	stock-6.1	Debian's kernels and headers: what users have
#	stock-6.12
#	debug-6.12	built from Debian's source with vm/debug.config
#	kcsan-6.12	debug-6.12 with the changes of vm/kcsan.config: finds data races
#	uml-7.3		User-Mode Linux, a kernel as a program of this machine, with
#			vm/uml-7.3.config: the newest kernel, at native speed
#	tools-6.12	the kernel's own tools: checkpatch, kselftest, kunit.py
#	redis		no kernel: Debian's Redis, for the examples and hwtimerd, and
#			libfaketime, which sets a program's clock
#
# A kernel's entry has `vmlinuz` (uml-7.3: `linux`), `build` (the KDIR for external
# modules), `release` and `version`. tools-6.12 has `source`. redis has `root`, the files
# of Redis that a test machine needs.
#
# Packages are downloaded and unpacked, never installed: a demo must not change what the
# machine boots. They come from the archive in the machine's own apt configuration. An
# entry's name has the package's version and a hash of everything else that shaped the
# entry. A complete entry is renamed into place, so that an interrupted build leaves
# nothing that looks like an entry.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Raise this when what this script puts into an entry changes.
RECIPE=1

# Minutes for which a package index counts as current, and until a failed fetch is retried
INDEX_MAX_AGE=720
INDEX_RETRY_AGE=10

# Debian releases that may have linux-source-7.3, the oldest first
LATER_SUITES="trixie-backports forky-backports forky sid experimental"

UML_SCHED_CLOCK=$VM_DIR/uml-sched-clock.c

FAKETIME=usr/lib/x86_64-linux-gnu/faketime

main()
{
	local name=${1-}

	[ $# -eq 1 ] || die "usage: vm/kernel.sh NAME"
	[ "$(dpkg --print-architecture)" = amd64 ] ||
		die "the test machines are amd64 only"
	case $name in
	# The programs in the header packages need the library of libelf-dev.
	stock-6.1 | stock-6.12) need_packages build-essential libelf-dev ;;
	debug-6.12 | kcsan-6.12 | uml-7.3)
		need_packages build-essential bc bison cpio flex kmod \
			libelf-dev libssl-dev rsync xz-utils ;;
	tools-6.12) need_packages xz-utils ;;
	redis) ;;
	*) die "no such kernel: $name" ;;
	esac

	mkdir -p "$CACHE_DIR"/{apt,deb,lock,log,tmp}
	take_lock "$name"
	# We hold the lock: temporary files of this name belong to a run that died.
	rm -rf "$CACHE_DIR/tmp/$name".*

	# If a package of the index cannot be downloaded, the index may be too old.
	# fetch() then marks the index, and a newer one is worth a second try.
	read_index "$name" || true
	newest_entry "$name"
	if [ -z "$ENTRY" ] && [ ! -e "$INDEX/fresh" ] && read_index "$name"; then
		newest_entry "$name"
	fi
	[ -n "$ENTRY" ] || cached_entry "$name"
	touch "$ENTRY"
	printf '%s\n' "$ENTRY"
}

read_index()
{
	case $1 in
	uml-*) later_index "$(package_of "$1")" ;;
	*) base_index ;;
	esac
}

# The directory of the entry, once there is one
ENTRY=

# newest_entry NAME: sets ENTRY to the entry of the newest version, and makes that entry
# if necessary. Leaves ENTRY empty if the version is not known or cannot be downloaded.
newest_entry()
{
	local name=$1 version dir

	version=$(newest_version "$(package_of "$name")")
	[ -n "$version" ] || return 0
	dir=$(entry_dir "$name" "$version")
	if [ ! -d "$dir" ]; then
		fetch_all "$name" "$version" || return 0
		say "preparing $name, version $version"
		make_entry "$name" "$version"
		forget_old "$name" "$dir"
	fi
	ENTRY=$dir
}

cached_entry()
{
	local name=$1 version

	version=$(cached_version "$name")
	[ -n "$version" ] ||
		die "$name: the archive does not have it now, and neither does $CACHE_DIR"
	say "$name: the archive has no newer one now, using the cached $version"
	ENTRY=$(entry_dir "$name" "$version")
}

# package_of NAME: the package whose version is the version of the entry
package_of()
{
	case $1 in
	stock-6.1) echo linux-image-amd64 ;;
	stock-6.12) echo linux-image-6.12-amd64 ;;
	debug-6.12 | kcsan-6.12 | tools-6.12) echo linux-source-6.12 ;;
	uml-7.3) echo linux-source-7.3 ;;
	redis) echo redis-tools ;; # redis-server would only start it
	esac
}

# ---- the cache ----

# One process at a time makes an entry. The lock is held until we exit and all processes
# that we started have ended.
take_lock()
{
	local fd

	exec {fd}>"$CACHE_DIR/lock/$1"
	flock --nonblock "$fd" && return
	say "waiting for another process that is preparing $1"
	flock "$fd"
}

entry_dir()
{
	printf '%s/%s-%s%s\n' "$CACHE_DIR" "$1" "$2" "$(recipe_hash "$1")"
}

# recipe_hash NAME: a hash of everything but the version that shapes an entry
recipe_hash()
{
	local config

	config=$(config_of "$1")
	{
		echo "$RECIPE"
		[ -z "$config" ] || { gcc --version; printf '%s\n' "$config"; }
		[[ $1 != uml-* ]] || cat "$UML_SCHED_CLOCK"
		[ "$1" != redis ] || echo "server cli faketime"
	} | sha256sum | sed 's/^\(.\{10\}\).*/-\1/'
}

# config_of NAME: the options of a kernel that is built here. Other lines of its files are
# left out, so that a comment does not make another kernel of it.
config_of()
{
	case $1 in
	debug-6.12) cat "$VM_DIR/debug.config" ;;
	kcsan-6.12) config_changed "$VM_DIR/debug.config" "$VM_DIR/kcsan.config" ;;
	uml-7.3) cat "$VM_DIR/uml-7.3.config" ;;
	esac | { grep -E '^(# )?CONFIG_' || true; }
}

# config_changed CONFIG CHANGES: CONFIG, with CHANGES in place of the options they name
config_changed()
{
	grep -o -E 'CONFIG_[A-Z0-9_]+' "$2" |
		grep -v -w -F -f - "$1" | cat - "$2"
}

# cached_version NAME: the newest cached version with our recipe_hash
cached_version()
{
	local dir hash

	hash=$(recipe_hash "$1")
	for dir in "$CACHE_DIR/$1"-*"$hash"; do
		[ ! -d "$dir" ] || cat "$dir/version"
	done | sort --version-sort | tail -n 1
}

# forget_old NAME ENTRY: remove other versions than ENTRY that were not used for a week
forget_old()
{
	find "$CACHE_DIR" -mindepth 1 -maxdepth 1 -type d -name "$1-*" \
		! -path "$2" -mtime +7 -exec rm -rf {} +
}

# ---- the archive ----

# apt_with DIR COMMAND...: run an apt command on our own package index, so that it neither
# needs root nor changes the machine's index
apt_with()
{
	local dir=$1 command=$2

	shift 2
	"$command" --quiet \
		--option Dir::Etc::SourceList="$dir/sources.list" \
		--option Dir::Etc::SourceParts=/dev/null \
		--option Dir::Etc::Preferences=/dev/null \
		--option Dir::Etc::PreferencesParts=/dev/null \
		--option Dir::State="$dir" \
		--option Dir::State::Status="$dir/status" \
		--option Dir::State::Lists="$dir/lists" \
		--option Dir::Cache="$dir/cache" \
		--option Dir::Cache::pkgcache=pkgcache.bin \
		--option APT::Sandbox::User="$(id -un)" \
		--option Acquire::Languages=none \
		--option Acquire::Retries=2 \
		--option Acquire::http::Timeout=20 \
		--option Acquire::https::Timeout=20 \
		"$@" </dev/null
}

# refresh_index DIR WHAT: fetch the index of the sources.list on stdin, unless it was
# fetched lately. Fails if the index could not be fetched.
refresh_index()
{
	local dir=$1 what=$2 fd

	exec {fd}>"$CACHE_DIR/lock/index-$(basename "$dir")"
	flock "$fd"
	mkdir -p "$dir"/{lists/partial,cache/archives/partial}
	: >>"$dir/status"
	cat >"$dir/sources.new"
	if cmp --silent "$dir/sources.new" "$dir/sources.list"; then
		younger_than "$INDEX_MAX_AGE" "$dir/fresh" && return
		younger_than "$INDEX_RETRY_AGE" "$dir/failed" && return 1
	fi
	mv "$dir/sources.new" "$dir/sources.list"
	say "fetching the package index of $what"
	if apt_with "$dir" apt-get update --error-on=any >"$dir/log" 2>&1; then
		rm -f "$dir/failed"
		touch "$dir/fresh"
	else
		touch "$dir/failed"
		sed -n 's/^[EW]: /    /p' "$dir/log" | head -n 3 >&2
		say "the package index of $what cannot be fetched now; going on with the old one, if any"
		return 1
	fi
	exec {fd}>&-
}

younger_than()
{
	[ -n "$(find "$2" -mmin "-$1" 2>/dev/null)" ]
}

INDEX=

base_index()
{
	INDEX=$CACHE_DIR/apt/base
	own_sources | source_lines | refresh_index "$INDEX" "this release"
}

# later_index PACKAGE: choose the first of LATER_SUITES that has PACKAGE
later_index()
{
	local uri suite

	uri=$(own_sources | awk '$2 !~ /-/ { print $1; exit }')
	for suite in $LATER_SUITES; do
		INDEX=$CACHE_DIR/apt/$suite
		echo "$uri $suite" | source_lines |
			refresh_index "$INDEX" "$suite" || true
		[ -z "$(newest_version "$1")" ] || return 0
	done
	return 1
}

# field PACKAGE NAME: a field of the candidate version of a package
field()
{
	{ apt_with "$INDEX" apt-cache show --no-all-versions "$1" 2>/dev/null ||
		true; } | sed -n "s/^$2: //p" | head -n 1
}

newest_version()
{
	field "$1" Version
}

# depends PACKAGE PATTERN: the packages that PACKAGE depends on and whose names match
depends()
{
	field "$1" Depends | sed 's/ *[,|] */\n/g' | sed 's/ .*//' |
		grep -E -x -e "$2"
}

# packages NAME VERSION: all packages of an entry, a line "PACKAGE VERSION" each
packages()
{
	local name=$1 version=$2 image headers package

	case $name in
	stock-*)
		image=$(depends "$(package_of "$name")" \
			"linux-image-${name#stock-}\\..*") ||
			die "$(package_of "$name") is not a kernel ${name#stock-}"
		headers=${image/image/headers}
		for package in "$image" "$headers" \
			$(depends "$headers" 'linux-(headers|kbuild)-.*'); do
			echo "$package $(newest_version "$package")"
		done
		;;
	redis)
		for package in $(with_libraries redis-tools) libfaketime; do
			echo "$package $(newest_version "$package")"
		done
		;;
	*)
		echo "$(package_of "$name") $version"
		;;
	esac
}

# with_libraries PACKAGE: PACKAGE and all library packages that it needs
with_libraries()
{
	local found=" $1 " todo=("$1") package

	while [ "${#todo[@]}" -gt 0 ]; do
		for package in $(depends "${todo[0]}" 'lib.*'); do
			[[ $found != *" $package "* ]] || continue
			found+="$package "
			todo+=("$package")
		done
		todo=("${todo[@]:1}")
	done
	echo "$found"
}

deb_file()
{
	printf '%s/deb/%s_%s.deb\n' "$CACHE_DIR" "$1" "$2"
}

# fetch_all NAME VERSION: download all packages of the entry. Its caller tests the result,
# which turns errexit off in here.
fetch_all()
{
	local package version list

	list=$(packages "$1" "$2") || return 1
	while read -r package version; do
		fetch "$package" "$version" || return 1
	done <<<"$list"
}

fetch()
{
	local package=$1 version=$2 deb dir fd

	deb=$(deb_file "$package" "$version")
	exec {fd}>"$CACHE_DIR/lock/deb-$package"
	flock "$fd"
	if [ ! -e "$deb" ]; then
		rm -rf "$CACHE_DIR/tmp/deb-$package".*
		dir=$(mktemp -d "$CACHE_DIR/tmp/deb-$package.XXXXXX")
		on_exit rm -rf "$dir"
		say "downloading $package, version $version"
		if ! (cd "$dir" && apt_with "$INDEX" apt-get download \
			"$package=$version") >"$dir/log" 2>&1; then
			sed -n 's/^[EW]: /    /p' "$dir/log" >&2
			# Perhaps the archive has changed since the index was fetched.
			rm -f "$INDEX/fresh"
			return 1
		fi
		rm -f "$CACHE_DIR/deb/${package}_"*.deb
		mv "$dir"/*.deb "$deb"
	fi
	exec {fd}>&-
}

# forget_debs LIST: remove the files of packages that have been unpacked, and are small to
# fetch again; LIST is from packages()
forget_debs()
{
	local package version

	while read -r package version; do
		rm -f "$(deb_file "$package" "$version")"
	done <<<"$1"
}

# ---- what entries are made of ----

make_entry()
{
	local name=$1 version=$2 dir

	dir=$(mktemp -d "$CACHE_DIR/tmp/$name.XXXXXX")
	on_exit rm -rf "$dir"
	chmod 755 "$dir"
	mkdir "$dir/entry"
	echo "$version" >"$dir/entry/version"
	# For every make in a kernel's source
	export ARCH=x86_64
	case $name in
	stock-*) make_stock "$name" "$version" "$dir/entry" ;;
	debug-* | kcsan-*) make_debug "$name" "$version" "$dir" ;;
	uml-*) make_uml "$name" "$version" "$dir" ;;
	tools-*) make_tools "$name" "$version" "$dir" ;;
	redis) make_redis "$name" "$version" "$dir" ;;
	esac
	mv --no-target-directory "$dir/entry" "$(entry_dir "$name" "$version")"
}

# make_stock NAME VERSION ENTRY: Debian's headers are used where they are unpacked, not
# where they expect to be installed. So their one absolute path is made relative.
make_stock()
{
	local name=$1 version=$2 entry=$3 package package_version headers list

	list=$(packages "$name" "$version")
	while read -r package package_version; do
		unpack_stock "$(deb_file "$package" "$package_version")" \
			"$package" "$entry"
	done <<<"$list"

	mv "$entry"/boot/vmlinuz-* "$entry/vmlinuz"
	headers=$(cd "$entry/usr/src" && echo linux-headers-*-amd64)
	echo "${headers#linux-headers-}" >"$entry/release"
	# shellcheck disable=SC2016 # make's variables, not ours
	sed -i 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' \
		"$entry/usr/src/$headers/Makefile"
	# This vmlinux serves only to make BTF, which also needs pahole.
	rm -f "$entry/usr/src/$headers/vmlinux"
	rmdir "$entry/boot"
	ln -s "usr/src/$headers" "$entry/build"

	forget_debs "$list"
}

unpack_stock()
{
	local deb=$1 package=$2 entry=$3

	say "unpacking $package"
	case $package in
	linux-image-*)
		dpkg-deb --fsys-tarfile "$deb" |
			tar --extract --directory "$entry" --wildcards \
			    './boot/vmlinuz-*' ;;
	*)
		dpkg-deb --fsys-tarfile "$deb" |
			tar --extract --directory "$entry" \
			    --exclude ./usr/share ;;
	esac
}

# source_tar NAME VERSION: the kernel source of a linux-source package, as a tarball
source_tar()
{
	local package

	package=$(package_of "$1")
	dpkg-deb --fsys-tarfile "$(deb_file "$package" "$2")" |
		tar --extract --to-stdout "./usr/src/$package.tar.xz" |
		xz --decompress --stdout --threads=0
}

# unpack_source NAME VERSION DIR [TAR-OPTION...]: unpack what the options choose into DIR
unpack_source()
{
	local name=$1 version=$2 dir=$3

	shift 3
	say "unpacking $(package_of "$name")"
	mkdir -p "$dir"
	source_tar "$name" "$version" |
		tar --extract --directory "$dir" --strip-components 1 \
		    --wildcards "$@"
}

make_tools()
{
	unpack_source "$1" "$2" "$3/entry/source" \
		'*/.clang-format' \
		'*/scripts/checkpatch.pl' \
		'*/scripts/spelling.txt' \
		'*/scripts/const_structs.checkpatch' \
		'*/tools/testing/kunit' \
		'*/tools/testing/selftests/kselftest.h' \
		'*/tools/testing/selftests/kselftest_harness.h'
}

# Redis's server and client, libfaketime, their libraries and the loader, each at the path
# where the others expect it
make_redis()
{
	local name=$1 version=$2 dir=$3 package package_version list file
	local root=$dir/entry/root

	list=$(packages "$name" "$version")
	while read -r package package_version; do
		say "unpacking $package"
		dpkg-deb --extract "$(deb_file "$package" "$package_version")" \
			"$dir/all"
	done <<<"$list"
	# The server is redis-check-rdb by another name; package redis-server has only a
	# link.
	install -D "$dir/all/usr/bin/redis-check-rdb" \
		"$root/usr/bin/redis-server"
	install -t "$root/usr/bin" "$dir/all/usr/bin/redis-cli"
	install -D -t "$root/$FAKETIME" "$dir/all/$FAKETIME/libfaketimeMT.so.1"
	for file in usr/bin/redis-server usr/bin/redis-cli \
		"$FAKETIME/libfaketimeMT.so.1"; do
		add_libraries "$dir/all" "$root" "$file"
	done
	forget_debs "$list"
}

# add_libraries FROM ROOT PROGRAM: copy the libraries of ROOT/PROGRAM from FROM to ROOT
add_libraries()
{
	local from=$1 root=$2 program=$3 loader=lib64/ld-linux-x86-64.so.2
	local paths=lib/x86_64-linux-gnu library list

	list=$("$from/$loader" --inhibit-cache --library-path \
		"$from/$paths:$from/usr/$paths" --list "$root/$program") ||
		die "$program does not find its libraries"
	install -D "$from/$loader" "$root/$loader"
	sed -n "s|.*=> $from/\([^ ]*\) .*|\1|p" <<<"$list" |
		while read -r library; do
			install -D "$from/$library" "$root/$library"
		done
}

# KCSAN instruments the module only. In the kernel itself it would report races that the
# kernel's developers accept, and make the kernel ten times as slow.
make_debug()
{
	local name=$1 version=$2 dir=$3 options=()

	unpack_source "$name" "$version" "$dir/src" \
		--exclude='*/Documentation/*.rst'
	configure "$dir/src" "$name"
	[[ $name != kcsan-* ]] || options+=(KCSAN_SANITIZE=n)
	# `modules` writes Module.symvers, though no module is built.
	run_long "building $name (about 6 minutes on two cores)" \
		"$CACHE_DIR/log/$name.log" \
		make -C "$dir/src" -j"$JOBS" "${options[@]}" bzImage modules ||
		die "$name could not be built"
	check_symbols "$name" "$dir/src"
	cp "$dir/src/arch/x86/boot/bzImage" "$dir/entry/vmlinuz"
	cp "$dir/src/System.map" "$dir/entry/System.map"
	keep_build "$dir/src" "$dir/entry"
}

check_symbols()
{
	grep -q vmlinux "$2/Module.symvers" ||
		die "$1: Module.symvers lists no symbol of the kernel's"
}

# Leaves out source files that nothing in vm/uml-7.3.config needs.
make_uml()
{
	local name=$1 version=$2 dir=$3

	unpack_source "$name" "$version" "$dir/src" \
		--exclude='*/Documentation/*/*' \
		--exclude='*/tools/testing/*' --exclude='*/tools/perf/*' \
		--exclude='*/drivers/gpu/*.[ch]' \
		--exclude='*/drivers/net/*/*.[ch]' \
		--exclude='*/drivers/media/*.[ch]' \
		--exclude='*/sound/*.c' --exclude='*/arch/[!ux]*/*.[chS]' \
		--exclude='*/arch/*/*.dts*'
	cat "$UML_SCHED_CLOCK" >>"$dir/src/arch/um/kernel/time.c"
	ARCH=um
	configure "$dir/src" "$name"
	# `modules` writes Module.symvers, though no module is built.
	run_long "building $name (about 3 minutes on two cores)" \
		"$CACHE_DIR/log/$name.log" \
		make -C "$dir/src" -j"$JOBS" linux modules ||
		die "$name could not be built"
	check_symbols "$name" "$dir/src"
	cp "$dir/src/linux" "$dir/entry/linux"
	keep_build "$dir/src" "$dir/entry"
	# The kernel's packaging leaves out arch/x86, which UML is built on.
	(cd "$dir/src" && cp --parents --recursive arch/x86/Makefile* \
		arch/x86/include arch/x86/um/asm arch/x86/um/shared \
		"$dir/entry/build")
}

# configure SOURCE NAME: tinyconfig plus the configuration of NAME. olddefconfig silently
# drops options that do not fit together; a kernel without KASAN would then pass every
# test. So each line of the configuration is checked.
configure()
{
	local src=$1 name=$2 line option

	{
		make -C "$src" tinyconfig &&
			config_of "$name" >>"$src/.config" &&
			make -C "$src" olddefconfig
	} >"$src/configure.log" 2>&1 || {
		tail -n 20 "$src/configure.log" >&2
		die "$src could not be configured"
	}
	while read -r line; do
		case $line in
		CONFIG_*=*)
			grep -q -F -x -e "$line" "$src/.config" ||
				die "$name: the kernel's configuration dropped $line" ;;
		'# CONFIG_'*' is not set')
			option=${line#\# }
			option=${option% is not set}
			! grep -q "^$option=" "$src/.config" ||
				die "$name: the kernel's configuration insists on $option" ;;
		esac
	done < <(config_of "$name")
}

# keep_build SOURCE ENTRY: copy from a built tree only what modules are built with. The
# kernel's own packaging chooses the files.
keep_build()
{
	local src=$1 entry=$2

	# shellcheck disable=SC2016 # make's variable, not ours
	make -C "$src" run-command KBUILD_RUN_COMMAND='sh $(srctree)/scripts/package/install-extmod-build '"$entry/build" \
		>"$src/keep.log" 2>&1 || {
		tail -n 20 "$src/keep.log" >&2
		die "could not keep what modules are built with"
	}
	cp "$src/.config" "$entry/build/.config"
	cp "$src/include/config/kernel.release" "$entry/release"
}

main "$@"
