# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The test machines that QEMU runs. Sourced by vm/run.sh, which says what each kind of
# machine has to define; never run by itself.

# shellcheck disable=SC2034,SC2153 # vm/run.sh sets and uses these

MACHINE_PACKAGES=(qemu-system-x86)

# /dev/kvm proves nothing: it may exist and open, and a kernel still hangs under it. Only
# what the processor says counts.
machine_command()
{
	local entry=$1 accel

	if grep -q -w -E 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; then
		accel=(-accel kvm -cpu host)
		MACHINE_SAID=KVM
	else
		accel=(-accel 'tcg,thread=multi' -cpu max)
		MACHINE_SAID=emulated
	fi
	MACHINE=(qemu-system-x86_64 -nodefaults -no-user-config -display none
		 -machine pc "${accel[@]}" -smp "$CPUS" -m "$MEM" -no-reboot
		 -kernel "$entry/vmlinuz" -initrd "$TEMP/initramfs"
		 -chardev "file,id=console,path=$CONSOLE,append=on"
		 -chardev "stdio,id=results,signal=off"
		 -serial chardev:console -serial chardev:results
		 -append "console=ttyS0 $KERNEL_ARGUMENTS reboot=t
			  mitigations=off random.trust_cpu=on $APPEND")
}

# QEMU before 8.1 does not correctly emulate code that one processor changes while
# another runs it, as the kernel does for static keys: about one boot in 200 ends in
# `Oops: int3`. A machine may boot again only if it died before /init ran: none of our
# code has run then, so no fault of ours is hidden.
machine_may_boot_again()
{
	[ "$MACHINE_SAID" = emulated ] &&
		! grep -q 'Run /init as init' "$CONSOLE"
}
