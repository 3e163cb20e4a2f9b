#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the module. Each kernel and variant has its own directory under build/, so that
# builds do not overwrite each other's objects. Called by the Makefile, test/vm/lint.sh and
# test/vm/check.sh.
#
#	usage: test/vm/build.sh NAME[-coverage][-small][-kunit][-sparse] [MAKE-ARGUMENT...]
#	       test/vm/build.sh --kdir KDIR [MAKE-ARGUMENT...]
#
# NAME is a kernel of test/vm/kernel.sh; -coverage counts what runs, -small builds with the
# small constants of constants.h, -kunit links in the KUnit suites, and -sparse has sparse
# look at all sources. --kdir builds for the kernel of that build directory, in build/RELEASE. If
# that is a kernel of test/vm/kernel.sh, the result is the same as for its NAME, and is kept with it.
# Prints the directory.
#
# The sources are copied into the directory: `make MO=`, which builds outside of the
# source directory, is newer than the oldest kernels we support.
#
# What was built for a test machine's kernel is kept in the cache, under a hash of all that
# shaped it: the copied sources, the kernel, the compiler and the arguments. A fresh checkout
# of the same sources takes it from there. The messages of the build are kept and shown
# again, as test/vm/lint.sh looks for warnings among them. What is not in the cache is built in a
# directory that all checkouts share, one after the other: only what has changed since the
# last build there is compiled.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Our own cache is better here: ccache would tell apart what two checkouts compile, as their
# paths are among the arguments.
export CCACHE_DISABLE=1

# A kernel developer's, which would have the module built elsewhere
unset KBUILD_OUTPUT KBUILD_EXTMOD

# The compiler of a kernel of test/vm/kernel.sh
COMPILER=

# The name under which the cache keeps what is built
KEPT_AS=

# What the kernel's make runs on all sources, if anything
CHECKER=

