#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests in User-Mode Linux, with this machine's python3. Prints TAP. Called by test/vm/check.sh.
#
#	test/vm/python.sh	the Python package
#	test/vm/python.sh guide	what the guide has in Python, and its servers, in C, too

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

KERNEL=uml-7.3
PAGE=Documentation/guide.md
PYTHON=/usr/bin/python3
SERVERS="epoll-server.c libuv-server.c asyncio-server.py"
TEMP=
# The step of test/vm/check.sh
NAME=python

main()
{
	cd "$REPO_DIR"
	need_packages build-essential python3
	case ${1-package} in
	package | guide) ;;
	*) die "usage: test/vm/python.sh [guide]" ;;
	esac
	TEMP=$(mktemp -d)
	on_exit rm -rf "$TEMP"
	"$VM_DIR/build.sh" "$KERNEL" >/dev/null
	make --no-print-directory library >&2
	make --no-print-directory user/python/hwtimer/_abi.py >&2
	"${1-package}"
}

# shellcheck disable=SC2016 # the guest's variables
package()
{
	in_machine '
		python="/usr/bin/python3 -W error /python/test/tap.py"
		status=0
		$python test_absent || status=1
		insmod hwtimer.ko || exit
		$python test_instance test_timer test_loop test_life || status=1
		echo 1..1
		rmmod hwtimer && echo "ok 1 nothing keeps the module loaded" ||
			{ echo "not ok 1 nothing keeps the module loaded"; status=1; }
		exit $status'
}

# shellcheck disable=SC2016 # the guest's variables
guide()
{
	local file

	NAME=guide-servers
	make --no-print-directory examples >&2
	guides_program
	for file in $SERVERS; do
		guide_shows "$file" || die "$PAGE does not have examples/$file as it is"
	done
	in_machine '
		insmod hwtimer.ko || exit
		status=0
		python3=/usr/bin/python3
		$python3 servers.py ./epoll-server ./libuv-server \
			"$python3 asyncio-server.py" || status=1
		echo 1..1
		$python3 program.py >said && cmp said expected &&
			echo "ok 1 the program of the guide" ||
			{ cat said; echo "not ok 1 the program of the guide"; status=1; }
		exit $status' \
		--file "$TEMP/program.py=/hwtimer/program.py" \
		--file "$TEMP/expected=/hwtimer/expected" \
		--file "$BUILD_DIR/examples/epoll-server=/hwtimer/epoll-server" \
		--file "$BUILD_DIR/examples/libuv-server=/hwtimer/libuv-server" \
		--file examples/asyncio-server.py=/hwtimer/asyncio-server.py \
		--file examples/test/servers.py=/hwtimer/servers.py
}

# in_machine SCRIPT [RUN-ARGUMENT...]: runs a script in the machine that has Python
in_machine()
{
	local script=$1

	shift
	"$VM_DIR/run.sh" --again --kernel "$KERNEL" \
		--log "$BUILD_DIR/check/$NAME-$KERNEL.console" \
		--file "$BUILD_DIR/$KERNEL/hwtimer.ko=/hwtimer/hwtimer.ko" \
		--file "$BUILD_DIR/lib/libhwtimer.so.1=/hwtimer/libhwtimer.so.1" \
		--share /usr=/usr --share "$REPO_DIR/user/python=/python" "$@" \
		-- sh -c 'export LD_LIBRARY_PATH=/hwtimer PYTHONPATH=/python PYTHONDONTWRITEBYTECODE=1
			'"$script"
}

# The block of Python of the guide that the block after it says what it prints
guides_program()
{
	"$PYTHON" - "$PAGE" "$TEMP/program.py" "$TEMP/expected" <<'END' ||
import re, sys
page, *outputs = sys.argv[1:]
blocks = re.findall(r"^```(\w*)\n(.*?)^```$", open(page).read(), re.M | re.S)
at = next(i for i in range(len(blocks) - 1)
          if (blocks[i][0], blocks[i + 1][0]) == ("python", ""))
for output, (_, text) in zip(outputs, blocks[at:]):
    open(output, "w").write(text)
END
		die "$PAGE has no program in Python with its output"
}

# guide_shows FILE: whether it is a block of the guide, but for the line of its licence
guide_shows()
{
	"$PYTHON" - "$PAGE" "examples/$1" <<'END'
import sys
page, text = (open(name).read() for name in sys.argv[1:])
sys.exit("\n" + text.split("\n", 1)[1] + "```\n" not in page)
END
}

main "$@"
