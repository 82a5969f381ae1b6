# SPDX-License-Identifier: Apache-2.0

"""Processes and clusters of scripts/bench: each in its own folder, on the loopback interface, stopped at the end."""

import glob
import json
import os
import select
import shutil
import signal
import subprocess
import time

from rules import HANG_GUARD, settings as setting_lines

DEVICE = "bench"
BUNDLE = "com.example.Trial.Widget"
GROUP = "group.com.example.Trial"
HOST = f"device/{DEVICE}/host"
AGENT = f"device/{DEVICE}/agent/1"
EXTENSION = f"device/{DEVICE}/extension/{BUNDLE}"


def cpu_seconds(pid):
    """The CPU time of all threads of a process, with nanosecond resolution (CPUCLOCK_SCHED)."""
    return time.clock_gettime((~pid << 3) | 2)


class Tool:
    """One of the small C programs, controlled by lines on its standard input."""

    def __init__(self, path, *first_line):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if first_line:
            self.tell(*first_line)

    def tell(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} exited with {self.process.wait()}")
        return line.split()

    def ask(self, *words):
        self.tell(*words)
        return self.hear()

    def is_readable(self):
        """Whether it has printed something."""
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def close(self):
        """Stops it, and returns the rest of its output."""
        self.process.stdin.close()
        last = self.process.stdout.read().split()
        self.process.wait()
        return last


class Cluster:
    """The standing processes of one instance folder, as with `widgetlab up`, but without automatic restarts.

    `measured` names the settings of rules.py that keep the device's own value. `fixture` is one of the extensions in the
    executable `extension`. `whole` replaces the configuration; only the settings are added to it. The run stops the cluster
    at its end.
    """

    def __init__(
            self, run, name, settings=None, measured=(), url=None, environment=None, extension="FixtureExtension", fixture=None,
            more=(), whole=None):
        self.executables = run.executables
        self.name = name
        self.folder = f"{run.scratch}/{name}"
        self.logs = f"{self.folder}/logs"
        self.processes = {}
        self.bus_options = []
        os.makedirs(self.logs, mode=0o700)
        self.config = f"{self.folder}/widgetlab.yaml"
        lines = [
            f"device:\n  name: {DEVICE}", f"appGroups:\n  - {GROUP}", "extensions:", f"  - bundle: {BUNDLE}",
            f"    executable: {extension}", "    environment:",
            f"      TRIAL_URL: {url or '${provider.url}/figures?size=1000'}", f"      TRIAL_GROUP: {GROUP}",
        ]
        if fixture:
            lines.append(f"      TRIAL_FIXTURE: {fixture}")
        lines += [f'      {name}: "{value}"' for name, value in (environment or {}).items()]
        lines += ["provider:\n  executable: provider-server"]
        lines = (whole or lines + list(more)) + setting_lines(settings, measured)
        with open(self.config, "w") as file:
            file.write("\n".join(lines) + "\n")
        run.at_end(self.stop)
        run.clusters.append(self)
        subprocess.run(
            [f"{self.executables}/widgetlab", "keys", "make", "--instance", self.folder, "--config", self.config], check=True,
            stdout=subprocess.DEVNULL)

    def start(self, name, *more):
        """Starts a standing process, with more arguments. Returns the start time in microseconds since 1970."""
        own = {
            "message-bus": self.bus_options,
            "process-agent": ["--config", self.config, "--number", "1", "--executables", self.executables],
            "host-system": ["--config", self.config],
            "push-server": ["--config", self.config],
        }
        if name == "provider-server":
            words = ["--announce", f"{self.folder}/provider.json"]
        else:
            words = ["--instance", self.folder] + own[name] + list(more)
        words = [f"{self.executables}/{name}"] + words + ["--die-with-parent", str(os.getpid())]
        with open(f"{self.logs}/{name}.log", "a") as log:
            began = time.time_ns() // 1000
            pid = os.posix_spawn(
                words[0], words, os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, log.fileno(), 1), (os.POSIX_SPAWN_DUP2, log.fileno(), 2)])
        self.processes["-".join([name, *more[1:]])] = pid
        return began

    def start_replica(self, name):
        """Starts one of several push servers that share a database."""
        self.start("push-server", "--replica", name)
        self.wait_for_file(f"push-server-{name}.json")

    def replica(self, name):
        """The announcement of a push server."""
        with open(f"{self.folder}/push-server-{name}.json") as file:
            return json.load(file)

    def wait_for_file(self, name, within=HANG_GUARD):
        end = time.monotonic() + within
        while not os.path.exists(f"{self.folder}/{name}"):
            if time.monotonic() > end:
                raise RuntimeError(f"{self.folder}/{name} did not appear within {within} s; see {self.logs}")
            time.sleep(0.01)

    def start_bus(self):
        self.start("message-bus")
        self.wait_for_file("bus/bus.json")

    def stop_bus(self):
        """Stops the bus, and deletes its journal."""
        self.kill("message-bus")
        os.remove(f"{self.folder}/bus/bus.json")
        shutil.rmtree(f"{self.folder}/journal")

    def start_device(self):
        """Starts the bus, the provider, the agent and the host."""
        self.start_bus()
        self.start("provider-server")
        self.wait_for_file("provider.json")
        self.start("process-agent")
        self.start("host-system")

    def kill(self, name):
        pid = self.processes.pop(name)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def spent(self):
        """CPU time of all processes of the device in milliseconds."""
        children = []
        for path in glob.glob(f"/proc/{self.processes['process-agent']}/task/*/children"):
            with open(path) as file:
                children += map(int, file.read().split())
        standing = (self.processes[name] for name in ("host-system", "message-bus", "process-agent"))
        return sum(map(cpu_seconds, [*standing, *children])) * 1e3

    @property
    def group(self):
        return f"{self.folder}/device/{DEVICE}/groups/{GROUP}"

    def forget_result(self):
        """Makes the trial extension download again."""
        if os.path.exists(f"{self.group}/trial-result"):
            os.remove(f"{self.group}/trial-result")

    def hold(self, point):
        """Blocks the trial extension at a named point."""
        os.makedirs(self.group, exist_ok=True)
        open(f"{self.group}/hold-{point}", "w").close()

    def keep(self, folder):
        """Copies the files for diagnosing a failed figure: configuration, logs, and the last two journal segments."""
        kept = f"{folder}/{self.name}"
        shutil.copytree(self.logs, f"{kept}/logs", dirs_exist_ok=True)
        shutil.copy(self.config, kept)
        for segment in sorted(glob.glob(f"{self.folder}/journal/*.journal"))[-2:]:
            os.makedirs(f"{kept}/journal", exist_ok=True)
            shutil.copy(segment, f"{kept}/journal")

    def stop(self):
        for name in list(self.processes):
            self.kill(name)
        shutil.rmtree(self.folder, ignore_errors=True)
