#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes sure that a kernel for the test machines is in the cache, and prints the directory
# of its cache entry. Called by the Makefile, test/vm/run.sh, test/vm/build.sh, test/vm/lint.sh and
# test/vm/check.sh.
#
#	usage: test/vm/kernel.sh NAME
#
#	stock-6.1	Debian's kernels and headers: what users have
#	stock-6.12
#	rt-6.1		Debian's kernels with PREEMPT_RT
#	rt-6.12
#	arm64-16k-6.12	Debian's kernel for arm64 with pages of 16 KiB
#	s390x-6.1	Debian's kernel for s390x, whose most significant byte comes first
#	debug-6.12	built from Debian's source with test/vm/debug.config, and the changes of
#			test/vm/trim.config
#	qemu-7.3	built from the newest source, small
#	kcsan-6.12	debug-6.12 with the changes of test/vm/kcsan.config: finds data races
#	kmsan-6.12	the same with test/vm/kmsan.config, built by clang: finds uses of
#			uninitialized memory
#	uml-7.3		User-Mode Linux, a kernel as a program of this machine, with
#			test/vm/uml-7.3.config: the newest kernel, at native speed
#	uml-kasan-7.3	uml-7.3 with the changes of test/vm/uml-kasan.config: sanitizers, at
#			native speed
#	host		the kernel whose image is VMLINUZ, whose headers are in KDIR and whose modules
#			are in MODULES, by default this machine's own: the only one that needs no
#			Debian
#	tools-7.3	the kernel's own tools: checkpatch, kselftest, kunit.py
#	redis		no kernel: Debian's Redis, for the examples and hwtimerd
#	systemd		no kernel: Debian's systemd, the first process of a machine
#	gcc-arm64	no kernel: Debian's compilers for other architectures, and a
#	gcc-s390x	C library
#	gcc-riscv64
#
# A kernel's entry has `vmlinuz` (uml-*: `linux`), `build` (the KDIR for external
# modules), `release` and `version`; Debian's for amd64 have in `lib/modules` those that
# test/vm/run.sh --share needs; one for another architecture than this machine's has
# `busybox`, too. tools-7.3 has `source`. redis and systemd have `root`,
# the files that a test machine needs, each at its path there. gcc-* have
# `bin`.
#
# Packages are downloaded and unpacked, never installed: a demo must not change what the
# machine boots. They come from the archive in the machine's own apt configuration. An
# entry's name has the package's version and a hash of everything else that shaped the
# entry. A complete entry is renamed into place, so that an interrupted build leaves
# nothing that looks like an entry.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# A kernel is built once, so ccache would only take space.
export CCACHE_DISABLE=1

# What people who build kernels have in their environment must not shape an entry, whose name
# does not tell of it.
unset KBUILD_OUTPUT KBUILD_EXTMOD KCONFIG_CONFIG KCONFIG_ALLCONFIG KCFLAGS KCPPFLAGS KAFLAGS \
	HOSTCFLAGS USERCFLAGS USERLDFLAGS LLVM LLVM_IAS ARCH CROSS_COMPILE SUBARCH \
	INSTALL_MOD_PATH LOCALVERSION GNUMAKEFLAGS MAKEFILES

# Raise this when what this script puts into an entry changes.
RECIPE=1

# Minutes for which a package index counts as current, and until a failed fetch is retried
INDEX_MAX_AGE=720
INDEX_RETRY_AGE=10

# Debian releases that may have linux-source-7.3, the oldest first
LATER_SUITES="trixie-backports forky-backports forky sid experimental"

UML_SCHED_CLOCK=$VM_DIR/uml-sched-clock.c
UML_UACCESS=$VM_DIR/uml-uaccess.c
KCSAN_WATCH=$VM_DIR/kcsan-watch.c

