# SPDX-License-Identifier: Apache-2.0

"""Measures a fleet of light devices: how long until all its tokens are issued, its memory, and how long until all devices
that return at once have what was stored for them; for a growing number of devices.

h2load sends a push to the token of the app of each device while the fleet has no network. Then all devices return at once.
The devices have the default day without rotations and removals. So some are offline by it, and their pushes remain stored.
"""

import json
import os
import time

from bus import Peer
from cluster import Cluster
from figure import Figure, exponent
from growth import memory
from push import Load, PushServer, needed
from rules import HANG_GUARD, push_server

SIZES, SIZES_QUICK = [1_000, 10_000, 100_000], [100, 1_000]
IDLE, IDLE_QUICK = 1_000_000, 5_000
APP = "com.example.app"
GIB = 1024


class Fleet:
    """A bus, a push server and a fleet with this many devices. Ready when this returns."""

    def __init__(self, run, count, name):
        self.count = count
        rules = push_server()[0].rstrip("}") + ", logLimit: 2000000}"
        self.cluster = Cluster(run, name, more=[rules])
        self.cluster.start_bus()
        self.server = PushServer(self.cluster)
        self.operator = Peer(self.cluster.folder, "operator", "operator/bench")
        run.at_end(self.operator.close)
        self.tokens = f"{self.cluster.folder}/tokens.jsonl"
        self.profile = f"{self.cluster.folder}/profile.yaml"
        with open(self.profile, "w") as file:
            # Otherwise some pushes would be answered with 410, and h2load is to get 200 only.
            file.write("rotationsPerYear: 0\nuninstallsPerYear: 0\n")
            file.write(f"registration: {{file: {self.tokens}, body: '{{use}} {{token}}'}}\n")
        began = time.monotonic()
        self.start()
        self.ready = self.wait(lambda state: state["isReady"], 10 * HANG_GUARD) - began

    def start(self):
        cluster = self.cluster
        words = [f"{cluster.executables}/device-fleet", "--instance", cluster.folder, "--devices", str(self.count), "--profile",
            self.profile, "--die-with-parent", str(os.getpid())]
        with open(f"{cluster.logs}/device-fleet.log", "a") as log:
            self.pid = cluster.processes["device-fleet"] = os.posix_spawn(
                words[0], words, os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, log.fileno(), 1), (os.POSIX_SPAWN_DUP2, log.fileno(), 2)])

    def ask(self, kind, body, address="fleet/load"):
        return self.operator.request(kind, address, body)[0].json

    def wait(self, is_reached, within):
        """The monotonic time at which the state was as wanted."""
        end = time.monotonic() + within
        while True:
            try:
                state = self.ask("fleet.status", {})
                if "online" in state and is_reached(state):
                    return time.monotonic()
            except (RuntimeError, KeyError):
                state = "the fleet does not answer"
            if time.monotonic() > end:
                raise RuntimeError(f"the fleet is not as wanted: {json.dumps(state)[:2000]}")
            time.sleep(0.05)

    @property
    def delivered(self):
        return sum(part["delivered"] for part in self.ask("fleet.status", {})["received"].values())

    def return_at_once(self, run):
        """Seconds until all devices that are online have what was stored for them, and how many there were."""
        self.ask("fleet.network", {"isOn": False})
        with open(self.tokens) as file:
            tokens = [line.split()[1] for line in file if line.startswith("app ")]
        before = self.delivered
        # Each connection of h2load begins with the first token, so that one reaches each device once.
        Alerts(run, tokens, self.server.authorization).ask(
            self.server.pid, self.server.url, len(tokens), connections=1, streams=256)
        counts = self.ask("fleet.pushes", {"fleet": "load"}, "push-server")
        stored = sum(counts["kept"].values())
        began = time.monotonic()
        self.ask("fleet.network", {"isOn": True})
        online = self.ask("fleet.status", {})["online"]
        end = began + 10 * HANG_GUARD
        # Devices come and go, so that the last ones are not waited for.
        while self.delivered - before < 0.99 * online:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.delivered - before} of {online} were delivered")
            time.sleep(0.02)
        return time.monotonic() - began, min(stored, online)


class Alerts(Load):
    """h2load with an alert to each token."""

    def __init__(self, run, tokens, authorization):
        super().__init__(run, APP, tokens, authorization)
        self.headers.update({"apns-push-type": "alert", "apns-priority": "10", "apns-topic": APP})


def measure(run):
    needed("h2load", "openssl")
    sizes = run.count(SIZES, quick=SIZES_QUICK)
    figures, ready, returned = [], [], []
    for size in sizes:
        fleet = Fleet(run, size, f"fleet-{size}")
        seconds, count = fleet.return_at_once(run)
        largest = size == sizes[-1]
        goals = {"goal": 30, "goal_text": "≤ 30 s"} if largest and not run.quick else {}
        figures += [
            Figure(
                f"fleet: {size:,} devices: all tokens issued and registered", "s", [fleet.ready], **goals,
                curve=("fleet: all tokens issued and registered", "devices", size)),
            Figure(
                f"fleet: {size:,} devices: {count:,} return at once, until delivered", "s", [seconds], **goals,
                curve=("fleet: all devices return at once, until delivered", "devices", size)),
            Figure(f"fleet: {size:,} devices: RssAnon of device-fleet", "MiB", [memory(fleet.pid)]),
            Figure(f"fleet: {size:,} devices: RssAnon of push-server", "MiB", [memory(fleet.server.pid)])]
        ready.append(fleet.ready)
        returned.append(seconds)
        fleet.cluster.stop()
    for name, curve in (("tokens issued", ready), ("return at once", returned)):
        figures.append(Figure(
            f"fleet: {name}: exponent", "", [exponent(curve, sizes)], goal=1.1, goal_text="≤ 1.1 (linear)"))
    idle = run.count(IDLE, quick=IDLE_QUICK)
    fleet = Fleet(run, idle, "fleet-idle")
    figures.append(Figure(f"fleet: {idle:,} idle devices: RssAnon of device-fleet", "MiB", [memory(fleet.pid)], goal=GIB))
    figures.append(Figure(f"fleet: {idle:,} idle devices: all tokens issued and registered", "s", [fleet.ready]))
    figures.append(Figure(f"fleet: {idle:,} idle devices: RssAnon of push-server", "MiB", [memory(fleet.server.pid)]))
    fleet.cluster.kill("device-fleet")
    began = time.monotonic()
    fleet.start()
    back = fleet.wait(lambda state: state["isReady"] and state["pid"] == fleet.pid, HANG_GUARD) - began
    figures.append(Figure(f"fleet: {idle:,} idle devices: ready again after SIGKILL", "s", [back], goal=5))
    return figures
