#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the library, the tool and the manual as far as that needs no device: which files are
# installed, which functions the library exports, whether programs build with it, and whether
# the pages describe everything. Prints TAP. Called by test/vm/check.sh.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

ROOT=
KDIR=

# The calls of the library that MODULE answers, the module made of functions
MODULE=(user/lib/test/{module,calls,memory}.c)
WRAPPED=(open close ioctl read poll clock_gettime calloc realloc free)

main()
{
	cd "$REPO_DIR"
	need_packages build-essential ccache gcc-multilib pkg-config mandoc man-db kmod \
		python3 gnuplot-nox libjansson-dev python3-prometheus-client jq \
		zsh fish valgrind cmake musl-tools
	need_exec_tmp
	ROOT=$(mktemp -d)
	on_exit rm -rf "$ROOT"
	KDIR=$("$VM_DIR/kernel.sh" stock-6.12)/build
	# What is built in build/ is for other users, too, and so must be what is installed.
	{ make --no-print-directory library tool && (umask 077 && installed install); } \
		>"$ROOT/log" 2>&1 || die "$(cat "$ROOT/log")"

	echo "TAP version 13"
	check "all files are installed" all_installed
	check "all versions agree" versions_agree
	check "the README has two pages, and its links lead somewhere" readme_holds
	check "all say the same of what is MIT" licences_agree
	[ ! -e debian ] ||
		check "the page about installing has what the packages need to be built" \
			build_depends_listed
	check "the library exports what its header declares" exports_match
	check "the manual has every function" page_has_functions
	check "man finds a page for every function" man_finds_functions
	check "the pages have all their sections" pages_are_complete
	check "the manual of the device has every command" \
		has_commands user/man/hwtimer.4
	check "the table of calls is what the header says" calls_are_current
	check "the manual of the device has the errors of that table" has_errors
	check "the pages have every parameter of the module, and no other" \
		parameters_are_documented
	check "that table has every error of the module" errors_are_listed
	check "a test knows every number of the header" numbers_are_tested
	check "the tables of the benchmark are those of its figures" tables_are_current
	check "the pages of functions are what the header says" manual_is_current
	for page in user/man/*.[0-9] build/man/hwtimer_interface.4; do
		check "mandoc finds nothing wrong with $page" mandoc_accepts "$page"
	done
	for libdir in /usr/lib "/usr/lib/$(gcc -print-multiarch)"; do
		check "pkg-config knows a library in $libdir" pkg_config_knows "$libdir"
		check "CMake knows it" cmake_knows "$libdir"
	done
	check "a C program builds with the shared library" \
		program gcc -std=c11 -x c
	check "a C++ program builds with the shared library" \
		program g++ -std=c++17 -x c++
	check "a program builds with the static library" static_program
	check "library, tool and examples install no gcc-multilib" no_multilib
	check "they build with another compiler, where no package can be installed" \
		builds_elsewhere
	lto_with gcc clang
	check "all of them are built static, with glibc" builds_static gcc
	check "with musl, too, and a shared library" builds_with_musl
	for arch in arm64 riscv64; do
		check "library, tool and examples compile for $arch" compiles_for "$arch"
	done
	for standard in c99 c2x; do
		adapters_with gcc clang -std=$standard -x c
	done
	for standard in c++11 c++2b; do
		adapters_with g++ clang++ -std=$standard -x c++ -Wold-style-cast
		program_with "a class has timer objects, and finds itself" class_program \
			g++ clang++ -std=$standard
		program_with "a program uses the adapter for Boost.Asio" asio_program \
			g++ clang++ -std=$standard
		program_with "a program uses the adapter for Asio" asio_program \
			g++ clang++ -std=$standard -DHWTIMER_ASIO_STANDALONE
	done
	check "bash completes the commands of hwtimerctl" completes
	check "fish completes them" completes_in_fish
	check "zsh completes them" completes_in_zsh
	check "bash completes names of files" completes_files
	check "hwtimerctl plot computes rates from records" plots_rates
	check "restarts of the module and the machine do not spoil the rates" \
		plots_restarts
	check "an incomplete last record is left out" plots_what_was_cut
	check "records come from a pipe, too" plots_a_pipe
	check "other programs read the records" others_read_records
	check "a title shows the machine, the time, and the percentiles" titles
	check "gnuplot runs nothing that is in the name of a picture" \
		names_are_no_commands
	check "gnuplot draws a PNG of them" draws png PNG
	check "gnuplot draws an SVG of them" draws svg '<svg'
	check "a full disk leaves the old picture" keeps_old_picture
	check "without gnuplot, hwtimerctl says what to do" without_gnuplot
	check "a picture that cannot be written is told at once" unwritable
	check "without jansson, hwtimerctl says so" without_jansson
	check "Prometheus reads the metrics" metrics_are_valid
	check "what cannot be said is not in the file" keeps_messages_out
	check "the dashboard has no metric that does not exist" dashboard
	check "wrong records are reported" wrong_records
	check "a file without lines does not fill the memory" endless_records
	check "records are not about the processes of now" records_are_old
	check "wrong arguments of watch and plot are reported" wrong_arguments
	check "--seconds is in seconds if it has no unit" seconds_have_units
	check "the views of watch fit screens of all sizes" views
	check "snapshots that are damaged or lie do no harm" snapshots
	check "Python calls every function of the library" \
		python3 user/lib/test/all_functions.py "$ROOT/root/usr/lib/libhwtimer.so"
	check "the structures of the Python package are the header's" python_layout
	check "the Python package is installed, and uninstalled" python_installed
	check "timer objects do what an oracle expects" timer_objects
	check "timer objects leave no memory behind" idles
	check "the library bears programs that know only its names" bears_misuse
	check "instances on a manual clock need no module" manual_clock
	check "nor do those of Python" python_on_a_manual_clock
	check "the tests that the guide shows pass" tests_of_the_guide
	check "threads may call what the library's header allows" allows_threads
	check "callbacks remove an instance from its loop" adapters_bear_misuse
	check "callbacks end an instance in a loop of Boost.Asio" asio_bears_misuse
	check "callbacks end an instance in a loop of Asio" asio_bears_misuse \
		-DHWTIMER_ASIO_STANDALONE
	check "to push a timer out takes 15 instructions at most" pushes_cheaply 15
	check "if that reads the clock, it takes 70, 17 of them in this test's clock" \
		pushes_cheaply 70 uncached
	check "hwtimerctl restore checks a file without the module" \
		checks_snapshots
	check "what hwtimerctl cannot print is an error" output_fails
	check "wrong arguments of list, save and restore are reported" \
		wrong_snapshot_arguments
	if grep -q hwtimer /proc/misc; then
		skip "without the module, hwtimerctl says what to do" \
			"this machine has the module loaded"
	else
		check "without the module, hwtimerctl says what to do" \
			without_module
	fi
	check "the source for DKMS has its licence" dkms_has_licence
	installed uninstall >/dev/null
	check "uninstall leaves nothing" nothing_left
	check "uninstall needs no headers of a kernel" uninstall_needs_no_headers
	[ "$FAILURES" -eq 0 ]
}

# installed TARGET [VARIABLE]: run make install or make uninstall
installed()
{
	make --no-print-directory DESTDIR="$ROOT/root" PREFIX=/usr \
		KDIR="$KDIR" "$@"
}

all_installed()
{
	local file

	for file in include/hwtimer/{libhwtimer,linux/hwtimer}.h \
		include/hwtimer/hwtimer_{epoll,libevent,libuv,glib,sd_event,uring}.h \
		include/hwtimer/hwtimer_asio.hpp \
		lib/libhwtimer.{a,so,so.1} lib/pkgconfig/libhwtimer.pc \
		bin/hwtimerctl share/bash-completion/completions/hwtimerctl \
		share/zsh/site-functions/_hwtimerctl \
		share/fish/vendor_completions.d/hwtimerctl.fish \
		share/man/man1/hwtimerctl.1 share/man/man3/libhwtimer.3 \
		share/man/man3/hwt_timer.3 \
		share/man/man4/hwtimer.4 share/man/man4/hwtimer_interface.4; do
		[ -e "$ROOT/root/usr/$file" ] || echo "missing: $file"
	done | silent && find "$ROOT/root/usr" ! -perm -o=r | silent && compgen -G "$ROOT/root/lib/modules/*/updates/hwtimer.ko*" || return
	[ "$(ls "$ROOT/root/usr/include")" = hwtimer ]
}

