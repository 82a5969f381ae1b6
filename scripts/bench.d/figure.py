# SPDX-License-Identifier: Apache-2.0

"""The figures of scripts/bench, with their references and goals."""

import math
from statistics import median


class Skipped(Exception):
    """What a figure needs is not installed. Only a figure whose needs scripts/bench does not install raises it."""


def percentile(values, share):
    """The percentile by nearest rank; `share` is between 0 and 1."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def number(value):
    """Formats a value with its significant digits."""
    return f"{value:.{0 if value >= 1000 else 1 if value >= 100 else 2}f}"


class Figure:
    """One line of the table.

    A figure with a `limit` is a ratio: each round's value divided by the limit's value of the same round. The goal
    applies to the median of these ratios. Without a limit, the goal, if any, applies to the value.

    Figures of one `curve` measure the same for different sizes: its name, what is counted, and their number.
    """

    def __init__(self, name, unit, values, limit=None, limit_name="", goal=None, goal_text=None, value=None,
            curve=None):
        self.name, self.unit, self.values, self.limit, self.limit_name = name, unit, values, limit, limit_name
        self.goal = goal
        self.curve = curve
        self.value = median(values) if value is None else value
        self.ratio = median(own / other for own, other in zip(values, limit)) if limit else None
        self.goal_text = goal_text or (f"≤ {goal:g}{' ×' if limit else ' ' + unit}" if goal else "")

    @property
    def verdict(self):
        if self.goal is None:
            return ""
        reached = self.ratio if self.limit else self.value
        return "met" if reached <= self.goal else "missed" if reached <= 2 * self.goal else "over twice"

    def cells(self):
        spread = f"{number(min(self.values))}–{number(max(self.values))}"
        limit = f"{number(median(self.limit))} ({self.limit_name})" if self.limit else ""
        ratio = f"{self.ratio:.2f} ×" if self.limit else ""
        return [
            self.name, f"{number(self.value)} {self.unit}", spread, str(len(self.values)), limit, ratio, self.goal_text,
            self.verdict]

    def json(self):
        return {
            "name": self.name, "unit": self.unit, "value": self.value, "samples": self.values,
            "limit": {"name": self.limit_name, "value": median(self.limit), "samples": self.limit} if self.limit else None,
            "ratio": self.ratio, "goal": self.goal, "goalText": self.goal_text, "verdict": self.verdict or None,
            "curve": dict(zip(("name", "of", "size"), self.curve)) if self.curve else None}


def exponent(found, sizes):
    """The exponent of the growth from the first to the last size: 1 is linear."""
    first, last = max(found[0], 1e-9), max(found[-1], 1e-9)
    return math.log(last / first) / math.log(sizes[-1] / sizes[0])


class Growth:
    """Samples of several figures for each size.

    `subject` is the first word of each figure, `of` what is counted, and `names` has a name and a unit for each key.
    """

    def __init__(self, subject, of, names):
        self.subject, self.of, self.names = subject, of, names
        self.samples = {}

    def note(self, size, **values):
        """Adds a sample to each figure, by its key."""
        for key, value in values.items():
            self.samples.setdefault(key, {}).setdefault(size, []).append(value)

    def figures(self):
        """The points of each curve, and its exponent."""
        return [figure for key, samples in self.samples.items() for figure in self.curve(*self.names[key], samples)]

    def curve(self, name, unit, samples):
        sizes = sorted(samples)
        points = [
            Figure(f"{self.subject}: {size:,} {self.of}: {name}", unit, samples[size],
                   curve=(f"{self.of}: {name}", self.of, size))
            for size in sizes]
        # Of the two largest sizes, since a fixed cost hides the growth from a small size on.
        found = exponent([point.value for point in points[-2:]], sizes[-2:])
        return points + [Figure(
            f"{self.subject}: {self.of}: {name}: exponent from {sizes[-2]:,} on", "", [found], goal=1.1,
            goal_text="≤ 1.1 (linear)")]


def table(figures):
    rows = [["figure", "median", "from–to", "n", "limit", "ratio", "goal", ""]] + [figure.cells() for figure in figures]
    return aligned(rows, left=(0, 4, 6, 7))


def aligned(rows, left):
    """The lines of a table; `left` are the left-aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) if column in left else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows]
