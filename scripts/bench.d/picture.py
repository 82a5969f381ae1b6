# SPDX-License-Identifier: Apache-2.0

"""Measures pictures of widgets: layout, SVG, PNG, and many of them on two threads."""

import json
import subprocess

from bus import Journal, Peer
from cluster import HOST, Cluster
from figure import Figure

# Each in both colour schemes. The first is the small widget of the single figures.
WIDGETS = [
    (kind, family, mode)
    for kind, family in (("Caffeine", "systemSmall"), ("Caffeine", "systemMedium"), ("Living", "systemSmall"),
                         ("Pictured", "systemSmall"))
    for mode in ("fullColor", "accented")]


def archives(run):
    """The replies of the extension for all widgets."""
    cluster = Cluster(run, "picture", extension="FixtureWidgets", fixture="views")
    cluster.start_device()
    operator = Peer(cluster.folder, "operator", "operator/bench")
    run.at_end(operator.close)
    operator.request("timeline.reload", HOST, {})
    Journal(cluster.folder).wait(lambda e: e.kind == "timeline.stored", "the extension's widgets")
    return [
        operator.request(
            "widget.archive", HOST,
            {"widgetKind": kind, "family": family, "renderingMode": mode, "entries": "snapshot"})[0].json
        for kind, family, mode in WIDGETS]


def measure(run):
    path, count = f"{run.scratch}/archives.json", run.count(1000, 40)
    with open(path, "w") as file:
        json.dump(archives(run), file)
    answer = subprocess.run(
        [f"{run.executables}/PictureTimes", path, str(len(run.rounds(15))), str(count)], check=True, stdout=subprocess.PIPE)
    times = json.loads(answer.stdout)
    return [
        Figure("picture: layout of 100 views", "ms", times["layout"], goal=1),
        Figure("picture: a small widget as SVG", "ms", times["vector"], goal=5),
        Figure("picture: a small widget as PNG, 2 pixels a point", "ms", times["pixels"], goal=20),
        Figure("picture: the first one of a process, with the fonts", "ms", times["first"]),
        Figure(f"picture: {count} widgets as PNG, on two threads", "s", times["many"], goal=20 if count == 1000 else None),
    ]
