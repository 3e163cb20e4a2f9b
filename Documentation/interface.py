#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Prints Documentation/interface.md, or with --man the manual page hwtimer_interface(4). Both
are generated from uapi/linux/hwtimer.h. The texts come from its kernel-doc; for the first
one, a compiler computes the numbers, offsets and sizes.

    usage: make interface

Fails if the header does not describe all that it declares, if it describes something
that it does not declare, or if a layout differs between 32- and 64-bit programs.
vm/userland.sh checks that both pages are up to date.
"""

import array
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

UAPI = pathlib.Path(__file__).resolve().parent.parent / "uapi"
HEADER = UAPI / "linux/hwtimer.h"

HEAD = """\
# The interface

`make interface` generates this page from `uapi/linux/hwtimer.h`: edit the header, not
this page. `make check` checks that the page is up to date. Offsets and sizes are in
bytes, and are the same for 32- and 64-bit programs. [calls.md](calls.md) has the calls
in one table.
"""

# Calls other than ioctls, and the structure whose comment lists their errors
OTHER_CALLS = {"read()": "hwtimer_event"}


class Wrong(Exception):
    """The header breaks a rule of this script."""


# ---- comments ----


class Comment:
    """A kernel-doc comment: "NAME - TITLE", lines of "@MEMBER: TEXT", paragraphs"""

    TITLE = re.compile(r"(?:struct |enum )?(\w+) - (.*(?:\n[^@\n].*)*)\n*")
    MEMBER = re.compile(r"@(\w+): (.*(?:\n[^@\n].*)*)\n*")

    def __init__(self, comment=""):
        text = re.sub(r"^(/\*\*?| \*/| \*) ?|\s*\*/$", "", comment,
                      flags=re.M).strip()
        self.name, self.title, self.members = "", "", {}
        if match := self.TITLE.match(text):
            self.name, self.title = match[1], one_line(match[2])
            text = text[match.end():]
        while match := self.MEMBER.match(text):
            self.members[match[1]] = one_line(match[2])
            text = text[match.end():]
        self.paragraphs = [one_line(p) for p in re.split(r"\n\s*\n", text)
                           if p.strip()]

    def errors(self, start=r"Errors[^:]*: "):
        """The rest of the first sentence that begins with START: the list of errors"""
        for paragraph in self.paragraphs:
            if match := re.search(r"(?:^|\. )" + start, paragraph):
                return first_sentence(paragraph[match.end():])
        return ""


def one_line(text):
    return " ".join(text.split())


def split_outside(text, separator):
    """TEXT split at SEPARATOR, but not within parentheses"""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and text.startswith(separator, i):
            parts.append(text[begin:i])
            begin = i + len(separator)
    return parts + [text[begin:]]


def first_sentence(text):
    return split_outside(text, ". ")[0].rstrip(".")


def explained_errors(sentence):
    """(ERROR, EXPLANATION) of "E1 (explanation), E2 and E3 (explanation)" """
    for item in split_outside(sentence, ", "):
        names, _, explanation = item.partition("(")
        for name in re.findall(r"\bE[A-Z0-9]+\b", names):
            yield name, explanation.rstrip(")")


# ---- the header ----


class Header:
    """The declarations of the header, by name and in its order, with their comments"""

    PIECE = re.compile(r"(?P<comment>/\*.*?\*/)"
                       r"|^struct (?P<struct>\w+) \{(?P<fields>.*?)^\};"
                       r"|^enum (?P<enum>\w+) \{(?P<members>.*?)^\};"
                       r"|^#define (?P<define>[A-Z]\w+)[ \\\n\t]+(?P<value>[^\n]+)",
                       re.S | re.M)
    FIELD = re.compile(r"^\t+(__\w+) (\w+)((?:\[\w+\])?);", re.M)

    def __init__(self, text):
        self.about = None
        self.structs = {}    # name: {field: type}
        self.enums = {}      # name: [member]
        self.constants = []
        self.commands = {}   # name: the argument's structure, or ""
        self.comments = {}
        comment = Comment()
        for piece in self.PIECE.finditer(text):
            if piece["comment"]:
                comment = Comment(piece["comment"])
                if not self.about and "SPDX" not in piece["comment"]:
                    self.about = comment
            else:
                self.declare(piece, comment)
                comment = Comment()

    def declare(self, piece, comment):
        name = piece["struct"] or piece["enum"] or piece["define"]
        described = True
        if piece["struct"]:
            self.structs[name] = {
                field: kind + length
                for kind, field, length in self.FIELD.findall(piece["fields"])}
            check_members(name, comment, self.structs[name])
        elif piece["enum"]:
            self.enums[name] = re.findall(r"^\t(\w+)", piece["members"], re.M)
            check_members(name, comment, self.enums[name])
        elif name.startswith("HWTIMER_IOC_"):
            described = name == comment.name
            if not name.endswith("_MAGIC"):
                self.commands[name] = self.argument(name, piece["value"])
        else:
            self.constants.append(name)
        if described and name != comment.name:
            raise Wrong(f"{name} has no comment of its own")
        self.comments[name] = comment

    def argument(self, command, value):
        """The structure in the command's number, or the one whose title names it"""
        if match := re.search(r"struct (\w+)", value):
            return match[1]
        for name in self.structs:
            if self.comments[name].title.startswith(command + ":"):
                return name
        return ""

    def does(self, command):
        """A short description of a command"""
        operation = command.replace("_IOC_", "_OP_")
        if operation in self.enums["hwtimer_op"]:
            return self.comments["hwtimer_op"].members[operation]
        if title := self.comments[command].title:
            return title
        return self.comments[self.commands[command]].title.partition(": ")[2]

    def errors(self, command):
        """The list of a command's errors"""
        comment = self.comments[self.commands[command] or command]
        if self.commands[command] == "hwtimer_request":
            return comment.errors(f"Errors of {command.rpartition('_')[2]}: ")
        return comment.errors()

    def all_errors(self):
        """(CALL, list of its errors) of all calls"""
        yield "any ioctl", self.about.errors("Errors of any ioctl: ")
        yield "open()", self.about.errors(r"Errors of open\(\): ")
        for command in self.commands:
            yield command.removeprefix("HWTIMER_IOC_"), self.errors(command)
        for call, struct in OTHER_CALLS.items():
            yield call, self.comments[struct].errors()