# One place has the version, and others repeat it.
versions_agree()
{
	local version

	version=$(sed -n 's/^#define HWTIMER_VERSION "\(.*\)"/\1/p' version.h)
	[ -n "$version" ] || return
	# The tarball has no debian/.
	grep -q "^PACKAGE_VERSION=\"$version\"\$" dkms.conf && { [ ! -e debian ] ||
		sed -n "1s/^hwtimer (\([0-9.]*\).*/\1/p" debian/changelog | grep -x "$version"; } &&
		[ "$(sed -n 's/^#define HWT_VERSION_M[A-Z]* //p' user/lib/libhwtimer.h |
			paste -s -d .)" = "$version" ] &&
		grep "^## $version" CHANGELOG.md &&
		grep "^__version__ = \"$version\"\$" user/python/hwtimer/_version.py &&
		[ "$(modinfo -F version "$ROOT"/root/lib/modules/*/updates/hwtimer.ko*)" = \
			"$version" ] &&
		[ "$("$BUILD_DIR/tool/hwtimerctl" --version)" = "hwtimerctl $version" ] &&
		grep "^Version: $version\$" "$ROOT/root/usr/lib/pkgconfig/libhwtimer.pc"
}

readme_holds()
{
	[ "$(wc -w <README.md)" -lt 1200 ] || return
	[ "$(stat --format %s Documentation/bench.png)" -lt 200000 ] || return
	packaging/links.py ./*.md Documentation/*.md ./*/README.md ./*/*/README.md || return
	headings_exist | silent
}

# Lists links to headings that do not exist.
headings_exist()
{
	python3 - ./*.md Documentation/*.md ./*/README.md ./*/*/README.md <<'END'
import os, re, sys

texts = {os.path.normpath(page): re.sub(r"^```.*?^```", "", open(page).read(),
                                        flags=re.S | re.M) for page in sys.argv[1:]}
anchors = {page: {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
                  for heading in re.findall(r"^#+ (.*)$", text, re.M)}
           for page, text in texts.items()}
for page, text in texts.items():
    for link, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)]*)\)", text):
        to = os.path.normpath(os.path.join(os.path.dirname(page), link)) if link else page
        if anchor not in anchors.get(to, ()):
            print(f"{page}: {link}#{anchor}")
END
}

# Each file says it, and debian/copyright of each; three pages have the same sentence.
licences_agree()
{
	local page

	for page in LICENSES/MIT README.md CONTRIBUTING.md; do
		tr '\n' ' ' <"$page" | grep -q 'The libraries, the programs and the examples are MIT' ||
			echo "$page says something else"
	done | silent || return
	[ -e debian ] || return 0
	source_files | python3 -c '
import fnmatch, re, sys

stanzas = re.findall(r"^Files:(.*?)^Copyright:.*?^License: (\S+)", open("debian/copyright").read(),
                     re.S | re.M)
for name in sys.stdin.read().split("\0"):
    try:
        said = re.search(r"^\W*SPDX-License-Identifier: (\S+)", open(name).read(400), re.M)
    except (OSError, UnicodeDecodeError):
        continue
    last = [licence for patterns, licence in stanzas
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split())][-1]
    if said and said[1][:3] != last[:3]:
        print(f"{name} is {said[1]}, and debian/copyright says {last}")
' | silent
}

# All functions that the header declares, inline ones too
functions()
{
	sed -n "s/^[a-z].*[ *]\(hwt_[a-z_]*\)(.*/\1/p" \
		user/lib/libhwtimer.h | sort
}

# Names that debhelper needs for its own parts stand for the packages that have these.
build_depends_listed()
{
	local page=Documentation/installing.md package

	sed -n '/^Build-Depends:/,/^[^ B]/p' debian/control | tr -d ',' |
		sed -n 's/^\(Build-Depends:\)\? \([^ ]*\).*/\2/p' | sed '
			s/debhelper-compat/debhelper/
			s/dh-sequence-dkms/dh-dkms/
			s/dh-sequence-python3/dh-python/
			/dh-sequence-installsysusers/d
			/python3:any/d' |
		while read -r package; do
			sed -n '/^sudo apt install build-essential debhelper/,/[^\\]$/p' \
				"$page" | grep -q -w -e "$package" ||
				echo "$page lacks $package"
		done | silent
}

exports_match()
{
	exports_of "$ROOT/root/usr/lib/libhwtimer.so"
}

# exports_of LIBRARY: it exports the functions of the header, and these have their versions
exports_of()
{
	diff <(functions | sort -u | sed 's/$/@@LIBHWTIMER_0.9/') \
	     <(nm -D --defined-only --with-symbol-versions "$1" |
	       awk '$2 == "T" { print $3 }' | sort)
}

# with_package PYTHON-ARGUMENT...: Debian's Python, with the package and the library
with_package()
{
	LD_LIBRARY_PATH=$ROOT/root/usr/lib PYTHONPATH=user/python PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 "$@"
}

python_layout()
{
	user/python/abi.py && with_package user/python/test/layout.py >"$ROOT/layout.c" &&
		[ "$(wc -l <"$ROOT/layout.c")" -gt 150 ] &&
		gcc -std=gnu11 -Wall -Werror -c -o "$ROOT/layout.o" -Iuser/lib -Iuapi \
			"$ROOT/layout.c"
}

python_installed()
{
	installed install-python PYTHONDIR=/usr/python || return
	diff -r --exclude=__pycache__ user/python/hwtimer "$ROOT/root/usr/python/hwtimer" || return
	installed uninstall-python PYTHONDIR=/usr/python
	! [ -e "$ROOT/root/usr/python/hwtimer" ]
}

page_has_functions()
{
	diff <(functions | sort -u) \
	     <(for page in user/man/*.3; do
		       sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/s/^\.Fn \(hwt[a-z_]*\) .*/\1/p' \
			       "$page"
	       done | sort)
}

