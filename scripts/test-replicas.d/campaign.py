# SPDX-License-Identifier: Apache-2.0

"""Breaks replicas of the push server and their database while a fleet receives, and judges what became of each push.

scripts/test-replicas has the usage, and Documentation/deployment.md what is broken and what must hold. By the seed, each
fault has a kind, a victim and a pause before the next one. A victim is often the replica that owns the fleet, because the
others own nothing.
"""

import argparse
import bisect
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "bench.d"))
from bus import Peer
from cluster import Cluster
from figure import Skipped, percentile
from postgres import Postgres

FLEET = "load"
BUNDLE = "com.example.app"
ENDS = ("delivered", "superseded", "collapsed", "expired", "notStored", "tokenUnregistered")
# The broker counts a replica without a sign of life as disconnected after so many seconds.
HEARTBEAT_LIMIT = 5
# What one push server may have sent to a fleet without having recorded the reply: four batches of 500.
IN_FLIGHT = 2_000
PROFILE = """
tokens: {app: 1, widgets: 0, control: 0, complication: 0, fileprovider: 0, liveactivity-start: 0, location: 0, mdm: 0,
  pushtotalk: 0, voip: 0}
offline: {timesPerDay: 0}
asleep: {timesPerDay: 0}
rotationsPerYear: ROTATIONS
uninstallsPerYear: 0
liveActivities: {perDay: 0}
registration: {file: FILE, body: '{device} {token}'}
"""


class Run:
    """What Cluster and Postgres need of a run of scripts/bench."""

    def __init__(self, executables, scratch):
        self.executables, self.scratch = executables, scratch
        self.clusters, self.endings = [], []

    def at_end(self, stop):
        self.endings.append(stop)

    def end(self):
        while self.endings:
            self.endings.pop()()