main()
{
	local name=${1-}

	[ $# -eq 1 ] || die "usage: test/vm/kernel.sh NAME"
	# To ask the archive for its newest version takes seconds. Within one run of test/vm/check.sh,
	# the answer stays the same.
	if [ -n "${HWTIMER_RUN-}" ] && [ -e "$HWTIMER_RUN/$name" ]; then
		cat "$HWTIMER_RUN/$name"
		return
	fi
	if [ "$name" = host ]; then
		host_entry
		return
	fi
	need_debian "the kernel $name"
	choose_arch "$name"
	case $name in
	# The programs in the header packages need the library of libelf-dev.
	stock-6.1 | stock-6.12 | rt-6.1 | rt-6.12 | arm64-16k-6.12 | s390x-6.1)
		need_packages build-essential libelf-dev kmod ;;
	debug-6.12 | qemu-7.3 | kcsan-6.12 | uml-7.3 | uml-kasan-7.3)
		need_packages build-essential bc bison cpio flex kmod \
			libelf-dev libssl-dev rsync xz-utils ;;
	kmsan-6.12)
		need_packages build-essential bc bison cpio flex kmod \
			libelf-dev libssl-dev rsync xz-utils \
			"clang$LLVM_VERSION" "lld$LLVM_VERSION" "llvm$LLVM_VERSION" ;;
	tools-7.3) need_packages xz-utils ;;
	gcc-arm64 | gcc-s390x | gcc-riscv64) need_packages build-essential ;;
	redis | systemd) ;;
	*) die "no such kernel: $name" ;;
	esac

	use_cache apt deb lock log tmp
	# A compiler need not be the newest, and a build waits for it.
	if [[ $name == gcc-* ]] && [ -n "$(cached_version "$name")" ]; then
		entry_dir "$name" "$(cached_version "$name")"
		return
	fi
	take_lock "$(lock_of "$name")"
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
	[ -z "${HWTIMER_RUN-}" ] || remember "$name"
}

# remember NAME: has the rest of this run take ENTRY. Others may read the file at any time.
remember()
{
	echo "$ENTRY" >"$HWTIMER_RUN/$1.$$"
	mv "$HWTIMER_RUN/$1.$$" "$HWTIMER_RUN/$1"
}

# host_entry: makes and prints the entry of host. It has only links, and is made anew each time, as
# the files that they lead to may change.
host_entry()
{
	local release image modules dir images

	KDIR=${KDIR:-/lib/modules/$(uname -r)/build}
	release=$(cat "$KDIR/include/config/kernel.release" 2>/dev/null) ||
		no_headers "$KDIR"
	modules=${MODULES:-/lib/modules/$release}
	[ -d "$modules" ] ||
		die "no modules of the kernel $release: MODULES=DIRECTORY says where they are"
	# Where distributions put it. Some have its flavour in its name, or have only one name.
	images=("/boot/vmlinuz-$release" "$modules/vmlinuz")
	[ "$release" != "$(uname -r)" ] ||
		images+=("/boot/vmlinuz-${release##*-}" /run/booted-system/kernel)
	[ -z "${VMLINUZ-}" ] || images=("$VMLINUZ")
	for image in "${images[@]}"; do
		[ ! -r "$image" ] || break
	done
	[ -r "$image" ] ||
		die "no image of the kernel $release that this user may read: VMLINUZ=FILE says where it is"
	use_cache host
	dir=$CACHE_DIR/host/$(echo "$KDIR $image $modules" | sha256sum | cut -c -10)
	mkdir -p "$dir/lib/modules"
	ln -sfn "$(realpath "$image")" "$dir/vmlinuz"
	ln -sfn "$(realpath "$KDIR")" "$dir/build"
	ln -sfn "$(realpath "$modules")" "$dir/lib/modules/$release"
	echo "$release" | tee "$dir/release" >"$dir/version"
	echo "$dir"
}

read_index()
{
	case $1 in
	*-7.3) later_index "$(package_of "$1")" ;;
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
	rt-6.1) echo linux-image-rt-amd64 ;;
	rt-6.12) echo linux-image-6.12-rt-amd64 ;;
	arm64-16k-6.12) echo linux-image-6.12-arm64-16k:arm64 ;;
	s390x-6.1) echo linux-image-s390x:s390x ;;
	debug-6.12 | kcsan-6.12 | kmsan-6.12) echo linux-source-6.12 ;;
	uml-7.3 | uml-kasan-7.3 | qemu-7.3 | tools-7.3) echo linux-source-7.3 ;;
	redis) echo redis-tools ;; # redis-server would only start it
	systemd) echo systemd ;;
	gcc-arm64) echo gcc-12-aarch64-linux-gnu ;;
	gcc-s390x) echo gcc-12-s390x-linux-gnu ;;
	gcc-riscv64) echo gcc-12-riscv64-linux-gnu ;;
	esac
}

# ---- the cache ----

