#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the Debian packages as a user would: builds them from the tarball of the source, checks
# them with lintian, installs them in a clean Debian, where DKMS builds the module for a
# stock kernel, boots that kernel with the installed files, has systemd run the service
# hwtimerd in it, and purges the packages.
# Prints TAP. Called by test/vm/check.sh. Needs root, as the clean Debian is a chroot.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=stock-6.12

# Packages of the clean Debian: those that ours depend on, those of a machine that boots,
# DKMS's compiler and signer, and what the programs in the kernel's headers need
CHROOT_PACKAGES="dkms openssl gcc libc6-dev make libelf1 systemd udev pkg-config
	libhiredis0.14 libevent-core-2.1-7 libevent-extra-2.1-7 libjansson4 python3"

# Files that a purge leaves and that are not ours: dpkg's own notes, caches, logs,
# depmod's lists of all modules, and the key that DKMS signs modules with
NOT_OURS='^/var/(lib/dpkg|cache|log)/|^/etc/[^/]*-$|/modules\.[a-z.]*$'
NOT_OURS+='|^/var/lib/dkms/(mok\.|dkms_dbversion$)|^/etc/ld\.so\.cache'

TEMP=
CHROOT=
RELEASE=
FILES=()

main()
{
	cd "$REPO_DIR"
	if [ ! -e debian ]; then
		echo "1..1"
		skip "the Debian packages" "the tarball of the source has no debian/"
		return
	fi
	need_packages build-essential debhelper dh-dkms dh-python lintian kmod zstd \
		libhiredis-dev libevent-dev libjansson-dev pkg-config valgrind-if-available
	need_exec_tmp
	TEMP=$(mktemp -d)
	on_exit as_root rm -rf "$TEMP"
	on_exit end_chroot
	CHROOT=$TEMP/chroot
	prepare_chroot
	prepare_selftest

	echo "TAP version 13"
	say "building the packages"
	check "dpkg-buildpackage builds the packages" packages_built
	check "lintian finds no error" lintian_finds_none
	show_warnings
	check "the source package unpacks to the tree" source_unpacks
	say "installing them in a clean Debian, where DKMS builds the module"
	check "the packages install, and DKMS builds the module" packages_installed
	check "DKMS installed the module for $RELEASE" dkms_installed
	check "DKMS signed the module" module_signed
	check "the group hwtimer exists" in_chroot getent group hwtimer
	check "a program builds with libhwtimer-dev, and runs" program_runs
	check "the library was built with valgrind's headers" knows_valgrind
	check "the packaged examples build" examples_build
	check "links of the packaged pages lead somewhere" links_hold
	check "each package has its licence, and so has the module's source" licences_there
	check "Python's package runs, and misses the module" python_runs
	check "hwtimerd runs without the module" daemon_runs
	check "hwtimerd's service is not started by itself" daemon_disabled
	check "systemd accepts hwtimerd's unit" unit_accepted
	check_booted
	check_service
	say "purging them"
	check "the packages are purged" packages_purged
	check "the purge leaves nothing but the group" nothing_left
	[ "$FAILURES" -eq 0 ]
}

# ---- preparations ----

prepare_chroot()
{
	local tarball entry

	# shellcheck disable=SC2086 # several packages
	tarball=$("$VM_DIR/chroot.sh" $CHROOT_PACKAGES)
	entry=$("$VM_DIR/kernel.sh" "$KERNEL")
	RELEASE=$(<"$entry/release")
	say "unpacking a clean Debian, and the headers of $RELEASE"
	mkdir "$CHROOT"
	zstd --quiet --decompress --stdout "$tarball" |
		as_root tar --extract --directory "$CHROOT" --numeric-owner
	as_root cp --archive --no-preserve=ownership "$entry/usr/." "$CHROOT/usr"
	as_root cp --archive --no-preserve=ownership \
		"$entry/lib/modules" "$CHROOT/lib"
	as_root chmod 755 "$CHROOT"
}

prepare_selftest()
{
	local tools

	tools=$("$VM_DIR/kernel.sh" tools-7.3)/source
	make --silent -C selftests OUT="$TEMP" \
		KSELFTEST_DIR="$tools/tools/testing/selftests" \
		"$TEMP/query" >&2
}

# in_chroot COMMAND...: run COMMAND with a clean environment. Its mounts and the processes
# that it leaves running end with it. In the background: bash handles a signal only between
# foreground commands.
in_chroot()
{
	local status=0

	# shellcheck disable=SC2016 # the other shell's variables
	as_root sh -c 'echo $$ >"$0" && exec unshare "$@"' "$TEMP/unshare" \
		--fork --pid --kill-child --mount-proc="$CHROOT/proc" \
		chroot "$CHROOT" env --ignore-environment HOME=/root LC_ALL=C \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive "$@" </dev/null &
	wait $! || status=$?
	rm -f "$TEMP/unshare"
	return "$status"
}

# If we are not root, a signal to our process group has not reached sudo's processes.
# shellcheck disable=SC2317 # called by on_exit
end_chroot()
{
	[ ! -e "$TEMP/unshare" ] || as_root kill -KILL "$(<"$TEMP/unshare")"
}

