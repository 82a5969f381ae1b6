# SPDX-License-Identifier: Apache-2.0

"""Measures pushes per second of the push server, against nghttpd, which answers 200 to the same requests over the same
TLS; and whether a device keeps up with a thousand pushes per second.

h2load sends the requests: a verified ES256 token, widget pushes to many device tokens in turn. Stored notifications are
for disconnected devices. Delivered ones go to a real host with its extensions and default settings, budgets included.
The CPU time of a push includes its line of the delivery log.
"""

import base64
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

from bus import Peer
from cluster import DEVICE, HOST, Cluster, cpu_seconds
from figure import Figure, percentile
from rules import HANG_GUARD, push_server

CONNECTIONS, STREAMS = 4, 64
APP, DEVICES = "com.example.Trial", 500
APPS = 4


def needed(*programs):
    missing = [name for name in programs if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        raise RuntimeError(
            f"{' and '.join(missing)} not found; run scripts/prerequisites --bench")


def provider_token(folder):
    """A provider token (RFC 7515), signed with the key of the development environment."""
    with open(f"{folder}/provider.json") as file:
        key = next(key for key in json.load(file)["keys"] if "development" in key["environments"] and not key.get("topics"))
    words = [{"alg": "ES256", "kid": key["id"]}, {"iss": key["teamID"], "iat": int(time.time())}]
    text = ".".join(encoded(json.dumps(word).encode()) for word in words)
    der = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", f"{folder}/{key['file']}"], input=text.encode(), check=True,
        stdout=subprocess.PIPE).stdout
    return f"{text}.{encoded(raw(der))}"


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw(der):
    """The two numbers of an ECDSA signature, 32 bytes each."""
    length = der[3]
    numbers = der[4 : 4 + length], der[6 + length :]
    return b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in numbers)


class Load:
    """Runs h2load with widget pushes to each token of an app's widgets in turn."""

    def __init__(self, run, app, tokens, authorization):
        self.paths = [f"/3/device/{token}" for token in tokens]
        self.body, self.list, self.log = (f"{run.scratch}/{app}.{name}" for name in ("json", "urls", "log"))
        with open(self.body, "w") as file:
            file.write('{"aps":{"content-changed":true}}')
        self.headers = {
            "authorization": f"bearer {authorization}", "apns-push-type": "widgets", "apns-priority": "5",
            "apns-topic": f"{app}.push-type.widgets"}

    def ask(self, server, url, count, *words, connections=CONNECTIONS, streams=STREAMS, **more):
        """Microseconds and server CPU microseconds per request, and the p99 of the response time in milliseconds."""
        if os.path.exists(self.log):
            os.remove(self.log)
        with open(self.list, "w") as file:
            file.writelines(f"{url}{path}\n" for path in self.paths)
        headers = {**self.headers, **{name.replace("_", "-"): value for name, value in more.items()}}
        command = ["h2load", "-n", str(count), "-c", str(connections), "-m", str(streams), "-d", self.body, "-i", self.list,
            f"--log-file={self.log}", *words]
        for name, value in headers.items():
            command += ["-H", f"{name}: {value}"]
        before = cpu_seconds(server)
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        spent = cpu_seconds(server) - before
        served = re.search(r"status codes: (\d+) 2xx", said)
        rate = re.search(r"finished in [\d.]+\w+, ([\d.]+) req/s", said)
        if not served or not rate or int(served[1]) != count:
            raise RuntimeError(f"h2load to {url}: not all of {count} requests were answered 200\n{said}")
        with open(self.log) as file:
            times = [int(line.split("\t")[2]) for line in file]
        return 1e6 / float(rate[1]), spent / count * 1e6, percentile(times, 0.99) / 1e3


