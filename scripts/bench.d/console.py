# SPDX-License-Identifier: Apache-2.0

"""Measures the console: its page in a headless Chromium, with a long journal and with a live one, and what it costs the
broker. The scripts of the browser are those of scripts/test-console."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

from broker import Line, keys
from bus import Journal
from cluster import Cluster, cpu_seconds
from figure import Figure, Skipped
from long_journal import frames, write_journal

BROWSER = os.path.abspath(f"{os.path.dirname(__file__)}/../console.d")
CONSOLES = 10
# The live journal: a request and its reply are two messages, in groups, with a pause after each group.
RATE, GROUP = 2000, 20

# Before the scripts of a page: when the first rows of messages were drawn.
FIRST_ROWS = """
const look = () => {
  if (!document.querySelector('windowed-table tbody tr')?.textContent) return requestAnimationFrame(look)
  requestAnimationFrame(() => setTimeout(() => { window.firstRows = performance.now() }))
}
look()
"""

# Moves the scroll bar, and returns the milliseconds until the rows of that place were drawn.
SCROLL = """
const [share, done] = arguments
const table = document.querySelector('windowed-table')
const began = performance.now()
table.scrollTop = share * (table.scrollHeight - table.clientHeight)
const isThere = () => !table.isLoading && table.visible[0]
  && Math.abs((table.visible[0].sequence - table.first) / (table.last - table.first) - share) < 0.01
const look = () => requestAnimationFrame(() => isThere() ? setTimeout(() => done(performance.now() - began)) : look())
look()
"""

# Counts the messages that arrive from the next one on, and those that are missing or repeated.
COUNT = """
const done = arguments[0]
import('/assets/api.js').then(({ live }) => {
  const counted = window.counted = { last: document.querySelector('windowed-table').last, wrong: 0 }
  live.addEventListener('rows', ({ detail }) => {
    for (const { sequence } of detail.rows) {
      if (sequence !== counted.last + 1) counted.wrong += 1
      counted.last = sequence
    }
  })
  done()
})
"""

# Milliseconds from the next key press until the row of the extension shows that its process ended.
KILL = """
const cells = () => [...document.querySelector("tr[data-key*='extension']").cells].map(cell => cell.textContent)
const pid = cells()[3]
window.died = null
addEventListener('keydown', ({ timeStamp }) => {
  const look = () => requestAnimationFrame(() => {
    if (cells()[3] === pid || !cells()[8].includes('SIGKILL')) return look()
    setTimeout(() => { window.died = performance.now() - timeStamp })
  })
  look()
}, { capture: true, once: true })
"""

# The time, in milliseconds since 1970, when the first widget has another picture.
PICTURE = """
const image = () => document.querySelector('.tile img')
const source = image().src
window.pictured = null
const look = () => requestAnimationFrame(() => {
  if (image().src === source || !image().complete || !image().naturalWidth) return look()
  setTimeout(() => { window.pictured = performance.timeOrigin + performance.now() })
})
look()
"""


def browser(run):
    """A new browser.

    Raises `Skipped` where none is installed, except on CI.
    """
    programs = {"chromedriver": ["chromedriver"], "chromium": ["chromium", "chromium-browser"]}
    missing = [name for name, paths in programs.items() if not any(shutil.which(path) for path in paths)]
    sys.path.append(BROWSER)
    os.environ["WIDGETLAB_BIN"] = os.path.abspath(run.executables)
    try:
        from console_browser import Browser
    except ImportError as error:
        missing.append(f"the Python module {error.name}")
    if missing:
        text = f"{', '.join(missing)} not installed; `scripts/prerequisites --browser` installs what the page needs"
        raise RuntimeError(text) if os.environ.get("CI") else Skipped(text)
    opened = Browser()
    run.at_end(opened.quit)
    return opened


class Console:
    """A `widgetlab console` process."""

    def __init__(self, run, *words):
        self.process = subprocess.Popen(
            [f"{run.executables}/widgetlab", "console", "--json", "--port", "0", *words, "--die-with-parent",
             str(os.getpid())], stdout=subprocess.PIPE)
        run.at_end(self.close)
        said = json.loads(self.process.stdout.readline() or "{}")
        if not said:
            raise RuntimeError(f"widgetlab console exited with {self.process.wait()}")
        self.url, self.token = said["link"].split("/#token=")

    def link(self, page):
        return f"{self.url}{page}#token={self.token}"

    def peak(self):
        """The most memory that it had, in MiB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) / 1024

    def request(self, path, cookie=None, body=None):
        headers = {"Origin": self.url, "Content-Type": "application/json", "Cookie": cookie or ""}
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers), timeout=60)

    def sign_in(self):
        """A cookie, as a browser gets one."""
        return self.request("/api/session", body={"token": self.token}).headers["Set-Cookie"].split(";")[0]

    def wait_for_analysis(self, within=300):
        cookie, end = self.sign_in(), time.monotonic() + within
        while not json.load(self.request("/api/state", cookie))["analysis"]["isComplete"]:
            if time.monotonic() > end:
                raise RuntimeError(f"the console did not analyse the journal within {within} s")
            time.sleep(0.1)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Mirror(threading.Thread):
    """Copies what is appended to a journal to another folder, until `close`."""

    def __init__(self, source, target):
        super().__init__(daemon=True)
        self.source, self.target, self.ended = source, target, threading.Event()
        os.makedirs(target)
        self.copy()
        self.start()

    def copy(self):
        for name in sorted(os.listdir(self.source)):
            if name.endswith(".journal"):
                with open(f"{self.source}/{name}", "rb") as file, open(f"{self.target}/{name}", "ab") as other:
                    file.seek(other.tell())
                    other.write(file.read())

    def run(self):
        while not self.ended.wait(0.05):
            self.copy()

    def close(self):
        self.ended.set()
        self.join()


