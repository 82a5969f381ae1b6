"""How quickly a host that was killed goes on: from its exec to the first delivery of events that wait."""

from bus import Journal, Peer, printed
from cluster import HOST, Cluster
from figure import Figure, percentile


def measure(run):
    cluster = Cluster(
        run.scratch, "host", run.executables, "/figures?size=1000&delay=100&seed=bench",
        {"suspendAfter": 0.05, "completionDeadline": 600})
    run.at_end(cluster.stop)
    cluster.start_device()
    journal = Journal(cluster.folder)
    operator = Peer(cluster.folder, "operator", "operator/bench")
    run.at_end(operator.close)
    # The extension stands in its handler for ever, so its events are delivered again by each host.
    cluster.hold("handler")
    operator.request("timeline.reload", HOST, {"widgetKind": "Trial"}, within=30)
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
