#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests hwtimerd's Redis Functions on this machine, against Redis servers of their own on
# free ports; Debian's service is never touched. Needs no device. Prints TAP. Called by
# test/vm/check.sh.
#
#	usage: test/vm/functions.sh [TEST...]
#
# Arguments choose tests, see user/daemon/test/functions.py. HWTIMER_SCALE multiplies the
# random operations, HWTIMER_SEED repeats them.

# shellcheck source=test/vm/lib.sh
. "$(dirname "$0")/lib.sh"

# Not redis-server, which starts a service; redis-tools has the same program by another
# name. gcc builds the library that sets the clock of a server.
need_packages python3 python3-redis redis-tools gcc libc6-dev
need_exec_tmp
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$REPO_DIR/user/daemon/test/functions.py" "$@"