# What `man FUNCTION` shows is a page that has the function in its synopsis.
man_finds_functions()
{
	local function

	for function in $(functions); do
		man --manpath="$ROOT/root/usr/share/man" --no-hyphenation 3 "$function" 2>&1 |
			sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' |
			sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' | grep "\\<$function(" >/dev/null ||
			echo "man does not find $function"
	done | silent || return
	man --manpath="$ROOT/root/usr/share/man" 4 hwtimer_bulk 2>&1 |
		sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' | grep 'struct hwtimer_bulk {'
}

# Each page says how to report a bug, and what version it is about; those of programs say
# how they end.
pages_are_complete()
{
	local page section

	for page in user/man/*.[0-9]; do
		for section in "Sh NAME" "Sh SYNOPSIS" "Sh DESCRIPTION" "Sh SEE ALSO" \
			"Sh VERSIONS" "Sh BUGS" "Ss Reporting bugs"; do
			grep -q "^\.$section\$" "$page" || echo "$page lacks $section"
		done
		case $page in
		*.[18]) grep -q '^\.Sh EXIT STATUS$' "$page" || echo "$page: exit status?" ;;
		*) grep -q '^\.Sh ERRORS$' "$page" || echo "$page lacks ERRORS" ;;
		esac
		# Otherwise groff calls it a page of BSD.
		man --no-hyphenation --local-file "$page" 2>&1 | head -n 1 |
			grep -q ' Linux .* Manual ' || echo "$page is not a page of Linux"
	done | silent
}

commands()
{
	grep -o 'HWTIMER_IOC_[A-Z_]*' uapi/linux/hwtimer.h | grep -v _MAGIC |
		sort -u
}

# has_commands FILE
has_commands()
{
	commands | while read -r command; do
		grep -q "$command" "$1" || echo "missing: $command"
	done | silent
}

calls_are_current()
{
	test/vm/calls.py | silent
}

has_errors()
{
	diff <(grep '^|' Documentation/calls.md | grep -o '\<E[A-Z0-9]\{3,\}\>' | sort -u) \
	     <(sed -n 's/^\.It Er \(.*\)/\1/p' user/man/hwtimer.4 | sort)
}

# The man page has them under FILES, and installing.md has a table.
parameters_are_documented()
{
	module_files | xargs grep -ho '^module_param[a-z_]*([a-z_]*' | sed 's/.*(//' | sort >"$ROOT/parameters"
	[ -s "$ROOT/parameters" ] || return
	sed -n '/^\.Sh FILES/,/^\.Sh EXAMPLES/p' user/man/hwtimer.4 |
		sed -n 's/^\.Va \([a-z_]*\).*/\1/p' | sort -u |
		diff "$ROOT/parameters" - || return
	sed -n '/^## Module parameters/,/^Put /p' Documentation/installing.md |
		sed -n 's/^| \x60\([a-z_]*\)\x60 |.*/\1/p' | sort |
		diff "$ROOT/parameters" -
}

# Programs see ERESTARTSYS as EINTR, and io_uring takes EIOCBQUEUED.
errors_are_listed()
{
	module_files | grep '\.c$' | xargs grep -oh -e '-E[A-Z0-9]\{3,\}\>' | tr -d - | sort -u |
		grep -v -x -e ERESTARTSYS -e EIOCBQUEUED | while read -r error; do
		grep -q "^|.*\<$error\>" Documentation/calls.md ||
			echo "missing: $error"
	done | silent
}

# Constants and macros
numbers_are_tested()
{
	sed -n -e 's/^#define \(HWTIMER_[A-Z_]*\).*/\1/p' \
		-e 's/^\t\(HWTIMER_[A-Z_]*\) = .*/\1/p' uapi/linux/hwtimer.h |
		sort -u >"$ROOT/numbers"
	[ "$(wc -l <"$ROOT/numbers")" -gt 40 ] || return
	while read -r number; do
		grep -q -w -e "$number" -e "NUMBER(${number#HWTIMER_}" selftests/abi.c ||
			echo "missing: $number"
	done <"$ROOT/numbers" | silent
}

# Also: a figure that somebody has changed by hand is found.
tables_are_current()
{
	local copy=$ROOT/pages

	python3 bench/pages.py --check || return
	mkdir -p "$copy"
	cp --parents README.md Documentation/benchmark.md Documentation/bench.json \
		bench/pages.py bench/report.py "$copy"
	python3 "$copy/bench/pages.py" --check || return
	sed -i '/^<!-- bench curve -->$/,/^<!-- end/ s/ | [0-9]/&1/' \
		"$copy/Documentation/benchmark.md"
	! python3 "$copy/bench/pages.py" --check
}

# Prototypes, and errors that comments of the headers name
manual_is_current()
{
	user/man/synopsis.py | silent
}

# The pages are about Linux wherever they are read, and refer to pages of other packages.
mandoc_accepts()
{
	{ mandoc -T lint -W style "$1" 2>"$ROOT/log" || true; } |
		{ grep -v -e 'operating system explicitly specified' \
			-e 'referenced manual not found' || true; } | silent
}

# install_in LIBDIR: install the library as a distribution does
install_in()
{
	make --no-print-directory -C user/lib OUT="$BUILD_DIR/lib" install \
		DESTDIR="$ROOT/tree" PREFIX=/usr LIBDIR="$1" >&2
}

# pkg_config_knows LIBDIR: it names no directory in which the compiler looks anyway
pkg_config_knows()
{
	install_in "$1" || return
	[ "$(PKG_CONFIG_PATH=$ROOT/tree$1/pkgconfig pkg-config --cflags --libs libhwtimer |
		sed 's/ *$//')" = "-I/usr/include/hwtimer -lhwtimer" ]
}

# cmake_knows LIBDIR: a project finds it in a tree that is not where it was made for, builds with
# both libraries and an adapter, and runs; and does not find the next version
cmake_knows()
{
	local project=$ROOT/project

	rm -rf "$ROOT/tree" "$project" && install_in "$1" && mkdir "$project" || return
	source_of_program | sed '1i #include <hwtimer_epoll.h>' >"$project/program.c"
	cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(program LANGUAGES C)
find_package(hwtimer ${WANTED} REQUIRED)
foreach(library hwtimer hwtimer_static)
	add_executable(with_${library} program.c)
	target_link_libraries(with_${library} PRIVATE hwtimer::${library})
endforeach()
END
	cmake_with "" && cmake --build "$project/build" && "$project/build/with_hwtimer" &&
		"$project/build/with_hwtimer_static" || return
	ldd "$project/build/with_hwtimer" | grep -F "$ROOT/tree$1/libhwtimer.so.1" || return
	! ldd "$project/build/with_hwtimer_static" | grep libhwtimer || return
	cmake_with 0.9 && ! cmake_with 0.10 && ! cmake_with 1.0
}

# cmake_with VERSION
cmake_with()
{
	rm -rf "$ROOT/project/build"
	cmake -S "$ROOT/project" -B "$ROOT/project/build" -DWANTED="$1" \
		-DCMAKE_PREFIX_PATH="$ROOT/tree/usr"
}

# program COMPILER...: build the program with the flags of pkg-config, and run it. It
# finds no device here, or one that works.
program()
{
	local flags=() file=$ROOT/program.source

	source_of_program >"$file"
	read -r -a flags < <(PKG_CONFIG_SYSROOT_DIR=$ROOT/root \
		PKG_CONFIG_PATH=$ROOT/root/usr/lib/pkgconfig \
		pkg-config --cflags --libs libhwtimer)
	"$@" -Wall -Wextra -Wpedantic -Werror -o "$ROOT/program" "$file" \
		-x none "${flags[@]}" || return
	LD_LIBRARY_PATH=$ROOT/root/usr/lib "$ROOT/program"
}

# What make would do on a machine without anything, as it says
no_multilib()
{
	make --no-print-directory --dry-run --always-make library tool examples \
		>"$ROOT/commands" 2>&1 || return
	grep build-essential "$ROOT/commands" && ! grep multilib "$ROOT/commands"
}

# On a machine without apt, dpkg, pkg-config and all libraries, with clang if it is here
builds_elsewhere()
{
	local bin=$ROOT/bin tree=$ROOT/elsewhere compiler=gcc

	! command -v clang >/dev/null || compiler=clang
	mkdir -p "$bin" "$tree" && ln -s /usr/bin/* "$bin" 2>/dev/null
	rm -f "$bin"/apt* "$bin"/dpkg* "$bin"/*pkg-config* "$bin"/pkgconf*
	cp -r Makefile version.h uapi user examples test Kbuild "$tree" || return
	env --unset=WERROR PATH="$bin" make --no-print-directory -C "$tree" CC=$compiler \
		CFLAGS=-O0 library tool examples || return
	"$tree/build/tool/hwtimerctl" --version && [ -x "$tree/build/examples/retry" ] &&
		[ ! -e "$tree/build/examples/lease" ]
}

# lto_with COMPILER COMPILER: the second one may be missing
lto_with()
{
	program_with "the library builds with LTO" links_lto "$@" -flto
}

# links_lto COMPILER OPTION...: both libraries are built so, and programs link with them
links_lto()
{
	local compiler=$1 out=$ROOT/lto-$1 archiver=ar

	shift
	[ "$compiler" != gcc ] || archiver="gcc-ar"
	make --no-print-directory -C user/lib OUT="$out" CC="$compiler" AR="$archiver" \
		CFLAGS="-O2 $*" || return
	exports_of "$out/libhwtimer.so" || return
	source_of_program >"$ROOT/program.c"
	"$compiler" -O2 "$@" -o "$ROOT/program" "$ROOT/program.c" \
		-I"$ROOT/root/usr/include/hwtimer" "$out/libhwtimer.so" &&
		LD_LIBRARY_PATH=$out "$ROOT/program" || return
	"$compiler" -O2 "$@" -static -o "$ROOT/program" "$ROOT/program.c" \
		-I"$ROOT/root/usr/include/hwtimer" "$out/libhwtimer.a" && "$ROOT/program"
}

# builds_static COMPILER: library, tool and examples, and a program that uses an adapter
builds_static()
{
	local out=$ROOT/static

	rm -rf "$out"
	set -- CC="$1" CFLAGS=-O0 LDFLAGS=-static JANSSON=no LEASE=no URING=no
	make --no-print-directory -C user/lib "$@" OUT="$out" LDFLAGS= &&
		make --no-print-directory -C user/tool "$@" OUT="$out/tool" &&
		make --no-print-directory -C examples "$@" OUT="$out/examples" || return
	source_of_program | sed '1i #include <hwtimer_epoll.h>' >"$ROOT/program.c"
	# shellcheck disable=SC2086 # the compiler's options
	${1#CC=} -static -Iuser/lib -Iuser/lib/adapters -Iuapi -o "$ROOT/program" \
		"$ROOT/program.c" "$out/libhwtimer.a" && "$ROOT/program" || return
	"$out/tool/hwtimerctl" --version || return
	"$out/examples/retry" --help || [ $? -eq 2 ] || return
	! readelf --dynamic "$ROOT/program" "$out/tool/hwtimerctl" "$out/examples/retry" |
		grep NEEDED
}

# musl has no headers of the kernel. The adapters compile with those of the other libraries.
builds_with_musl()
{
	local kernel=$ROOT/kernel musl

	mkdir -p "$kernel"
	ln -s /usr/include/{linux,asm-generic,event2,uv,uv.h,liburing,liburing.h,systemd} \
		"/usr/include/$(gcc -print-multiarch)/asm" "$kernel"
	musl="musl-gcc -isystem $kernel"
	builds_static "$musl" || return
	readelf --dynamic "$ROOT/static/libhwtimer.so" | grep NEEDED | tee "$ROOT/needed"
	[ "$(sed 's/.*\[//; s/\]//' "$ROOT/needed")" = libc.so ] || return
	# shellcheck disable=SC2086 # the compiler's options
	adapters_program $musl -std=c11 -x c || return
	# shellcheck disable=SC2086
	$musl -I"$ROOT/root/usr/include/hwtimer" -o "$ROOT/program" "$ROOT/program.c" \
		"$ROOT/static/libhwtimer.so" && LD_LIBRARY_PATH=$ROOT/static "$ROOT/program"
}

# compiles_for ARCHITECTURE: with Debian's cross compiler. That has no other libraries, and
# does not link shared ones, as it is not where Debian puts it.
compiles_for()
{
	local prefix out=$ROOT/$1

	case $1 in
	arm64) prefix=aarch64-linux-gnu- ;;
	riscv64) prefix=riscv64-linux-gnu- ;;
	esac
	(
		find_compiler "$1" "$prefix"
		set -- CC="ccache ${prefix}gcc" AR="${prefix}gcc-ar" LDFLAGS=-static \
			JANSSON=no LEASE=no URING=no LIBUV=no
		make --no-print-directory -C user/lib "$@" OUT="$out" "$out/libhwtimer.a" &&
			make --no-print-directory -C user/tool "$@" OUT="$out/tool" &&
			make --no-print-directory -C examples "$@" \
				OUT="$out/examples" || return
		"${prefix}readelf" -h "$out/examples/retry" "$out/tool/hwtimerctl" |
			grep -E 'AArch64|RISC-V'
	)
}

# adapters_with COMPILER COMPILER OPTION...: adapters_program() with both; the second one may
# be missing
adapters_with()
{
	program_with "a program uses the adapters" adapters_program "$@"
}

# program_with WHAT FUNCTION COMPILER COMPILER OPTION...
program_with()
{
	local what=$1 function=$2 compiler compilers="$3 $4"

	shift 4
	for compiler in $compilers; do
		if command -v "$compiler" >/dev/null; then
			check "$compiler $1: $what" "$function" "$compiler" "$@"
		else
			skip "$compiler $1: $what" "$compiler is not installed"
		fi
	done
}

# adapters_program COMPILER...: programs that include one header, or all, compile. Only the own
# headers of libuv and liburing need extensions of the C library.
adapters_program()
{
	local flags=() header extensions

	need_packages libevent-dev libuv1-dev libglib2.0-dev libsystemd-dev liburing-dev
	read -r -a flags < <(pkg-config --cflags glib-2.0 libsystemd | sed 's/-I/-isystem /g')
	for header in "$ROOT"/root/usr/include/hwtimer/*.h; do
		echo "#include <${header##*/}>" | tee "$ROOT/adapter.source"
		extensions=-U_GNU_SOURCE
		[[ $header != *libuv* && $header != *uring* ]] || extensions=-D_GNU_SOURCE
		"$@" $extensions -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
			-Wsign-conversion -Werror "${flags[@]}" -I"$ROOT/root/usr/include/hwtimer" \
			"$ROOT/adapter.source" >&2 || return
	done >"$ROOT/adapters.source"
	"$@" -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Wpedantic -Werror "${flags[@]}" \
		-I"$ROOT/root/usr/include/hwtimer" "$ROOT/adapters.source"
}