# lock_of NAME: the name of the lock. Entries that share packages share a lock, as the first
# one that is complete removes its packages.
lock_of()
{
	case $1 in
	redis | systemd) echo roots ;;
	stock-* | rt-* | arm64-16k-6.12 | s390x-6.1) echo "debian-${1##*-}" ;;
	*) echo "$1" ;;
	esac
}

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
		[ -z "$config" ] || { "${CROSS_COMPILE}gcc" --version; printf '%s\n' "$config"; }
		case $1 in
		uml-*) cat "$UML_SCHED_CLOCK" "$UML_UACCESS" && declare -f edit_uml && make_options "$1" ;;
		kcsan-*) cat "$KCSAN_WATCH" && declare -f edit_kcsan ;;
		kmsan-*) "clang$LLVM_VERSION" --version ;;
		redis | systemd) declare -f make_root "add_$1" add_libraries ;;
		stock-* | rt-*) declare -f unpack_stock ;;
		esac
	} | sha256sum | sed 's/^\(.\{10\}\).*/-\1/'
}

# config_of NAME: the options of a kernel that is built here. Other lines of its files are
# left out, so that a comment does not make another kernel of it.
config_of()
{
	case $1 in
	debug-6.12) config_changed "$VM_DIR/debug.config" "$VM_DIR/trim.config" ;;
	kcsan-6.12 | kmsan-6.12)
		config_changed <(config_changed "$VM_DIR/debug.config" \
			"$VM_DIR/${1%-*}.config") "$VM_DIR/trim.config" ;;
	uml-7.3) cat "$VM_DIR/uml-7.3.config" ;;
	uml-kasan-7.3) config_changed "$VM_DIR/uml-7.3.config" "$VM_DIR/uml-kasan.config" ;;
	qemu-7.3) cat "$VM_DIR/qemu-7.3.config" ;;
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
		--option APT::Architectures::=amd64 \
		--option APT::Architectures::="$ARCH_NAME" \
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

# An index for another architecture has amd64's packages, too: its kernels are built with
# programs of this machine.
base_index()
{
	local arches=amd64

	[ "$ARCH_NAME" = amd64 ] || arches+=,$ARCH_NAME
	INDEX=$CACHE_DIR/apt/base$ARCH_SUFFIX
	own_sources | source_lines "$arches" |
		refresh_index "$INDEX" "this release, $arches"
}

# later_index PACKAGE: choose the first of LATER_SUITES that has PACKAGE
later_index()
{
	local uri suite

	uri=$(own_sources | awk '$2 !~ /-/ { print $1; exit }')
	for suite in $LATER_SUITES; do
		INDEX=$CACHE_DIR/apt/$suite
		echo "$uri $suite" | source_lines amd64 |
			refresh_index "$INDEX" "$suite" || true
		[ -z "$(newest_version "$1")" ] || return 0
	done
	return 1
}

# show PACKAGE...: all fields of the candidate versions of packages
show()
{
	apt_with "$INDEX" apt-cache show --no-all-versions "$@" 2>/dev/null ||
		true
}

newest_version()
{
	show "$1" | sed -n 's/^Version: //p' | head -n 1
}

# depends PACKAGE PATTERN: the packages that PACKAGE depends on and whose names match
depends()
{
	show "$1" | sed -n 's/^\(Pre-\)\?Depends: //p' | sed 's/ *[,|] */\n/g' |
		sed 's/ .*//' | grep -E -x -e "$2"
}

# packages NAME VERSION: all packages of an entry, a line "PACKAGE VERSION" each. A package
# without an architecture in its name is for this machine's, or for all.
packages()
{
	local name=$1 version=$2 image headers foreign=

	if [ "$ARCH_NAME" != amd64 ]; then
		foreign=:$ARCH_NAME
		with_versions echo "busybox-static$foreign"
	fi
	case $name in
	stock-* | rt-* | arm64-16k-6.12 | s390x-6.1)
		image=$(depends "$(package_of "$name")" \
			"linux-image-${name##*-}\\..*") ||
			die "$(package_of "$name") is not a kernel ${name##*-}"
		headers=${image/image/headers}
		with_versions echo "$image$foreign" "$headers$foreign" \
			"$(depends "$headers$foreign" 'linux-(headers|kbuild)-.*')"
		;;
	redis | systemd)
		with_versions with_needed 'lib.*' "$(package_of "$name")" ;;
	gcc-*)
		with_versions with_needed ".*-(${name#gcc-}-cross|linux-gnu.*)" \
			"$(package_of "$name")" "libc6-dev-${name#gcc-}-cross" ;;
	*)
		echo "$(package_of "$name") $version"
		;;
	esac
}

