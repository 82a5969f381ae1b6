# SPDX-License-Identifier: Apache-2.0

"""Prints what the devcontainer tool passes to `docker run` for a devcontainer.json, one argument in each line.

Usage: arguments.py FILE FOLDER VOLUME: the options, with FOLDER mounted where the tool mounts it, and VOLUME in place of the
       named volume.
       arguments.py FILE KEY: the text of one key; a key that this does not know is an error.
"""

import json
import os
import sys

KNOWN = {
    "name", "image", "build", "overrideCommand", "init", "remoteUser", "updateRemoteUserUID", "mounts", "postCreateCommand",
    "forwardPorts", "portsAttributes", "capAdd", "securityOpt", "customizations"}

with open(sys.argv[1]) as file:
    container = json.load(file)
if unknown := container.keys() - KNOWN:
    sys.exit(f"error: {sys.argv[1]} has {', '.join(sorted(unknown))}, which the test does not apply")
if len(sys.argv) == 3:
    print(container[sys.argv[2]])
    sys.exit()

folder, volume = sys.argv[2:]
place = f"/workspaces/{os.path.basename(folder)}"
arguments = ["--mount", f"type=bind,source={folder},target={place}", "--workdir", place, "--user", container["remoteUser"]]
for mount in container.get("mounts", []):
    parts = dict(part.split("=", 1) for part in mount.split(","))
    if parts["type"] == "volume":
        parts["source"] = volume
    arguments += ["--mount", ",".join(f"{name}={value}" for name, value in parts.items())]
if container.get("init"):
    arguments.append("--init")
for capability in container.get("capAdd", []):
    arguments += ["--cap-add", capability]
for option in container.get("securityOpt", []):
    arguments += ["--security-opt", option]
if container.get("overrideCommand", True):
    arguments += ["--entrypoint", "/bin/sh"]
print("\n".join(arguments))