# The one for Boost.Asio is not C. The selftests use it, in C++17.
asio_program()
{
	need_packages libboost-dev libasio-dev
	cat >"$ROOT/asio.cc" <<'END'
#include <hwtimer_asio.hpp>

std::future<void> wait(hwt_asio &timers)
{
	hwt_asio::timer timer(timers, std::chrono::seconds(1));

	timer.async_wait([](const hwt_asio_error &) {});
	return timer.async_wait(hwt_asio_library::use_future);
}
END
	"$@" -fsyntax-only -x c++ -Wall -Wextra -Wpedantic -Wold-style-cast -Wshadow -Wconversion \
		-Wsign-conversion -Werror \
		-I"$ROOT/root/usr/include/hwtimer" "$ROOT/asio.cc"
}

# class_program COMPILER...: all macros in a program with warnings, and a class that isn't of
# standard layout: it has virtual functions, a base with members, and private members
class_program()
{
	cat >"$ROOT/class.cc" <<'END'
#include <libhwtimer.h>

class base {
public:
	virtual ~base() {}
	int first = 0;
};

class connection : public base {
	struct hwt_timer timers[2] = {};

	template <typename T> static T *generic(struct hwt_timer *timer)
	{
		return hwt_timer_object(timer, T, timers[0]);
	}

public:
	bool is_found()
	{
		return hwt_timer_object(&timers[1], connection, timers[1]) == this &&
		       generic<connection>(&timers[0]) == this;
	}
};

int main()
{
	connection it;
	int clock = HWTIMER_CLOCKID(HWTIMER_CLOCK(7U));

	return !it.is_found() || clock != 7 ||
	       HWTIMER_LATENESS_BOUND(4) != 1024 || hwt_error(HWTIMER_NEVER) ||
	       HWTIMER_IOC_LIST == HWTIMER_IOC_CANCEL_ALL;
}
END
	"$@" -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast \
		-Werror -I"$ROOT/root/usr/include/hwtimer" -o "$ROOT/class" "$ROOT/class.cc" &&
		"$ROOT/class"
}