def check_members(name, comment, members):
    """Each member but padding has a description, and each description a member."""
    for member in members:
        if member not in comment.members and not member.startswith("reserved"):
            raise Wrong(f"{name}: {member} is not described")
    for member in comment.members:
        if member not in members:
            raise Wrong(f"{name}: {member} is described, but not declared")


# ---- numbers from the compiler ----


def measure(header):
    """{expression: number}; each number must be the same for 32 and 64 bits"""
    expressions = header.constants + list(header.commands)
    expressions += [member for members in header.enums.values()
                    for member in members]
    for name, fields in header.structs.items():
        expressions.append(f"sizeof(struct {name})")
        for field in fields:
            expressions.append(offset_of(name, field))
            expressions.append(size_of(name, field))
    numbers = [compiled(expressions, bits) for bits in (64, 32)]
    for expression, ours, other in zip(expressions, *numbers):
        if ours != other:
            raise Wrong(f"{expression} is {ours} in 64-bit programs, "
                        f"but {other} in 32-bit programs")
    numbers = dict(zip(expressions, numbers[0]))
    for name, fields in header.structs.items():
        check_filled(name, fields, numbers)
    return numbers


def check_filled(name, fields, numbers):
    """Fields leave no gap: a gap is a hole, or a field that was not parsed"""
    end = 0
    for field in fields:
        offset = numbers[offset_of(name, field)]
        if offset > end:
            raise Wrong(f"{name}: there is a gap before {field}")
        end = max(end, offset + numbers[size_of(name, field)])
    if end != numbers[f"sizeof(struct {name})"]:
        raise Wrong(f"{name}: there is a gap at its end")


def offset_of(struct, field):
    return f"offsetof(struct {struct}, {field})"


def size_of(struct, field):
    return f"sizeof(((struct {struct} *)0)->{field})"


