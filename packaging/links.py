#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Lists the links of pages that lead to files that are not there.

usage: links.py [--plain] PAGE...

With --plain, it makes plain text of them: a package has a part of the pages.
"""

import os
import re
import sys

# A link or a picture, but not of another site. What it shows may be code, and on two lines.
LINK = re.compile(r"!?\[([^][]*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def main(pages, plain):
    """Returns whether a link led nowhere that is still there."""
    found = False
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()

        def unless_dead(link):
            nonlocal found
            if os.path.exists(os.path.join(os.path.dirname(page), link[2])):
                return link[0]
            if not plain:
                print(f"{page}: {link[2]}")
                found = True
            return link[1]

        new = LINK.sub(unless_dead, text)
        if plain and new != text:
            with open(page, "w", encoding="utf-8") as file:
                file.write(new)
    return found


if __name__ == "__main__":
    PLAIN = sys.argv[1:2] == ["--plain"]
    sys.exit(main(sys.argv[2 if PLAIN else 1:], PLAIN))