static_program()
{
	source_of_program >"$ROOT/program.c"
	gcc -static -o "$ROOT/program" "$ROOT/program.c" \
		-I"$ROOT/root/usr/include/hwtimer" \
		"$ROOT/root/usr/lib/libhwtimer.a" && "$ROOT/program"
}

source_of_program()
{
	cat <<'END'
#include <libhwtimer.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	struct hwt *hwt;
	int expected = access("/dev/hwtimer", R_OK | W_OK) ? -errno : 0;
	int err = hwt_open(&hwt, HWT_NONBLOCK);

	printf("%u: %d, not %d\n", hwt_version(), err, expected);
	if (!err)
		hwt_close(hwt);
	return err != expected || hwt_version() != HWT_VERSION;
}
END
}

make_tool()
{
	make --no-print-directory -C user/tool OUT="$BUILD_DIR/tool" WERROR=1 >&2
	PATH=$BUILD_DIR/tool:$PATH
}

COMMANDS="info stats next owners watch plot metrics list save restore schedule"

# The options of a command, a line each
options_of()
{
	hwtimerctl "$1" --help | sed -n 's/^  -., \(--[a-z-]*\).*/\1/p'
}

# completes: completion offers every command, and every option of each
completes()
{
	local command column

	make_tool || return
	offers 1 hwtimerctl "" | diff - <(echo "$COMMANDS --help --version") || return
	for command in $COMMANDS; do
		[ -n "$(options_of "$command")" ] &&
			offers 2 hwtimerctl "$command" -- |
			tr ' ' '\n' | diff - <(options_of "$command") || return
	done
	# The columns by which watch sorts. It knows them before it looks for the module.
	[ "$(offers 3 hwtimerctl watch --sort "" | wc -w)" -eq 12 ] || return
	for column in $(offers 3 hwtimerctl watch --sort ""); do
		says 2 'invalid --count' watch --sort "$column" --count 0 || return
	done
	# The descriptors of a process. Nothing that stands in its place is run.
	offers 3 hwtimerctl list 7 "" | grep -w 3 || return
	offers 3 hwtimerctl list "7/touch ${ROOT//\//\\/}\\/ran/e;#" ""
	! [ -e "$ROOT/ran" ]
}

# offers INDEX WORD...: what bash offers for the word
offers()
{
	# shellcheck disable=SC2016 # the other shell's variables
	bash -c '. user/tool/hwtimerctl.bash
		COMP_CWORD=$1
		COMP_WORDS=("${@:2}")
		if [ "$1" -eq 3 ]; then
			hwtimerctl() { [ "$1" = stats ] && echo "      7   3 name  1"; }
		fi
		_hwtimerctl
		echo "${COMPREPLY[*]}"' - "$@"
}

completes_in_fish()
{
	local command

	fish_offers "hwtimerctl " | diff - <(tr ' ' '\n' <<<"$COMMANDS --help --version" |
					     sort) || return
	for command in $COMMANDS; do
		fish_offers "hwtimerctl $command --" |
			diff - <(options_of "$command" | sort) || return
	done
	# The descriptors of a process; what stands in its place may be anything.
	fish_offers "hwtimerctl list 7 " | grep -x 3 || return
	! fish_offers 'hwtimerctl list .* ' | grep -v '^--' &&
		! fish_offers 'hwtimerctl list \( ' 2>&1 | grep -v '^--'
}

# fish_offers LINE
fish_offers()
{
	# shellcheck disable=SC2016 # the other shell's variables
	HOME=$ROOT fish --no-config --command '
		source user/tool/hwtimerctl.fish
		function hwtimerctl
			test "$argv" = stats; and echo "      7   3 name  1"
			test "$argv" != stats; and command hwtimerctl $argv
		end
		complete --do-complete $argv[1]' "$1" |
		cut -f 1 | sort
}

# zsh shows on a terminal what it offers: each command, and the options of one
completes_in_zsh()
{
	local word

	cp user/tool/hwtimerctl.zsh "$ROOT/_hwtimerctl"
	zsh -f user/tool/test/complete.zsh "$ROOT" "hwtimerctl " >"$ROOT/offered" || return
	for word in $COMMANDS; do
		grep -a -q "$word *-- " "$ROOT/offered" || echo "missing: $word"
	done | silent || return
	zsh -f user/tool/test/complete.zsh "$ROOT" "hwtimerctl plot --" >"$ROOT/offered" ||
		return
	for word in $(options_of plot); do
		grep -a -q -e "$word *-- " "$ROOT/offered" || echo "missing: $word"
	done | silent
}

