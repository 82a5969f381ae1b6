# SPDX-License-Identifier: Apache-2.0

"""Compares two results of scripts/bench, figure by figure.

compare.py OLD NEW prints the comparison of two files, and exits with 1 when they cannot be compared.
"""

import sys
from statistics import median, quantiles

import results
from figure import aligned, number


def refuse_other_configuration(old, configuration):
    """Raises `ValueError` when the two results are of different build configurations."""
    if old["configuration"] != configuration:
        raise ValueError(
            f"the old figures are of a {old['configuration']} build and the new ones of a {configuration} build; "
            "they cannot be compared")


def circumstances(report):
    """Other properties that may change a figure, by their names in warnings."""
    machine = report["machine"]
    return {
        "processor": machine["cpu"], "number of cores": machine["cores"], "memory in MiB": machine["memoryMiB"],
        "kernel": machine["kernel"], "raised priority": report["raisedPriority"], "quick run": report["isQuick"]}


def compared(figure):
    """The compared value and its samples; for a figure with a limit, the ratios to the limit."""
    if figure["limit"]:
        return figure["ratio"], [own / other for own, other in zip(figure["samples"], figure["limit"]["samples"])]
    return figure["value"], figure["samples"]


def spread(figure):
    """The quartiles of the samples; `None` for a single sample, and for a value other than a median, such as a p99."""
    value, samples = compared(figure)
    if len(samples) < 2 or value != median(samples):
        return None
    first, _, third = quantiles(samples, n=4, method="inclusive")
    return first, third


def remark(old, new):
    """Whether the change may be noise: one of the two values is within the spread of the other's samples."""
    spreads = spread(old), spread(new)
    if None in spreads:
        return "spread unknown"
    values = compared(new)[0], compared(old)[0]
    is_within = any(low <= value <= high for value, (low, high) in zip(values, spreads))
    return "within the spread" if is_within else "beyond the spread"


def change(old, new):
    """The change in percent."""
    return f"{(new / old - 1) * 100:+.1f} %" if old else "0.0 %" if new == old else "from 0"


def row(old, new):
    ratios = ["", "", ""]
    if old["limit"] and new["limit"]:
        ratios = [f"{old['ratio']:.2f} ×", f"{new['ratio']:.2f} ×", change(old["ratio"], new["ratio"])]
    values = [f"{number(figure['value'])} {figure['unit']}" for figure in (old, new)]
    return [new["name"], *values, change(old["value"], new["value"]), *ratios, remark(old, new)]


def title(name, report):
    text = (report["commit"]["hash"] or "unknown commit")[:8] + (" (modified)" if report["commit"]["isDirty"] else "")
    return f"{name} {report['date']}, {text}, {report['configuration']}, load {report['load']['before'][0]:.1f} before"


def comparison(old, new):
    """The lines of the comparison. Raises `ValueError` when the build configurations differ."""
    refuse_other_configuration(old, new["configuration"])
    before, after = circumstances(old), circumstances(new)
    lines = [title("old:", old), title("new:", new)]
    lines += [f"warning: {name}: {before[name]}, now {after[name]}" for name in before if before[name] != after[name]]
    earlier = {figure["name"]: figure for figure in old["figures"]}
    now = {figure["name"]: figure for figure in new["figures"]}
    rows = [row(earlier[name], figure) for name, figure in now.items() if name in earlier]
    if rows:
        head = ["figure", "old", "new", "change", "ratio", "now", "change", "may be noise"]
        lines += ["", *aligned([head, *rows], left=(0, 7))]
    lines += [""] + [f"only in the old figures: {name}" for name in earlier if name not in now]
    lines += [f"only in the new figures: {name}" for name in now if name not in earlier]
    return lines


def main():
    try:
        print("\n".join(comparison(results.read(sys.argv[1]), results.read(sys.argv[2]))))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