# Lists all files of the clean Debian.
files()
{
	as_root find "$CHROOT" -xdev \( -path "$CHROOT/proc" -o \
		-path "$CHROOT/tmp" \) -prune -o -printf '/%P\n' | sort
}

# ---- the packages ----

# From the tarball of `make dist`, and debian/
packages_built()
{
	local version

	version=$(sed -n '1s/^hwtimer (\([^-]*\)-.*/\1/p' debian/changelog)
	"$VM_DIR/dist.sh" "$TEMP/hwtimer_$version.orig.tar.xz" || return
	mkdir "$TEMP/source"
	tar --extract --no-same-owner --directory "$TEMP/source" --strip-components=1 \
		--file "$TEMP/hwtimer_$version.orig.tar.xz" &&
		source_files | grep -z '^debian/' |
			xargs -0 cp --parents --target-directory "$TEMP/source" || return
	(cd "$TEMP/source" && dpkg-buildpackage --unsigned-source \
		--unsigned-changes --jobs="$JOBS")
}

lintian_finds_none()
{
	local status=0

	lintian --allow-root --fail-on error --tag-display-limit 0 \
		"$TEMP"/hwtimer_*.changes >"$TEMP/lintian" 2>&1 || status=$?
	cat "$TEMP/lintian"
	return "$status"
}

show_warnings()
{
	sed -n 's/^W: /# lintian warns: /p' "$TEMP/lintian"
}

# The source package is the upstream tarball, and what debian/ adds to it.
source_unpacks()
{
	dpkg-source --no-check --extract "$TEMP"/hwtimer_*.dsc "$TEMP/unpacked" &&
		diff -r "$TEMP/unpacked/debian" debian --exclude='*.substvars' &&
		diff "$TEMP/unpacked/Kbuild" Kbuild || return
	! tar --list --file "$TEMP"/hwtimer_*.orig.tar.xz | grep '^[^/]*/debian/'
}

packages_installed()
{
	local file

	files >"$TEMP/before"
	as_root mkdir "$CHROOT/tmp/packages"
	for file in "$TEMP"/*.deb; do
		case $file in
		*-dbgsym_*) ;;
		*) as_root cp "$file" "$CHROOT/tmp/packages" ;;
		esac
	done
	in_chroot sh -c 'dpkg --install /tmp/packages/*.deb'
}

packages_purged()
{
	in_chroot dpkg --purge hwtimer-dkms hwtimer-tools libhwtimer-dev \
		libhwtimer1 hwtimerd python3-hwtimer
}

nothing_left()
{
	files >"$TEMP/after"
	{ diff "$TEMP/before" "$TEMP/after" || true; } |
		sed -n 's/^[<>] //p' | NOT_OURS=$NOT_OURS awk \
			'/hwtimer/ || $0 !~ ENVIRON["NOT_OURS"]' | silent
}

# ---- the installed files ----

dkms_installed()
{
	in_chroot dkms status hwtimer | tee "$TEMP/status"
	grep -q "^hwtimer/.*, $RELEASE, .*: installed" "$TEMP/status"
}

# DKMS compresses it as the kernel's own modules are.
module()
{
	echo "$CHROOT/lib/modules/$RELEASE"/updates/dkms/hwtimer.ko*
}

module_signed()
{
	modinfo "$(module)" && modinfo -F signer "$(module)" | grep -q .
}

# Without the device, the program must get ENOENT.
# shellcheck disable=SC2016 # the other shell's variables
program_runs()
{
	as_root tee "$CHROOT/tmp/program.c" <<'END' >/dev/null
#include <libhwtimer.h>
#include <errno.h>

int main(void)
{
	struct hwt *hwt;

	return hwt_open(&hwt, 0) != -ENOENT || hwt_version() != HWT_VERSION;
}
END
	in_chroot sh -e -c 'cd /tmp
		gcc -Wall -Werror -o program program.c \
			$(pkg-config --cflags --libs libhwtimer)
		ldd program
		ldd program | grep -q libhwtimer.so.1
		./program'
}

# All but lease.c, libuv-server.c and uring-server.c, which need the headers of other libraries
examples_build()
{
	# shellcheck disable=SC2016 # the other shell's variables
	in_chroot sh -e -c 'cd /usr/share/doc/libhwtimer-dev
		test -e README.md && test -e Documentation/guide.md
		cd examples
		for file in [!lu]*.c; do
			gcc -D_GNU_SOURCE -o /tmp/example "$file" \
				$(pkg-config --cflags --libs libhwtimer)
		done
		rm /tmp/example
		man -w hwt_cancel 2>/dev/null ||
			readlink -f /usr/share/man/man3/hwt_cancel.3.gz |
				grep "/hwt_schedule.3.gz"'
}

# The first instruction of a request to valgrind, which does nothing otherwise
knows_valgrind()
{
	objdump --disassemble "$CHROOT/usr/lib/$(gcc -print-multiarch)/libhwtimer.so.1" |
		grep 'rol .*0x3,%rdi'
}

links_hold()
{
	local pages

	mapfile -t pages < <(find "$CHROOT"/usr/share/doc/*hwtimer* -name '*.md')
	[ "${#pages[@]}" -gt 15 ] && packaging/links.py "${pages[@]}"
}

licences_there()
{
	local package

	for package in hwtimer-dkms hwtimer-tools libhwtimer-dev libhwtimer1 hwtimerd python3-hwtimer; do
		diff debian/copyright "$CHROOT/usr/share/doc/$package/copyright" || return
	done
	diff COPYING "$CHROOT"/usr/src/hwtimer-*/COPYING
}

