"""How many pushes a second the push server takes, beside nghttpd, which answers 200 to the same requests over the same TLS.

h2load asks both: a verified ES256 token, a widget push. The device is a peer of this program, which acknowledges each delivery
at once; as many may be under way to it as to some thirty devices. The CPU time of a push has its line of the delivery log in it.
"""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time

from bus import Peer, microseconds
from cluster import HOST, Cluster, cpu_seconds
from figure import Figure, percentile

BUNDLE = "com.example.Trial"
CONNECTIONS, STREAMS = 4, 64
ACCEPTED, STORED = 20_000, 10_000
RATE, SECONDS = 1000, 5


def needed(*programs):
    missing = [name for name in programs if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        raise RuntimeError(
            f"{' and '.join(missing)} not found; on Debian and Ubuntu: apt-get install nghttp2-client nghttp2-server openssl")


def provider_token(folder):
    """A token as RFC 7515 has it, signed with the key of the development environment."""
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


class Device:
    """A host that can be reached or not, and acknowledges each notification as it comes."""

    def __init__(self, cluster):
        self.peer = Peer(cluster.folder, "host", HOST)
        answer, _ = self.peer.request(
            "push.token.issue", "push-server", {"bundle": BUNDLE, "use": "widgets", "environment": "development"})
        self.token = answer.json["token"]
        self.delays, self.is_over = [], False

    def be_reached(self):
        self.peer.say("push.reach", "push-server", {"isOnline": True, "isAwake": True})
        self.thread = threading.Thread(target=self.take, daemon=True)
        self.thread.start()

    def take(self):
        seen = set()
        while not self.is_over:
            if not self.peer.socket.poll(50):
                continue
            self.peer.receive()
            envelope = self.peer.kept.pop()
            if envelope.kind == "push.deliver":
                self.peer.say("push.deliver/ack", envelope.source, None, envelope.id, envelope.correlation)
                if envelope.id not in seen:
                    seen.add(envelope.id)
                    self.delays.append(microseconds() - envelope.sent_at)

    def wait_for(self, count, within):
        end = time.monotonic() + within
        while len(self.delays) < count and time.monotonic() < end:
            time.sleep(0.01)
        return len(self.delays)

    def close(self):
        self.is_over = True
        if hasattr(self, "thread"):
            self.thread.join()
        self.peer.close()


class Load:
    """h2load with the request of a widget push."""

    def __init__(self, run, token, authorization):
        self.path, self.body, self.log = f"/3/device/{token}", f"{run.scratch}/payload.json", f"{run.scratch}/h2load.log"
        with open(self.body, "w") as file:
            file.write('{"aps":{"content-changed":true}}')
        self.headers = {
            "authorization": f"bearer {authorization}", "apns-push-type": "widgets", "apns-priority": "5",
            "apns-topic": f"{BUNDLE}.push-type.widgets"}

    def ask(self, server, url, count, *words, connections=CONNECTIONS, streams=STREAMS, **more):
        """Microseconds for each request, those of the server's CPU time, and the p99 of the answers in milliseconds."""
        if os.path.exists(self.log):
            os.remove(self.log)
        headers = {**self.headers, **{name.replace("_", "-"): value for name, value in more.items()}}
        command = ["h2load", "-n", str(count), "-c", str(connections), "-m", str(streams), "-d", self.body,
            f"--log-file={self.log}", *words]
        for name, value in headers.items():
            command += ["-H", f"{name}: {value}"]
        before = cpu_seconds(server)
        said = subprocess.run(command + [url + self.path], check=True, stdout=subprocess.PIPE, text=True).stdout
        spent = cpu_seconds(server) - before
        served = re.search(r"status codes: (\d+) 2xx", said)
        rate = re.search(r"finished in [\d.]+\w+, ([\d.]+) req/s", said)
        if not served or not rate or int(served[1]) != count:
            raise RuntimeError(f"h2load to {url}: not all of {count} requests were answered 200\n{said}")
        with open(self.log) as file:
            times = [int(line.split("\t")[2]) for line in file]
        return 1e6 / float(rate[1]), spent / count * 1e6, percentile(times, 0.99) / 1e3


class Nghttpd:
    """Serves an empty file where the device's token is, with the push server's own certificate."""

    def __init__(self, run, cluster, token):
        root = f"{run.scratch}/nghttpd"
        os.makedirs(f"{root}/3/device")
        open(f"{root}/3/device/{token}", "w").close()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"https://127.0.0.1:{port}"
        credentials = f"{cluster.folder}/push-server/credentials/server"
        self.process = subprocess.Popen(
            [shutil.which("nghttpd", path=os.environ["PATH"] + ":/usr/sbin"), "-a", "127.0.0.1", "-d", root, "-m", "1000",
             str(port), f"{credentials}/server-key.pem", f"{credentials}/server.pem"],
            stdout=subprocess.DEVNULL)
        end = time.monotonic() + 10
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


def measure(run):
    needed("h2load", "nghttpd", "openssl")
    cluster = Cluster(run.scratch, "push", run.executables, more=["pushServer:", "  inFlight: 1000"])
    run.at_end(cluster.stop)
    cluster.start_bus()
    cluster.start("push-server")
    cluster.wait_for_file("push-server.json")
    with open(f"{cluster.folder}/push-server.json") as file:
        url = json.load(file)["development"]
    device = Device(cluster)
    run.at_end(device.close)
    load = Load(run, device.token, provider_token(f"{cluster.folder}/push-server/credentials/provider"))
    limit = Nghttpd(run, cluster, device.token)
    run.at_end(limit.close)
    server = cluster.processes["push-server"]
    steps = [
        lambda: load.ask(limit.process.pid, limit.url, ACCEPTED),
        lambda: load.ask(server, url, ACCEPTED, apns_expiration="0"), lambda: load.ask(server, url, STORED)]
    for step in steps:
        step()
    found = [[] for _ in steps]
    for number in run.rounds(7):
        for index in range(len(steps))[:: -1 if number % 2 else 1]:
            found[index].append(steps[index]())
    (bare, bare_cpu, _), (accepted, accepted_cpu, accepted_worst), (stored, stored_cpu, stored_worst) = (
        map(list, zip(*step)) for step in found)
    left, delays = delivered(device, load, server, url)
    return [
        Figure("push: accepted with expiration 0", "µs", accepted, bare, "nghttpd", goal=4, goal_text="≤ 4 × (0.25 of its rate)"),
        Figure("push: accepted with expiration 0, CPU", "µs", accepted_cpu, bare_cpu, "nghttpd"),
        Figure("push: accepted with expiration 0, p99", "ms", accepted_worst),
        Figure("push: accepted and stored", "µs", stored, bare, "nghttpd", goal=10, goal_text="≤ 10 × (0.1 of its rate)"),
        Figure("push: accepted and stored, CPU", "µs", stored_cpu, bare_cpu, "nghttpd"),
        Figure("push: accepted and stored, p99", "ms", stored_worst),
        Figure(f"push: of {RATE * SECONDS} at {RATE}/s, not delivered 1 s later", "pushes", [left], goal=0.5, goal_text="none"),
        Figure(f"push: at {RATE}/s, sent to the device, p99", "ms", delays, value=percentile(delays, 0.99)),
    ]


def delivered(device, load, server, url):
    """How many were not delivered a second after the last was accepted, and how long each was on the bus, in milliseconds."""
    device.be_reached()
    # what was stored last comes first
    before = device.wait_for(1, within=10)
    count = RATE * SECONDS
    load.ask(server, url, count, f"--rps={RATE}", connections=1, streams=STREAMS)
    arrived = device.wait_for(before + count, within=1) - before
    return count - arrived, [delay / 1e3 for delay in device.delays[before:]]
