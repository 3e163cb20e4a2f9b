#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the module. Each kernel and variant has its own directory under build/, so that
# builds do not overwrite each other's objects. Called by the Makefile, vm/lint.sh and
# vm/check.sh.
#
#	usage: vm/build.sh NAME[-coverage][-small][-kunit] [MAKE-ARGUMENT...]
#	       vm/build.sh --kdir KDIR [MAKE-ARGUMENT...]
#
# NAME is a kernel of vm/kernel.sh; -coverage counts what runs, -small builds with the
# small constants of hwtimer_limits.h, and -kunit links in the KUnit suites. --kdir builds
# for the kernel of that build directory, in build/RELEASE. Prints the directory.
#
# For the test machines' kernels the samples and torture/module are built, too. They are
# built against the module as other people's modules are.
#
# The sources are copied into the directory: `make MO=`, which builds outside of the
# source directory, is newer than the oldest kernels we support.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

main()
{
	local target=${1-} kernel='' kdir dir options=()

	[ $# -ge 1 ] || die "usage: vm/build.sh NAME[-coverage][-small][-kunit] | --kdir KDIR"
	shift
	if [ "$target" = --kdir ]; then
		kdir=${1-}
		shift
		[ -e "$kdir/include/config/kernel.release" ] ||
			die "no headers of a kernel in $kdir: install the package linux-headers-$(uname -r), or say where they are: make KDIR=..."
		target=$(<"$kdir/include/config/kernel.release")
	else
		kernel=${target%-kunit}
		[ "$kernel" = "$target" ] || options+=(HWTIMER_KUNIT=y)
		[[ $kernel != *-small ]] || options+=(HWTIMER_SMALL=y)
		kernel=${kernel%-small}
		[[ $kernel != *-coverage ]] || options+=(HWTIMER_COVERAGE=y)
		kernel=${kernel%-coverage}
		choose_arch "$kernel"
		kdir=$("$VM_DIR/kernel.sh" "$kernel")/build
		options+=(ARCH="$KERNEL_ARCH" CROSS_COMPILE="$CROSS_COMPILE")
		[[ $kernel != kmsan-* ]] || options+=(LLVM="$LLVM_VERSION")
	fi
	dir=$BUILD_DIR/$target
	mkdir -p "$dir"
	take_directory "$dir"
	copy_sources "$dir"
	say "building the module in build/$target"
	build "$kdir" "$dir" "${options[@]}" "$@"
	[ -z "$kernel" ] || build_clients "$kdir" "$dir" "${options[@]}" "$@"
	printf '%s\n' "$dir"
}

take_directory()
{
	local fd

	exec {fd}>"$1/.lock"
	flock "$fd"
}

# Copies newer files only. Otherwise each build would compile every file.
copy_sources()
{
	local dir=$1 file

	cd "$REPO_DIR"
	shopt -s nullglob
	cp --parents --preserve=mode,timestamps --update \
		Kbuild ./*.[ch] include/linux/*.h uapi/linux/*.h tests/*.[ch] \
		samples/*/Kbuild samples/*/*.c \
		torture/module/Kbuild torture/module/*.[ch] "$dir"
	# The copy of a source that was removed or renamed must not be built.
	cd "$dir"
	for file in ./*.[ch] include/linux/*.h uapi/linux/*.h tests/*.[ch] \
		samples/*/*.c torture/module/*.[ch]; do
		[[ $file == *.mod.c ]] || [ -e "$REPO_DIR/$file" ] ||
			rm "$file"
	done
}

# build_clients KDIR DIR MAKE-ARGUMENT...: modules that use ours
build_clients()
{
	local kdir=$1 dir=$2 client

	shift 2
	for client in "$dir"/samples/*/ "$dir"/torture/module/; do
		build "$kdir" "${client%/}" "$@" HWTIMER="$dir"
	done
}

# Compiler messages name the sources, not the copies. Neither a missing BTF is worth a
# message, nor that this machine has a pahole that was not there when the kernel was built.
build()
{
	local kdir=$1 dir=$2 filter

	shift 2
	filter=(-e "s|$dir/||g" -e '/^Skipping BTF generation/d'
		-e '/^warning: pahole version differs/,+2d')
	make --silent -j"$JOBS" -C "$kdir" M="$dir" "$@" modules 2>&1 |
		sed --unbuffered "${filter[@]}" >&2
}

main "$@"
