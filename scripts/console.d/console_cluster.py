# SPDX-License-Identifier: Apache-2.0

"""A cluster of the sample in a temporary folder, with a console."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("WIDGETLAB_BIN", ROOT / ".build/debug"))


def until(condition, what, limit=60):
    """Returns the first true value of a condition. The limit is a guard against a hang."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"this did not happen within {limit} s: {what}")


class Cluster:
    """`widgetlab up` with the sample, and `widgetlab console` beside it, which can be killed and started again."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="widgetlab-console."))
        shutil.copy(ROOT / "widgetlab.yaml", self.folder)
        self.instance = self.folder / ".widgetlab/default"
        self.log = open(self.folder / "up.log", "w")
        self.consoles = []
        self.start()

    def start(self):
        self.up = subprocess.Popen(
            [BIN / "widgetlab", "up", "--console"], cwd=self.folder, stdout=self.log, stderr=subprocess.STDOUT)
        until(lambda: self.announcement() or self.up.poll() is not None, "`widgetlab up --console` is ready")
        if self.up.poll() is not None:
            raise AssertionError((self.folder / "up.log").read_text())
        self.run("wait", "--for", "host=ready")

    def make_again(self):
        """Stops the cluster, removes its instance folder, and starts it."""
        self.up.send_signal(signal.SIGINT)
        self.up.wait(30)
        shutil.rmtree(self.instance)
        self.start()

    def announcement(self):
        """What the console of `up` announces: link, url, port, pid; None while it has not started."""
        try:
            return json.loads((self.instance / "console.json").read_text())
        except (OSError, ValueError):
            return None

    @property
    def link(self):
        return self.announcement()["link"]

    def run(self, *arguments):
        """Runs a command of the tool in the folder, and returns its output."""
        done = subprocess.run(
            [BIN / "widgetlab", *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=60)
        if done.returncode:
            raise AssertionError(f"widgetlab {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout.decode()}")
        return done.stdout.decode()

    def process(self, name):
        """The row of `widgetlab ps` of a process, by the beginning of its name."""
        rows = json.loads(self.run("ps", "--json"))["processes"]
        return next((row for row in rows if row["process"].startswith(name)), None)

    def kill_console(self):
        """Kills the console of `up`, which starts it again, and returns its pid."""
        pid = self.announcement()["pid"]
        os.kill(pid, signal.SIGKILL)
        return pid

    def console(self, *arguments):
        """Starts another console, and returns what it announces."""
        process = subprocess.Popen(
            [BIN / "widgetlab", "console", "--json", "--port", "0", *arguments], cwd=self.folder,
            stdout=subprocess.PIPE)
        self.consoles.append(process)
        return json.loads(process.stdout.readline())

    def post_drink(self, name, milligrams):
        """Posts a drink to the backend, which sends a push to the widgets."""
        url = json.loads((self.instance / "provider.json").read_text())["url"]
        body = json.dumps({"name": name, "milligrams": milligrams}).encode()
        request = urllib.request.Request(
            url + "/drinks", data=body, headers={"Content-Type": "application/json"}, method="POST")
        urllib.request.urlopen(request, timeout=30).read()

    def stop(self):
        for process in [*self.consoles, self.up]:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in [*self.consoles, self.up]:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
