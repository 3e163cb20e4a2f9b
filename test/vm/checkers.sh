#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a correct program of all functions of the library (user/lib/test/checkers_test.c) with
# MemorySanitizer and under valgrind, in User-Mode Linux with the module. These find nothing; and
# with a library that does not tell them what was written, they do. Prints TAP. Called by
# test/vm/check.sh.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=uml-7.3
VALGRIND=/usr/libexec/valgrind
TEMP=

# A library that is built so tells nothing.
SILENT=(-DNVALGRIND -D__msan_unpoison=unpoison_nothing -D__msan_unpoison_param=unpoison_nobody)

main()
{
	cd "$REPO_DIR"
	need_packages build-essential clang libclang-rt-dev valgrind libc6-dbg
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	mkdir -p "$TEMP/root/hwtimer"
	"$VM_DIR/build.sh" "$KERNEL" >/dev/null
	every_function_is_called
	build_all telling
	build_all silent "${SILENT[@]}"
	copy_valgrind
	copy_libraries "$TEMP/root" "$TEMP"/root/hwtimer/*/program*
	tar --create --directory "$TEMP/root" --file "$TEMP/root.tar" .
	# shellcheck disable=SC2016 # the guest's variables
	"$VM_DIR/run.sh" --again --kernel "$KERNEL" \
		--log "$BUILD_DIR/check/checkers-$KERNEL.console" \
		--file "$BUILD_DIR/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$TEMP/root.tar=/hwtimer/root.tar" \
		-- sh -c '
			tar -x -f root.tar -C / && rm root.tar && insmod hwtimer.ko || exit
			n=0
			status=0
			# finds WHAT LIBRARY NAME COMMAND...: WHAT is nothing, or a word of the report
			finds() {
				wanted=$1
				name="$3 with a library that is $2: finds $1"
				n=$((n + 1))
				export LD_LIBRARY_PATH=/hwtimer/$2
				cd /hwtimer/$2
				shift 3
				found=nothing
				"$@" >said 2>&1 || found="something else"
				[ "$found" != nothing ] || grep -q -x "all was done" said || found="no end"
				! grep -q "$wanted" said || found=$wanted
				if [ "$found" = "$wanted" ]; then
					echo "ok $n $name"
				else
					cat said
					echo "not ok $n $name"
					status=1
				fi
			}
			valgrind="/usr/bin/valgrind --quiet --error-exitcode=1"
			echo 1..6
			finds nothing telling "MemorySanitizer in the program alone" ./program-msan
			finds nothing telling "MemorySanitizer in program and library" ./program-all-msan
			finds nothing telling valgrind $valgrind ./program
			finds uninitialized silent "MemorySanitizer in the program alone" ./program-msan
			finds uninitialized silent "MemorySanitizer in program and library" \
				./program-all-msan
			finds uninitialised silent valgrind $valgrind ./program
			exit $status'
}

every_function_is_called()
{
	local function

	sed -n 's/^\t*\(hwt_[a-z_]*\);.*/\1/p' user/lib/libhwtimer.map | while read -r function; do
		grep -q "\\<$function(" user/lib/test/checkers_test.c ||
			die "user/lib/test/checkers_test.c does not call $function()"
	done
}

# build_all DIRECTORY FLAG...: the library, and the program with it: as it is; with
# MemorySanitizer; and with MemorySanitizer in both
build_all()
{
	local dir=$TEMP/root/hwtimer/$1 program=user/lib/test/checkers_test.c
	local flags=(-std=gnu11 -g -Wall -Wextra -Werror -Wno-missing-field-initializers
		-Iuser/lib -Iuapi)

	shift
	make --no-print-directory -C user/lib OUT="$dir" CFLAGS="-O2 $*" >&2
	rm "$dir"/*.[ao]
	gcc "${flags[@]}" -O2 -o "$dir/program" "$program" "$dir/libhwtimer.so"
	clang "${flags[@]}" -O1 -fsanitize=memory -o "$dir/program-msan" "$program" \
		"$dir/libhwtimer.so"
	clang "${flags[@]}" "$@" -O1 -fsanitize=memory -o "$dir/program-all-msan" "$program" \
		user/lib/*.c
}

# With the symbols of the C library that it needs
copy_valgrind()
{
	local file id

	mkdir -p "$TEMP/root/usr/bin" "$TEMP/root$VALGRIND"
	cp /usr/bin/valgrind* "$TEMP/root/usr/bin"
	cp "$VALGRIND"/{memcheck-amd64-linux,vgpreload_{core,memcheck}-amd64-linux.so,default.supp} \
		"$TEMP/root$VALGRIND"
	for file in $(libraries_of "$TEMP/root/hwtimer/telling/program"); do
		id=$(readelf --notes "$file" | sed -n 's/.*Build ID: //p')
		file=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
		[ ! -e "$file" ] || install -D "$file" "$TEMP/root$file"
	done
}

main "$@"
