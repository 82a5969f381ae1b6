# SPDX-License-Identifier: Apache-2.0

"""Measures how long a day of a device takes: 24 hours with twenty placements, by `widgetlab clock advance`."""

import subprocess
import time

from bus import Journal, Peer
from cluster import HOST, Cluster
from figure import Figure
from rules import HANG_GUARD

PLACEMENTS = 20
DAY = 86400


def one_day(run, number):
    """Returns the seconds of real time."""
    # Budget and spacing determine the number of reloads per day.
    cluster = Cluster(run, f"day-{number}", measured=["developerMode"], fixture="day")
    cluster.start_device()
    operator = Peer(cluster.folder, "operator", "operator/bench")
    run.at_end(operator.close)
    journal = Journal(cluster.folder)
    for change in ({"hold": {}}, {"set": {"_0": 1772323200}}):
        operator.request("clock.set", HOST, {"change": change})
    operator.request("timeline.reload", HOST, {})
    journal.wait_for(PLACEMENTS, lambda e: e.kind == "timeline.stored", "the first timeline of each placement")
    operator.request("clock.set", HOST, {"change": {"advance": {"_0": 0}}})
    began = time.monotonic()
    operator.request("clock.set", HOST, {"change": {"advance": {"_0": DAY}}}, within=4 * HANG_GUARD)
    return time.monotonic() - began


def measure(run):
    days = [one_day(run, number) for number in run.rounds(7, quick=1)]
    return [
        Figure(f"a day of a device with {PLACEMENTS} placements", "s", days, goal=20),
        Figure("the same: device time over real time", "×", [DAY / seconds for seconds in days]),
    ]
