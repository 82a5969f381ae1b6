# SPDX-License-Identifier: Apache-2.0

"""Measures what one event costs the host: commits of its database, those that wait for the disk, and context switches.

Commits are the commit frames of the write-ahead log (https://sqlite.org/fileformat2.html#walformat), and those that wait
are the calls of fdatasync for it, which strace sees in other rounds. Context switches are those of all threads in
/proc/PID/task/TID/status. A step is over when the extension is suspended, and what may be written later has been.
"""

import os
import re
import signal
import struct
import subprocess
import time

from bus import Journal, Peer
from cluster import AGENT, DEVICE, EXTENSION, HOST, Cluster
from extension import SIGKILL, Woken
from figure import Figure
from push import Load, PushServer, needed
from rules import HANG_GUARD, push_server

APP = "com.example.Trial"
# What need not wait for the disk is written within a second.
SETTLED = 1.3
# The threads of ZeroMQ and of the bus have these names; the others are workers of Dispatch, which run Swift's jobs.
NAMED = re.compile(r"ZMQ|bus|loop")


def commits(path):
    """The number of commits in a write-ahead log, and what identifies it: a checkpoint begins it again."""
    with open(path, "rb") as file:
        log = file.read()
    if len(log) < 32:
        return None, 0
    page, salts = struct.unpack_from(">I", log, 8)[0], log[16:24]
    count, place = 0, 32
    while place + 24 <= len(log) and log[place + 8 : place + 16] == salts:
        count += struct.unpack_from(">I", log, place + 4)[0] != 0
        place += 24 + page
    return salts, count


def switches(process):
    """The context switches of the threads of a process, by the name of the thread."""
    found = {}
    for thread in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{thread}/status") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        except OSError:
            continue
        name = status["Name"]
        number = int(status["voluntary_ctxt_switches"]) + int(status["nonvoluntary_ctxt_switches"])
        found[name] = found.get(name, 0) + number
    return found


class Waits:
    """The calls of fdatasync for the log of a database, while this exists."""

    def __init__(self, process, log):
        self.output = log
        self.tracer = subprocess.Popen(
            ["strace", "-f", "-y", "-e", "trace=fdatasync,fsync", "-o", log, "-p", str(process)], stderr=subprocess.DEVNULL)
        end = time.monotonic() + HANG_GUARD
        while not self.is_attached(process):
            if time.monotonic() > end or self.tracer.poll() is not None:
                raise RuntimeError("strace cannot watch the host; as root it can")
            time.sleep(0.01)

    @staticmethod
    def is_attached(process):
        """Whether all threads are watched."""
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/status") as file:
                if "TracerPid:\t0\n" in file.read():
                    return False
        return True

    def end(self):
        self.tracer.send_signal(signal.SIGINT)
        self.tracer.wait()
        with open(self.output) as file:
            return sum("sqlite-wal>" in line and "resumed" not in line for line in file)


