# SPDX-License-Identifier: Apache-2.0

"""Measures the figures of scripts/bench and prints them. scripts/bench calls it after it has built the executables."""

import argparse
import datetime
import os
import platform
import shutil
import signal
import sys
import tempfile
import time

import broker
import compare
import console
import day
import extension
import fleet
import growth
import host
import picture
import postgres
import push
import recovery
import results
import scale
import steps
import transfers
from figure import Skipped, table
from results import contents

FIGURES = {"broker": broker.measure, "spawn": extension.measure_spawn, "wake": extension.measure_wake, "host": host.measure,
    "transfers": transfers.measure, "day": day.measure, "push": push.measure, "growth": growth.measure,
    "scale": scale.measure, "postgres": postgres.measure, "fleet": fleet.measure,
    "picture": picture.measure, "console": console.measure, "recovery": recovery.measure,
    "steps": steps.measure}

# The measured executables, and those that the clusters need.
EXECUTABLES = ["message-bus", "process-agent", "host-system", "push-server", "device-fleet", "widgetlab", "provider-server", "FixtureExtension",
    "FixtureModules", "FixtureWidgets", "PictureTimes", "containing-app", "widget-extension"]

# Minutes after which a run is aborted as hanging.
LONGEST, LONGEST_QUICK = 40, 9

# The folder for logs of figures that could not be measured.
KEPT = ".build/bench/failed"


class Overdue(BaseException):
    """The whole run took too long. A BaseException, so that `except Exception` does not catch it."""


class Run:
    """The input of each figure: executables, a scratch folder, the amount to measure, and what to stop at the end."""

    def __init__(self, arguments, scratch):
        self.executables, self.tools = arguments.executables, arguments.tools
        self.scratch = scratch
        self.quick = arguments.quick
        self.clusters, self.endings = [], []

    def count(self, full, quick):
        """Returns the amount for this kind of run, full or quick."""
        return quick if self.quick else full

    def rounds(self, count, quick=3):
        return range(self.count(count, quick))

    def at_end(self, stop):
        self.endings.append(stop)

    def keep(self, folder):
        """Copies the logs and journals of the clusters to a folder, and returns it."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for cluster in self.clusters:
            try:
                cluster.keep(folder)
            except OSError as error:
                print(f"bench: {error}", file=sys.stderr)
        return folder

    def end(self):
        while self.endings:
            try:
                self.endings.pop()()
            except OSError as error:
                print(f"bench: {error}", file=sys.stderr)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=FIGURES, action="append")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--compare", metavar="FILE")
    parser.add_argument("--configuration", required=True)
    parser.add_argument("--executables", required=True)
    parser.add_argument("--tools", required=True)
    return parser.parse_args()


def check(folder):
    """Exits when an executable is missing, because a cluster would wait for it until its deadline."""
    missing = [name for name in EXECUTABLES if not os.access(f"{folder}/{name}", os.X_OK)]
    if missing:
        sys.exit(f"error: {folder} has no {', '.join(missing)}; without --executables, scripts/bench builds them")


def come_first():
    """Raises the priority of this process and of its children. Returns False when not permitted.

    Where the kernel shares time between sessions (sched_autogroup), the priority of a process counts only within its
    session, and the session has a priority too. A new session is created; otherwise the caller's other programs would
    get the same priority, and extensions, which have their own sessions, would get no time.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
        os.setsid()
        if contents("/proc/sys/kernel/sched_autogroup_enabled", "0").strip() == "1":
            with open("/proc/self/autogroup", "w") as file:
                file.write("-15")
        return True
    except OSError:
        return False


def end_at(minutes):
    def overdue(*_):
        raise Overdue(f"the run did not finish within its limit of {minutes} minutes")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, overdue)
    signal.alarm(minutes * 60)


def measured(name, asked, scratch):
    """The figures of one name; empty when they were skipped, and `None` when they could not be measured. The reason goes
    to standard error."""
    print(f"==> measuring: {name}", file=sys.stderr, flush=True)
    run, began = Run(asked, scratch), time.monotonic()
    try:
        return FIGURES[name](run)
    except Skipped as reason:
        print(f"SKIPPED: {name}: {reason}", file=sys.stderr)
        return []
    except (Exception, Overdue) as error:
        text = str(error) if isinstance(error, (RuntimeError, Overdue)) else f"{type(error).__name__}: {error}"
        print(f"error: {name}: {text}\n       logs and journals: {run.keep(f'{KEPT}/{name}')}", file=sys.stderr)
        if isinstance(error, Overdue):
            raise
    finally:
        run.end()
        print(f"==> {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def measure_all(asked):
    """The figures, and the names of those that could not be measured."""
    names = asked.only or list(FIGURES)
    figures, failed = [], list(names)
    scratch = tempfile.mkdtemp(prefix="widgetlab-bench-")
    try:
        for name in names:
            found = measured(name, asked, scratch)
            if found is not None:
                figures += found
                failed.remove(name)
    except Overdue:
        print(f"error: not measured: {', '.join(failed)}", file=sys.stderr)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return figures, failed


def show(report, figures):
    print("\n".join(table(figures)))
    warning = "; figures of a debug build are not comparable with those of a release build" if (
        report["configuration"] == "debug") else ""
    machine, load = report["machine"], report["load"]
    print(
        f"\nconfiguration: {report['configuration']}{warning}\n{machine['cores']} cores, load {load['before'][0]:.1f} before "
        f"and {load['after'][0]:.1f} after, {platform.release()}, {report['seconds']:.0f} s, "
        f"{'raised' if report['raisedPriority'] else 'normal'} priority")
    if report["failed"]:
        print(f"not measured: {', '.join(report['failed'])}")


def main():
    asked = arguments()
    check(asked.executables)
    try:
        old = asked.compare and results.read(asked.compare)
        if old:
            compare.refuse_other_configuration(old, asked.configuration)
    except ValueError as error:
        sys.exit(f"error: {error}")
    end_at(LONGEST_QUICK if asked.quick else LONGEST)
    began, load, is_first = datetime.datetime.now(datetime.timezone.utc), os.getloadavg(), come_first()
    figures, failed = measure_all(asked)
    signal.alarm(0)
    report = results.report(asked.configuration, asked.quick, figures, failed, began, load, is_first)
    show(report, figures)
    if old:
        print("\n" + "\n".join(compare.comparison(old, report)))
    for path in filter(None, [results.default_path(report), asked.json]):
        results.write(report, path)
        print(f"results: {path}", file=sys.stderr)
    if failed:
        return 1
    return 2 if not asked.quick and any(figure.verdict == "over twice" for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
