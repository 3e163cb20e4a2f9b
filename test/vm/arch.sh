# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The architectures of the test machines: what a kernel's name says of its architecture,
# and what is needed to build for it. Sourced by test/vm/lib.sh; never run by itself.
# test/vm/machine-qemu.sh knows how QEMU emulates each one.

# shellcheck disable=SC2034 # the variables are for the scripts that source this

# arch_of KERNEL: the architecture of a kernel of test/vm/kernel.sh, by Debian's name
arch_of()
{
	case $1 in
	arm64-*) echo arm64 ;;
	s390x-*) echo s390x ;;
	*) echo amd64 ;;
	esac
}

# choose_arch KERNEL: sets the variables below to what suits KERNEL
choose_arch()
{
	# Debian's name of the architecture
	ARCH_NAME=$(arch_of "$1")
	# What the kernel's makefiles call it, and the prefix of the compiler
	KERNEL_ARCH=x86_64
	CROSS_COMPILE=
	# The suffix of directories with programs for it
	ARCH_SUFFIX=-$ARCH_NAME

	case $ARCH_NAME in
	amd64)
		ARCH_SUFFIX=
		[[ $1 != uml-* ]] || KERNEL_ARCH=um
		;;
	arm64)
		KERNEL_ARCH=arm64
		find_compiler arm64 aarch64-linux-gnu-
		;;
	s390x)
		KERNEL_ARCH=s390
		find_compiler s390x s390x-linux-gnu-
		;;
	esac
}

# find_compiler ARCHITECTURE PREFIX: sets CROSS_COMPILE, and has PATH lead to the compiler, as
# Debian's headers name it without its directory. Scripts that we call need not search again.
find_compiler()
{
	local entry

	CROSS_COMPILE=$2
	command -v "$2gcc-12" >/dev/null && return
	entry=$("$VM_DIR/kernel.sh" "gcc-$1")
	PATH=$entry/bin:$PATH
}