main()
{
	local target=${1-} kernel='' kdir dir argument options=()

	[ $# -ge 1 ] || die "usage: test/vm/build.sh NAME[-coverage][-small][-kunit][-sparse] | --kdir KDIR"
	shift
	if [ "$target" = --kdir ] || [ "$target" = host ]; then
		if [ "$target" = host ]; then
			kdir=$("$VM_DIR/kernel.sh" host)/build
		else
			kdir=${1-}
			shift
			[ -e "$kdir/include/config/kernel.release" ] ||
				no_headers "$kdir"
			target=$(<"$kdir/include/config/kernel.release")
		fi
		kernel=$(kernel_of "$kdir")
		KEPT_AS=$kernel
		[ -z "$kernel" ] || use_compiler_of "$kernel"
	else
		# A kernel of test/vm/kernel.sh is built with gcc, and so are its modules.
		unset LLVM LLVM_IAS
		kernel=${target%-sparse}
		[ "$kernel" = "$target" ] || CHECKER=$VM_DIR/sparse.sh
		[[ $kernel != *-kunit ]] || options+=(HWTIMER_KUNIT=y)
		kernel=${kernel%-kunit}
		[[ $kernel != *-small ]] || options+=(HWTIMER_SMALL=y)
		kernel=${kernel%-small}
		[[ $kernel != *-coverage ]] || options+=(HWTIMER_COVERAGE=y)
		kernel=${kernel%-coverage}
		KEPT_AS=$target
		use_compiler_of "$kernel"
		kdir=$("$VM_DIR/kernel.sh" "$kernel")/build
		if [[ $kernel == kmsan-* ]]; then
			options+=(LLVM="$LLVM_VERSION")
			COMPILER=clang$LLVM_VERSION
		fi
		# KASAN keeps more on the stack than User-Mode Linux expects. The limit is
		# that of debug-6.12.
		[[ $kernel != uml-kasan-* ]] || options+=(KCFLAGS=-Wframe-larger-than=2048)
	fi
	# Variables of our Makefile only: what is built does not depend on them.
	for argument; do
		[[ $argument == @(KDIR|DESTDIR|PREFIX)=* ]] || options+=("$argument")
	done
	dir=$BUILD_DIR/$target
	mkdir -p "$dir"
	take_directory "$dir"
	copy_sources "$dir"
	if [ -z "$kernel" ]; then
		say "building the module in build/$target"
		rm -f "$dir/.entry"
		build "$kdir" "$dir" "${options[@]}"
	elif [[ $target == *-coverage* && -z $CHECKER ]]; then
		# gcov's notes name the checkout.
		say "building the module in build/$target"
		build "$kdir" "$dir" "${options[@]}"
	else
		build_or_unpack "$kdir" "$dir" "${options[@]}"
	fi
	printf '%s\n' "$dir"
}

# kernel_of KDIR: the name of the kernel of test/vm/kernel.sh whose headers these are, if it is one of
# Debian's; others may need more options.
kernel_of()
{
	local entry

	entry=$(realpath "$1")
	[[ $entry == "$CACHE_DIR"/* ]] || return 0
	entry=${entry#"$CACHE_DIR"/}
	[[ ! $entry =~ ^((stock|rt)-[0-9.]+)- ]] || echo "${BASH_REMATCH[1]}"
}

# use_compiler_of KERNEL: sets COMPILER, and adds to the caller's options
use_compiler_of()
{
	choose_arch "$1"
	options+=(ARCH="$KERNEL_ARCH" CROSS_COMPILE="$CROSS_COMPILE")
	COMPILER=${CROSS_COMPILE}gcc
}

take_directory()
{
	local fd

	exec {fd}>"$1/.lock"
	flock "$fd"
}

# Copies the files whose contents differ, and does not look at their times: a file that was put
# back has an older time than the copy, and must still be compiled. Otherwise each build would
# compile every file.
copy_sources()
{
	local dir=$1 file

	cd "$REPO_DIR"
	shopt -s nullglob
	for file in Kbuild $(module_files) test/kunit/*.[ch]; do
		cmp --silent "$file" "$dir/$file" || cp --parents "$file" "$dir"
	done
	# The copy of a source that was removed or renamed must not be built.
	cd "$dir"
	list_sources | while read -r file; do
		[ -e "$REPO_DIR/$file" ] || rm "$file"
	done
}

# build_or_unpack KDIR DIR MAKE-ARGUMENT...: make the module, or take it from the cache
build_or_unpack()
{
	local kdir=$1 dir=$2 entry name=${2##*/}

	shift 2
	need_packages zstd
	use_cache build modules
	entry=$(entry_of "$kdir" "$dir" "$@")
	if [ "$(cat "$dir/.entry" 2>/dev/null)" = "$entry" ] && [ -e "$entry" ]; then
		touch --no-create "$entry"
	elif is_whole "$entry"; then
		say "the module in build/$name comes from $CACHE_DIR: its sources were built before"
		touch --no-create "$entry"
		unpack "$entry" "$dir"
	else
		say "building the module in build/$name"
		build_shared "$kdir" "$dir" "$entry" "$@"
		unpack "$entry" "$dir"
		return
	fi
	cat "$dir/.messages" >&2
}

# A machine that lost its power may have left a part of the file, or an empty one.
is_whole()
{
	[ -s "$1" ] || return
	zstd --quiet --test "$1" || {
		say "$1 is damaged"
		return 1
	}
}

# If this is interrupted, the directory has a part of the entry, and does not have its name.
# modules_install takes the module from the directory that modules.order names.
unpack()
{
	rm -f "$2/.entry"
	tar --extract --file "$1" --directory "$2" --use-compress-program zstd
	sed -i "s|^/.*/|$2/|" "$2/modules.order"
	echo "$1" >"$2/.entry"
}

# Days after which a shared directory that nobody has used is removed
SHARED_DAYS=14

# build_shared KDIR DIR ENTRY MAKE-ARGUMENT...: build from the sources in DIR, in the shared
# directory; keep the result as ENTRY. A file with a message is compiled again next time, so
# that the message comes again. So is all after a build that was interrupted. sparse looks at
# all files each time, so its messages come again by themselves.
build_shared()
{
	local kdir=$1 dir=$2 entry=$3 shared

	shift 3
	shared=$CACHE_DIR/build/$KEPT_AS-$(shape_of "$kdir" "$@" | sha256sum | cut -c -10)
	mkdir -p "$shared"
	touch "$shared"
	find "$CACHE_DIR/build" -mindepth 1 -maxdepth 1 -mtime "+$SHARED_DAYS" \
		-exec rm -rf {} +
	take_directory "$shared"
	[ -e "$shared/.complete" ] ||
		find "$shared" -mindepth 1 ! -name .lock -delete
	rm -f "$shared/.complete"
	copy_changed "$dir" "$shared"
	build "$kdir" "$shared" "$@" 2>&1 | tee "$shared/.messages" >&2
	store "$shared" "$entry"
	[[ -z $CHECKER && -s $shared/.messages ]] || touch "$shared/.complete"
}

# copy_changed FROM TO: copy the sources whose contents differ, and remove those that are gone
copy_changed()
{
	local from=$1 to=$2 file

	(cd "$from" && list_sources) | while IFS= read -r file; do
		cmp --silent "$from/$file" "$to/$file" ||
			{ mkdir -p "$to/${file%/*}" && cp "$from/$file" "$to/$file"; }
	done
	(cd "$to" && list_sources) | while IFS= read -r file; do
		[ -e "$from/$file" ] || rm "$to/$file"
	done
}

# list_sources: the sources in this directory, without those that make has written
list_sources()
{
	find . -name '*.mod.c' -prune -o \( -name '*.[ch]' -o -name Kbuild \) -print | sort
}

# What the sources are copied to, and what is of one checkout only
NOT_KEPT=(--exclude='*.[ch]' --exclude=Kbuild --exclude=.lock --exclude=.entry
	  --exclude='*.gcda' --exclude=.complete)

# Maximum number of builds in the cache. One takes some 6 MB.
KEPT=60

# entry_of KDIR DIR MAKE-ARGUMENT...: the file of the cache that has what is built from that
entry_of()
{
	local kdir=$1 dir=$2 hash

	shift 2
	hash=$({
		shape_of "$kdir" "$@"
		cd "$dir"
		list_sources | xargs --delimiter '\n' sha256sum
	} | sha256sum)
	echo "$CACHE_DIR/modules/$KEPT_AS-${hash:0:20}.tar.zst"
}

# The variables of the environment that shape a build
SHAPING='HWTIMER(_KUNIT|_SMALL|_COVERAGE|_WERROR)?|K[A-Z]*FLAGS(_[A-Z]+)?|KBUILD_[A-Z0-9_]+'
SHAPING+='|CF|LLVM|LLVM_IAS|CFLAGS_[A-Za-z_]+|GCC_[A-Z_]+|CPATH|C_INCLUDE_PATH|COMPILER_PATH'

# shape_of KDIR MAKE-ARGUMENT...: all but the sources that shapes a build
shape_of()
{
	# The directory of a kernel is named by all that shaped it.
	realpath "$1"
	shift
	printf '%s\n' "$@"
	# make and Kbuild take these from the environment, too.
	env | grep -E "^($SHAPING)=" | sort || true
	"$COMPILER" --version
	[ -z "$CHECKER" ] || { sparse --version; cat "$CHECKER"; }
	cat "$VM_DIR/build.sh"
}

# store DIR ENTRY: keep what was built in DIR; forget what has not been used for longest
store()
{
	local dir=$1 entry=$2

	mkdir -p "${entry%/*}"
	tar --create --file "$entry.$$" --directory "$dir" --use-compress-program zstd \
		"${NOT_KEPT[@]}" .
	mv "$entry.$$" "$entry"
	find "${entry%/*}" -type f -printf '%T@ %p\n' | sort --reverse --numeric-sort |
		tail -n "+$((KEPT + 1))" | cut -d ' ' -f 2- |
		xargs --no-run-if-empty --delimiter '\n' rm -f
}

# Compiler messages name the sources, not the copies. Neither a missing BTF is worth a
# message, nor that this machine has a pahole that was not there when the kernel was built.
build()
{
	local kdir=$1 dir=$2 filter

	shift 2
	filter=(-e "s|$dir/||g" -e '/^Skipping BTF generation/d'
		-e '/^warning: pahole version differs/,+2d')
	[ -z "$CHECKER" ] || set -- "$@" C=2 CHECK="$CHECKER"
	make --silent -j"$JOBS" -C "$kdir" M="$dir" "$@" modules 2>&1 |
		sed --unbuffered "${filter[@]}" >&2
}

main "$@"