def compiled(expressions, bits):
    """
    The values of EXPRESSIONS in a program of BITS bits

    They are read from the object file: a kernel without 32-bit emulation could not run
    the program.
    """
    values = ",\n".join(f"(unsigned long long)({expression})"
                        for expression in expressions)
    source = ("#include <stddef.h>\n#include <linux/hwtimer.h>\n"
              'const unsigned long long numbers[] __attribute__((section(".numbers"))) =\n'
              "{\n" + values + "\n};\n")
    with tempfile.TemporaryDirectory() as directory:
        compiled_to, numbers = f"{directory}/numbers.o", f"{directory}/numbers"
        subprocess.run(["gcc", f"-m{bits}", "-Wall", "-Werror", f"-I{UAPI}", "-x",
                        "c", "-c", "-o", compiled_to, "-"],
                       input=source, text=True, check=True)
        subprocess.run(["objcopy", "--only-section=.numbers", "-O", "binary",
                        compiled_to, numbers], check=True)
        with open(numbers, "rb") as file:
            return array.array("Q", file.read()).tolist()


# ---- the page ----


def marked(text):
    """TEXT as Markdown, with names of members, constants and types as code"""
    text = re.sub(r"([<*|])", r"\\\1", text)
    text = re.sub(r"@(\w+)", r"`\1`", text)
    return re.sub(r"(?<![`\w])(HWTIMER_\w+(?:\\\*)?|CLOCK_[A-Z]+|__[su]\d\d)",
                  lambda match: f"`{match[1]}`".replace("\\", ""), text)


def headline(comment):
    title = marked(comment.title)
    return title[0].upper() + title[1:]


def table(heads, rows):
    lines = ["| " + " | ".join(cells) + " |"
             for cells in [heads, ["---"] * len(heads)] + rows]
    return "\n".join(lines) + "\n"


def paragraphs(comment):
    return "".join(f"\n{marked(text)}\n" for text in comment.paragraphs)


def link(struct):
    return f"[`struct {struct}`](#struct-{struct})" if struct else ""


def calls(header, numbers):
    rows = [[f"`{name}`", f"{numbers[name]:#010x}", link(argument),
             marked(header.does(name)), marked(header.errors(name))]
            for name, argument in header.commands.items()]
    return "\n## Calls\n\n" + table(
        ["ioctl", "number", "argument", "does", "errors"], rows)


def errors(header):
    """A table of errors: the calls that return each, and why"""
    where = {}
    for call, sentence in header.all_errors():
        if not sentence:
            raise Wrong(f"{call}: the errors are not described")
        for name, explanation in explained_errors(sentence):
            where.setdefault(name, []).append(
                call + (f" ({marked(explanation)})" if explanation else ""))
    rows = [[name, "; ".join(calls)] for name, calls in sorted(where.items())]
    return "\n## Errors\n\n" + table(["error", "of"], rows)


def structure(name, header, numbers):
    comment = header.comments[name]
    rows = [[f"`{field}`", f"`{kind}`", str(numbers[offset_of(name, field)]),
             str(numbers[size_of(name, field)]),
             marked(comment.members.get(field, "padding"))]
            for field, kind in header.structs[name].items()]
    return (f"\n## struct {name}\n\n{headline(comment)}. "
            f"{numbers[f'sizeof(struct {name})']} bytes.\n\n" +
            table(["field", "type", "offset", "size", "is"], rows) +
            paragraphs(comment))


def enumeration(name, header, numbers):
    comment = header.comments[name]
    rows = [[f"`{member}`", str(numbers[member]),
             marked(comment.members[member])] for member in header.enums[name]]
    return (f"\n## enum {name}\n\n{headline(comment)}.\n\n" +
            table(["name", "value", "is"], rows) + paragraphs(comment))


def constants(header, numbers):
    rows = []
    for name in header.constants:
        comment = header.comments[name]
        texts = [comment.title] + comment.paragraphs
        rows.append([f"`{name}`", f"{numbers[name]:#x}",
                     ". ".join(marked(text.rstrip(".")) for text in texts)])
    return "\n## Constants\n\n" + table(["name", "value", "is"], rows)


def page(header):
    numbers = measure(header)
    parts = [HEAD, paragraphs(header.about), calls(header, numbers),
             errors(header), constants(header, numbers)]
    parts += [enumeration(name, header, numbers) for name in header.enums]
    parts += [structure(name, header, numbers) for name in header.structs]
    return "".join(parts)


# ---- the manual page ----

MAN_HEAD = """\
.\\" SPDX-License-Identifier: GPL-2.0
.\\" `make interface` generates this page from uapi/linux/hwtimer.h: edit that.
.Dd November 25, 2026
.ds doc-volume-operating-system Linux
.Dt HWTIMER_INTERFACE 4
.Os Linux
.Sh NAME
.Nm hwtimer_interface
.Nd structures and constants of hwtimer
.Sh SYNOPSIS
.In linux/hwtimer.h
.Sh DESCRIPTION
"""

