# SPDX-License-Identifier: Apache-2.0

"""Measures how a cluster grows: with the tasks of a session, the peers on the bus, the placed widgets, and the journal at the
broker's start.

Each size has its own cluster. Peers and journals are measured in rounds over all sizes, tasks and widgets by size.
"""

import json
import os
import shutil
import time

from broker import keys
from bus import Journal, Peer, microseconds
from cluster import AGENT, DEVICE, HOST, Cluster, Tool, cpu_seconds
from figure import Growth
from growth import memory
from long_journal import frames, write_journal
from rules import HANG_GUARD
from transfers import SMALL, Owner

# The sizes, with the number of rounds: a larger size has fewer where a round takes long.
TASKS, TASKS_QUICK = {100: 7, 1_000: 3, 10_000: 1}, {20: 2, 200: 1}
PLACEMENTS, PLACEMENTS_QUICK = {1: 15, 100: 7, 1_000: 3}, {1: 2, 50: 2}
PEERS, PEERS_QUICK = [10, 100, 400], [10, 50]
MEBIBYTES, MEBIBYTES_QUICK = [1, 10, 100, 1_000], [1, 8]

# The load of the broker: bytes of a body, concurrent requests, and the requests of a round.
BODY, WINDOW, REQUESTS = 100, 128, 6_000
# Requests to each peer. ZeroMQ allocates its queues in pieces of 256 messages, and keeps a second one.
FILLING = 600
# A widget of the fixture `timelines` with two entries, which asks for no reload.
WIDGET = "Never"
# Seconds until a wait for the largest size is aborted.
PATIENCE = 10 * HANG_GUARD

# The figures: name and unit. A name is also the title of a plot, and so short.
NAMES = {
    # from the reload to the last reply to resume()
    "create": ("accepted without network", "ms"),
    # from the network to the last end in the delegate
    "load": ("queued before, to the last delegate call", "ms"),
    "load_cpu": ("queued before, CPU of all processes", "ms"),
    # from the reload to the last end in the delegate
    "resume": ("with network, to the last delegate call", "ms"),
    "resume_cpu": ("with network, CPU of all processes", "ms"),
    "connect_cpu": ("connection of all, CPU of the broker", "ms"),
    "envelope_cpu": ("CPU of the broker for each envelope", "µs"),
    "broker_memory": ("RssAnon of the broker", "MiB"),
    "place": ("placed by the user in order", "ms"),
    "reload": ("reload of all to the last stored timeline", "ms"),
    "reload_cpu": ("reload of all, CPU of all processes", "ms"),
    "host_ready": ("exec of the host to ready", "ms"),
    "host_memory": ("RssAnon of the host when ready", "MiB"),
    # to its announcement
    "broker_ready": ("exec of the broker to ready", "ms"),
    "start_memory": ("RssAnon of the broker when ready", "MiB"),
}


class Tally:
    """Counts the envelopes that are journaled from now on. Each is read once, since 10,000 tasks write 200,000.

    `rules` has a condition for each name.
    """

    def __init__(self, journal, **rules):
        journal.forget()
        self.journal, self.rules = journal, rules
        self.counts, self.last = dict.fromkeys(rules, 0), dict.fromkeys(rules)

    def read(self):
        for envelope in self.journal.read():
            for name, is_meant in self.rules.items():
                if is_meant(envelope):
                    self.counts[name] += 1
                    self.last[name] = envelope.sent_at

    def wait(self, name, count):
        """Waits until so many were counted. Returns when the last of them was sent, in microseconds since 1970."""
        end = time.monotonic() + PATIENCE
        while self.counts[name] < count:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.journal.folder}: {self.counts[name]} of {count} {name} within {PATIENCE} s")
            time.sleep(0.01)
            self.read()
        return self.last[name]


def of_kind(kind):
    return lambda envelope: envelope.kind == kind


