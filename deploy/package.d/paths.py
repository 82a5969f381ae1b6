# SPDX-License-Identifier: Apache-2.0

"""Replaces the folder of the build in all files by a text of the same length, and reports what remains.

Usage: paths.py TREE SOURCES [NAME]...

SOURCES is the folder in which the build was made. NAME is a text that no file may contain, for example the name of the
machine. The exit code is 1 if a file contains the folder or a NAME.
"""

import os
import sys

PLACEHOLDER = b"/widgetlab-source"


def placeholder(path):
    """A text of the length of a path."""
    return (PLACEHOLDER + b"_" * len(path))[: len(path)]


def main():
    tree, sources = sys.argv[1], sys.argv[2].encode()
    unwanted = [sources, *(name.encode() for name in sys.argv[3:])]
    changed, remaining = 0, []
    for folder, _, files in os.walk(tree):
        for name in files:
            path = f"{folder}/{name}"
            if os.path.islink(path):
                continue
            with open(path, "rb") as file:
                content = file.read()
            cleaned = content.replace(sources, placeholder(sources))
            if cleaned != content:
                changed += 1
                with open(path, "wb") as file:
                    file.write(cleaned)
            remaining += [f"{path}: {text.decode()}" for text in unwanted if text in cleaned]
    print(f"replaced the build's folder in {changed} files; {len(remaining)} files have it, or another name")
    if remaining:
        sys.exit("error: " + "\n       ".join(remaining))


if __name__ == "__main__":
    main()