MAN_TAIL = """\
.Sh VERSIONS
See
.Xr hwtimer 4 .
.Sh SEE ALSO
.Xr hwt_setup 3 ,
.Xr libhwtimer 3 ,
.Xr hwtimer 4
.Sh BUGS
.Ss Reporting bugs
See
.Xr hwtimer 4 .
"""


def filled(text):
    """TEXT as lines of a manual page; each sentence and each call begins a line"""
    text = re.sub(r"@(\w+)", r"\1", text).replace("\\", "\\e")
    text = re.sub(r"(?<!\w)-(?=[\dE])", r"\-", text)
    lines = []
    for sentence in re.split(r"(?<=[.?!]) +", text):
        words = []
        for word in sentence.split():
            if call := re.fullmatch(r"(\(?)(\w+)\(\)(.*)", word):
                lines += wrapped(words) + [called(*call.groups())]
                words = []
            else:
                words.append(word)
        lines += wrapped(words)
    return "\n".join(lines) + "\n"


def wrapped(words):
    """Lines of text"""
    lines = textwrap.wrap(" ".join(words), 78, break_long_words=False,
                          break_on_hyphens=False)
    return [("\\&" if line[0] in ".'" else "") + line for line in lines]


def called(before, name, after):
    """The line for "(NAME()," or the like"""
    line = f"Fn {name}"
    if re.fullmatch(r"[.,;:?!)]+", after):
        line += " " + " ".join(after)
    elif after:
        line += f" Ns {after}"
    return f".Pf ( {line}" if before else f".{line}"


def man_paragraphs(comment):
    return "".join(".Pp\n" + filled(text) for text in comment.paragraphs)


def man_list(rows):
    """Rows (term, text) as a list"""
    return (".Bl -tag -width Ds\n" +
            "".join(f".It {term}\n{filled(text)}" for term, text in rows) + ".El\n")


def man_headline(comment):
    title = comment.title
    return filled(title[0].upper() + title[1:] + ".")


def declared(kind):
    """A field's type and the length of an array: __u64[4] -> ("__u64", "[4]")"""
    name, bracket, length = kind.partition("[")
    return name, bracket + length


def man_structure(name, header):
    comment, fields = header.comments[name], header.structs[name]
    code = [f"struct {name} {{"]
    for field, kind in fields.items():
        code.append("\t{} {}{};".format(declared(kind)[0], field, declared(kind)[1]))
    return (f".Ss struct {name}\n" + man_headline(comment) +
            ".Bd -literal -offset indent\n" + "\n".join(code) + "\n};\n.Ed\n" +
            man_list([(f"Va {field}", comment.members[field]) for field in fields
                      if field in comment.members]) + man_paragraphs(comment))


def man_enumeration(name, header):
    comment = header.comments[name]
    return (f".Ss enum {name}\n" + man_headline(comment) +
            man_list([(f"Dv {member}", comment.members[member])
                      for member in header.enums[name]]) + man_paragraphs(comment))


def man_constants(header):
    rows = []
    for name in header.constants:
        comment = header.comments[name]
        rows.append((f"Dv {name}", ". ".join(
            text.rstrip(".") for text in [comment.title] + comment.paragraphs)))
    return ".Ss Constants\n" + man_list(rows)


def man_errors(header):
    where = {}
    for call, sentence in header.all_errors():
        for name, explanation in explained_errors(sentence):
            where.setdefault(name, []).append(
                call + (f" ({explanation})" if explanation else ""))
    return ".Sh ERRORS\n" + man_list([(f"Er {name}", "; ".join(calls))
                                      for name, calls in sorted(where.items())])


def man_page(header):
    parts = [MAN_HEAD, man_paragraphs(header.about).removeprefix(".Pp\n")]
    parts += [man_structure(name, header) for name in header.structs]
    parts += [man_enumeration(name, header) for name in header.enums]
    parts += [man_constants(header), man_errors(header), MAN_TAIL]
    return "".join(parts)


def main():
    pages = {(): page, ("--man",): man_page}
    try:
        print(pages[tuple(sys.argv[1:])](Header(HEADER.read_text())), end="")
    except Wrong as wrong:
        sys.exit(f"{HEADER}: {wrong}")


main()
