# SPDX-License-Identifier: Apache-2.0

"""Measures the restart of a killed host: from its exec to the first delivery of pending events."""

import os
import time
from statistics import median

from bus import Journal, Peer, printed, progress
from cluster import HOST, Cluster, Tool
from figure import Figure, percentile


def start_bare(run):
    """Milliseconds from the exec of the bare executable to its first line, by its clock."""
    reader, writer = os.pipe()
    words = [f"{run.tools}/bare"]
    began = time.time_ns() // 1000
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    os.close(writer)
    with os.fdopen(reader) as output:
        line = output.read()
    os.waitpid(pid, 0)
    return (int(line.split()[-1]) - began) / 1e3


def arrival(envelope, journal):
    """When the broker had an envelope at the earliest, in microseconds: it carries the time at which it was made, and then
    may wait for the bus. The broker writes envelopes in the order of their arrival."""
    before = journal.kept[: journal.kept.index(envelope) + 1]
    return max(other.sent_at for other in before)


def measure(run):
    server = Tool(f"{run.tools}/files")
    run.at_end(server.close)
    url = f"http://127.0.0.1:{server.hear()[0]}/held/1000"
    cluster = Cluster(run, "host", {"suspendAfter": 0.05}, url=url)
    cluster.start_device()
    journal = Journal(cluster.folder)
    operator = Peer(cluster.folder, "operator", "operator/bench")
    run.at_end(operator.close)
    # The extension blocks in its handler, so its events are delivered again by each host.
    cluster.hold("handler")
    operator.request("timeline.reload", HOST, {"widgetKind": "Trial"})
    journal.wait(progress("started"), "a download")
    stored = journal.wait(lambda e: e.kind == "timeline.stored", "timeline.stored")
    journal.wait(
        lambda e: e.kind == "process.state" and e.json["state"] == "suspended" and e.sent_at >= stored.sent_at,
        "the suspension")
    server.tell()
    journal.wait(printed("reached handler"), "the handler")
    found, bare = [], []
    start_bare(run)
    for _ in run.rounds(41):
        bare.append(start_bare(run))
        cluster.kill("host-system")
        journal.forget()
        began = cluster.start("host-system")
        first = journal.wait(lambda e: e.kind == "session.events" and e.sent_at >= began, "a delivery")
        found.append((arrival(first, journal) - began) / 1e3)
    name = "bare executable"
    return [
        Figure("host: exec after a kill to the first delivery, p50", "ms", found, bare, name, goal=5),
        Figure(
            "host: exec after a kill to the first delivery, p99", "ms", [percentile(found, 0.99)], [median(bare)],
            f"{name}, p50", goal=10),
    ]