# with_versions COMMAND...: the packages that COMMAND prints, and the version of each. All
# with one question, as each takes apt a second.
with_versions()
{
	# shellcheck disable=SC2046 # one word each
	show $("$@") | awk '
		/^Package: / { name = $2 }
		/^Version: / { version = $2 }
		/^Architecture: / && $2 !~ /^(all|amd64)$/ { name = name ":" $2 }
		/^$/ { print name, version }'
}

# with_needed PATTERN PACKAGE...: the packages, and all that they need and whose names match
with_needed()
{
	local pattern=$1 found todo package

	shift
	found=" $* "
	todo=("$@")
	while [ "${#todo[@]}" -gt 0 ]; do
		for package in $(depends "${todo[0]}" "$pattern"); do
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

# The packages of the entry, as packages() prints them
PACKAGES=

# fetch_all NAME VERSION: set PACKAGES, and download them all. Its caller tests the result,
# which turns errexit off in here.
fetch_all()
{
	local package version

	PACKAGES=$(packages "$1" "$2") || return 1
	while read -r package version; do
		fetch "$package" "$version" || return 1
	done <<<"$PACKAGES"
}

fetch()
{
	local package=$1 version=$2 deb dir fd

	deb=$(deb_file "$package" "$version")
	exec {fd}>"$CACHE_DIR/lock/deb-$package"
	flock "$fd"
	if [ ! -e "$deb" ]; then
		rm -rf "$CACHE_DIR/tmp/deb-$package".*
		# errexit is off in here. Without a directory, we would write to /.
		dir=$(mktemp -d "$CACHE_DIR/tmp/deb-$package.XXXXXX") || return 1
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

# Removes the files of packages that have been unpacked, and are small to fetch again.
forget_debs()
{
	local package version

	while read -r package version; do
		rm -f "$(deb_file "$package" "$version")"
	done <<<"$PACKAGES"
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
	export ARCH=$KERNEL_ARCH CROSS_COMPILE
	case $name in
	stock-* | rt-* | arm64-16k-6.12 | s390x-6.1) make_stock "$dir/entry" ;;
	debug-* | kcsan-* | kmsan-* | qemu-*) make_built "$name" "$version" "$dir" ;;
	uml-*) make_uml "$name" "$version" "$dir" ;;
	tools-*) make_tools "$name" "$version" "$dir" ;;
	redis | systemd) make_root "$name" "$dir" ;;
	gcc-*) make_gcc "$dir/entry" ;;
	esac
	mv --no-target-directory "$dir/entry" "$(entry_dir "$name" "$version")"
}

# make_stock ENTRY: Debian's headers are used where they are unpacked, not
# where they expect to be installed. So their one absolute path is made relative.
make_stock()
{
	local entry=$1 package package_version headers

	while read -r package package_version; do
		unpack_stock "$(deb_file "$package" "$package_version")" \
			"$package" "$entry"
	done <<<"$PACKAGES"

	mv "$entry"/boot/vmlinuz-* "$entry/vmlinuz"
	headers=$(cd "$entry/usr/src" && echo linux-headers-*-"$ARCH_NAME"*)
	echo "${headers#linux-headers-}" >"$entry/release"
	# shellcheck disable=SC2016 # make's variables, not ours
	sed -i 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' \
		"$entry/usr/src/$headers/Makefile"
	# This vmlinux serves only to make BTF, which also needs pahole.
	rm -f "$entry/usr/src/$headers/vmlinux"
	rmdir "$entry/boot"
	ln -s "usr/src/$headers" "$entry/build"
	depmod --basedir "$entry" "$(<"$entry/release")"

	forget_debs
}

