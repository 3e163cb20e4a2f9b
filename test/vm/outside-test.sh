#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests what the commands of `make help` say on a machine without apt and dpkg, and that nothing is
# installed unasked where there are both. Prints TAP. Called by test/vm/lint.sh.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

TEMP=$(mktemp -d)
on_exit rm -rf "$TEMP"
TREE=$TEMP/tree

# A packager's PATH: all programs of this machine but those of Debian
OUTSIDE=$TEMP/outside

# Those of Debian: they say what they are to install, and know no package
DEBIAN=$TEMP/debian

# What needs Debian's archive, what builds with the compiler and the libraries that are here, and
# what needs neither
ARCHIVE="demo vm check check-all torture mutants fuzz lint kunit selftests bench bench-server"
BUILDS="examples daemon library tool simulate bench-redis bench-core bench-wheel"
NEITHER="help modules clean dist install uninstall install-daemon install-python uninstall-python
	install-dkms uninstall-dkms"

NO_DEBIAN="needs Debian's archive, and this machine lacks the programs that read it: apt-get"
NO_DEBIAN+=" apt-cache dpkg-deb dpkg-query. "

main()
{
	local target

	prepare_tree
	echo "TAP version 13"
	check "outside: each command of make help is known here" all_known
	for target in $ARCHIVE; do
		check "outside: make $target says at once that it needs Debian" \
			says "$NO_DEBIAN" outside_make "$target" OPS=1
	done
	check "outside: so does a step of make check" \
		says "$NO_DEBIAN" outside test/vm/check.sh lint
	check "outside: and a kernel of the test machines" \
		says "the kernel redis $NO_DEBIAN" outside test/vm/kernel.sh redis
	check "outside: another architecture is named" names_architecture
	check "outside: make says which headers are missing" \
		says "no headers of a kernel in /nowhere: " outside_make modules KDIR=/nowhere
	check "outside: and so do make demo and make vm" names_headers
	check "outside: a kernel that is given by hand needs its image" says \
		"no image of the kernel made-up that this user may read: VMLINUZ=FILE" \
		outside_make demo KERNEL=host VMLINUZ=/nowhere "${GIVEN[@]}"
	check "outside: and gets an entry" host_kernel
	check "outside: a library that is missing is named" names_packages
	check "outside: and pkg-config, if that is missing" names_pkg_config
	check "outside: hwtimerd builds with what pkg-config finds" builds_daemon
	check "outside: on Debian, a package is not installed unasked" \
		says "missing packages: made-up. Either: sudo apt-get install made-up. Or: HWTIMER_INSTALL=1" \
		debian "$NEED"
	check "outside: nor if the answer is no" \
		finds "error: missing packages: made-up" debian "$(on_terminal n)"
	check "outside: it is if the answer is yes" finds "installed made-up" debian "$(on_terminal y)"
	check "outside: and if HWTIMER_INSTALL=1" \
		finds "installed made-up" debian "export HWTIMER_INSTALL=1; $NEED"
	check "outside: what goes without it holds up nobody who asks next" \
		finds "free" debian "$OFFER; flock --nonblock $TEMP/cache/lock/packages echo free"
	for target in check check-all demo; do
		check "outside: make $target may install" \
			finds "HWTIMER_INSTALL is 1 set" outside_make SHELL="$TEMP/shell" "$target"
	done
	for target in vm lint kunit bench daemon; do
		check "outside: make $target may not" \
			finds "HWTIMER_INSTALL is not set" outside_make SHELL="$TEMP/shell" "$target"
	done
	check "outside: only one place installs packages" one_place
	[ "$FAILURES" -eq 0 ]
}

# ---- preparations ----

