# SPDX-License-Identifier: Apache-2.0

"""The results of scripts/bench as JSON: figures, commit, machine and load."""

import datetime
import json
import os
import platform
import subprocess

VERSION = 1


def contents(path, otherwise=None):
    """The text of a file; `otherwise`, if given, when the file does not exist."""
    if otherwise is not None and not os.path.exists(path):
        return otherwise
    with open(path) as file:
        return file.read()


def machine():
    """The properties of the machine that do not change between runs."""
    model = [line.split(":", 1)[1].strip() for line in contents("/proc/cpuinfo", "").splitlines() if line.startswith("model name")]
    memory = [int(line.split()[1]) // 1024 for line in contents("/proc/meminfo", "").splitlines() if line.startswith("MemTotal:")]
    return {
        "cpu": model[0] if model else platform.machine(), "cores": len(os.sched_getaffinity(0)),
        "memoryMiB": memory[0] if memory else None, "kernel": platform.release()}


def commit():
    """The commit of the tree and whether tracked files are modified; nulls without Git."""
    def git(*words):
        return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    try:
        return {
            "hash": git("rev-parse", "HEAD").strip(), "isDirty": bool(git("status", "--porcelain", "--untracked-files=no").strip())}
    except (OSError, subprocess.CalledProcessError):
        return {"hash": None, "isDirty": None}


def default_path(report):
    """`.build/bench/<date>-<commit>-<configuration>.json`; `+` marks a modified tree, and `-quick` a quick run."""
    date = report["date"].replace("-", "").replace(":", "")
    text = (report["commit"]["hash"] or "unknown")[:8] + ("+" if report["commit"]["isDirty"] else "")
    quick = "-quick" if report["isQuick"] else ""
    return f".build/bench/{date}-{text}-{report['configuration']}{quick}.json"


def report(configuration, is_quick, figures, failed, began, load, is_first):
    """The report of a finished run. `began` is a `datetime`, `load` the load averages before the run."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "version": VERSION, "date": began.strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(), "configuration": configuration,
        "isQuick": is_quick, "machine": machine(), "load": {"before": list(load), "after": list(os.getloadavg())},
        "raisedPriority": is_first, "seconds": round((now - began).total_seconds(), 1), "failed": failed,
        "figures": [figure.json() for figure in figures]}


def write(report, path):
    write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", path)


def write_text(text, path):
    """Writes a file, and creates its folder."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def read(path):
    """Reads a report. Raises `ValueError` with one sentence for any other file."""
    try:
        with open(path) as file:
            report = json.load(file)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if not isinstance(report, dict) or report.get("version") != VERSION or "figures" not in report:
        raise ValueError(f"{path} is not a result of scripts/bench, or of an older version of it")
    return report