unpack_stock()
{
	local deb=$1 package=$2 entry=$3

	say "unpacking $package"
	case $package in
	busybox-static:*) unpack_busybox "$deb" "$entry" ;;
	linux-image-*)
		dpkg-deb --fsys-tarfile "$deb" |
			tar --extract --directory "$entry" --wildcards './boot/vmlinuz-*' \
			    './lib/modules/*/modules.*' './lib/modules/*/kernel/fs/*' \
			    './lib/modules/*/kernel/*/9p/*' './lib/modules/*/kernel/drivers/virtio/*'
		find "$entry"/lib/modules/*/kernel/fs -type f ! -path '*/9p/*' ! -path '*/netfs/*' \
			! -path '*/fscache/*' -delete ;;
	*)
		dpkg-deb --fsys-tarfile "$deb" |
			tar --extract --directory "$entry" \
			    --exclude ./usr/share ;;
	esac
}

# unpack_busybox DEB ENTRY: a test machine of another architecture cannot run this one's.
unpack_busybox()
{
	dpkg-deb --fsys-tarfile "$1" |
		tar --extract --directory "$2" --strip-components 2 ./bin/busybox
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

# make_root NAME DIR: chosen files of the packages, the libraries that they need,
# and the loader, each at the path where the others expect it
make_root()
{
	local name=$1 dir=$2

	unpack_all "$dir/all"
	"add_$name" "$dir/all" "$dir/entry/root"
	forget_debs
}

# unpack_all DIR: unpack whole packages
unpack_all()
{
	local package package_version

	while read -r package package_version; do
		say "unpacking $package"
		dpkg-deb --extract "$(deb_file "$package" "$package_version")" "$1"
	done <<<"$PACKAGES"
}

# make_gcc ENTRY: the compiler cannot be installed beside gcc-multilib, but it
# works wherever it is, if its programs find its own libraries. So `bin` has a script for
# each program.
make_gcc()
{
	local entry=$1 program script prefix

	unpack_all "$entry"
	mkdir "$entry/bin"
	for program in "$entry"/usr/bin/*-linux-gnu-*; do
		program=${program##*/}
		script=$entry/bin/$program
		# shellcheck disable=SC2016 # the script's variables
		printf '#!/bin/sh\nroot=${0%%/*}/../usr\nLD_LIBRARY_PATH=%s exec %s "$@"\n' \
			'"$root/lib/x86_64-linux-gnu"' '"$root/bin/'"$program"'"' \
			>"$script"
		chmod +x "$script"
		prefix=${script%-12}
		[ "$prefix" = "$script" ] || ln -s "${script##*/}" "$prefix"
	done
	forget_debs
}

# The server is redis-check-rdb by another name; package redis-server has only a link.
add_redis()
{
	install -D "$1/usr/bin/redis-check-rdb" "$2/usr/bin/redis-server"
	install -t "$2/usr/bin" "$1/usr/bin/redis-cli"
	add_libraries "$1" "$2" usr/bin/redis-server
	add_libraries "$1" "$2" usr/bin/redis-cli
}

