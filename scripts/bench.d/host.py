# SPDX-License-Identifier: Apache-2.0

"""Measures the restart of a killed host: from its exec to the first delivery of pending events."""

from bus import Journal, Peer, printed, progress
from cluster import HOST, Cluster, Tool
from figure import Figure, percentile


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
    found = []
    for _ in run.rounds(41):
        cluster.kill("host-system")
        journal.forget()
        began = cluster.start("host-system")
        first = journal.wait(lambda e: e.kind == "session.events" and e.sent_at >= began, "a delivery")
        found.append((first.sent_at - began) / 1e3)
    worst = percentile(found, 0.99)
    return [
        Figure("host: exec after a kill to the first delivery, p50", "ms", found),
        Figure("host: exec after a kill to the first delivery, p99", "ms", found, goal=50, value=worst),
    ]