class Nghttpd:
    """nghttpd, which serves an empty file at the path of each device token, with the push server's certificate."""

    def __init__(self, run, cluster, paths):
        root = f"{run.scratch}/nghttpd"
        os.makedirs(f"{root}/3/device")
        for path in paths:
            open(root + path, "w").close()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"https://127.0.0.1:{port}"
        credentials = f"{cluster.folder}/push-server/credentials/server"
        self.process = subprocess.Popen(
            [shutil.which("nghttpd", path=os.environ["PATH"] + ":/usr/sbin"), "-a", "127.0.0.1", "-d", root, "-m", "1000",
             str(port), f"{credentials}/server-key.pem", f"{credentials}/server.pem"],
            stdout=subprocess.DEVNULL)
        end = time.monotonic() + HANG_GUARD
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("nghttpd does not listen")
            time.sleep(0.02)

    def close(self):
        self.process.kill()
        self.process.wait()


class PushServer:
    """A push server of a cluster, and its database."""

    def __init__(self, cluster):
        self.folder = f"{cluster.folder}/push-server"
        self.cluster = cluster
        self.start()

    def start(self):
        cluster = self.cluster
        began = cluster.start("push-server")
        cluster.wait_for_file("push-server.json")
        self.ready = time.time() - began / 1e6
        with open(f"{cluster.folder}/push-server.json") as file:
            self.url = json.load(file)["development"]
        self.pid = cluster.processes["push-server"]
        self.authorization = provider_token(f"{self.folder}/credentials/provider")

    def stop(self):
        self.cluster.kill("push-server")
        os.remove(f"{self.cluster.folder}/push-server.json")

    def read(self, question, *values):
        with closing(sqlite3.connect(f"file:{self.folder}/push.sqlite?mode=ro", uri=True, timeout=HANG_GUARD)) as database:
            return database.execute(question, values).fetchall()

    @property
    def waiting(self):
        """The number of accepted notifications that are not acknowledged."""
        return self.read("SELECT COUNT(*) FROM kept")[0][0]

    def know(self, count):
        """Restarts it with tokens of `count` disconnected devices. Returns the tokens."""
        self.stop()
        tokens = [f"{number:0160x}" for number in range(count)]
        with closing(sqlite3.connect(f"{self.folder}/push.sqlite", timeout=HANG_GUARD)) as database, database:
            database.executemany(
                "INSERT INTO tokens (token, device, bundle, use, environment, state, since) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(token, f"away{number}", APP, "widgets", "development", "active", time.time())
                 for number, token in enumerate(tokens)])
        self.start()
        return tokens

    def token(self, app, within=HANG_GUARD):
        """Waits for the device token of an app's widgets and returns it."""
        end = time.monotonic() + within
        while True:
            found = self.read(
                "SELECT token FROM tokens WHERE state = 'active' AND use = 'widgets' AND bundle = ?", app)
            if found:
                return found[0][0]
            if time.monotonic() > end:
                raise RuntimeError(f"the widgets of {app} have no device token after {within} s")
            time.sleep(0.05)


def measure(run):
    needed("h2load", "nghttpd", "openssl")
    return answered(run) + delivered(run)


def answered(run):
    """Requests to disconnected devices: with expiration 0, or stored."""
    cluster, count = Cluster(run, "push", more=push_server()), run.count(20_000, quick=500)
    cluster.start_bus()
    server = PushServer(cluster)
    load = Load(run, APP, server.know(DEVICES), server.authorization)
    limit = Nghttpd(run, cluster, load.paths)
    run.at_end(limit.close)
    steps = [
        lambda: load.ask(limit.process.pid, limit.url, count),
        lambda: load.ask(server.pid, server.url, count, apns_expiration="0"),
        lambda: load.ask(server.pid, server.url, count)]
    for step in steps:
        step()
    found = [[] for _ in steps]
    for number in run.rounds(7):
        for index in range(len(steps))[:: -1 if number % 2 else 1]:
            found[index].append(steps[index]())
    (bare, bare_cpu, bare_worst), accepted, stored = (list(map(list, zip(*step))) for step in found)

    def figures(name, measured, goal, cpu_goal):
        each, cpu, worst = measured
        share = f"≤ {goal} × ({1 / goal:g} of its rate)"
        return [
            Figure(f"push: {name}", "µs", each, bare, "nghttpd", goal=goal, goal_text=share),
            Figure(f"push: {name}, CPU", "µs", cpu, bare_cpu, "nghttpd", goal=cpu_goal),
            Figure(f"push: {name}, p99", "ms", worst, bare_worst, "nghttpd")]

    return figures("accepted with expiration 0", accepted, 4, 3) + figures("accepted and stored", stored, 10, 10)


