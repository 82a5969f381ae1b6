# SPDX-License-Identifier: Apache-2.0

"""Measures the push server with a PostgreSQL database: the rate of one replica against that of SQLite in the same run, and
the CPU time of a push with one, two and four replicas.

The PostgreSQL server is temporary, with its default settings: each commit waits for the disk, as with SQLite. The pushes
are stored for disconnected devices. Each replica gets the load that the single one gets, for all devices in turn. Each
begins with other devices: two that store for the same device at the same time repeat one of their transactions.
"""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from cluster import Cluster, cpu_seconds
from figure import Figure, Skipped
from push import APP, Load, PushServer, needed, provider_token
from rules import HANG_GUARD

DEVICES = 10_000
RULES = "priority5Interval: 0, priority1Interval: 0, backgroundInterval: 0"
TICKS = os.sysconf("SC_CLK_TCK")


def programs():
    """The folder of PostgreSQL's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: float(path.split("/")[4]))
    path = found[-1] if found else shutil.which("initdb")
    if not path:
        raise Skipped("PostgreSQL is not installed: run scripts/prerequisites")
    return os.path.dirname(path)


class Postgres:
    """A temporary PostgreSQL server with a Unix socket in its folder."""

    def __init__(self, run):
        self.bin = programs()
        # PostgreSQL does not run as root, and another user cannot enter root's own temporary folder.
        self.folder = tempfile.mkdtemp(prefix="widgetlab-pg-", dir="/tmp" if os.geteuid() == 0 else None)
        run.at_end(self.close)
        self.user = []
        if os.geteuid() == 0:
            entry = pwd.getpwnam("postgres")
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
            self.user = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups",
                "--pdeathsig=KILL"]
        self.run("initdb", "-D", f"{self.folder}/data", "-U", "widgetlab", "-A", "trust", "-E", "UTF8", "--locale=C")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.user + [f"{self.bin}/postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-c", "listen_addresses="],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        end = time.monotonic() + HANG_GUARD
        while not self.is_ready():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("PostgreSQL does not accept connections")
            time.sleep(0.05)

    def restart(self):
        """Restarts it as `pg_ctl restart -m immediate` does: without a checkpoint, so that it recovers from its log.

        Returns the seconds until it accepts connections again."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        self.start()
        return time.monotonic() - began

    def run(self, program, *words, stdin=None):
        return subprocess.run(
            self.user + [f"{self.bin}/{program}", *words], check=True, stdin=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd="/", env=os.environ | {"LC_ALL": "C"}).stdout

    def is_ready(self):
        try:
            self.query("SELECT 1")
            return True
        except subprocess.CalledProcessError:
            return False

    def query(self, *statements, stdin=None):
        words = [word for statement in statements for word in ("-c", statement)]
        return self.run(
            "psql", "-h", self.folder, "-U", "widgetlab", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAt", *words,
            stdin=stdin).split()

    @property
    def url(self):
        return f"postgres://widgetlab@{self.folder.replace('/', '%2F')}/postgres"

    @property
    def cpu(self):
        """The CPU time of all its processes, seconds. Those that have exited are counted by their parent."""
        total = 0.0
        with open(f"/proc/{self.process.pid}/stat") as file:
            total += sum(map(int, file.read().rpartition(")")[2].split()[13:15])) / TICKS
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            pids = [int(pid) for pid in file.read().split()]
        for pid in [self.process.pid, *pids]:
            try:
                total += cpu_seconds(pid)
            except OSError:
                pass
        return total

    def close(self):
        if hasattr(self, "process"):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Replicas:
    """A bus and this many push servers with one database."""

    def __init__(self, run, postgres, count):
        self.postgres = postgres
        # The tables of the last ones.
        postgres.query("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
        more = [f'pushServer: {{database: "{postgres.url}", replicas: {count}, {RULES}}}']
        self.cluster = Cluster(run, f"replicas-{count}", more=more)
        self.cluster.start_bus()
        self.names = [str(number) for number in range(1, count + 1)]
        for name in self.names:
            self.cluster.start_replica(name)
        self.servers = [self.cluster.replica(name) for name in self.names]
        authorization = provider_token(f"{self.cluster.folder}/push-server/credentials/provider")
        tokens = [f"{number:0160x}" for number in range(DEVICES)]
        end = time.monotonic() + HANG_GUARD
        while postgres.query("SELECT to_regclass('kept') IS NOT NULL") != ["t"]:
            if time.monotonic() > end:
                raise RuntimeError("the push server does not create its tables")
            time.sleep(0.05)
        postgres.query(
            f"""INSERT INTO tokens SELECT lpad(to_hex(number), 160, '0'), 'away' || number, '{APP}', 'widgets', 'development',
                'active', extract(epoch FROM now()) FROM generate_series(0, {DEVICES - 1}) AS number""", "ANALYZE")
        starts = [number * DEVICES // count for number in range(count)]
        self.loads = [Load(run, f"{APP}", tokens[start:] + tokens[:start], authorization) for start in starts]
        for name, load in zip(self.names, self.loads):
            load.body, load.list, load.log = (f"{path}.{name}" for path in (load.body, load.list, load.log))
            shutil.copy(load.body.rpartition(".")[0], load.body)
            load.headers["apns-topic"] = f"{APP}.push-type.widgets"

    def ask(self, count):
        """Microseconds of a push, and the CPU microseconds of all replicas and of PostgreSQL; `count` for each replica."""
        failures = []

        def one(load, server):
            try:
                load.ask(server["pid"], server["development"], count)
            except Exception as failure:
                failures.append(failure)

        before, database = [cpu_seconds(server["pid"]) for server in self.servers], self.postgres.cpu
        began = time.monotonic()
        threads = [threading.Thread(target=one, args=pair) for pair in zip(self.loads, self.servers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        all, spent = count * len(self.servers), time.monotonic() - began
        own = sum(cpu_seconds(server["pid"]) - first for server, first in zip(self.servers, before))
        return spent / all * 1e6, own / all * 1e6, (self.postgres.cpu - database) / all * 1e6


def measure(run):
    needed("h2load", "openssl")
    postgres = Postgres(run)
    rounds, count = run.rounds(7), run.count(20_000, quick=500)
    sqlite = Cluster(run, "sqlite", more=[f"pushServer: {{{RULES}}}"])
    sqlite.start_bus()
    server = PushServer(sqlite)
    load = Load(run, APP, server.know(DEVICES), server.authorization)
    rates, cpus, databases, references = {}, {}, {}, {}
    for replicas in (1, 2, 4):
        group = Replicas(run, postgres, replicas)
        for ask in (lambda: load.ask(server.pid, server.url, count), lambda: group.ask(count)):
            ask()
        found = []
        for number in rounds:
            steps = [lambda: load.ask(server.pid, server.url, count), lambda: group.ask(count)]
            order = [1, 0] if number % 2 else [0, 1]
            measured = {}
            for index in order:
                measured[index] = steps[index]()
            found.append((measured[0], measured[1]))
        references[replicas] = [own[0] for own, _ in found]
        rates[replicas] = [shared[0] for _, shared in found]
        cpus[replicas] = [shared[1] + shared[2] for _, shared in found]
        databases[replicas] = [shared[2] for _, shared in found]
        group.cluster.stop()
    figures = [
        Figure("postgres: stored, one replica", "µs", rates[1], references[1], "SQLite", goal=2,
            goal_text="≤ 2 × (0.5 of its rate)")]
    for replicas in (1, 2, 4):
        text = f"postgres: {replicas} replica{'s' if replicas > 1 else ''}: CPU of replicas and PostgreSQL"
        figures.append(
            Figure(text, "µs", cpus[replicas], cpus[1] if replicas > 1 else None, "one replica",
                goal=1.1 if replicas > 1 else None))
        figures.append(Figure("the same: of it PostgreSQL", "µs", databases[replicas]))
    return figures