# Completion offers pictures for plot's picture, and all files where any may be given.
completes_files() (
	local script=$PWD/user/tool/hwtimerctl.bash

	mkdir -p "$ROOT/files/a directory" && cd "$ROOT/files" &&
		touch 'a b.png' c.svg d.txt || return
	bash -c 'compopt() { [ "$*" = "-o filenames" ] && echo files; }
		. "$1"
		complete_word() {
			COMP_WORDS=(hwtimerctl plot "$@")
			COMP_CWORD=$((1 + $#))
			_hwtimerctl
			printf "%s\n" "${COMPREPLY[@]}" | grep -v "^--" | sort -u
		}
		complete_word ""
		complete_word x.png --from ""
		complete_word --pid x' - "$script" | diff - <(cat <<'END'
files
a b.png
a directory
c.svg
files
a b.png
a directory
c.svg
d.txt

END
	)
)

# record SECONDS TIMERS: a record of 'stats --json' at that time. Of the timers a half was
# cancelled, a quarter expired, and a tenth was delivered. The second entry is another
# descriptor of the first instance.
record()
{
	local fd expired=$(($2 / 4)) instances=()

	for fd in 3 4; do
		instances+=("{\"pid\": 7, \"fd\": $fd, \"comm\": \"a \\\"b\\\"\", \"instance\": 1, \"pending\": $(($2 / 4)), \"ready\": 5, \"bytes\": 1048576, \"scheduled\": $2, \"cancelled\": $(($2 / 2)), \"expired\": $expired, \"delivered\": $(($2 / 10)), \"lateness_sum\": $((expired * 600)), \"lateness\": [0, 0, $expired]}")
	done
	printf '{"schema": "hwtimer-stats/1", "host": "it'"'"'s a host", "time": %s, "realtime": %s, "instances": [%s, %s]}\n' \
		"${1}000000000" "$((1764000000 + $1))000000000" "${instances[@]}"
}

records()
{
	record 5 100
	record 6 300
	record 10 1100
}

# gnuplot's input: 200 timers in a second, then 800 in four seconds
plots_rates()
{
	make_tool || return
	records >"$ROOT/records"
	data "$ROOT/records" | diff - <(cat <<'END'
$points << EOD
1.000 200.000 100.000 50.000 20.000 75 5 1.000 0.000000768 0.000000768 0.000000768
5.000 200.000 100.000 50.000 20.000 275 5 1.000 0.000000768 0.000000768 0.000000768
EOD
$lateness << EOD
"768ns" 250
EOD
END
	)
}

# data FILE: what gnuplot would draw of these records
data()
{
	build/tool/hwtimerctl plot --from "$1" --script x.svg >"$ROOT/script" ||
		return
	sed -n '/^.points <</,/^EOD/p; /^.lateness <</,/^EOD/p' "$ROOT/script"
}

# Before the second record the module was loaded again, so another instance is number 1.
# After the third record the machine was restarted.
plots_restarts()
{
	(record 5 1000; record 6 200; record 7 400; record 2 0; record 4 80) \
		>"$ROOT/restarts"
	data "$ROOT/restarts" | cut -d ' ' -f 1-5 | diff - <(cat <<'END'
$points << EOD
1.000 200.000 100.000 50.000 20.000
2.000 200.000 100.000 50.000 20.000
4.000 40.000 20.000 10.000 4.000
EOD
$lateness << EOD
"768ns" 120
EOD
END
	)
}

# A loop that writes records may be stopped anywhere, so the last one can be cut anywhere.
plots_what_was_cut()
{
	local length last

	last=$(record 7 0 | wc -c)
	(records; record 11 1300) >"$ROOT/whole"
	data "$ROOT/records" >"$ROOT/expected" || return
	for length in 2 5 12 40 150 "$((last / 2))" "$((last - 4))"; do
		(records; record 11 1300 | head -c "$length") >"$ROOT/cut"
		data "$ROOT/cut" 2>"$ROOT/said" | diff "$ROOT/expected" - &&
			grep 'is cut' "$ROOT/said" || return
	done
	! data "$ROOT/whole" 2>&1 | diff -q "$ROOT/expected" -
}

plots_a_pipe()
{
	data "$ROOT/records" >"$ROOT/expected" &&
		records | data - | diff "$ROOT/expected" -
}

# Each record is an object on a line, which jq and Python read.
others_read_records()
{
	[ "$(jq .instances[0].scheduled "$ROOT/records" | xargs)" = "100 300 1100" ] &&
		[ "$(jq -r .schema "$ROOT/records" | sort -u)" = hwtimer-stats/1 ]
}

titles()
{
	hwtimerctl plot --script --from "$ROOT/records" x.svg >"$ROOT/script" &&
		grep "title 'hwtimer on it''s a host, 2025-11-24 1.:..:.. .*: 1 instance, 5.00s'" \
			"$ROOT/script" &&
		grep 'late by less than: 50% 768ns, .*99.9% 768ns' "$ROOT/script" &&
		grep 'MiB' "$ROOT/script" && grep 'set logscale y' "$ROOT/script"
}

# The picture is opened before anything is recorded, and is whole or not there.
unwritable()
{
	says 1 'directory of' plot --from "$ROOT/records" "$ROOT/nowhere/x.png" || return
	mkdir -p "$ROOT/directory.png"
	says 1 'not a regular file' plot --from "$ROOT/records" "$ROOT/directory.png" ||
		return
	says 1 'fewer than two' plot --from /dev/null "$ROOT/none.png" || return
	! compgen -G "$ROOT/none.png*"
}

without_jansson()
{
	make --no-print-directory -C user/tool OUT="$ROOT/tool" JANSSON=no WERROR=1 || return
	! "$ROOT/tool/hwtimerctl" metrics --from "$ROOT/records" >"$ROOT/said" 2>&1 &&
		grep 'built without jansson' "$ROOT/said"
}

# A parser accepts them, and the histogram adds up.
metrics_are_valid()
{
	hwtimerctl metrics --from "$ROOT/records" >"$ROOT/metrics" &&
		/usr/bin/python3 user/tool/test/metrics.py "$ROOT/metrics" || return
	hwtimerctl metrics --from "$ROOT/records" --output "$ROOT/metrics.prom" &&
		diff "$ROOT/metrics" "$ROOT/metrics.prom" &&
		[ "$(stat --format %a "$ROOT/metrics.prom")" = 644 ]
}

# Without standard error, the warning that the owner cannot be kept is not in the file. Only
# root can make an owner that cannot be kept.
keeps_messages_out()
{
	local file=$ROOT/messages.prom

	: >"$file"
	[ "$(id -u)" -ne 0 ] || chown 1234 "$file"
	unshare --user --map-root-user "$BUILD_DIR/tool/hwtimerctl" metrics \
		--from "$ROOT/records" --output "$file" 2>&- || return
	hwtimerctl metrics --from "$ROOT/records" | diff - "$file" || return
	! hwtimerctl metrics --from "$ROOT/records" >&-
}

# The names of all metrics in the dashboard are those of samples.
dashboard()
{
	hwtimerctl metrics --from "$ROOT/records" >"$ROOT/metrics" || return
	jq -r '.panels[].targets[].expr' packaging/grafana/hwtimer.json >"$ROOT/exprs" &&
		[ "$(wc -l <"$ROOT/exprs")" -ge 6 ] || return
	grep -o 'hwtimer_[a-z_]*' "$ROOT/exprs" | sort -u | while read -r name; do
		grep -q "^${name}[{ ]" "$ROOT/metrics" || echo "no such metric: $name"
	done | silent
}

# gnuplot may take a name for a command, or for several.
names_are_no_commands() (
	local name tool=$PWD/build/tool/hwtimerctl

	mkdir -p "$ROOT/names" && cd "$ROOT/names" || return
	for name in '|touch ran #.svg' '~x.svg' "it's.svg" "a';!touch ran;'.svg"; do
		"$tool" plot --from "$ROOT/records" "$name" &&
			[ -s "$name" ] && [ ! -e ran ] || return
	done
	! "$tool" plot --from "$ROOT/records" $'a\n!touch ran\n.svg' &&
		[ ! -e ran ] || return
	# The name of a machine, in a file that came from there
	sed 's/"host": "[^"]*"/"host": "a\\n!touch ran\\n"/' "$ROOT/records" >host &&
		grep -q 'a\\n!touch' host && "$tool" plot --from host host.svg &&
		[ -s host.svg ] && [ ! -e ran ]
)

# draws SUFFIX PATTERN: gnuplot draws a picture whose first bytes match PATTERN
draws()
{
	records >"$ROOT/records"
	build/tool/hwtimerctl plot --from "$ROOT/records" \
		"$ROOT/it's a picture.$1" || return
	head -c 100 "$ROOT/it's a picture.$1" | grep -q -a "$2" &&
		[ "$(stat --format %s "$ROOT/it's a picture.$1")" -gt 5000 ]
}

# The disk has room for the old picture and a part of the new one.
keeps_old_picture()
{
	local small=$ROOT/small suffix

	mkdir -p "$small" || return
	for suffix in png svg; do
		# shellcheck disable=SC2016 # the other shell's variables
		unshare --user --map-root-user --mount bash -c '
			mount -t tmpfs -o size=32k small "$1" &&
				echo old >"$1/x.$3" || exit
			"$2" plot --from "$4" "$1/x.$3" && exit 1
			[ "$(ls "$1")" = "x.$3" ] && [ "$(cat "$1/x.$3")" = old ]' - \
			"$small" "$BUILD_DIR/tool/hwtimerctl" $suffix "$ROOT/records" \
			2>"$ROOT/said" || return
		grep 'unchanged: No space left' "$ROOT/said" || return
	done
}

# says STATUS TEXT ARGUMENT...: the tool exits with STATUS, and its message has TEXT
says()
{
	local expected=$1 text=$2 status=0

	shift 2
	build/tool/hwtimerctl "$@" >"$ROOT/said" 2>&1 || status=$?
	cat "$ROOT/said"
	[ "$status" -eq "$expected" ] && grep -q -e "$text" "$ROOT/said"
}

without_gnuplot()
{
	PATH=/nowhere /bin/bash -c '"$@"' - "$BUILD_DIR/tool/hwtimerctl" plot \
		--from "$ROOT/records" "$ROOT/none.png" >"$ROOT/said" 2>&1 &&
		return 1
	grep 'apt install gnuplot' "$ROOT/said" && [ ! -e "$ROOT/none.png" ]
}

without_module()
{
	says 1 'modprobe hwtimer' stats &&
		says 1 'modprobe hwtimer' watch --count 1 &&
		says 1 'modprobe hwtimer' plot x.png &&
		says 1 'modprobe hwtimer' next &&
		says 1 'modprobe hwtimer' list 1 1 &&
		says 1 'modprobe hwtimer' save 1 1 "$ROOT/none" &&
		says 1 'modprobe hwtimer' restore "$ROOT/snapshot" -- true &&
		[ ! -e "$ROOT/none" ]
}

# tool_test NAME SOURCE...: build a test of parts of the tool with sanitizers, and run it
tool_test()
{
	local name=$1

	shift
	gcc -std=gnu11 -O1 -g -Wall -Wextra -Werror \
		-Wno-missing-field-initializers -fsanitize=address,undefined \
		-fno-sanitize-recover=all -pthread -Iuser/lib -Iuapi \
		-o "$ROOT/$name" "user/tool/test/$name.c" "$@" && "$ROOT/$name"
}

views()
{
	tool_test view_test user/tool/{view,change,units,instances,array}.c -lm
}

snapshots()
{
	tool_test snapshot_test user/tool/snapshot.c user/tool/revival.c
}

# library_test NAME CFLAG...: build a test of the library with a module made of functions
library_test()
{
	local call wrap=()

	for call in "${WRAPPED[@]}"; do
		wrap+=("-Wl,--wrap=$call")
	done
	test_program "$1" "${MODULE[@]}" "${wrap[@]}" "${@:2}"
}

# test_program NAME SOURCE-OR-FLAG...: build a test of the library
test_program()
{
	gcc -std=gnu11 -g -Wall -Wextra -Werror -Wno-missing-field-initializers \
		-Iuser/lib -Iuapi -Iuser/lib/adapters -o "$ROOT/$1" "user/lib/test/$1.c" user/lib/*.c "${@:2}"
}

SANITIZED=(-O1 "-fsanitize=address,undefined" -fno-sanitize-recover=all)

# The calls that user/lib/test/threads_test.c answers, and DEVICE
DEVICE=(user/lib/test/{device,memory}.c)
WRAPPED_FOR_THREADS="-Wl,--wrap=open,--wrap=close,--wrap=ioctl,--wrap=read"
WRAPPED_FOR_LOOPS="$WRAPPED_FOR_THREADS,--wrap=calloc,--wrap=realloc,--wrap=free"

timer_objects()
{
	library_test timer_test "${SANITIZED[@]}" && "$ROOT/timer_test" 4000
}

# ThreadSanitizer does not know all places to which the kernel may move a program.
manual_clock()
{
	local sources=(user/lib/test/memory.c -pthread "-Wl,--wrap=calloc,--wrap=realloc,--wrap=free") run=()

	! setarch -R true || run=(setarch -R)
	test_program manual_test "${sources[@]}" "${SANITIZED[@]}" && "$ROOT/manual_test" &&
		test_program manual_test "${sources[@]}" -O1 -fsanitize=thread &&
		"${run[@]}" "$ROOT/manual_test" 1
}

# The two tests that the guide shows
tests_of_the_guide()
{
	block c hwt_open_manual >"$ROOT/guide_test.c" &&
		gcc -std=gnu11 -O2 -Wall -Wextra -Werror -Iuser/lib -Iuapi -o "$ROOT/guide_test" \
			"$ROOT/guide_test.c" user/lib/*.c && "$ROOT/guide_test" &&
		block python manual=True >"$ROOT/guide_test.py" &&
		with_package -W error "$ROOT/guide_test.py"
}

# block LANGUAGE TEXT: the program of the guide that has the text
block()
{
	awk -v language="$1" -v text="$2" '
		$0 == "```" language { inside = 1; block = ""; next }
		/^```$/ && inside {
			inside = 0
			if (index(block, text) && block ~ /main\(/) {
				printf "%s", block
				found = 1
				exit
			}
		}
		inside { block = block $0 "\n" }
		END { exit !found }' Documentation/guide.md
}

python_on_a_manual_clock()
{
	with_package -W error user/python/test/tap.py test_manual
}

idles()
{
	test_program idle_test "${DEVICE[@]}" "${SANITIZED[@]}" "$WRAPPED_FOR_LOOPS" &&
		"$ROOT/idle_test"
}

bears_misuse()
{
	library_test misuse_test "${SANITIZED[@]}" && "$ROOT/misuse_test"
}

# ThreadSanitizer does not know all places to which the kernel may move a program.
allows_threads()
{
	local run=()

	! setarch -R true || run=(setarch -R)
	test_program threads_test user/lib/test/calls.c -O1 -fsanitize=thread -pthread \
		"$WRAPPED_FOR_THREADS" && "${run[@]}" "$ROOT/threads_test"
}

adapters_bear_misuse()
{
	local flags=()

	need_packages libevent-dev libuv1-dev libglib2.0-dev libsystemd-dev
	read -r -a flags < <(pkg-config --cflags --libs libevent_core libevent_pthreads libuv \
		glib-2.0 libsystemd)
	test_program adapters_test "${DEVICE[@]}" -D_GNU_SOURCE -pthread "${SANITIZED[@]}" \
		"$WRAPPED_FOR_LOOPS" "${flags[@]}" && "$ROOT/adapters_test"
}

# asio_bears_misuse CFLAG...
asio_bears_misuse()
{
	local source objects=()

	need_packages libboost-dev libasio-dev
	for source in user/lib/*.c "${DEVICE[@]}"; do
		objects+=("$ROOT/$(basename "$source").o")
		gcc -std=gnu11 -g -Iuser/lib -Iuapi "${SANITIZED[@]}" -c -o "${objects[-1]}" \
			"$source" || return
	done
	# Compiled by itself, as ccache keeps no programs: Asio takes ten seconds. gcc 12 does not
	# see that Boost's use_future is initialized.
	g++ -std=c++20 -g -Wall -Wextra -Wold-style-cast -Werror -Wno-maybe-uninitialized \
		-Iuser/lib -Iuapi -Iuser/lib/adapters "${SANITIZED[@]}" -pthread "$@" -c \
		-o "$ROOT/asio_test.o" user/lib/test/asio_test.cc &&
		g++ "${SANITIZED[@]}" "$WRAPPED_FOR_LOOPS" -pthread -o "$ROOT/asio_test" \
			"$ROOT/asio_test.o" "${objects[@]}" && "$ROOT/asio_test"
}

# pushes_cheaply INSTRUCTIONS [uncached]: the library is built as `make library` does.
pushes_cheaply()
{
	local count pushes=1000000

	library_test again -O2 -fPIC || return
	valgrind --tool=callgrind --toggle-collect=hwt_timer_again \
		--callgrind-out-file=/dev/null "$ROOT/again" "$pushes" "${@:2}" \
		2>"$ROOT/log" || return
	count=$(sed -n 's/.*Collected : *//p' "$ROOT/log")
	echo "$count instructions for $pushes calls"
	[ "$count" -gt "$pushes" ] && [ "$count" -le $(($1 * pushes)) ]
}

# The sample was saved in another boot, and at a time to come.
checks_snapshots()
{
	"$ROOT/snapshot_test" "$ROOT/snapshot" &&
		says 0 'another boot, clock monotonic' restore --check \
			"$ROOT/snapshot" &&
		says 0 'set back' restore --check "$ROOT/snapshot" &&
		says 0 '5 timers, of which 2 are due' restore --check \
			"$ROOT/snapshot" || return
	sed 's/^timer 5/timer 6/' "$ROOT/snapshot" >"$ROOT/damaged"
	says 1 'damaged:16: the checksum' restore --check "$ROOT/damaged" || return
	head -n 16 "$ROOT/snapshot" >"$ROOT/damaged"
	says 1 'damaged:17: the file is cut off' restore --check "$ROOT/damaged" ||
		return
	head -c 100000 /dev/urandom >"$ROOT/damaged"
	says 1 'damaged:1: ' restore --check "$ROOT/damaged"
}

wrong_snapshot_arguments()
{
	says 2 'a process' list &&
		says 2 'a process' list 1 &&
		says 2 'not the number of a process' list one 2 &&
		says 2 'not the number of a descriptor' list 1 two &&
		says 2 'without PID' list --fd 3 1 2 &&
		says 2 '--backwards' list --backwards &&
		says 2 'name of a file' save &&
		says 2 'a process' save file &&
		says 2 'a process' save 1 file &&
		says 2 'name of a file' restore &&
		says 2 'last descriptor' restore file &&
		says 2 'before the command' restore file true &&
		says 2 'takes no command' restore --check file -- true &&
		says 2 '--limit' restore --limit none file -- true &&
		says 2 '--name' restore --name 'a b' file -- true &&
		says 1 'No such file' restore --check "$ROOT/nothing" &&
		says 0 'does not exist' restore --check --if-exists "$ROOT/nothing" &&
		says 1 'not a regular file' restore --check /dev/null
}

wrong_arguments()
{
	says 2 'now' watch now &&
		says 2 'give a unit, e.g. 1s' watch --interval 1 &&
		says 2 'needs a value' watch --interval &&
		says 2 'needs a value' watch -i &&
		says 2 'unknown option: -q' watch -q &&
		says 2 'unexpected' metrics now &&
		says 2 '--interval' watch --interval 1us &&
		says 2 '--count' watch --count none &&
		says 2 '--count' watch --count 1.5 &&
		says 2 '--count' watch --count 1e309 &&
		says 2 '--count' watch --count -1 &&
		says 2 '--count' watch --count 5e9 &&
		says 2 '--interval' watch --interval '5 s' &&
		says 2 '--interval' watch --interval 5sec &&
		says 2 '--interval' watch --interval 1e309s &&
		says 2 '--interval' watch --interval -5s &&
		says 2 'unexpected argument: now' help watch now &&
		says 2 '--often' watch --often &&
		says 2 'name of a file' plot &&
		says 2 '\.png' plot x.jpeg &&
		says 2 'name of a file' plot x.png y.png &&
		says 2 '\.png' plot .png &&
		says 2 '--seconds' plot x.png --seconds soon &&
		says 2 'too short' plot x.png --seconds 0.4 &&
		says 2 '--seconds' plot x.png --seconds 5u &&
		says 2 '--seconds' plot x.png --seconds 1h30 &&
		says 2 '--seconds' plot x.png --seconds '' &&
		says 2 'control' plot $'x\n.png' &&
		says 2 '--pid' plot x.png --pid 0 &&
		says 2 '--pid' plot x.png --pid 7.5
}

# Each time equals one interval and is long enough; with a longer interval it is too
# short.
seconds_have_units()
{
	local seconds

	for seconds in 60,1m 5400,1h30m 1.5,1500ms 7,7 0.5,.5; do
		says 0 terminal plot --from "$ROOT/records" --script x.svg \
			--interval "${seconds%,*}s" --seconds "${seconds#*,}" ||
			return
		says 2 'too short' plot --from "$ROOT/records" x.svg --interval \
			"$((${seconds%%[.,]*} + 1))s" --seconds "${seconds#*,}" ||
			return
	done
}

wrong_records()
{
	echo '{"a": 1}' >"$ROOT/wrong"
	says 1 'wrong:1: an object without a schema' plot --from "$ROOT/wrong" x.png ||
		return
	records | sed '2s|stats/1|stats/9|' >"$ROOT/wrong"
	says 1 'wrong:2: the schema is hwtimer-stats/9' plot --from "$ROOT/wrong" x.png ||
		return
	# What is in a file does nothing to a terminal.
	records | sed '2s|stats/1|\\u001b]0;x\\u0007|' >"$ROOT/wrong"
	says 1 'wrong:2: the schema is hwtimer-?]0;x?,' plot --from "$ROOT/wrong" x.png ||
		return
	printf '{"\033]0;x\007\n' >"$ROOT/wrong"
	! says 1 $'\033' plot --from "$ROOT/wrong" x.png || return
	records | sed 's/"host": "[^"]*"/"host": "\\u009b31m\\u00c0"/' >"$ROOT/wrong"
	says 0 "title 'hwtimer on ?31m"$'\303\200' plot --script --from "$ROOT/wrong" x.png ||
		return
	records | sed '2s/.instances.: .*/"instances": 1}/' >"$ROOT/wrong"
	says 1 'wrong:2: an object without instances' plot --from "$ROOT/wrong" x.png ||
		return
	records | sed 's/"instances": \[/&3, /' >"$ROOT/wrong"
	says 1 'an instance that is no object' plot --from "$ROOT/wrong" x.png || return
	record 5 100 >"$ROOT/wrong"
	says 1 'fewer than two' plot --from "$ROOT/wrong" x.png || return
	record 5 100 | head -c 100 >"$ROOT/wrong"
	says 1 'fewer than two' plot --from "$ROOT/wrong" x.png || return
	grep -q 'is cut' "$ROOT/said" || return
	(printf '[{"a": '; printf '[%.0s' {1..100000}; echo) >"$ROOT/wrong"
	says 1 'stats --json' plot --from "$ROOT/wrong" x.png || return
	echo '[1]' | says 1 "writes\$" plot --from /dev/stdin x.png || return
	says 1 'directory' plot --from "$ROOT" x.png || return
	says 1 'No such file' plot --from "$ROOT/nothing" x.png || return
	records >"$ROOT/wrong"
	says 1 'no process' plot --from "$ROOT/wrong" --pid 8 x.png
}

# Within 300 MB, of which a record may take 256
endless_records()
{
	(ulimit -v 300000 && says 1 'zero:1: a 0 byte' metrics --from /dev/zero) || return
	records | sed '2s/"fd": 3/"fd": -3/' >"$ROOT/wrong"
	says 1 'wrong:2: a number that is negative' plot --from "$ROOT/wrong" x.png || return
	records | sed '3s/"pid": 7/"pid": 4294967303/' >"$ROOT/wrong"
	says 1 'wrong:3: a number that is .* too large' plot --from "$ROOT/wrong" x.png ||
		return
	records | sed 's/"scheduled": [0-9]*/"scheduled": 99999999999999999999/' >"$ROOT/wrong"
	says 1 'too big integer' plot --from "$ROOT/wrong" x.png || return
	records | sed 's/"scheduled": [0-9]*/"scheduled": NaN/' >"$ROOT/wrong"
	says 1 'wrong:1: ' plot --from "$ROOT/wrong" x.png || return
	tr '\n' '\0' <"$ROOT/records" >"$ROOT/wrong"
	says 1 'a 0 byte' plot --from "$ROOT/wrong" x.png
}

# A user's records lack the number of the instance. Two descriptors that are one file in the
# process that has the number now are two in the record.
records_are_old()
{
	(
		pid=$BASHPID
		exec 3</dev/null 4<&3
		record 5 100 | sed "s/\"instance\": 1, //g; s/\"pid\": 7/\"pid\": $pid/g" \
			>"$ROOT/old"
		hwtimerctl metrics --from "$ROOT/old" | grep -x 'hwtimer_instances 2'
	)
}

# full ARGUMENT...: whether the tool fails, and says why, when nothing can be printed
full()
{
	local status=0

	build/tool/hwtimerctl "$@" 2>"$ROOT/said" >/dev/full || status=$?
	echo "$* >/dev/full: $status"
	[ "$status" -eq 1 ] && grep 'standard output: No space' "$ROOT/said"
}

output_fails()
{
	local command

	for command in $COMMANDS; do
		full "$command" --help && full help "$command" || return
	done
	full --help && full --version &&
		full metrics --from "$ROOT/records" &&
		full plot --from "$ROOT/records" --script x.png &&
		full restore --check "$ROOT/snapshot"
}

dkms_has_licence()
{
	make --no-print-directory install-dkms DESTDIR="$ROOT/dkms" >/dev/null &&
		diff COPYING "$ROOT"/dkms/usr/src/hwtimer-*/COPYING
}

nothing_left()
{
	# depmod's files are about all modules.
	find "$ROOT/root" ! -type d ! -name 'modules.*' | silent
}

# It then removes the module of the running kernel.
uninstall_needs_no_headers()
{
	local module

	module=$ROOT/root/lib/modules/$(uname -r)/updates/hwtimer.ko
	install -D /dev/null "$module" && installed uninstall KDIR="$ROOT/nowhere" 2>&1 >/dev/null |
		silent && [ ! -e "$module" ]
}

main "$@"
