# SPDX-License-Identifier: Apache-2.0

"""Measures the recovery of each process from SIGKILL beside a bare restart of its executable, and the cost of the laws.

The kills are those of `widgetlab chaos`, without other faults. The executables alone are measured after them.
"""

import json
import os
import signal
import subprocess
import time
from statistics import median

from bus import Journal, Peer
from cluster import HOST, Cluster, cpu_seconds
from figure import Figure, percentile

# The victims of a campaign, and their executables.
VICTIMS = {
    "message-bus": "message-bus", "host": "host-system", "agent-1": "process-agent", "push-server": "push-server",
    "provider": "provider-server", "extension": "widget-extension", "app": "containing-app"}


def bare(executable):
    """Milliseconds from the start of an executable to its exit, when it only prints its help; an author's prints how to
    start it, and exits as early."""
    began = time.monotonic()
    subprocess.run([executable, "--help"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return (time.monotonic() - began) * 1e3


def campaign(run):
    """The recovery times of each victim in milliseconds, and the folder of the cluster."""
    folder, report = f"{run.scratch}/recovery", f"{run.scratch}/recovery.json"
    kills = run.count(700, 120)
    command = [f"{run.executables}/widgetlab", "chaos", "run", "--executables", run.executables, "--seed", "1", "--kills",
               str(kills), "--faults", "kill", "--instance", folder, "--report", report, "--no-shrink", "--failure",
               ".build/bench/recovery.tar"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        raise RuntimeError(f"widgetlab chaos exited with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    with open(report) as file:
        events = json.load(file)["events"]
    found = {}
    for kill in (kill for event in events for kill in event["kills"]):
        if kill.get("recovery") is not None:
            found.setdefault(kill["victim"], []).append(kill["recovery"])
    return found, folder


def check(run, folder):
    """Microseconds of CPU time of `widgetlab check` for each envelope of the campaign's journal."""
    began = os.times()
    done = subprocess.run(
        [f"{run.executables}/widgetlab", "check", f"{folder}/journal", "--json"], capture_output=True, check=False)
    ended = os.times()
    if done.returncode not in (0, 2):
        raise RuntimeError(f"widgetlab check exited with {done.returncode}: {done.stderr.decode()[-2000:]}")
    spent = ended.children_user + ended.children_system - began.children_user - began.children_system
    return spent / json.loads(done.stdout)["envelopes"] * 1e6


def supervised(run, name, *words):
    """Microseconds of CPU time of `widgetlab up` for each envelope, while an extension reloads."""
    cluster = Cluster(run, name)
    up = subprocess.Popen(
        [f"{run.executables}/widgetlab", "up", "--instance", cluster.folder, "--config", cluster.config, "--executables",
         run.executables, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop():
        if up.poll() is None:
            up.send_signal(signal.SIGINT)
            up.wait(60)

    run.at_end(stop)
    cluster.wait_for_file("bus/bus.json")
    operator = Peer(cluster.folder, "operator", "operator/bench")
    journal = Journal(cluster.folder)

    def reload(count):
        found = []
        for _ in range(count):
            cluster.forget_result()
            journal.forget()
            operator.request("timeline.reload", HOST, {"widgetKind": "Trial"})
            last = journal.wait(lambda e: e.kind == "timeline.stored", "a timeline")
            found.append(last.sequence)
        return found[-1]

    first = reload(3)
    before = cpu_seconds(up.pid)
    last = reload(run.count(150, 10))
    spent = cpu_seconds(up.pid) - before
    operator.close()
    stop()
    return spent / (last - first) * 1e6


def measure(run):
    found, folder = campaign(run)
    figures = []
    for victim, executable in VICTIMS.items():
        times = found.get(victim, [])
        if not times and run.quick:
            continue
        if not times:
            raise RuntimeError(f"the campaign killed no {victim} that came back")
        alone = [bare(f"{run.executables}/{executable}") for _ in run.rounds(21)]
        limit = [median(alone)] * len(times)
        figures += [
            Figure(f"recovery: {victim}, SIGKILL to ready, p50", "ms", times, limit, "its executable alone"),
            Figure(f"recovery: {victim}, p99", "ms", times, value=percentile(times, 0.99)),
        ]
    figures.append(Figure("laws: CPU for each envelope, widgetlab check", "µs", [
        check(run, folder) for _ in run.rounds(7)]))
    costs = {words: [] for words in ((), ("--check",))}
    for number in run.rounds(7, quick=1):
        for words in costs:
            costs[words].append(supervised(run, f"up-{number}-{len(words)}", *words))
    # No ratio: without --check, `up` only waits for its processes.
    return figures + [
        Figure("laws: CPU of `up --check` for each envelope", "µs", costs["--check",]),
        Figure("laws: the same without --check", "µs", costs[()]),
    ]
