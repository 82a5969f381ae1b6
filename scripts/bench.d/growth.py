# SPDX-License-Identifier: Apache-2.0

"""Measures how the push server grows with its devices: its start, its memory, the hand-over to a device that returns, a
push to any of the devices, and the removal of ended tokens.

The devices are rows of the push server's own database: each has a token and a stored notification. As many tokens have
ended too long ago. One more device is real: a peer on the bus that goes offline and returns. Between two of its returns,
pushes to other devices take its notifications out of the push server's memory.
"""

import os
import sqlite3
import time
from contextlib import closing
from statistics import median

from bus import Peer
from cluster import DEVICE, HOST, Cluster
from figure import Figure, exponent
from push import APP, Load, PushServer, needed
from rules import HANG_GUARD, push_server

SIZES, SIZES_QUICK = [1_000, 10_000, 100_000, 1_000_000], [1_000, 10_000]
# The notifications that wait for the device that returns, each of another app.
WAITING = 20
PAYLOAD = '{"aps":{"content-changed":true}}'
MONTH = 30 * 86_400

FILL = [
    # The tokens of the devices, and as many that ended more than a month ago.
    """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
        INSERT INTO tokens SELECT lower(hex(randomblob(80))), 'away' || i, :app, 'widgets', 'development', 'active', :now FROM n""",
    """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
        INSERT INTO tokens SELECT lower(hex(randomblob(80))), 'away' || i, :app, 'widgets', 'development', 'unregistered',
            :now - :month - 86400 FROM n""",
    """INSERT INTO requests (number, uniqueID, apnsID, device, bundle, use, token, type, status, at, next, nextDetail)
        SELECT row_number() OVER (), randomblob(16), lower(hex(randomblob(16))), device, bundle, use, token, 'widgets', 200, :now,
            'storedOffline', 'the device is not connected' FROM tokens WHERE state = 'active' AND device <> :device""",
    """INSERT INTO kept (device, bundle, use, number, type, priority, payload, acceptedAt, isFromStorage, ends)
        SELECT device, bundle, use, number, 'widgets', 5, :payload, :now, 1, :now + :month FROM requests""",
]


def memory(pid):
    """The process's own memory in MiB."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) / 1024


class Growing:
    """A push server with this many devices, and the device that returns."""

    def __init__(self, run, count):
        self.count = count
        self.cluster = Cluster(run, f"growth-{count}", more=push_server())
        self.cluster.start_bus()
        self.server = PushServer(self.cluster)
        self.server.stop()
        self.tokens = [(f"{number:0160x}", f"com.example.App{number}") for number in range(WAITING)]
        values = {"count": count, "app": APP, "now": time.time(), "month": MONTH, "device": DEVICE, "payload": PAYLOAD}
        with closing(sqlite3.connect(f"{self.server.folder}/push.sqlite", timeout=HANG_GUARD)) as database, database:
            database.execute("PRAGMA cache_size = -500000")
            database.executemany(
                f"INSERT INTO tokens VALUES (?, '{DEVICE}', ?, 'widgets', 'development', 'active', {values['now']})", self.tokens)
            for statement in FILL:
                database.execute(statement, {name: value for name, value in values.items() if f":{name}" in statement})

    def forget(self):
        """Starts it. Returns the seconds until the ended tokens are removed."""
        self.server.start()
        began, end = time.monotonic(), time.monotonic() + 10 * HANG_GUARD
        while self.server.read("SELECT 1 FROM tokens WHERE state <> 'active' LIMIT 1"):
            if time.monotonic() > end:
                raise RuntimeError("the push server does not remove the ended tokens")
            time.sleep(0.005)
        return time.monotonic() - began + self.server.ready

    def restart(self):
        """Milliseconds from its start until it is ready, and its memory then."""
        self.server.stop()
        self.server.start()
        return self.server.ready * 1e3, memory(self.server.pid)

    def connect(self, run):
        """Connects the device that returns, and prepares the pushes to others: as many as fill the memory."""
        self.host = Peer(self.cluster.folder, "host", HOST)
        self.operator = Peer(self.cluster.folder, "operator", "operator/bench")
        run.at_end(self.host.close)
        run.at_end(self.operator.close)
        # Otherwise the first pushes would wait for the disk, which still writes the devices.
        os.sync()
        self.pushes = run.count(10_000, quick=1_000)
        found = self.server.read(
            "SELECT token FROM tokens WHERE bundle = ? ORDER BY random() LIMIT ?", APP, min(self.pushes, self.count))
        self.load = Load(run, APP, [token for token, in found], self.server.authorization)

    def reach(self, online):
        self.host.request("push.reach", "push-server", {"isOnline": online, "isAwake": True})

    def push(self):
        """CPU microseconds of a push to another device."""
        return self.load.ask(self.server.pid, self.server.url, self.pushes)[1]

    def hand_over(self):
        """Milliseconds from the return of the device to its last notification."""
        self.reach(False)
        for token, app in self.tokens:
            headers = {"apns-push-type": "widgets", "apns-topic": f"{app}.push-type.widgets"}
            answer = self.operator.request(
                "push.send", "push-server", {"token": token, "headers": headers, "payload": PAYLOAD})[0].json
            if answer["status"] != 200:
                raise RuntimeError(f"the push to {app} was not accepted: {answer}")
        cpu = self.push()
        began = time.monotonic()
        self.host.say("push.reach", "push-server", {"isOnline": True, "isAwake": True})
        arrived = [self.host.wait(lambda e: e.kind == "push.deliver", "the stored notifications") for _ in range(WAITING)]
        seconds = time.monotonic() - began
        for envelope in arrived:
            self.host.say("push.deliver/ack", envelope.source, None, envelope.id, envelope.correlation)
        end = time.monotonic() + HANG_GUARD
        while self.server.read("SELECT 1 FROM kept WHERE device = ? LIMIT 1", DEVICE):
            if time.monotonic() > end:
                raise RuntimeError("the push server keeps acknowledged notifications")
            time.sleep(0.005)
        return seconds * 1e3, cpu


def measure(run):
    needed("h2load", "openssl")
    sizes = run.count(SIZES, quick=SIZES_QUICK)
    names = [
        ("removal of as many ended tokens", "s", 1.1), ("start to ready", "ms", 1.1), ("RssAnon when ready", "MiB", 1.1),
        (f"return of a device to its {WAITING}th notification", "ms", 0.1), ("a push to any device, CPU", "µs", 0.1),
        ("RssAnon after the pushes", "MiB", 1.1)]
    figures, curves = [], [[] for _ in names]
    for size in sizes:
        growing = Growing(run, size)
        forgotten = growing.forget()
        starts = [growing.restart() for _ in run.rounds(5, quick=2)]
        growing.connect(run)
        growing.hand_over()
        returns = [growing.hand_over() for _ in run.rounds(7, quick=2)]
        found = [[forgotten], *map(list, zip(*starts)), *map(list, zip(*returns)), [memory(growing.server.pid)]]
        growing.cluster.stop()
        for (name, unit, _), values, curve in zip(names, found, curves):
            figures.append(
                Figure(f"growth: {size:,} devices: {name}", unit, values, curve=(f"push server: {name}", "devices", size)))
            curve.append(median(values))
    for (name, _, goal), curve in zip(names, curves):
        # What is measured for one device has to stay the same; its sum over all devices is then linear.
        text = f"≤ {goal:g} ({'linear' if goal > 1 else 'the same'})"
        figures.append(Figure(
            f"growth: {name}: exponent", "", [exponent(curve, sizes)], goal=goal, goal_text=text))
    return figures