class Follower:
    """A console with an open stream of events, which is read by curl."""

    def __init__(self, run, *words):
        self.console = Console(run, *words)
        self.console.wait_for_analysis()
        self.reader = subprocess.Popen(
            ["curl", "-sN", "-o", "/dev/null", "-b", self.console.sign_in(), f"{self.console.url}/api/events?rows=1"])
        run.at_end(self.close)

    def close(self):
        if self.reader.poll() is None:
            self.reader.kill()
        self.reader.wait()
        self.console.close()


def actions(run, page):
    """Milliseconds from the key of a kill to the row, and from a stored timeline to its picture; and the messages."""
    from console_cluster import Cluster as SampleCluster

    cluster = SampleCluster()
    run.at_end(cluster.stop)
    journal = Journal(cluster.instance)
    page.enter(cluster.link)
    killed, drawn = [], []
    for _ in run.rounds(15):
        page.open("/processes")
        cluster.run("reload", "CaffeineTracker")
        page.wait(lambda: page.text("tr[data-key*='extension'] td:nth-child(4)").isdigit(), "the extension runs")
        page.focus("tr[data-key*='extension'] a")
        page.press("x")
        page.has_text("tr[data-key*='extension']", "Send SIGKILL?")
        page.script(KILL)
        page.press("x")
        killed.append(page.wait(lambda: page.script("return window.died"), "the row shows the end"))
    for number in run.rounds(15):
        page.open("/screen")
        page.wait(lambda: page.script("return document.querySelector('.tile img')?.naturalWidth"), "the widget is drawn")
        page.script(PICTURE)
        journal.forget()
        cluster.post_drink(f"Cup {number}", 10 + number)
        stored = journal.wait(lambda e: e.kind == "timeline.stored", "a timeline")
        drawn.append(page.wait(lambda: page.script("return window.pictured"), "the new picture") - stored.sent_at / 1e3)
    found = frames(f"{cluster.instance}/journal")
    cluster.stop()
    return killed, drawn, found


def long_journal(run, page, found):
    """The page over a journal of a million messages."""
    count = run.count(1_000_000, 20_000)
    folder = f"{run.scratch}/long"
    write_journal(folder, found, count)
    started, painted, scrolled, peaks = [], [], [], []
    page.command("Page.addScriptToEvaluateOnNewDocument", source=FIRST_ROWS)
    for _ in run.rounds(7):
        began = time.monotonic()
        console = Console(run, "--journal", folder)
        started.append((time.monotonic() - began) * 1e3)
        page.driver.get(console.link("/bus"))
        painted.append(page.wait(lambda: page.script("return window.firstRows"), "the first rows"))
        for share in (0.5, 0.02, 0.98, 0.25, 0.75, 0.1):
            scrolled.append(page.driver.execute_async_script(SCROLL, share))
        console.close()
    console = Console(run, "--journal", folder)
    began = time.monotonic()
    page.driver.get(console.link("/bus"))
    console.wait_for_analysis()
    analysed = time.monotonic() - began
    peaks.append(console.peak())
    console.close()
    shutil.rmtree(folder)
    name = f"console: a journal of {count:,} messages, "
    full = count == 1_000_000
    return [
        Figure(name + "the command's start to its link", "ms", started),
        Figure(name + "navigation to the first rows", "ms", painted, goal=1000),
        Figure(name + "scroll to any place, the longest", "ms", scrolled, goal=200, value=max(scrolled)),
        Figure(name + "analysis of all, beside the page", "s", [analysed]),
        Figure(name + "memory at most, after it", "MiB", peaks, goal=200 if full else None),
    ]