class Session:
    """An extension that creates this many tasks in one session."""

    def __init__(self, run, url, count):
        self.count = count
        # The author's code resumes its tasks before it returns its timeline.
        self.owner = Owner(run, f"scale-tasks-{count}", f"{url}/{SMALL}", count, {"timelineDeadline": PATIENCE})

    def start(self):
        """Begins to create the tasks. Returns what counts them, the time of the request, and the CPU time before it."""
        tally = Tally(
            self.owner.journal, accepted=of_kind("transfer.create/ok"), delivered=of_kind("session.events"),
            acknowledged=of_kind("session.acknowledged"),
            ended=lambda e: e.kind == "delegate.called" and b"didCompleteWithError" in e.body)
        spent = self.owner.cluster.spent()
        return tally, self.owner.reload(), spent

    def end(self, tally, spent):
        """When the delegate was called for the last task, in microseconds since 1970; and the CPU time of all processes in
        milliseconds. Returns when all events are acknowledged."""
        ended = tally.wait("ended", self.count)
        tally.wait("acknowledged", tally.counts["delivered"])
        return ended, self.owner.cluster.spent() - spent

    def queued(self):
        self.owner.set_network("off")
        tally, asked, spent = self.start()
        accepted = tally.wait("accepted", self.count)
        begun = microseconds()
        self.owner.set_network("wifi")
        ended, cpu = self.end(tally, spent)
        return {"create": (accepted - asked) / 1e3, "load": (ended - begun) / 1e3, "load_cpu": cpu}

    def resumed(self):
        tally, asked, spent = self.start()
        ended, cpu = self.end(tally, spent)
        return {"resume": (ended - asked) / 1e3, "resume_cpu": cpu}


def measure_tasks(run):
    """The figures, and the frames of a short journal."""
    server = Tool(f"{run.tools}/files")
    run.at_end(server.close)
    url = f"http://127.0.0.1:{server.hear()[0]}"
    growth, found = Growth("scale", "tasks", NAMES), None
    for count, rounds in run.count(TASKS, TASKS_QUICK).items():
        session = Session(run, url, count)
        # The launch is not measured, unless it is a small part of the time.
        if rounds > 1:
            session.resumed()
        for _ in range(rounds):
            growth.note(count, **session.queued(), **session.resumed())
        found = found or frames(session.owner.journal.folder)
        session.owner.cluster.stop()
    return growth.figures(), found


class Crowd:
    """A bus with this many peers: a host, an agent, and extensions, which the host asks in turn."""

    def __init__(self, run, count, number):
        self.count = count
        self.requests, self.filling = run.count(REQUESTS, quick=500), run.count(FILLING, quick=16)
        self.cluster = Cluster(run, f"scale-peers-{count}-{number}")
        self.cluster.start_bus()
        self.pid = self.cluster.processes["message-bus"]
        with open(f"{self.cluster.folder}/bus/bus.json") as file:
            bus = json.load(file)
        before = cpu_seconds(self.pid)
        self.tool = Tool(
            f"{run.tools}/crowd", bus["endpoint"], bus["publicKey"], HOST, *keys(self.cluster, "host"), AGENT,
            *keys(self.cluster, "agent-1"), f"device/{DEVICE}/extension/com.example.Crowd", count - 2)
        run.at_end(self.tool.close)
        self.tool.hear()
        self.connect_cpu = (cpu_seconds(self.pid) - before) * 1e3

    def load(self):
        """CPU time of the broker for each envelope in microseconds."""
        before = cpu_seconds(self.pid)
        self.tool.ask(BODY, WINDOW, self.requests)
        return (cpu_seconds(self.pid) - before) / (2 * self.requests) * 1e6

    def filled(self):
        """The memory of the broker in MiB when the queue of each peer has been used to its end."""
        self.tool.ask(BODY, WINDOW, self.filling * (self.count - 2))
        return memory(self.pid)

    def close(self):
        self.tool.close()
        self.cluster.stop()


def measure_peers(run):
    growth = Growth("scale", "peers", NAMES)
    rounds = run.rounds(7, quick=2)
    for number in rounds:
        crowds = {count: Crowd(run, count, number) for count in run.count(PEERS, PEERS_QUICK)}
        for count, crowd in crowds.items():
            growth.note(count, connect_cpu=crowd.connect_cpu)
            crowd.load()
        for count, crowd in [*crowds.items()] * run.count(3, quick=1):
            growth.note(count, envelope_cpu=crowd.load())
        for count, crowd in crowds.items():
            if number == rounds[-1]:
                growth.note(count, broker_memory=crowd.filled())
            crowd.close()
    return growth.figures()


