# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The test machines that QEMU runs. Sourced by test/vm/run.sh, which says what each kind of
# machine has to define; never run by itself.

# shellcheck disable=SC2034,SC2153 # test/vm/run.sh sets and uses these

case $ARCH_NAME in
amd64) MACHINE_PACKAGES=(qemu-system-x86) ;;
arm64) MACHINE_PACKAGES=(qemu-system-arm) ;;
s390x) MACHINE_PACKAGES=(qemu-system-misc) ;;
esac

# What QEMU calls the architecture, its machine there with the two serial lines, and the
# kernel's arguments for them
QEMU=
MACHINE_ARGUMENTS=()
SHARE_ARGUMENTS=()
APPEND_CONSOLE=

machine_command()
{
	local entry=$1

	MACHINE_SAID=emulated
	"machine_$ARCH_NAME"
	MACHINE=("qemu-system-$QEMU" -nodefaults -no-user-config -display none
		 "${MACHINE_ARGUMENTS[@]}" ${SHARE_ARGUMENTS[@]+"${SHARE_ARGUMENTS[@]}"} -smp "$CPUS" -m "$MEM" -no-reboot
		 -kernel "$entry/vmlinuz" -initrd "$TEMP/initramfs"
		 -chardev "file,id=console,path=$CONSOLE,append=on"
		 -chardev "stdio,id=results,signal=off"
		 -append "$APPEND_CONSOLE $KERNEL_ARGUMENTS $APPEND")
}

# /dev/kvm proves nothing: it may exist and open, and a kernel still hangs under it. Only
# what the processor says counts.
#
# A machine that counts instructions has no cmpxchg16b. QEMU before 8.0 computes the flags of that
# instruction from a state that may be out of date, and an interrupt at the end of a slice saves
# them: the second minute of torture ended in a double fault. A machine for measurements (SHIFT
# 0) keeps the instruction, because the kernel allocates more slowly without it; it runs for seconds.
machine_amd64()
{
	local accel=(-accel 'tcg,thread=multi' -cpu max)

	# shellcheck disable=SC2054 # one argument each
	if [ -n "$ICOUNT" ]; then
		accel=(-accel tcg,thread=single -icount "shift=$ICOUNT,sleep=off" -cpu max)
		[ "$ICOUNT" = 0 ] || accel[-1]+=,-cx16
		MACHINE_SAID="emulated, counting instructions"
	elif grep -q -w -E 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; then
		accel=(-accel kvm -cpu host)
		MACHINE_SAID=KVM
	fi
	QEMU=x86_64
	MACHINE_ARGUMENTS=(-machine pc "${accel[@]}"
		-serial chardev:console -serial chardev:results)
	# A machine that hardly gets a processor would fail the test of its timer, and panic.
	# jent_mod_init() measures jitter, for 20 seconds and a soft lockup if the host is busy.
	APPEND_CONSOLE="console=ttyS0 reboot=t mitigations=off random.trust_cpu=on no_timer_check initcall_blacklist=jent_mod_init"
}

# This machine has one serial line. The second one is a device on the PCI bus, as Debian's
# kernel has a driver for it. Authenticating pointers takes most of an emulator's time.
machine_arm64()
{
	MACHINE_PORT=ttyS0
	QEMU=aarch64
	# shellcheck disable=SC2054 # one argument each
	MACHINE_ARGUMENTS=(-machine virt -cpu 'max,pauth=off' -accel 'tcg,thread=multi'
		-serial chardev:console -device pci-serial,chardev=results)
	APPEND_CONSOLE="console=ttyAMA0 mitigations=off random.trust_cpu=on"
}

# The console breaks lines after 80 characters; so results come from the other line.
machine_s390x()
{
	MACHINE_PORT=ttysclp0
	QEMU=s390x
	MACHINE_ARGUMENTS=(-machine s390-ccw-virtio -cpu max -accel 'tcg,thread=multi'
		-serial chardev:results -serial chardev:console)
	APPEND_CONSOLE="console=ttyS0 sclp_con_drop=0"
}

# machine_share: has QEMU offer each of SHARES, by a name instead of its path
machine_share()
{
	local share i

	for i in "${!SHARES[@]}"; do
		IFS='=' read -r -a share <<<"${SHARES[i]}"
		SHARE_ARGUMENTS+=(-virtfs "local,path=${share[1]},mount_tag=share$i,security_model=none,multidevs=remap$(
			[ "${share[0]}" = rw ] || echo ,readonly=on)")
		SHARES[i]="${share[0]}=share$i=${share[2]}"
	done
}

# QEMU before 8.1 does not correctly emulate code that one processor changes while
# another runs it, as the kernel does for static keys: about one boot in 200 of an amd64
# kernel ends in `Oops: int3`. A machine may boot again only if it died before /init ran:
# none of our code has run then, so no fault of ours is hidden.
machine_may_boot_again()
{
	[ "$MACHINE_SAID" = emulated ] && [ "$ARCH_NAME" = amd64 ] &&
		! grep -q 'Run /init as init' "$CONSOLE"
}