python_runs()
{
	in_chroot python3 -c '
import asyncio, hwtimer
for use in hwtimer.Instance, lambda: asyncio.run(hwtimer.sleep(1)):
    try:
        use()
    except FileNotFoundError as error:
        assert "modprobe hwtimer" in str(error)
    else:
        raise SystemExit("there is a module")'
}

daemon_runs()
{
	# shellcheck disable=SC2016 # the other shell's variables
	in_chroot sh -e -c 'hwtimerd --version
		hwtimerd serve --queue q:1 2>/tmp/said &
		until grep "using libevent.s timers" /tmp/said; do
			kill -0 $! && sleep 0.1
		done
		rm /tmp/said
		kill $! && wait $!'
}

daemon_disabled()
{
	[ "$(in_chroot systemctl is-enabled hwtimerd)" = disabled ]
}

# systemd-analyze leaves files in /run.
unit_accepted()
{
	local status=0

	in_chroot systemd-analyze verify --man=no hwtimerd.service 2>&1 | silent ||
		status=$?
	as_root rm -rf "$CHROOT/run/systemd"
	return "$status"
}

# ---- a machine with the installed files ----

check_booted()
{
	check "a machine boots with the installed files" boots
	check "the module is loaded at boot" booted "loaded at boot: hwtimer"
	check "the device belongs to the group" booted "device: root hwtimer 660"
	check "hwtimerctl works" booted "tool: ABI .*1"
	check "the selftest query passes" booted "selftest: 0"
	check "the module can be unloaded" booted "unloaded: 0"
}

# booted PATTERN: whether the machine printed such a line. If not, shows all it printed.
booted()
{
	grep -q -x "$1" "$TEMP/booted" || { cat "$TEMP/booted" && return 1; }
}

boots()
{
	find_files "/lib/systemd/systemd-udevd /bin/udevadm
			/lib/systemd/systemd-modules-load /usr/bin/hwtimerctl" \
		"/lib/modules/$RELEASE/modules.*
			/lib/modules/$RELEASE/updates/dkms/*
			/usr/lib/udev/rules.d/*hwtimer*
			/usr/lib/modules-load.d/hwtimer.conf
			/etc/group /etc/passwd /etc/nsswitch.conf"
	"$VM_DIR/run.sh" --kernel "$KERNEL" \
		--log "$BUILD_DIR/check/packages-$KERNEL.console" \
		--file test/vm/guest-packages=/hwtimer/guest-packages \
		--file "$TEMP/query=/hwtimer/query" \
		"${FILES[@]}" -- sh guest-packages >"$TEMP/booted"
}

# find_files "PROGRAM..." "PATTERN...": puts into FILES the options of test/vm/run.sh that bring
# files of the clean Debian into a machine: the programs, their libraries, and the files
# that match
find_files()
{
	local file target

	FILES=()
	while read -r file target; do
		FILES+=(--file "$CHROOT$target=$file")
	done < <(
		# shellcheck disable=SC2016 # the other shell's variables
		in_chroot sh -e -c '
			for file in $0 \
				$(ldd $0 | sed -n "s|^[^/]*\(/[^: ]*\) (.*|\1|p") $1; do
				echo "$file $(readlink -f "$file")"
			done' "$1" "$2" | sort -u
	)
}

# ---- a machine with systemd, Redis and hwtimerd's service ----

check_service()
{
	local line

	check "a machine with systemd and Redis runs hwtimerd's service" service_runs
	while read -r line; do
		check "there, ${line#*ok * }" [ "${line%% *}" = ok ]
	done < <(grep -E '^(not )?ok ' "$TEMP/service")
}

service_runs()
{
	find_redis || return
	find_files /usr/sbin/hwtimerd \
		"/lib/modules/$RELEASE/updates/dkms/hwtimer.ko*
			/lib/systemd/system/hwtimerd.service /etc/default/hwtimerd
			/usr/lib/systemd/system/hwtimerd.service.d/hwtimer.conf
			/etc/group /etc/passwd /etc/nsswitch.conf"
	"$VM_DIR/run.sh" --kernel "$KERNEL" --systemd \
		--log "$BUILD_DIR/check/service-$KERNEL.console" \
		--file user/daemon/test/service.sh=/hwtimer/service.sh \
		"${REDIS_FILES[@]}" "${FILES[@]}" -- sh service.sh >"$TEMP/service" ||
		{ cat "$TEMP/service" && return 1; }
}

main "$@"
