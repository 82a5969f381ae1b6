# SPDX-License-Identifier: Apache-2.0

"""Measures the launch of an extension, and its wake for the events of its session."""

from statistics import median

from bus import Journal, Peer, printed, progress
from cluster import AGENT, EXTENSION, GROUP, HOST, Cluster, Tool
from figure import Figure
from rules import HANG_GUARD

SIGKILL = 9

# Symbol names in an executable that belong to server libraries.
# Names that only a linked library brings: CLazy has the names of the functions that it looks up, such as sqlite3_open_v2.
SERVER_STACK = (b"$s7NIOCore", b"$s8NIOPosix", b"$s4GRDB", b"$s15AsyncHTTPClient", b"$s11Hummingbird", b"sqlite3_initialize")

# The address of the bare executable, which is no product of the cluster.
BARE = f"{EXTENSION}.Bare"

# The rules for the author's code.
RULES = {"callDeadline": HANG_GUARD, "inlineRedirectLimit": 20, "firstCompletionCounts": False,
         "callsProvidersConcurrently": False, "inlineSuspensionLimit": 5, "separatesContainers": True,
         "backgroundTime": 30}

# The host's request for a timeline.
QUESTION = {
    "purpose": "timeline", "widgetKind": "Day1", "placement": 1, "because": "operator", "configuration": {},
    "environment": {
        "family": "systemSmall", "width": 155, "height": 155, "renderingMode": "fullColor", "showsBackground": True,
        "contentMargins": {"top": 16, "leading": 16, "bottom": 16, "trailing": 16},
        "appliedMargins": {"top": 16, "leading": 16, "bottom": 16, "trailing": 16}, "displayScale": 3,
        "settings": {"textSize": "large", "isTextBold": False, "increasesContrast": False, "reducesMotion": False,
                     "reducesTransparency": False, "differentiatesWithoutColor": False, "isVoiceOverOn": False,
                     "locale": "en_US", "timeZone": "GMT"},
        "isPreview": False},
    "limits": {"bytes": 4194304, "depth": 256, "imageArea": 2121055.2, "entries": 400}}


def anonymous_memory(process):
    """The anonymous memory of a process, in MiB."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) / 1024


class Spawner:
    """A bus and an agent; this program acts as the host."""

    def __init__(self, run):
        self.cluster = Cluster(run, "spawn")
        self.cluster.start_bus()
        self.cluster.start("process-agent")
        self.host = Peer(self.cluster.folder, "host", HOST)
        run.at_end(self.host.close)
        self.host.wait(lambda e: e.kind == "agent.started", "agent.started")
        self.journal = Journal(self.cluster.folder)

    def launch(self, executable, address=EXTENSION, **variables):
        """Spawns a child with variables of its environment, such as `TRIAL_FIXTURE`. Returns the time of the request in
        microseconds, and the child's `process.ready`."""
        self.journal.forget()
        self.host.kept = []
        request = {
            "address": address, "executable": executable, "container": f"{self.cluster.folder}/device/container",
            "environment": variables, "groups": {GROUP: self.cluster.group}, "rules": RULES,
            "reason": "bench"}
        _, asked = self.host.request("process.spawn", AGENT, request)
        return asked, self.host.wait(lambda e: e.kind == "process.ready", "process.ready")

    def kill(self, address=EXTENSION):
        self.host.request("process.signal", AGENT, {"address": address, "signal": SIGKILL})
        self.host.wait(lambda e: e.kind == "process.exited", "process.exited")

    def start(self, executable, **variables):
        """Milliseconds from the host's request to `process.ready`, and the child's anonymous memory then, in MiB."""
        # The agent makes the bundle of a product again when its executable is another one.
        address = f"{EXTENSION}.{executable}"
        asked, ready = self.launch(executable, address, **variables)
        own = anonymous_memory(ready.json["pid"])
        self.kill(address)
        return (ready.received_at - asked) / 1e3, own

    def answer(self):
        """Milliseconds from the host's request to the first timeline, and the child's anonymous memory then, in MiB."""
        asked, ready = self.launch("FixtureExtension", TRIAL_FIXTURE="day")
        answer, _ = self.host.request("timeline.request", EXTENSION, QUESTION)
        own = anonymous_memory(ready.json["pid"])
        self.kill()
        return (answer.sent_at - asked) / 1e3, own

    def spawn(self, executable, first_line, address=EXTENSION):
        """Milliseconds from the agent's spawn to the child's first line, and from the request to `process.ready`
        (None for a child that never sends it)."""
        self.journal.forget()
        self.host.kept = []
        request = {
            "address": address, "executable": executable, "environment": {"TRIAL_GROUP": GROUP},
            "container": f"{self.cluster.folder}/device/container", "groups": {GROUP: self.cluster.group},
            "rules": RULES, "reason": "bench"}
        _, asked = self.host.request("process.spawn", AGENT, request)
        ready = None
        if executable == "FixtureExtension":
            said = self.host.wait(lambda e: e.kind == "process.ready", "process.ready")
            # A message has the time at which it was passed on, and this one waits for the connection.
            ready = (said.received_at - asked) / 1e3
        registered = self.journal.wait(lambda e: e.kind == "instance.register/ok", "instance.register/ok")
        line = self.journal.wait(printed(first_line), f"the line '{first_line}'")
        if ready is not None:
            self.host.request("process.signal", AGENT, {"address": address, "signal": SIGKILL})
        self.host.wait(lambda e: e.kind == "process.exited", "process.exited")
        return (int(line.json["line"].split()[-1]) - registered.sent_at) / 1e3, ready