def delivered(run):
    """A thousand pushes per second to a connected device: a host with extensions whose widgets accept pushes."""
    apps = [f"com.example.Trial{number}" for number in range(1, APPS + 1)]
    rate, seconds = run.count(1000, quick=200), run.count(10, quick=2)
    # The budget determines which pushes become reloads.
    cluster = Cluster(run, "pushed", measured=["developerMode"], whole=configuration(apps))
    cluster.start_bus()
    server = PushServer(cluster)
    cluster.start("process-agent")
    cluster.start("host-system")
    operator = Peer(cluster.folder, "operator", "operator/bench")
    run.at_end(operator.close)
    operator.request("timeline.reload", HOST, {})
    loads = [Load(run, app, [server.token(app)], server.authorization) for app in apps]
    count = rate * seconds
    watch = Watch(server)
    before = {name: cpu_seconds(pid) for name, pid in cluster.processes.items()}
    threads = [
        threading.Thread(target=watch.perform, args=(
            load.ask, server.pid, server.url, count // APPS, f"--rps={rate // APPS}"),
            kwargs={"connections": 1}, daemon=True) for load in loads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = watch.end()
    spent = {name: (cpu_seconds(pid) - before[name]) / count * 1e6 for name, pid in cluster.processes.items()}
    late = [row[0] * 1e3 for row in server.read(
        "SELECT steps.at - requests.at FROM steps JOIN requests ON requests.number = request WHERE name = 'delivered'")]
    passed = server.read("SELECT COUNT(*) FROM steps WHERE name IN ('superseded', 'collapsed', 'expired')")[0][0]
    text = f"push: {count} at {rate}/s to a host with {APPS} apps"
    return [
        Figure(f"{text}: not acknowledged, at most", "pushes", watch.backlog, value=max(watch.backlog)),
        Figure("the same, 1 s after the last", "pushes", [left], goal=0.5, goal_text="none"),
        Figure("the same: replaced by a later one before it was sent", "pushes", [passed]),
        Figure("the same: accepted to acknowledged, p50", "ms", late),
        Figure("the same: accepted to acknowledged, p99", "ms", late, value=percentile(late, 0.99)),
    ] + [Figure(f"the same: CPU of {name}", "µs", [spent[name]]) for name in ("push-server", "message-bus", "host-system")]


class Watch:
    """Samples the number of unacknowledged notifications ten times a second."""

    def __init__(self, server):
        self.server, self.backlog, self.failure, self.is_over = server, [], None, False
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.is_over:
            self.backlog.append(self.server.waiting)
            time.sleep(0.1)

    def perform(self, action, *words, **more):
        try:
            action(*words, **more)
        except Exception as failure:
            self.failure = failure

    def end(self):
        """The number of unacknowledged notifications, at most one second after the last was accepted."""
        self.is_over = True
        self.thread.join()
        if self.failure:
            raise self.failure
        end = time.monotonic() + 1
        while self.server.waiting and time.monotonic() < end:
            time.sleep(0.02)
        return self.server.waiting


def configuration(apps):
    lines = ["device:", f"  name: {DEVICE}", '  version: "26.0"', "apps:"]
    rights = "    entitlements: {aps-environment: development}"
    for app in apps:
        own = '    environment: {TRIAL_FIXTURE: pushes, TRIAL_APP: "yes"}'
        lines += [f"  - bundle: {app}", "    executable: FixtureWidgets", rights, own]
    lines += ["extensions:"]
    for app in apps:
        own = "    environment: {TRIAL_FIXTURE: pushes}"
        lines += [f"  - bundle: {app}.Widget", "    executable: FixtureWidgets", rights, own]
    return lines + push_server()
