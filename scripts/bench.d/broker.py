# SPDX-License-Identifier: Apache-2.0

"""message-bus against a ROUTER proxy in C: the same two C peers exchange the same envelopes through each. And
message-bus with a journal that waits for the disk, against the same without.
"""

import json
import subprocess

from cluster import AGENT, HOST, Cluster, Tool, cpu_seconds
from figure import Figure

BODIES = [(100, "100 B"), (1024, "1 KiB")]
WINDOW = 128


class Line:
    """Two peers on one bus, and the process of that bus."""

    def __init__(self, run, pid, endpoint, server_key, host, agent, round_trips=1000):
        self.pid = pid
        self.requests, self.round_trip_count = run.count(6000, quick=1000), run.count(round_trips, quick=min(200, round_trips))
        self.peers = Tool(f"{run.tools}/peers", endpoint, server_key, HOST, *host, AGENT, *agent)
        self.peers.hear()

    def load(self, body):
        """CPU time of the bus per envelope in microseconds, with many concurrent requests."""
        self.peers.ask(body, WINDOW, 200)
        before = cpu_seconds(self.pid)
        self.peers.ask(body, WINDOW, self.requests)
        return (cpu_seconds(self.pid) - before) / (2 * self.requests) * 1e6

    def timed_load(self, body):
        """Time and CPU time of the bus per envelope in microseconds, with many concurrent requests."""
        before = cpu_seconds(self.pid)
        took, _, _ = self.peers.ask(body, WINDOW, self.requests)
        spent = cpu_seconds(self.pid) - before
        return float(took) / (2 * self.requests) * 1e6, spent / (2 * self.requests) * 1e6

    def round_trips(self, body):
        """p50 and p99 of sequential requests in microseconds, and the CPU time per envelope."""
        self.peers.ask(body, 1, 100)
        before = cpu_seconds(self.pid)
        _, middle, worst = self.peers.ask(body, 1, self.round_trip_count)
        return float(middle), float(worst), (cpu_seconds(self.pid) - before) / (2 * self.round_trip_count) * 1e6


def keys(cluster, name):
    with open(f"{cluster.folder}/keys/{name}/key.json") as file:
        pair = json.load(file)
    return pair["publicKey"], pair["secretKey"]


def watched(cluster, tools, bus, line, body):
    """The load with a viewer on the tap."""
    viewer = Tool(f"{tools}/viewer", bus["tap"], bus["publicKey"], *keys(cluster, "operator"))
    try:
        # A subscription is not acknowledged: it is active when the viewer received something.
        seen = False
        for _ in range(200):
            line.peers.ask(body, 1, 20)
            seen = seen or viewer.is_readable()
            if seen:
                break
        if not seen:
            raise RuntimeError("the viewer on the tap received nothing")
        return line.load(body)
    finally:
        viewer.close()
        line.peers.ask(body, 1, 20)


class Round:
    """Starts both buses and their peers again, because their placement on the cores could favour one of them."""

    def __init__(self, run, cluster):
        self.cluster, self.tools = cluster, run.tools
        cluster.start_bus()
        self.proxy = Tool(f"{run.tools}/proxy")
        with open(f"{cluster.folder}/bus/bus.json") as file:
            self.bus = json.load(file)
        pairs = keys(cluster, "host"), keys(cluster, "agent-1")
        self.lines = {
            "ours": Line(
                run, cluster.processes["message-bus"], self.bus["endpoint"], self.bus["publicKey"], *pairs),
            "limit": Line(run, self.proxy.process.pid, *self.proxy.hear(), *pairs),
        }

    def measure(self, order, note):
        for body, _ in BODIES:
            for who in order:
                note((who, body, "load"), self.lines[who].load(body))
            note(("watched", body, "load"), watched(self.cluster, self.tools, self.bus, self.lines["ours"], body))
            for who in order:
                for what, value in zip(["p50", "p99", "single"], self.lines[who].round_trips(body)):
                    note((who, body, what), value)

    def close(self):
        for line in self.lines.values():
            line.peers.close()
        self.proxy.close()
        self.cluster.stop_bus()


class DurableRound:
    """Starts two buses: one waits for the disk before it forwards a message."""

    def __init__(self, run, clusters):
        self.clusters, self.lines = clusters, {}
        for who, cluster in clusters.items():
            cluster.start_bus()
            with open(f"{cluster.folder}/bus/bus.json") as file:
                bus = json.load(file)
            self.lines[who] = Line(
                run, cluster.processes["message-bus"], bus["endpoint"], bus["publicKey"], keys(cluster, "host"),
                keys(cluster, "agent-1"), round_trips=100)

    def measure(self, order, note):
        for who in order:
            self.lines[who].load(BODIES[0][0])
            for what, value in zip(["time", "cpu"], self.lines[who].timed_load(BODIES[0][0])):
                note((who, what), value)
            note((who, "p50"), self.lines[who].round_trips(BODIES[0][0])[0])

    def close(self):
        for who, cluster in self.clusters.items():
            self.lines[who].peers.close()
            cluster.stop_bus()


def durable(run):
    """The figures of the durable journal. Its disk is that of TMPDIR."""
    clusters = {"durable": Cluster(run, "durable"), "usual": Cluster(run, "usual")}
    clusters["durable"].bus_options = ["--journal-sync"]
    found = {}
    for number in run.rounds(7):
        both = DurableRound(run, clusters)
        try:
            both.measure(
                list(clusters) if number % 2 else list(clusters)[::-1],
                lambda what, value: found.setdefault(what, []).append(value))
        finally:
            both.close()
    system = subprocess.run(["stat", "-f", "-c", "%T", run.scratch], check=True, stdout=subprocess.PIPE, text=True).stdout
    name = "broker: durable journal" + (" on a tmpfs, which has no disk" if system.strip() == "tmpfs" else "")
    return [
        Figure(f"{name}: {title}, {BODIES[0][1]}", "µs", found["durable", what], found["usual", what], "usual journal")
        for what, title in [
            ("time", f"time per envelope, {WINDOW} at a time"), ("cpu", f"CPU per envelope, {WINDOW} at a time"),
            ("p50", "round trip p50")]
    ]


def measure(run):
    cluster = Cluster(run, "broker")
    found = {}
    for number in run.rounds(15):
        both = Round(run, cluster)
        try:
            both.measure(
                ["ours", "limit"] if number % 2 else ["limit", "ours"],
                lambda what, value: found.setdefault(what, []).append(value))
        finally:
            both.close()
    figures = []
    for what, name, unit, goal in [
        ("load", "CPU per envelope", "µs", 1.2), ("single", "CPU per envelope, one at a time", "µs", None),
        ("p50", "round trip p50", "µs", 1.3), ("p99", "round trip p99", "µs", 1.5),
    ]:
        for body, size in BODIES:
            figures.append(Figure(
                f"broker: {name}, {size}", unit, found["ours", body, what], found["limit", body, what], "C proxy", goal))
        if what == "load":
            for body, size in BODIES:
                figures.append(Figure(
                    f"broker: {name} with a viewer, {size}", unit, found["watched", body, what],
                    found["ours", body, what], "no viewer"))
    return figures + durable(run)
