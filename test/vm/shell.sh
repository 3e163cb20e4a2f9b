#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make vm: a shell in a test machine with the module loaded, and what one tries it with: the
# library, hwtimerctl, the package for Python, hwtimerd and Redis, the header in uapi/, and all
# programs of this machine, such as gcc, as its /usr is the test machine's, too. What cannot be had
# is left out. /out there is build/vm here.
#
#	usage: test/vm/shell.sh KERNEL [FILE...]
#
# The FILEs are in the directory where the shell starts. A kernel that cannot mount this machine's
# directories (test/vm/run.sh --share) has only hwtimerctl and the FILEs, which have to be static.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Other compilers may have other warnings.
unset WERROR

OUT=$BUILD_DIR/vm
ROOT=$BUILD_DIR/vm-root/$1
OPTIONS=()

main()
{
	local kernel=$1 file emulator=

	shift
	[[ $kernel == uml-* ]] || emulator=qemu-system-x86
	[ "$kernel" = host ] || need_debian "the kernel $kernel"
	[ -t 0 ] || die "make vm needs a terminal for its standard input"
	need_packages build-essential libc6-dev busybox-static cpio $emulator
	"$VM_DIR/build.sh" "$kernel" >/dev/null
	make --silent demo-programs
	for file in "$BUILD_DIR/$kernel/hwtimer.ko" "$BUILD_DIR/demo/hwtimer-demo" "$@"; do
		OPTIONS+=(--file "$file=/hwtimer/${file##*/}")
	done
	case $kernel in
	stock-* | rt-* | uml-* | host)
		install_all
		share_all ;;
	*)
		make --silent -C user/tool OUT="$BUILD_DIR/tool-static" LDFLAGS=-static
		OPTIONS+=(--file "$BUILD_DIR/tool-static/hwtimerctl=/hwtimer/hwtimerctl") ;;
	esac
	"$VM_DIR/run.sh" --kernel "$kernel" "${OPTIONS[@]}" --interactive \
		--file test/vm/guest-shell=/etc/hwtimer-shell \
		--file uapi/linux/hwtimer.h=/hwtimer/uapi/linux/hwtimer.h \
		-- sh /etc/hwtimer-shell "$OUT"
}

# install_all: what `make install` and its like would install in /opt/hwtimer
install_all()
{
	local dir=$ROOT/opt/hwtimer

	offer_packages pkg-config libjansson-dev libhiredis-dev libevent-dev redis-tools python3 \
		gnuplot-nox || say "the VM goes without some programs. $WHY"
	rm -rf "$ROOT"
	make --silent -C user/lib OUT="$BUILD_DIR/lib" PREFIX=/opt/hwtimer DESTDIR="$ROOT" install
	make --silent tool
	install -D -t "$dir/bin" "$BUILD_DIR/tool/hwtimerctl"
	if has_libraries hiredis libevent_core libevent_extra; then
		make --silent daemon
		install -t "$dir/bin" "$BUILD_DIR/daemon/hwtimerd"
	fi
	! have python3 || make --silent DESTDIR="$ROOT" PYTHONDIR=/opt/hwtimer/lib/python \
		install-python >/dev/null
}

# share_all: what is not a link to a part of /usr, and where programs of /usr look for files
share_all()
{
	local dir

	mkdir -p "$OUT"
	for dir in /usr /lib /lib32 /lib64 /nix /etc/alternatives /etc/fonts; do
		[ ! -d "$dir" ] || [ -L "$dir" ] || OPTIONS+=(--share "$dir=$dir")
	done
	[ ! -e /etc/ld.so.cache ] || OPTIONS+=(--file /etc/ld.so.cache=/etc/ld.so.cache)
	OPTIONS+=(--share "$ROOT/opt/hwtimer=/opt/hwtimer" --share-rw "$OUT=/out")
}

cd "$REPO_DIR"
main "$@"