def spawn_both(spawner, run):
    # At another address: the agent makes the bundle of a product again when its executable is another one.
    bare, _ = spawner.spawn(f"{run.tools}/bare", "began ", BARE)
    first, ready = spawner.spawn("FixtureExtension", "reached launched ")
    return bare, first, ready


def measure_spawn(run):
    spawner = Spawner(run)
    spawn_both(spawner, run)
    with open(f"{run.executables}/FixtureExtension", "rb") as file:
        code = file.read()
    linked = [name.decode() for name in SERVER_STACK if name in code]
    if linked:
        raise RuntimeError(f"the extension links a server stack: {', '.join(linked)}")
    rounds = [spawn_both(spawner, run) for _ in run.rounds(31)]
    answers = [spawner.answer() for _ in run.rounds(21)]
    # Alternately: the machine's speed changes within a run.
    plain, modules, declared = zip(
        *[(spawner.start("FixtureExtension", TRIAL_FIXTURE="timelines"),
           spawner.start("FixtureModules", TRIAL_ONLY="Plain"), spawner.start("FixtureModules"))
          for _ in run.rounds(21)])
    bare, first, ready = (list(column) for column in zip(*rounds))
    return [
        Figure("extension: spawn to the first line of author's code", "ms", first, bare, "bare executable", goal=1.8),
        Figure("extension: the host's request to process.ready", "ms", ready, bare, "bare executable", goal=3),
        Figure("extension: the host's request to its first timeline", "ms", [time for time, _ in answers]),
        Figure("extension: RssAnon after its first timeline", "MiB", [own for _, own in answers], goal=30),
        Figure(
            "extension with every module: the host's request to process.ready", "ms", [time for time, _ in modules],
            [time for time, _ in plain], "WidgetKit and SwiftUI", goal=1.1),
        Figure(
            "extension with every module: RssAnon at process.ready", "MiB", [own for _, own in modules],
            [own for _, own in plain], "WidgetKit and SwiftUI", goal=1.1),
        Figure(
            "the same with intents and an activity: the host's request to process.ready", "ms",
            [time for time, _ in declared], [time for time, _ in plain], "WidgetKit and SwiftUI"),
    ]


class Woken:
    """A complete device with one small download per round. Its owner is running, suspended or terminated when it ends.

    The server delays the response until the owner is in that state, independent of the machine's speed.
    """

    def __init__(self, run, name, suspend_after, size=1000):
        self.server = Tool(f"{run.tools}/files")
        run.at_end(self.server.close)
        url = f"http://127.0.0.1:{self.server.hear()[0]}/held/{size}"
        self.cluster = Cluster(run, name, {"suspendAfter": suspend_after}, url=url)
        self.cluster.start_device()
        self.operator = Peer(self.cluster.folder, "operator", "operator/bench")
        run.at_end(self.operator.close)
        self.journal = Journal(self.cluster.folder)

    def begin(self):
        """Makes the extension start a download and return its timeline. Returns when the timeline is stored."""
        self.journal.forget()
        self.cluster.forget_result()
        self.operator.request("timeline.reload", HOST, {"widgetKind": "Trial"})
        self.journal.wait(progress("started"), "a download")
        return self.journal.wait(lambda e: e.kind == "timeline.stored", "timeline.stored").sent_at

    def wait_for_state(self, state, since):
        """Only a state after `since` counts: an earlier one may have been written after the round began."""
        self.journal.wait(
            lambda e: e.kind == "process.state" and e.json["state"] == state and e.json["address"] == EXTENSION
            and e.sent_at >= since, f"the state {state} of the extension")

    def end(self, kind, timelines):
        """Ends the download. Returns the milliseconds from the end of the last task to the first envelope of the type, by
        their senders' clocks, after `timelines` timelines were stored and the device is idle."""
        self.server.tell()
        ended = self.journal.wait(progress("finished"), "the end of the download")
        first = self.journal.wait(lambda e: e.kind == kind and e.sent_at >= ended.sent_at, kind)
        self.journal.wait(lambda e: e.kind == "session.acknowledged", "session.acknowledged")
        self.journal.wait_for(timelines, lambda e: e.kind == "timeline.stored", "timeline.stored")
        return (first.sent_at - ended.sent_at) / 1e3

    def running(self):
        self.begin()
        return self.end("delegate.called", timelines=1)

    def suspended(self):
        self.wait_for_state("suspended", since=self.begin())
        return self.end("handler.called", timelines=2)

    def dead(self):
        stored = self.begin()
        self.operator.request("process.signal", AGENT, {"address": EXTENSION, "signal": SIGKILL})
        self.wait_for_state("absent", since=stored)
        return self.end("handler.called", timelines=2)


def measure_wake(run):
    spawner = Spawner(run)
    awake = Woken(run, "wake-running", suspend_after=600)
    asleep = Woken(run, "wake-suspended", suspend_after=0.05)
    spawner.spawn(f"{run.tools}/bare", "began ")
    awake.running()
    asleep.suspended()
    found = {"running": [], "suspended": [], "dead": [], "bare": []}
    for _ in run.rounds(21):
        found["running"].append(awake.running())
        found["suspended"].append(asleep.suspended())
        found["dead"].append(asleep.dead())
        found["bare"].append(spawner.spawn(f"{run.tools}/bare", "began ")[0])
    floor = 2 * median(found["bare"]) + 3
    return [
        Figure("extension: last task ended to the first delegate call, running", "ms", found["running"], goal=1.2),
        Figure("extension: last task ended to the handler, suspended", "ms", found["suspended"], goal=2),
        Figure(
            "extension: last task ended to the handler, dead", "ms", found["dead"], goal=floor,
            goal_text=f"≤ {floor:.2f} ms (2 × bare + 3)"),
    ]
