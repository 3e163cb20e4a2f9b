#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the Python package: its own tests and the guide's program in User-Mode Linux, with
# this machine's python3. Prints TAP. Called by test/vm/check.sh.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=uml-7.3
PAGE=Documentation/guide.md
TEMP=

main()
{
	cd "$REPO_DIR"
	need_packages build-essential python3
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	"$VM_DIR/build.sh" "$KERNEL" >/dev/null
	make --no-print-directory library >&2
	make --no-print-directory user/python/hwtimer/_abi.py >&2
	guides_program
	# shellcheck disable=SC2016 # the guest's variables
	"$VM_DIR/run.sh" --again --kernel "$KERNEL" \
		--log "$BUILD_DIR/check/python-$KERNEL.console" \
		--share /usr=/usr --share "$REPO_DIR/user/python=/python" \
		--file "$BUILD_DIR/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$BUILD_DIR/lib/libhwtimer.so.1=/hwtimer/libhwtimer.so.1" \
		--file "$TEMP/program.py=/hwtimer/program.py" \
		--file "$TEMP/expected=/hwtimer/expected" \
		-- sh -c '
			export LD_LIBRARY_PATH=/hwtimer PYTHONPATH=/python PYTHONDONTWRITEBYTECODE=1
			python="/usr/bin/python3 -W error /python/test/tap.py"
			status=0
			$python test_absent || status=1
			insmod hwtimer.ko || exit
			$python test_instance test_timer test_loop test_life || status=1
			echo 1..2
			/usr/bin/python3 program.py >said && cmp said expected &&
				echo "ok 1 the program of the guide" ||
				{ cat said; echo "not ok 1 the program of the guide"; status=1; }
			rmmod hwtimer && echo "ok 2 nothing keeps the module loaded" ||
				{ echo "not ok 2 nothing keeps the module loaded"; status=1; }
			exit $status'
}

# The block of Python of the guide, and the block after it, which is what it prints
guides_program()
{
	awk -v program="$TEMP/program.py" -v expected="$TEMP/expected" '
		/^```python$/ && !found { found = 1; out = program; next }
		/^```$/ && out { out = ""; next }
		/^```$/ && found == 1 { found = 2; out = expected; next }
		out { print >out }' "$PAGE"
	if ! [ -s "$TEMP/program.py" ] || ! [ -s "$TEMP/expected" ]; then
		die "$PAGE has no program in Python with its output"
	fi
}

main "$@"