class Steps:
    """The costs of one kind of event: `perform` lets it happen and returns when it is over, after `prepare`."""

    def __init__(self, run, name, cluster, perform, prepare=lambda: None):
        self.run, self.name, self.cluster, self.perform, self.prepare = run, name, cluster, perform, prepare
        self.costs = {"waiting": [], "commits": [], "workers": [], "all": []}

    @property
    def process(self):
        return self.cluster.processes["host-system"]

    def log(self):
        return commits(f"{self.cluster.folder}/host/host.sqlite-wal")

    def counted(self):
        """The commits and the context switches of one event. None when a checkpoint came between."""
        self.prepare()
        time.sleep(SETTLED)
        log, before = self.log(), switches(self.process)
        self.perform()
        time.sleep(SETTLED)
        after, now = self.log(), switches(self.process)
        if after[0] != log[0]:
            return None
        spent = {name: number - before.get(name, 0) for name, number in now.items()}
        workers = sum(number for name, number in spent.items() if not NAMED.search(name))
        return after[1] - log[1], workers, sum(spent.values())

    def measure(self):
        for _ in self.run.rounds(11, quick=1):
            found = None
            while found is None:
                found = self.counted()
            for key, value in zip(("commits", "workers", "all"), found):
                self.costs[key].append(value)
        for _ in self.run.rounds(7, quick=1):
            self.prepare()
            time.sleep(SETTLED)
            waits = Waits(self.process, f"{self.cluster.folder}/waits")
            try:
                self.perform()
                time.sleep(SETTLED)
            finally:
                self.costs["waiting"].append(waits.end())

    def figures(self, waiting, workers=None, everything=None):
        costs, name = self.costs, f"steps: {self.name}"
        late = [number - sorted(costs["waiting"])[len(costs["waiting"]) // 2] for number in costs["commits"]]
        return [
            Figure(f"{name}: commits that wait for the disk", "", costs["waiting"], goal=waiting),
            Figure(f"{name}: other commits", "", late, goal=2),
            Figure(f"{name}: context switches of Dispatch and Swift", "", costs["workers"], goal=workers),
            Figure(f"{name}: context switches of the host", "", costs["all"], goal=everything),
        ]


class Suspended:
    """A device with one widget that accepts pushes, in an extension that is suspended soon after its work."""

    def __init__(self, run):
        rights = "    entitlements: {aps-environment: development}"
        self.cluster = Cluster(run, "steps", {"suspendAfter": 0.05}, whole=[
            "device:", f"  name: {DEVICE}", '  version: "26.0"', "apps:", f"  - bundle: {APP}",
            "    executable: FixtureWidgets", rights, '    environment: {TRIAL_FIXTURE: pushes, TRIAL_APP: "yes"}',
            "extensions:", f"  - bundle: {APP}.Widget", "    executable: FixtureWidgets", rights,
            '    environment: {TRIAL_FIXTURE: pushes, TRIAL_MISTAKE: "yes"}', *push_server()])
        self.cluster.start_bus()
        server = PushServer(self.cluster)
        self.cluster.start("process-agent")
        self.cluster.start("host-system")
        self.operator = Peer(self.cluster.folder, "operator", "operator/bench")
        run.at_end(self.operator.close)
        self.journal = Journal(self.cluster.folder)
        self.reload()
        load = Load(run, APP, [server.token(APP)], server.authorization)
        self.send = lambda: load.ask(server.pid, server.url, 1, connections=1, streams=1)

    def reload(self):
        self.journal.forget()
        self.operator.request("timeline.reload", HOST, {})
        self.suspended()

    def push(self):
        self.journal.forget()
        self.send()
        self.suspended()

    def suspended(self):
        stored = self.journal.wait(lambda e: e.kind == "timeline.stored", "timeline.stored")
        self.journal.wait(
            lambda e: e.kind == "process.state" and e.json["state"] == "suspended" and e.sent_at >= stored.sent_at,
            "the suspension of the extension")


class Download(Woken):
    """One download of 10 kB, which the server holds until its owner is in a state. Without an instance that runs, the
    owner's handler is called, and asks for a reload."""

    def __init__(self, run, state):
        super().__init__(run, f"steps-{state}", suspend_after=600 if state == "running" else 0.05, size=10_000)
        self.state = state

    def prepare(self):
        stored = self.begin()
        if self.state == "dead":
            self.operator.request("process.signal", AGENT, {"address": EXTENSION, "signal": SIGKILL})
        if self.state != "running":
            self.wait_for_state("absent" if self.state == "dead" else "suspended", since=stored)

    def perform(self):
        self.end("delegate.called", timelines=1 if self.state == "running" else 2)
        if self.state != "running":
            stored = [envelope for envelope in self.journal.kept if envelope.kind == "timeline.stored"][-1]
            self.wait_for_state("suspended", since=stored.sent_at)


def measure(run):
    needed("h2load", "strace")
    device = Suspended(run)
    reload = Steps(run, "a reload of a suspended widget", device.cluster, device.reload)
    push = Steps(run, "a push to a suspended widget", device.cluster, device.push)
    for steps in (reload, push):
        steps.measure()
    figures = reload.figures(waiting=2) + push.figures(waiting=2, workers=40, everything=100)
    for state, waiting in (("dead", 5), ("suspended", 5), ("running", 2)):
        download = Download(run, state)
        more = "" if state == "running" else ", and the reload that follows"
        name = f"a download of 10 kB to a {state} extension{more}"
        steps = Steps(run, name, download.cluster, download.perform, download.prepare)
        steps.measure()
        figures += steps.figures(waiting=waiting)
    return figures
