#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the module, each kernel and variant in a directory of its own under
# build/, so that they do not overwrite each other's objects. Called by the
# Makefile, vm/lint.sh and vm/check.sh.
#
#	usage: vm/build.sh NAME[-kunit] [MAKE-ARGUMENT...]
#	       vm/build.sh --kdir KDIR [MAKE-ARGUMENT...]
#
# NAME is a kernel of vm/kernel.sh; -kunit links the KUnit suites in. With
# --kdir it is built for that kernel, in build/RELEASE. Prints the directory.
#
# For the kernels of the test machines the samples are built, too, against what
# was built of the module, as other people's modules are.
#
# The sources are copied into the directory: `make MO=`, which would build
# elsewhere than in the source, is newer than the kernels we support.

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

# Newer files only, or each build would begin from the start.
copy_sources()
{
	local dir=$1 file

	cd "$REPO_DIR"
	shopt -s nullglob
	cp --parents --preserve=mode,timestamps --update \
		Kbuild ./*.[ch] include/linux/*.h uapi/linux/*.h tests/*.[ch] \
		samples/*/Kbuild samples/*/*.c "$dir"
	# A source that was removed or renamed is not to be built from its copy.
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

# The compiler's messages are about the sources, not about their copies; and
# that there is no BTF is as it should be.
build()
{
	local kdir=$1 dir=$2 filter

	shift 2
	filter=(-e "s|$dir/||g" -e '/^Skipping BTF generation/d')
	make --silent -j"$JOBS" -C "$kdir" M="$dir" "$@" modules 2>&1 |
		sed --unbuffered "${filter[@]}" >&2
}

main "$@"
