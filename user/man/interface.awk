# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the manual page hwtimer_interface(4), made of the comments and declarations of the
# header. The Makefile calls it to install the page.
#
#	usage: awk -f user/man/interface.awk uapi/linux/hwtimer.h
#
# Fails if a comment lacks a member of the structure or enum below it, or has another one.

BEGIN {
	print ".\\\" SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note"
	print ".Dd November 29, 2026\n.ds doc-volume-operating-system Linux"
	print ".Dt HWTIMER_INTERFACE 4\n.Os Linux"
	print ".Sh NAME\n.Nm hwtimer_interface\n.Nd structures and constants of hwtimer"
	print ".Sh SYNOPSIS\n.In linux/hwtimer.h\n.Sh DESCRIPTION"
}

# Prints TEXT. Each sentence begins a line, and so does each call, such as poll().
function fill(text,    words, count, i, line, word, end) {
	count = split(text, words, " ")
	for (i = 1; i <= count; i++) {
		word = words[i]
		gsub(/@/, "", word)
		sub(/^-/, "\\-", word)
		end = match(word, /^[a-z_0-9]+\(\)/) ? RLENGTH : 0
		if (line != "" && (end || length(line) + length(word) > 77)) {
			print line
			line = ""
		}
		if (end) {
			sub(/\(\)/, " ", word)
			sub(/ $/, "", word)
			print ".Fn " word
		} else {
			line = line (line == "" ? "" : " ") word
			if (word ~ /[.?!]\)?$/) {
				print line
				line = ""
			}
		}
	}
	if (line != "")
		print line
}

# Prints the section of a comment and the declarations below it.
function section(    i, name) {
	if (title != "") {
		print ".Ss " heading
		fill(toupper(substr(title, 1, 1)) substr(title, 2) ".")
	} else if (sections) {
		print ".Ss " substr(text[1], 2, match(text[1], /[;.,:]/) - 2)
	}
	if (code != "")
		printf ".Bd -literal -offset indent\n%s.Ed\n", code
	if (members)
		print ".Bl -tag -width Ds"
	for (i = 1; i <= members; i++) {
		print ".It " (member[i] ~ /^[A-Z]/ ? "Dv" : "Va"), member[i]
		fill(described[member[i]])
		if (!(member[i] in declared))
			wrong(member[i] " is described, but not declared")
	}
	if (members)
		print ".El"
	for (name in declared)
		if (!(name in described) && name != "reserved")
			wrong(name " is declared, but not described")
	for (i = 1; i <= paragraphs; i++) {
		if (i > 1 || title != "")
			print ".Pp"
		fill(text[i])
	}
	sections++
	title = code = part = ""
	members = paragraphs = 0
	split("", declared)
	split("", described)
	split("", text)
}

function wrong(what) {
	print "user/man/interface.awk: " heading ": " what >"/dev/stderr"
	failed = 1
}

/SPDX-License-Identifier/ || /^\/\* ---- / || /^#(include|if|endif)/ || /_UAPI_/ { next }
/^\/\*/ {
	if (comments++)
		section()
	inside = 1
	part = /^\/\*\*/ ? "title" : "text"
}
inside {
	inside = !sub(/ ?\*\/$/, "")
	sub(/^(\/\*\*?| \*) ?/, "")
	if (part == "title" && match($0, / - /)) {
		heading = substr($0, 1, RSTART - 1)
		title = substr($0, RSTART + 3)
	} else if (/^@[A-Za-z_]+: /) {
		part = "member"
		member[++members] = substr($1, 2, length($1) - 2)
		described[member[members]] = substr($0, length($1) + 2)
	} else if (/^$/) {
		if (title != "" || part == "text")
			part = "new"
	} else if (part == "member") {
		described[member[members]] = described[member[members]] " " $0
	} else if (part == "title") {
		title = title " " $0
	} else {
		paragraphs += part == "new" || !paragraphs
		part = "text"
		text[paragraphs] = text[paragraphs] " " $0
	}
	next
}
/IOC_MAGIC 0/ {
	section()
	heading = "Numbers of the calls"
	title = "direction, number and structure"
}
/./ {
	gsub(/\\/, "\\e")
	code = code $0 "\n"
	if (/^\t+(__[us][0-9]+ |HWTIMER_)/) {
		sub(/^\t+(__[us][0-9]+ )?/, "")
		sub(/[[; =,].*/, "")
		declared[$0]
	}
}

END {
	section()
	print ".Sh SEE ALSO\n.Xr hwt_setup 3 ,\n.Xr libhwtimer 3 ,\n.Xr hwtimer 4"
	exit failed
}
