#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the module. Each kernel and variant has its own directory under build/, so that
# builds do not overwrite each other's objects. Called by the Makefile, vm/lint.sh and
# vm/check.sh.
#
#	usage: vm/build.sh NAME[-kunit] [MAKE-ARGUMENT...]
#	       vm/build.sh --kdir KDIR [MAKE-ARGUMENT...]
#
# NAME is a kernel of vm/kernel.sh; -kunit links in the KUnit suites. --kdir builds for
# the kernel of that build directory, in build/RELEASE. Prints the directory.
#
# For the test machines' kernels the samples are built, too. They are built against the
# module as other people's modules are.
#
# The sources are copied into the directory: `make MO=`, which builds outside of the
# source directory, is newer than the oldest kernels we support.

# shellcheck source=vm/lib.sh
. "$(dirname "$0")/lib.sh"

main()
{
	local target=${1-} kernel='' kdir dir options=()

	[ $# -ge 1 ] || die "usage: vm/build.sh NAME[-kunit] | --kdir KDIR"
	shift
	if [ "$target" = --kdir ]; then
		kdir=${1-}
		shift
		[ -e "$kdir/include/config/kernel.release" ] ||
			die "no headers of a kernel in $kdir: install the package linux-headers-$(uname -r), or say where they are: make KDIR=..."
		target=$(<"$kdir/include/config/kernel.release")
	else
		kernel=${target%-kunit}
		kdir=$("$VM_DIR/kernel.sh" "$kernel")/build
		[ "$kernel" = "$target" ] || options+=(HWTIMER_KUNIT=y)
		[[ $kernel != uml-* ]] || options+=(ARCH=um)
	fi
	dir=$BUILD_DIR/$target
	mkdir -p "$dir"
	take_directory "$dir"
	copy_sources "$dir"
	say "building the module in build/$target"
	build "$kdir" "$dir" "${options[@]}" "$@"
	[ -z "$kernel" ] || build_samples "$kdir" "$dir" "${options[@]}" "$@"
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
		samples/*/Kbuild samples/*/*.c "$dir"
	# The copy of a source that was removed or renamed must not be built.
	cd "$dir"
	for file in ./*.[ch] include/linux/*.h uapi/linux/*.h tests/*.[ch] \
		samples/*/*.c; do
		[[ $file == *.mod.c ]] || [ -e "$REPO_DIR/$file" ] ||
			rm "$file"
	done
}

# build_samples KDIR DIR MAKE-ARGUMENT...
build_samples()
{
	local kdir=$1 dir=$2 sample

	shift 2
	for sample in "$dir"/samples/*/; do
		build "$kdir" "${sample%/}" "$@" HWTIMER="$dir"
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