class LiveBus:
    """A bus with two peers that exchange messages, and consoles of its instance."""

    def __init__(self, run, name):
        self.run = run
        self.cluster = Cluster(run, name)
        self.cluster.start_bus()
        with open(f"{self.cluster.folder}/bus/bus.json") as file:
            bus = json.load(file)
        self.pid = self.cluster.processes["message-bus"]
        pairs = keys(self.cluster, "host"), keys(self.cluster, "agent-1")
        self.line = Line(run, self.pid, bus["endpoint"], bus["publicKey"], *pairs)
        self.words = ["--instance", self.cluster.folder, "--config", self.cluster.config]

    def send(self, seconds):
        """2,000 messages a second for some time. Returns how many."""
        sent, began = 0, time.monotonic()
        while sent < seconds * RATE:
            self.line.peers.ask(100, GROUP // 2, GROUP)
            sent += 2 * GROUP
            time.sleep(max(0, began + sent / RATE - time.monotonic()))
        return sent

    def cost(self):
        """Microseconds of the broker's CPU time for each message."""
        self.send(0.5)
        before = cpu_seconds(self.pid)
        sent = self.send(self.run.count(2, 1))
        return (cpu_seconds(self.pid) - before) / sent * 1e6

    def stop(self):
        self.line.peers.close()
        self.cluster.stop()


def live_page(run, page):
    """The longest task of the page while 2,000 messages a second arrive. Raises an error when one is lost."""
    bus = LiveBus(run, "live")
    console = Console(run, *bus.words)
    page.driver.get(console.link("/bus"))
    bus.send(0.1)
    page.has_text("#bus-state", "Live")
    page.driver.execute_async_script(COUNT)
    last = page.script("return counted.last")
    longest = []
    for _ in run.rounds(7):
        page.script("watched.longest = 0")
        last += bus.send(run.count(5, 1))
        page.wait(lambda: page.script("return counted.last") >= last, f"message {last} arrives")
        longest.append(page.script("return watched.longest"))
    if page.script("return counted.wrong") or page.script("return counted.last") != last:
        raise RuntimeError(f"messages were lost or repeated: {page.script('return counted')}, sent up to {last}")
    console.close()
    bus.stop()
    return longest


def broker_cost(run):
    """The broker's CPU time for a message: with ten consoles, without any, again without any, and with ten that follow a
    copy of its journal. The latter share the processors and their caches with the broker, and cost it nothing else."""
    found = {"with": [], "without": [], "again": [], "copy": []}
    for number in run.rounds(10, quick=2):
        bus = LiveBus(run, f"broker-{number}")
        copy = f"{run.scratch}/copy-{number}"
        mirror = Mirror(f"{bus.cluster.folder}/journal", copy)
        words = {"with": bus.words, "copy": ["--journal", copy]}
        names = list(found)
        for name in names[number % 4:] + names[:number % 4]:
            followers = [Follower(run, *words[name]) for _ in range(CONSOLES if name in words else 0)]
            found[name].append(bus.cost())
            for follower in followers:
                follower.close()
        mirror.close()
        bus.stop()
        shutil.rmtree(copy)
    return found


def measure(run):
    page = browser(run)
    killed, drawn, found = actions(run, page)
    figures = [
        Figure("console: key of a kill to the row that shows the end", "ms", killed, goal=100, value=max(killed)),
        Figure("console: stored timeline to its picture on the page", "ms", drawn, goal=150, value=max(drawn)),
    ]
    figures += long_journal(run, page, found)
    longest = live_page(run, page)
    figures.append(Figure(
        "console: 2,000 messages a second, the longest task of the page (0: none over 50 ms)", "ms", longest, goal=50,
        value=max(longest)))
    cost = broker_cost(run)
    figures += [
        Figure(f"console: broker, CPU for each message with {CONSOLES} consoles", "µs", cost["with"], cost["without"],
               "none", goal=1.01),
        Figure("console: the same, beside ten consoles of a copy of the journal", "µs", cost["with"], cost["copy"], "copy"),
        Figure("console: the same without any, twice, for the noise", "µs", cost["again"], cost["without"], "none"),
    ]
    return figures
