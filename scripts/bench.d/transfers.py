# SPDX-License-Identifier: Apache-2.0

"""Measures background transfers: one large file and many small ones, against curl with the same server.

curl has as many connections as a session has, and both write new files to the same file system in each round.
"""

import os
import resource
import subprocess
import threading
import time

from bus import Journal, Peer, progress
from cluster import HOST, Cluster, Tool
from figure import Figure

SMALL, CONNECTIONS = 10_000, 6


class Owner:
    """A complete device, whose widget downloads `files` files from a server and keeps none."""

    def __init__(self, run, name, url, files, settings=None):
        self.files = files
        self.cluster = Cluster(
            run, name, {"suspendAfter": 600, **(settings or {})}, url=url, environment={"TRIAL_FILES": files})
        self.cluster.start_device()
        self.operator = Peer(self.cluster.folder, "operator", "operator/bench")
        run.at_end(self.operator.close)
        self.journal = Journal(self.cluster.folder)

    def pid(self, name):
        return self.cluster.processes[name]

    def download(self):
        """The owner resumes its tasks while the first of them are downloading."""
        self.reload()
        return self.ended()

    def download_queued(self):
        """All tasks are queued before the network becomes available."""
        self.set_network("off")
        self.reload()
        self.journal.wait_for(
            self.files, lambda e: e.kind == "transfer.create/ok", "the acceptance of the tasks")
        self.set_network("wifi")
        return self.ended()

    def reload(self):
        """Makes the widget download. Returns the time of the request in microseconds since 1970."""
        self.journal.forget()
        return self.operator.request("timeline.reload", HOST, {"widgetKind": "Trial"})[1]

    def set_network(self, path):
        self.operator.request("network.set", HOST, {"state": {"path": path, "isConstrained": False}})

    def ended(self):
        """Milliseconds from the first request to the last end. Returns when all events are acknowledged."""
        began = self.journal.wait(progress("started"), "a download")
        ended = self.journal.wait_for(self.files, progress("finished"), "the end of the downloads")
        self.journal.wait_for(
            self.files, lambda e: e.kind == "delegate.called" and e.json["method"] == "didCompleteWithError",
            "the delegate's calls")
        deliveries = {envelope.id for envelope in self.journal.kept if envelope.kind == "session.events"}
        self.journal.wait_for(
            len(deliveries), lambda e: e.kind == "session.acknowledged", "the acknowledgements")
        return (max(envelope.sent_at for envelope in ended) - began.sent_at) / 1e3


class Memory:
    """The anonymous memory of a process in MiB: at the beginning, and the maximum of samples every 5 ms."""

    def __init__(self, pid):
        self.pid, self.is_over = pid, threading.Event()
        self.first = self.most = self.now()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def now(self):
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) / 1024

    def look(self):
        while not self.is_over.wait(0.005):
            self.most = max(self.most, self.now())

    def grown(self):
        self.is_over.set()
        self.thread.join()
        return self.most - self.first


class Curl:
    """Runs curl with new files, as the host does."""

    def __init__(self, run, url, size, files):
        self.folder, self.url, self.round, self.size, self.files = f"{run.scratch}/curl", url, 0, size, files
        os.mkdir(self.folder)

    def large(self):
        took = self.run("--output", f"{self.folder}/large", f"{self.url}/{self.size}/0")
        os.remove(f"{self.folder}/large")
        return took

    def small(self):
        """Keeps the files: at every new file, ext4 skips recently deleted inodes one by one."""
        self.round += 1
        os.mkdir(f"{self.folder}/{self.round}")
        with open(f"{self.folder}/list", "w") as file:
            for number in range(self.files):
                file.write(f"url={self.url}/{SMALL}/{number}\noutput={self.folder}/{self.round}/{number}\n")
        return self.run("--parallel", "--parallel-max", str(CONNECTIONS), "--config", f"{self.folder}/list")

    def run(self, *words):
        """Wall time and CPU time in milliseconds."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(["curl", "--silent", "--fail", *words], check=True, stderr=subprocess.DEVNULL)
        took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        return took * 1e3, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def measured(owner, download):
    """Wall time and CPU time in milliseconds, and the growth of the host's memory in MiB."""
    memory, spent = Memory(owner.pid("host-system")), owner.cluster.spent()
    took = download()
    return took, owner.cluster.spent() - spent, memory.grown()


def measure(run):
    server = Tool(f"{run.tools}/files")
    run.at_end(server.close)
    url = f"http://127.0.0.1:{server.hear()[0]}"
    size, files = run.count(256 << 20, quick=32 << 20), run.count(1000, quick=20)
    curl = Curl(run, url, size, files)
    large, small = Owner(run, "large", f"{url}/{size}", 1), Owner(run, "small", f"{url}/{SMALL}", files)
    large.download(), small.download()
    steps = [
        lambda: measured(large, large.download), curl.large, lambda: measured(small, small.download),
        lambda: measured(small, small.download_queued), curl.small]
    found = [[] for _ in steps]
    for number in run.rounds(7, quick=2):
        # in alternating order: a later step finds the disk busy with the writes of the earlier one
        for index in range(len(steps))[:: -1 if number % 2 else 1]:
            found[index].append(steps[index]())
    (one, one_cpu, one_grown), (curl_one, curl_one_cpu), (many, many_cpu, many_grown), (queued, queued_cpu, _), (
        curl_many, curl_many_cpu) = (map(list, zip(*step)) for step in found)
    of_one, of_many = f"transfers: one file of {size >> 20} MiB", f"transfers: {files} files of {SMALL // 1000} kB"
    parallel = f"curl --parallel-max {CONNECTIONS}"
    return [
        Figure(of_one, "ms", one, curl_one, "curl", goal=1 / 0.9, goal_text="≤ 1.11 × (0.9 of its rate)"),
        Figure(f"{of_one}, CPU including the copy at delivery", "ms", one_cpu, curl_one_cpu, "curl"),
        Figure(f"{of_one}, growth of the host's memory", "MiB", one_grown, goal=16),
        Figure(of_many, "ms", many, curl_many, parallel, goal=8),
        Figure(f"{of_many}, CPU of all processes", "ms", many_cpu, curl_many_cpu, parallel, goal=10),
        Figure(f"{of_many}, growth of the host's memory", "MiB", many_grown, goal=16),
        Figure(f"{of_many}, queued before", "ms", queued, curl_many, parallel, goal=5),
        Figure(f"{of_many}, queued before, CPU of all", "ms", queued_cpu, curl_many_cpu, parallel, goal=10),
    ]