class Campaign:
    def __init__(self, options, run):
        self.options, self.run = options, run
        self.random = random.Random(options.seed)
        self.replicas = [str(number) for number in range(1, options.replicas + 1)]
        # The wall-clock time of each fault, its kind, and whether its victim owned the fleet.
        self.faults = []
        # How long PostgreSQL itself needed for each restart.
        self.recoveries = []
        self.problems = []

    # The cluster

    def start(self):
        options = self.options
        self.postgres = Postgres(self.run)
        rules = f"replicas: {options.replicas}, logLimit: 100000000, queueLimit: 20000, journalRate: 0"
        low = "priority5Interval: 0, priority1Interval: 0, backgroundInterval: 0"
        self.cluster = Cluster(
            self.run, "replicas", more=[f'pushServer: {{database: "{self.postgres.url}", {rules}, {low}}}'])
        self.cluster.start_bus()
        for name in self.replicas:
            self.cluster.start_replica(name)
        folder = self.cluster.folder
        self.tokens = f"{folder}/tokens"
        with open(f"{folder}/profile.yaml", "w") as file:
            file.write(PROFILE.replace("FILE", self.tokens).replace("ROTATIONS", str(options.rotations)))
        words = [f"{self.cluster.executables}/device-fleet", "--instance", folder, "--name", FLEET, "--devices",
            str(options.devices), "--profile", f"{folder}/profile.yaml", "--die-with-parent", str(os.getpid())]
        with open(f"{self.cluster.logs}/device-fleet.log", "a") as log:
            self.cluster.processes["device-fleet"] = os.posix_spawn(
                words[0], words, os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, log.fileno(), 1), (os.POSIX_SPAWN_DUP2, log.fileno(), 2)])
        self.operator = Peer(folder, "operator", "operator/campaign")
        self.run.at_end(self.operator.close)
        began = time.monotonic()
        self.await_state(lambda state: state["isReady"], "the fleet is ready", 600)
        say(f"{options.devices:,} devices are ready after {time.monotonic() - began:.1f} s")

    def begin_load(self):
        folder, options = self.cluster.folder, self.options
        self.accepted = f"{folder}/accepted"
        plan = {"instance": folder, "replicas": self.replicas, "rate": options.rate, "tokens": self.tokens, "topic": BUNDLE,
            "once": 20, "seed": options.seed, "accepted": self.accepted}
        with open(f"{folder}/load.json", "w") as file:
            json.dump(plan, file)
        self.load = subprocess.Popen(
            [sys.executable, f"{here}/push_load.py", f"{folder}/load.json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.run.at_end(self.load.kill)
        if not self.load.stdout.readline():
            raise RuntimeError("the load did not begin")

    def end_load(self):
        self.load.stdin.close()
        line = self.load.stdout.readline()
        if self.load.wait() != 0 or not line:
            raise RuntimeError("the load failed")
        return json.loads(line)

    def ask(self, kind, body, address):
        """The reply; `None` without one, such as while a replica is away."""
        try:
            return self.operator.request(kind, address, body, within=10)[0].json
        except (RuntimeError, KeyError):
            return None

    def state(self):
        state = self.ask("fleet.status", {}, f"fleet/{FLEET}")
        return state if state and "online" in state else None

    def await_state(self, is_reached, what, within):
        end = time.monotonic() + within
        while True:
            state = self.state()
            if state and is_reached(state):
                return state
            if time.monotonic() > end:
                raise RuntimeError(f"not within {within} s: {what}")
            time.sleep(0.05)

    def owner(self):
        """The name of the replica that owns the fleet; `None` when it has none, or the database is away."""
        try:
            found = self.postgres.query(f"SELECT replica FROM route WHERE connection = '{FLEET}:' AND replica IS NOT NULL")
        except subprocess.CalledProcessError:
            return None
        return found[0].partition("#")[0].rpartition("/")[2] if found else None

    # Faults

    def schedule(self):
        """The kinds of the faults, in random order. The first ones are not rare kinds only."""
        options = self.options
        kinds = (["kill"] * options.kills + ["restart"] * options.restarts + ["pause"] * options.pauses
            + ["cut"] * options.cuts + ["network"] * options.returns)
        self.random.shuffle(kinds)
        return kinds

    def victim(self):
        """A replica: with probability 0.6 the owner. Returns its name and whether it is that."""
        owner = self.owner()
        others = [name for name in self.replicas if name != owner]
        if owner and (self.random.random() < 0.6 or not others):
            return owner, True
        return self.random.choice(others), False

    def perform(self, kind):
        if kind == "network":
            # All devices lose their network and return at once.
            self.ask("fleet.network", {"isOn": False}, f"fleet/{FLEET}")
            time.sleep(self.random.uniform(0.2, 1))
            self.ask("fleet.network", {"isOn": True}, f"fleet/{FLEET}")
            return self.note(kind, False)
        if kind == "restart":
            self.note(kind, True)
            self.recoveries.append(self.postgres.restart())
            return None
        name, is_owner = self.victim()
        pid = self.cluster.processes[f"push-server-{name}"]
        self.note(kind, is_owner)
        if kind == "kill":
            self.cluster.kill(f"push-server-{name}")
            os.remove(f"{self.cluster.folder}/push-server-{name}.json")
            self.cluster.start("push-server", "--replica", name)
        else:
            # A replica without a network has neither the database nor the bus, as one that is stopped for longer than the
            # limits of both.
            seconds = self.random.uniform(0.1, 2) if kind == "pause" else HEARTBEAT_LIMIT + 3
            os.kill(pid, signal.SIGSTOP)
            try:
                if kind == "cut" and is_owner:
                    self.await_flow(HEARTBEAT_LIMIT + 15)
                time.sleep(max(0, seconds - (time.time() - self.faults[-1][0])))
            finally:
                os.kill(pid, signal.SIGCONT)
        return None

    def note(self, kind, is_owner):
        self.faults.append((time.time(), kind, is_owner))

    def delivered(self):
        state = self.state()
        return sum(part["delivered"] for part in state["received"].values()) if state else None

    def await_flow(self, within=60):
        """Waits until something is delivered."""
        end = time.monotonic() + within
        before = None
        while time.monotonic() < end:
            now = self.delivered()
            if now is not None:
                if before is not None and now > before:
                    return
                before = now if before is None else before
            time.sleep(0.02)
        raise RuntimeError(f"nothing is delivered for {within} s after {self.faults[-1][1]}")

    def break_things(self):
        began = said = time.monotonic()
        kinds = self.schedule()
        for number, kind in enumerate(kinds, 1):
            time.sleep(self.random.uniform(*self.options.gap))
            self.perform(kind)
            self.await_flow()
            for name in self.replicas:
                self.cluster.wait_for_file(f"push-server-{name}.json")
            if time.monotonic() - said > 30:
                said = time.monotonic()
                say(f"{number} of {len(kinds)} faults, {self.delivered() or 0:,} delivered, {said - began:.0f} s")

    # The verdict

    def settle(self):
        """Waits until nothing is on its way, and returns the counts of the push server and the fleet's state."""
        end = time.monotonic() + self.options.patience
        counts = None
        while True:
            asked = time.monotonic()
            counts = self.ask("fleet.pushes", {"fleet": FLEET}, "push-server")
            if counts and "kept" in counts:
                names = summed(counts)
                if not counts["kept"] and not names.get("open"):
                    return counts, self.await_state(lambda _: True, "the fleet answers", 60)
            if time.monotonic() > end:
                raise RuntimeError(f"not all has an end after {self.options.patience} s: {json.dumps(counts)[:1000]}")
            # Counting reads all that is kept, which must not take the time of what is delivered.
            time.sleep(max(0.3, 10 * (time.monotonic() - asked)))

    def check(self, holds, text):
        say(f"{'holds' if holds else 'BROKEN'}: {text}")
        if not holds:
            self.problems.append(text)

    def judge(self, load, counts, state):
        names = summed(counts)
        accepted, interrupted = names.get("accepted", 0), names.get("interrupted", 0)
        ends = sum(names.get(name, 0) for name in ENDS) + interrupted
        parts = ", ".join(f"{name} {names[name]:,}" for name in (*ENDS, "interrupted") if names.get(name))
        self.check(accepted == ends, f"accepted {accepted:,} = {ends:,} with an end: {parts}")
        missing, ended, rows = self.log()
        self.check(not missing, f"each of {load['accepted']:,} answers 200 is in the delivery log ({missing} are not)")
        self.check(rows == accepted, f"the delivery log has {rows:,} accepted pushes, and the counts {accepted:,}")
        self.check(
            rows - ended == interrupted, f"{rows - ended:,} of them have no last step; {interrupted:,} were interrupted")
        all = load["accepted"] + load["unanswered"]
        self.check(
            load["accepted"] <= accepted <= all, f"accepted {accepted:,}: {load['accepted']:,} answers, and at most "
            f"{load['unanswered']:,} that were lost with their connections")
        received = sum(part["delivered"] for part in state["received"].values())
        # A single attempt that was interrupted may have been delivered.
        surplus = received - names.get("delivered", 0)
        self.check(
            0 <= surplus <= interrupted, f"the fleet has {received:,} on its disk, each once, and the push servers count "
            f"{names.get('delivered', 0):,}")
        if not 0 <= surplus <= interrupted:
            self.show("delivered")
        repeated = sum(part["repeated"] for part in state["received"].values())
        most = IN_FLIGHT * len(self.faults)
        self.check(repeated <= most, f"sent again and recognised: {repeated:,}, at most {most:,} were in flight")
        tokens = sum(counts["tokens"].values())
        own = state["tokens"]["issued"] + state["tokens"]["registered"]
        self.check(tokens == own, f"the push servers have {tokens:,} active tokens, and the devices {own:,}")
        self.report_times(load)

    def log(self):
        """How many accepted ids the log lacks, and how many of its accepted pushes have an end, of how many."""
        final = ", ".join(f"'{name}'" for name in ENDS)
        device = f"device LIKE '{FLEET}:%'"
        with open(self.accepted) as file:
            self.postgres.query("CREATE TABLE answered (id TEXT)", "COPY answered FROM STDIN", stdin=file)
        found = self.postgres.query(
            "SELECT count(*) FROM answered WHERE NOT EXISTS (SELECT 1 FROM requests WHERE apns_id = id AND status = 200)",
            f"""SELECT count(*) FROM requests WHERE status = 200 AND {device} AND (next IN ({final}) OR EXISTS (
                SELECT 1 FROM steps WHERE request = number AND name IN ({final})))""",
            f"SELECT count(*) FROM requests WHERE status = 200 AND {device}")
        missing, ended, rows = (int(text) for text in found[-3:])
        return missing, ended, rows

    def show(self, name):
        """Prints the steps of some pushes that were sent and have another end."""
        print(self.postgres.run(
            "psql", "-h", self.postgres.folder, "-U", "widgetlab", "-d", "postgres", "-qAt", "-c",
            f"""SELECT number, next, next_detail, (SELECT string_agg(name || ' ' || detail, '; ' ORDER BY place) FROM steps
                WHERE request = number) FROM requests WHERE status = 200 AND NOT EXISTS (
                SELECT 1 FROM steps WHERE request = number AND name = '{name}') AND (next = 'sent' OR EXISTS (
                SELECT 1 FROM steps WHERE request = number AND name = 'sent')) ORDER BY number LIMIT 20"""))

    def report_times(self, load):
        text = self.postgres.query("SELECT at FROM steps WHERE name = 'delivered' ORDER BY at")
        times = [float(at) for at in text]
        say(f"{load['sent'] / load['seconds']:,.0f} pushes/s sent, {load['accepted'] / load['seconds']:,.0f}/s answered with "
            f"200, for {load['seconds']:.0f} s; refused: {load['reasons'] or 'none'}")
        routes = {}
        ends = [at for at, _, _ in self.faults[1:]] + [math.inf]
        for (at, kind, is_owner), end in zip(self.faults, ends):
            place = bisect.bisect_right(times, at)
            # A delivery that a restart takes back is not recorded. What follows then is the effect of the restart.
            if is_owner and kind in ("kill", "restart", "cut", "pause") and place < len(times) and times[place] < end:
                routes.setdefault(kind, []).append(times[place] - at)
        self.figures = {}
        if self.recoveries:
            say(f"PostgreSQL needed for its restarts: p50 {percentile(self.recoveries, 0.5):.2f} s, max "
                f"{max(self.recoveries):.2f} s")
        names = {"kill": "the kill of the owner", "restart": "a restart of PostgreSQL", "pause": "a pause of the owner",
            "cut": f"the owner's stop beyond {HEARTBEAT_LIMIT} s"}
        for kind, found in sorted(routes.items()):
            self.figures[kind] = {"count": len(found), "p50": percentile(found, 0.5), "p99": percentile(found, 0.99),
                "max": max(found)}
            say(f"until the next delivery after {names[kind]}, {len(found)} times: p50 {percentile(found, 0.5):.2f} s, p99 "
                f"{percentile(found, 0.99):.2f} s, max {max(found):.2f} s")

    def perform_all(self):
        self.start()
        self.begin_load()
        self.await_flow()
        self.break_things()
        load = self.end_load()
        counts, state = self.settle()
        self.judge(load, counts, state)
        if self.options.json:
            with open(self.options.json, "w") as file:
                json.dump({"load": load, "counts": summed(counts), "faults": len(self.faults), "routes": self.figures,
                    "problems": self.problems}, file, indent=1)
        return not self.problems


def summed(counts):
    names = {}
    for part in counts["counts"]:
        names[part["name"]] = names.get(part["name"], 0) + part["count"]
    return names


def say(text):
    print(f"    {text}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/test-replicas", add_help=False)
    for name, value in (("replicas", 3), ("devices", 200), ("rate", 200), ("kills", 6), ("restarts", 1), ("pauses", 2),
            ("cuts", 1), ("returns", 1), ("rotations", 0), ("seed", 1), ("patience", 60)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--gap", type=float, nargs=2, default=(0.0, 0.5))
    parser.add_argument("--json")
    parser.add_argument("--keep")
    parser.add_argument("--executables", required=True)
    return parser.parse_args()


def main():
    options = arguments()
    scratch = tempfile.mkdtemp(prefix="widgetlab-replicas-")
    run = Run(options.executables, scratch)
    campaign = Campaign(options, run)
    # The processes end with this one, also at a signal.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        done = campaign.perform_all()
    except Skipped as reason:
        sys.exit(f"error: {reason}")
    except RuntimeError as error:
        say(f"BROKEN: {error}")
        done = False
    finally:
        if options.keep and campaign.problems + [1]:
            for cluster in run.clusters:
                cluster.keep(options.keep)
        run.end()
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    main()