prepare_tree()
{
	local file

	mkdir "$TREE" "$DEBIAN" "$TEMP/modules"
	make_outside "$OUTSIDE"
	source_files | (cd "$REPO_DIR" && xargs -0 cp --parents --target-directory "$TREE")

	# Headers of a kernel, as far as somebody asks for them
	mkdir -p "$TEMP/headers/include/config"
	echo made-up >"$TEMP/headers/include/config/kernel.release"
	touch "$TEMP/image"
	GIVEN=("KDIR=$TEMP/headers" "MODULES=$TEMP/modules")

	# shellcheck disable=SC2016 # the other shell's variables
	printf '#!/bin/sh\nfor last; do :; done\necho "installed $last"\n' >"$DEBIAN/apt-get"
	printf '#!/bin/sh\nexit 1\n' >"$DEBIAN/dpkg-query"
	# shellcheck disable=SC2016 # the other shell's variables
	printf '#!/bin/sh\nuntil [ "$1" = -- ]; do shift; done\nshift\nexec "$@"\n' >"$DEBIAN/sudo"
	# Instead of the shell of make
	# shellcheck disable=SC2016 # the other shell's variables
	printf '#!/bin/sh\necho "HWTIMER_INSTALL is ${HWTIMER_INSTALL-not} set" >&2\nexit 1\n' \
		>"$TEMP/shell"
	chmod +x "$DEBIAN"/* "$TEMP/shell"
}

# outside COMMAND...: on the machine without Debian
outside()
{
	(cd "$TREE" && env -u HWTIMER_ASK -u HWTIMER_INSTALL -u HWTIMER_RUN PATH="$OUTSIDE" \
		HWTIMER_CACHE="$TEMP/cache" "$@" </dev/null)
}

outside_make()
{
	outside make --no-print-directory "$@"
}

# says TEXT COMMAND...: whether the command fails and says so, and nothing is built before, and
# no shell misses a program
says()
{
	local text=$1

	shift
	"$@" >"$TEMP/said" 2>&1 && return 1
	cat "$TEMP/said"
	tr '\n' ' ' <"$TEMP/said" | grep -q -F "$text" &&
		! grep -E 'command not found|No such file|amd64 only|gcc|-o build' "$TEMP/said"
}

finds()
{
	local text=$1

	shift
	"$@" 2>&1 | tee "$TEMP/said"
	grep -q -F "$text" "$TEMP/said"
}

# ---- without Debian ----

all_known()
{
	diff <(make --no-print-directory -C "$TREE" help | sed -n 's/^  make \([a-z-]*\) .*/\1/p' |
		sort) <(xargs -n1 <<<"$ARCHIVE $BUILDS $NEITHER" | sort)
}

names_architecture()
{
	local text="needs an x86-64 machine, as the test machines are; this one is made-up"

	rm "$OUTSIDE/uname"
	printf '#!/bin/sh\necho made-up\n' >"$OUTSIDE/uname"
	chmod +x "$OUTSIDE/uname"
	says "$text" outside_make lint || return
	ln -sf /usr/bin/uname "$OUTSIDE/uname"
}

names_headers()
{
	says "no headers of a kernel in /nowhere: install them (Debian: linux-headers-" \
		outside env KDIR=/nowhere test/vm/kernel.sh host
}

host_kernel()
{
	local entry

	entry=$(outside env VMLINUZ="$TEMP/image" "${GIVEN[@]}" test/vm/kernel.sh host) || return
	[ "$entry/vmlinuz" -ef "$TEMP/image" ] && [ "$entry/build" -ef "$TEMP/headers" ] &&
		[ "$entry/lib/modules/made-up" -ef "$TEMP/modules" ] &&
		[ "$(<"$entry/release")" = made-up ]
}

# Where pkg-config finds none
names_packages()
{
	says "missing, by the names of Debian's packages: libhiredis-dev libevent-dev. There is no apt-get" \
		outside_make daemon PKG_CONFIG_LIBDIR=/nowhere
}

# Without it, nobody knows which libraries are here.
names_pkg_config()
{
	mv "$OUTSIDE/pkg-config" "$OUTSIDE/pkgconf" "$TEMP"
	says "pkg-config, which finds libraries, is missing here. There is no apt-get" \
		outside_make daemon &&
		finds "hwtimerctl: without pkg-config, which finds jansson, so without --from" \
			outside_make tool CFLAGS=-O0 || return
	mv "$TEMP/pkg-config" "$TEMP/pkgconf" "$OUTSIDE"
}

# pkg-config says that hiredis is in a directory of its own.
builds_daemon()
{
	local there=$TEMP/opt

	mkdir "$there"
	sed "s|^libdir=.*|libdir=$there|" \
		"$(pkg-config --variable pcfiledir hiredis)/hiredis.pc" >"$there/hiredis.pc"
	outside_make daemon CFLAGS=-O0 PKG_CONFIG_PATH="$there" | tee "$TEMP/said"
	grep -q -e "-L$there" "$TEMP/said" && outside build/daemon/hwtimerd --version
}

# ---- with Debian ----

# A script that needs a package, and one that goes without it
NEED=". test/vm/lib.sh && need_packages made-up"
OFFER=". test/vm/lib.sh; offer_packages made-up || true"

# debian SCRIPT
debian()
{
	outside env PATH="$DEBIAN:$OUTSIDE" bash -c "$1"
}

# on_terminal ANSWER: prints a script that runs NEED on a terminal, where somebody types ANSWER
on_terminal()
{
	echo "echo $1 | script --quiet --return --command \"bash -c '$NEED'\" /dev/null"
}

# But for what the pages have people type
one_place()
{
	diff <(cd "$TREE" && grep -r -l --include='*.sh' --include='*.py' --include=Makefile \
		-E 'apt(-get)? install' . | grep -v -e outside-test -e userland) <(echo ./test/vm/lib.sh)
}

main "$@"
