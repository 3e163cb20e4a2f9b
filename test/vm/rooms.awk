# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the rule of rooms: a file of the module includes, of the module's headers, those in the
# root, those of its own room, and the faces (room/room.h) of rooms below it; and it calls no
# function that the face of a room above it declares, which a header in the root may have brought.
#
#	usage: awk -f test/vm/rooms.awk Kbuild FILE...
#
# Kbuild lists the rooms from the highest to the lowest. A line for each breach; exits with 1 if
# there is one. The names of files are those from the root.

FILENAME == "Kbuild" {
	if (/^hwtimer-y :=/)
		listing = 1
	else if (!/\\$/ && !/^\t/)
		listing = 0
	if (listing && match($0, /[a-z_]+\//)) {
		room = substr($0, RSTART, RLENGTH - 1)
		if (!(room in rank))
			rank[room] = ++rooms
	}
	next
}

FNR == 1 {
	room = FILENAME
	if (!sub(/\/.*/, "", room))
		room = ""
	mine = room in rank ? rank[room] : 0
	face = mine && FILENAME == room "/" room ".h"
	comment = 0
}

# Comments and strings do not count.
{
	line = $0
	while (match(line, /\/\*.*\*\//))
		line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
	if (comment) {
		if (!sub(/^.*\*\//, "", line))
			next
		comment = 0
	}
	if (sub(/\/\*.*/, "", line))
		comment = 1
}

line ~ /^#include "[a-z_]+\// {
	split(line, part, /["\/]/)
	other = part[2]
	if (other in rank && other != room && mine &&
	    (rank[other] < mine || part[3] != other ".h"))
		breach("includes " other "/" part[3])
	next
}

{
	gsub(/"[^"]*"/, "", line)
	while (match(line, /hwtimer_[a-z_]+\(/)) {
		name = substr(line, RSTART, RLENGTH - 1)
		line = substr(line, RSTART + RLENGTH)
		if (face && !(name in declared))
			declared[name] = room
		else if (mine)
			calls[++nr_calls] = FILENAME ":" FNR ": " room " " name
	}
}

function breach(what) {
	print FILENAME ":" FNR ": " what
	bad = 1
}

END {
	for (i = 1; i <= nr_calls; i++) {
		split(calls[i], part, " ")
		name = part[3]
		if (name in declared && rank[declared[name]] < rank[part[2]]) {
			print part[1] " calls " name "() of " declared[name] ", a room above"
			bad = 1
		}
	}
	if (!rooms || !nr_calls) {
		print "no rooms in Kbuild, or no calls"
		bad = 1
	}
	exit bad
}
