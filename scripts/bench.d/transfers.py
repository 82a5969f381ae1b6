"""How quick background transfers are: one large file and many small ones, beside curl with the same server."""

import os
import subprocess
import time

from bus import Journal, Peer, progress
from cluster import HOST, Cluster, Tool
from figure import Figure

LARGE, SMALL, FILES = 256 << 20, 10_000, 1000


class Owner:
    """A whole device, whose widget downloads so many files from a server and keeps none."""

    def __init__(self, run, name, url, files):
        self.files = files
        self.cluster = Cluster(
            run.scratch, name, run.executables, url=url, environment={"TRIAL_FILES": files},
            settings={"suspendAfter": 60, "completionDeadline": 600})
        run.at_end(self.cluster.stop)
        self.cluster.start_device()
        self.operator = Peer(self.cluster.folder, "operator", "operator/bench")
        run.at_end(self.operator.close)
        self.journal = Journal(self.cluster.folder)

    def download(self):
        """Milliseconds from the first request to the last end."""
        self.journal.forget()
        self.operator.request("timeline.reload", HOST, {"widgetKind": "Trial"}, within=30)
        began = self.journal.wait(progress("started"), "a download", within=60)
        ended = self.journal.wait_for(self.files, progress("finished"), "the end of the downloads", within=60)
        self.journal.wait(lambda e: e.kind == "session.acknowledged", "session.acknowledged", within=60)
        return (max(envelope.sent_at for envelope in ended) - began.sent_at) / 1e3

    def memory(self, field):
        """Of the host, in MiB."""
        with open(f"/proc/{self.cluster.processes['host-system']}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(field)) / 1024

    def grown(self):
        """Milliseconds of one download, and MiB that the host was at most larger meanwhile."""
        with open(f"/proc/{self.cluster.processes['host-system']}/clear_refs", "w") as file:
            file.write("5")
        before = self.memory("VmRSS:")
        return self.download(), self.memory("VmHWM:") - before


def curl(*words):
    """Milliseconds."""
    began = time.monotonic()
    subprocess.run(["curl", "--silent", "--fail", *words], check=True, stderr=subprocess.DEVNULL)
    return (time.monotonic() - began) * 1e3


def measure(run):
    server = Tool(f"{run.tools}/files")
    run.at_end(server.close)
    url = f"http://127.0.0.1:{server.hear()[0]}"
    folder = f"{run.scratch}/curl"
    os.makedirs(folder)
    with open(f"{run.scratch}/curl.txt", "w") as file:
        for number in range(FILES):
            file.write(f"url={url}/{SMALL}/{number}\noutput={folder}/{number}\n")
    large, small = Owner(run, "large", f"{url}/{LARGE}", 1), Owner(run, "small", f"{url}/{SMALL}", FILES)
    large.download(), small.download()
    found = []
    for _ in run.rounds(5):
        found.append((
            *large.grown(), curl("--output", f"{folder}/large", f"{url}/{LARGE}/0"), small.download(),
            curl("--parallel", "--config", f"{run.scratch}/curl.txt")))
    one, grown, curl_one, many, curl_many = (list(column) for column in zip(*found))
    return [
        Figure(
            f"transfers: one file of {LARGE >> 20} MiB", "ms", one, curl_one, "curl", goal=1 / 0.9,
            goal_text="≤ 1.11 × (0.9 of its rate)"),
        Figure("transfers: memory that the host grows by meanwhile", "MiB", grown, goal=16),
        Figure(
            f"transfers: {FILES} files of {SMALL // 1000} kB", "ms", many, curl_many, "curl --parallel", goal=2,
            goal_text="≤ 2 × (0.5 of its rate)"),
    ]