class Screen:
    """A device on whose screen this many widgets of one kind are placed."""

    def __init__(self, run, count):
        self.count = count
        self.cluster = Cluster(
            run, f"scale-placements-{count}", {"suspendAfter": 600, "placesEachKind": "false"}, fixture="timelines",
            environment={"TRIAL_ONLY": WIDGET})
        self.cluster.start_device()
        self.operator = Peer(self.cluster.folder, "operator", "operator/bench")
        run.at_end(self.operator.close)
        self.journal = Journal(self.cluster.folder)
        # Launches the extension, whose widgets are not known yet.
        self.operator.request("gallery.list", HOST, {})

    def stored(self):
        return Tally(self.journal, stored=of_kind("timeline.stored"))

    def place(self):
        """Milliseconds until the user has placed all, and waits for the timeline of each."""
        stored = self.stored()
        began = time.monotonic()
        for _ in range(self.count):
            self.operator.request("placement.add", HOST, {
                "widgetKind": WIDGET, "family": "systemSmall", "location": "homeScreen", "configuration": {}})
        took = time.monotonic() - began
        stored.wait("stored", self.count)
        return {"place": took * 1e3}

    def reload(self):
        """Milliseconds from the request to the last stored timeline, and the CPU time of all processes."""
        stored, spent = self.stored(), self.cluster.spent()
        _, asked = self.operator.request("timeline.reload", HOST, {})
        last = stored.wait("stored", self.count)
        return {"reload": (last - asked) / 1e3, "reload_cpu": self.cluster.spent() - spent}

    def restart(self):
        """Milliseconds from the exec of another host until it replies that it is ready, and its memory then in MiB."""
        self.operator.kept = []
        self.cluster.kill("host-system")
        began = self.cluster.start("host-system")
        self.operator.wait(
            lambda e: e.kind == "peer.presence" and e.json["address"] == HOST and e.json["isPresent"], "the host")
        while not self.operator.request("peer.ping", HOST, {})[0].json["isReady"]:
            pass
        took = (microseconds() - began) / 1e3
        return {"host_ready": took, "host_memory": memory(self.cluster.processes["host-system"])}


def measure_placements(run):
    growth = Growth("scale", "placements", NAMES)
    for count, rounds in run.count(PLACEMENTS, PLACEMENTS_QUICK).items():
        screen = Screen(run, count)
        growth.note(count, **screen.place())
        for _ in range(rounds):
            growth.note(count, **screen.reload())
        for _ in range(rounds):
            growth.note(count, **screen.restart())
        screen.cluster.stop()
    return growth.figures()


class LongJournal:
    """A broker that starts with a journal of this many MiB, again and again the same."""

    def __init__(self, run, mebibytes, found):
        self.cluster = Cluster(run, f"scale-journal-{mebibytes}")
        # Otherwise the start would remove the oldest segments.
        self.cluster.bus_options = ["--journal-limit", f"{2 * mebibytes + 256}MiB"]
        self.folder = f"{self.cluster.folder}/journal"
        shutil.rmtree(self.folder)
        write_journal(self.folder, found, (mebibytes << 20) * len(found) // sum(len(frame) + 8 for frame in found))
        self.segments = set(os.listdir(self.folder))

    def start(self):
        """Milliseconds from its exec until it announces itself, and its memory then in MiB."""
        announcement = f"{self.cluster.folder}/bus/bus.json"
        began = self.cluster.start("message-bus")
        end = time.monotonic() + HANG_GUARD
        while not os.path.exists(announcement):
            if time.monotonic() > end:
                raise RuntimeError(f"the bus does not start; see {self.cluster.logs}")
            time.sleep(0.0002)
        took = (microseconds() - began) / 1e3
        own = memory(self.cluster.processes["message-bus"])
        self.cluster.kill("message-bus")
        os.remove(announcement)
        # The segment of this start, which would be the last one at the next.
        for name in set(os.listdir(self.folder)) - self.segments:
            os.remove(f"{self.folder}/{name}")
        return {"broker_ready": took, "start_memory": own}


def measure_journals(run, found):
    growth = Growth("scale", "MiB of journal", NAMES)
    journals = {size: LongJournal(run, size, found) for size in run.count(MEBIBYTES, MEBIBYTES_QUICK)}
    # The disk still writes them.
    os.sync()
    for journal in journals.values():
        journal.start()
    for _ in run.rounds(15):
        for size, journal in journals.items():
            growth.note(size, **journal.start())
    for journal in journals.values():
        journal.cluster.stop()
    return growth.figures()


def measure(run):
    tasks, found = measure_tasks(run)
    return tasks + measure_peers(run) + measure_placements(run) + measure_journals(run, found)