# The targets, and no services. A machine with an id is not at its first boot, which would
# have systemd enable services.
add_systemd()
{
	local from=$1 root=$2 program units=lib/systemd/system

	for program in lib/systemd/systemd bin/systemctl; do
		install -D "$from/$program" "$root/$program"
		add_libraries "$from" "$root" "$program"
	done
	install -D --mode 644 -t "$root/$units" "$from/$units"/*.target
	install -D --mode 644 /dev/stdin "$root/etc/machine-id" \
		<<<0123456789abcdef0123456789abcdef
}

# add_libraries FROM ROOT PROGRAM: copy the libraries of ROOT/PROGRAM from FROM to ROOT. The
# loader also finds those of this machine.
add_libraries()
{
	local from=$1 root=$2 program=$3 loader=lib64/ld-linux-x86-64.so.2
	local paths=lib/x86_64-linux-gnu directory path="" library list

	for directory in "$paths" "usr/$paths" "usr/$paths/systemd"; do
		path+=$from/$directory:
	done
	list=$("$from/$loader" --inhibit-cache --library-path "${path%:}" \
		--list "$root/$program") ||
		die "$program does not find its libraries"
	! grep "=> /" <<<"$list" | grep -v -F "=> $from/" >&2 ||
		die "$program finds libraries of this machine"
	install -D "$from/$loader" "$root/$loader"
	sed -n "s|.*=> $from/\([^ ]*\) .*|\1|p" <<<"$list" |
		while read -r library; do
			install -D "$from/$library" "$root/$library"
		done
}

# Builds a kernel for QEMU.
make_built()
{
	local name=$1 version=$2 dir=$3 exclude

	exclude=(--exclude='*/Documentation/*.rst')
	[[ $name != @(debug|kcsan|kmsan)-6.12 ]] || exclude=("${NEVER_BUILT[@]}")
	unpack_source "$name" "$version" "$dir/src" "${exclude[@]}"
	case $name in
	kcsan-*) edit_kcsan "$dir/src" ;;
	kmsan-*) export LLVM=$LLVM_VERSION ;;
	esac
	configure "$dir/src" "$name"
	# `modules` writes Module.symvers, though no module is built.
	run_long "building $name (about 6 minutes on two cores)" \
		"$CACHE_DIR/log/$name.log" \
		make -C "$dir/src" -j"$JOBS" bzImage modules ||
		die "$name could not be built"
	check_symbols "$name" "$dir/src"
	cp "$dir/src/arch/x86/boot/bzImage" "$dir/entry/vmlinuz"
	cp "$dir/src/System.map" "$dir/entry/System.map"
	keep_build "$dir/src" "$dir/entry"
}

# edit_kcsan SOURCE: has KCSAN watch the module more often than the kernel
edit_kcsan()
{
	edit "$1/kernel/kcsan/core.c" \
		-e 's/this_cpu_dec_return(kcsan_skip) >= 0/kcsan_skip_left(_RET_IP_) >= 0/' \
		-e "/^static DEFINE_PER_CPU(long, kcsan_skip);/r $KCSAN_WATCH"
}

# edit FILE SED-ARGUMENT...: each of the edits must change the file
edit()
{
	local file=$1

	shift
	cp "$file" "$file.before"
	sed -i "$@" "$file"
	! cmp --silent "$file" "$file.before" ||
		die "$file is not what test/vm/kernel.sh expects"
}

check_symbols()
{
	grep -q vmlinux "$2/Module.symvers" ||
		die "$1: Module.symvers lists no symbol of the kernel's"
}

# Source files that nothing in test/vm/uml-7.3.config and test/vm/debug.config needs
NEVER_BUILT=(--exclude='*/Documentation/*/*'
	     --exclude='*/tools/testing/*' --exclude='*/tools/perf/*'
	     --exclude='*/drivers/gpu/*.[ch]'
	     --exclude='*/drivers/net/*/*.[ch]'
	     --exclude='*/drivers/media/*.[ch]'
	     --exclude='*/sound/*.c' --exclude='*/arch/[!ux]*/*.[chS]'
	     --exclude='*/arch/*/*.dts*')

make_uml()
{
	local name=$1 version=$2 dir=$3

	unpack_source "$name" "$version" "$dir/src" "${NEVER_BUILT[@]}"
	edit_uml "$dir/src/arch/um"
	configure "$dir/src" "$name"
	# `modules` writes Module.symvers, though no module is built.
	# shellcheck disable=SC2046 # one word each
	run_long "building $name (about 3 minutes on two cores)" \
		"$CACHE_DIR/log/$name.log" \
		make -C "$dir/src" -j"$JOBS" $(make_options "$name") linux modules ||
		die "$name could not be built"
	check_symbols "$name" "$dir/src"
	cp "$dir/src/linux" "$dir/entry/linux"
	keep_build "$dir/src" "$dir/entry"
	# The kernel's packaging leaves out arch/x86, which UML is built on.
	(cd "$dir/src" && cp --parents --recursive arch/x86/Makefile* \
		arch/x86/include arch/x86/um/asm arch/x86/um/shared \
		"$dir/entry/build")
}

# edit_uml DIRECTORY: gives the scheduler a clock, has the kernel copy from and to no page that
# another thread takes away meanwhile, and has no key be lost: the first processor gets SIGIO, and
# one that came just before it went to sleep waited there for the next timer, if there was one.
edit_uml()
{
	cat "$UML_SCHED_CLOCK" >>"$1/kernel/time.c"
	edit "$1/os-Linux/time.c" \
		-e 's/^\tsigaddset(&set, SIGALRM);$/&\n\tif (!uml_curr_cpu())\n\t\tsigaddset(\&set, SIGIO);/'
	edit "$1/os-Linux/signal.c" \
		-e 's/^\treturn !!(signals_pending & SIGALRM_MASK);$/\treturn !!(signals_pending \& (SIGALRM_MASK | SIGIO_MASK));/'
	edit "$1/kernel/skas/uaccess.c" \
		-e 's/^\tpte_t \*pte;$/&\n\tspinlock_t *lock;/' \
		-e 's/pte = maybe_map(\(.*\));/pte = map_locked(\1, \&lock);/' \
		-e 's/^\tpagefault_enable();/&\n\tpte_unmap_unlock(pte, lock);/' \
		-e 's/^\tif (!pte_present(\*pte))$/\tif (pte \&\& !pte_present(*pte))/' \
		-e "/^static int do_op_one_page/{
			r $UML_UACCESS
			N
			}"
}

# make_options NAME: variables for the kernel's make. The sanitizers check what the module
# does, and what the kernel copies for it. To check the rest of the kernel, too, would take
# half as long again to build it.
make_options()
{
	case $1 in
	uml-kasan-*) echo KASAN_SANITIZE=n UBSAN_SANITIZE=n ;;
	esac
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
