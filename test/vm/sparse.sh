#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs sparse on a source, and says if sparse has looked at all of it. The kernel's make calls
# this script in sparse's place for test/vm/build.sh NAME-sparse.
#
#	usage: test/vm/sparse.sh FLAG... FILE
#
# Behind the source stands a function with a mistake. sparse finds it unless it has given up
# before, as it does after an error in one of the kernel's headers: then it says nothing of
# mistakes like that, and neither finds any in our files.

# Debian's sparse does not know __typeof_unqual__, without which kernel 7.3 does not run it. Nor
# does it know the length of a constant string, which that kernel compares with its size.
FLAGS=(-D__CHECK_ENDIAN__ -Wbitwise -Wcontext -Wdecl -Wnon-pointer-null
       -D__typeof_unqual__=__typeof__ '-D__builtin_strlen(s)=(sizeof(s)-1)')

MISTAKE='static int witness(int __attribute__((noderef)) *here) { return *here; }'

file=${!#}
status=0
said=$(printf '#include "%s"\n%s\n' "$file" "$MISTAKE" |
	sparse "${@:1:$#-1}" "${FLAGS[@]}" - 2>&1) || status=$?
sed '/^-:/d' <<<"$said" | grep . >&2
if grep -q '^-:2:.*: warning: dereference of noderef expression$' <<<"$said"; then
	echo "sparse has seen all of $file" >&2
fi
exit "$status"
