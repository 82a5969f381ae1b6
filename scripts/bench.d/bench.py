"""Runs the figures of scripts/bench, and prints them. Called by scripts/bench, which has built what is measured."""

import argparse
import atexit
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time

import broker
import day
import extension
import host
import push
import transfers
from figure import table

FIGURES = {"broker": broker.measure, "spawn": extension.measure_spawn, "wake": extension.measure_wake, "host": host.measure,
    "transfers": transfers.measure, "day": day.measure, "push": push.measure}


class Run:
    """What every figure needs: the executables, a scratch folder, how many rounds, and what to stop in the end."""

    def __init__(self, arguments, scratch):
        self.executables, self.tools = arguments.executables, arguments.tools
        self.scratch = scratch
        self.quick = arguments.quick
        self.endings = []

    def rounds(self, count):
        return range(3 if self.quick else count)

    def at_end(self, stop):
        self.endings.append(stop)

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
    parser.add_argument("--executables", required=True)
    parser.add_argument("--tools", required=True)
    return parser.parse_args()


def come_first():
    """Puts this process and all that it starts before what else the machine does; says whether it was allowed to.

    Where the kernel shares time between sessions (sched_autogroup) the priority of a process counts within its own only,
    and the session has one too.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
        if contents("/proc/sys/kernel/sched_autogroup_enabled", "0").strip() == "1":
            atexit.register(set_session_priority, contents("/proc/self/autogroup").split()[-1])
            set_session_priority(-15)
        return True
    except OSError:
        return False


def set_session_priority(nice):
    with open("/proc/self/autogroup", "w") as file:
        file.write(str(nice))


def contents(path, otherwise=None):
    if otherwise is not None and not os.path.exists(path):
        return otherwise
    with open(path) as file:
        return file.read()


def too_long(*_):
    raise TimeoutError("the whole run is bounded to 8 minutes, and they are over")


def main():
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(480)
    scratch = tempfile.mkdtemp(prefix="widgetlab-bench-")
    figures, failed, began, load, is_first = [], [], time.monotonic(), os.getloadavg(), come_first()
    try:
        for name in asked.only or FIGURES:
            print(f"==> measuring: {name}", file=sys.stderr, flush=True)
            run = Run(asked, scratch)
            try:
                figures += FIGURES[name](run)
            except (RuntimeError, TimeoutError) as error:
                failed.append(name)
                print(f"error: {name}: {error}", file=sys.stderr)
                if isinstance(error, TimeoutError):
                    break
            finally:
                run.end()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(table(figures)))
    print(
        f"\n{os.cpu_count()} cores, load {load[0]:.1f} before and {os.getloadavg()[0]:.1f} after, "
        f"{platform.release()}, {time.monotonic() - began:.0f} s, "
        f"{'before' if is_first else 'beside'} the other processes of the machine")
    if asked.json:
        report = {
            "cores": os.cpu_count(), "kernel": platform.release(), "loadBefore": load, "loadAfter": os.getloadavg(),
            "quick": asked.quick, "raisedPriority": is_first, "seconds": time.monotonic() - began, "failed": failed,
            "figures": [figure.json() for figure in figures]}
        with open(asked.json, "w") as file:
            json.dump(report, file, indent=1, ensure_ascii=False)
    return 1 if failed else 2 if any(figure.verdict == "over twice" for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
