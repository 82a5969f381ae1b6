# SPDX-License-Identifier: Apache-2.0

"""Removes the folders of this machine from the places where an executable looks for its shared libraries (DT_RUNPATH).

Usage: runpath.py FILE...

SwiftPM writes the toolchain's folder there. What remains is relative to the file itself.
"""

import os
import re
import subprocess
import sys


def keep_own(path):
    """Keeps the places that begin with $ORIGIN. The text becomes shorter and is filled with zeros, so nothing else moves."""
    environment = os.environ | {"LC_ALL": "C"}
    dynamic = subprocess.run(["readelf", "-d", path], check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    for present in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        own = ":".join(place for place in present.split(":") if place.startswith("$ORIGIN"))
        with open(path, "rb") as file:
            content = file.read()
        old = present.encode() + b"\0"
        if content.count(old) != 1:
            sys.exit(f"error: {path} has the text {present} {content.count(old)} times")
        with open(path, "wb") as file:
            file.write(content.replace(old, own.encode().ljust(len(old), b"\0")))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        keep_own(name)
