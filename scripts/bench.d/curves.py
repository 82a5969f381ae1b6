# SPDX-License-Identifier: Apache-2.0

"""Draws the growth curves of a result of scripts/bench as one SVG file: a plot for each curve, with two logarithmic axes.
A dashed line through the first point shows linear growth.

Usage: scripts/bench --curves RESULT FILE.svg
"""

import math
import sys
from html import escape

from figure import number
from results import read, write_text

WIDTH, HEIGHT, COLUMNS = 380, 240, 2
LEFT, RIGHT, TOP, BOTTOM = 62, 34, 42, 44


def curves(report):
    """By name and unit: what is counted, and pairs of size and value, the smallest first. Those with one size are left out."""
    found = {}
    for figure in report["figures"]:
        curve = figure.get("curve")
        if curve and figure["value"] > 0:
            found.setdefault((curve["name"], figure["unit"]), (curve["of"], []))[1].append((curve["size"], figure["value"]))
    return {key: (of, sorted(points)) for key, (of, points) in found.items() if len(points) > 1}


def decades(low, high):
    """The exponents of the powers of ten from below the smallest to above the largest value."""
    return math.floor(math.log10(low)), max(math.ceil(math.log10(high)), math.floor(math.log10(low)) + 1)


def plot(name, unit, of, points):
    """The elements of one plot."""
    first, last = points[0], points[-1]
    (left, right), (low, high) = decades(first[0], last[0]), decades(*(f(y for _, y in points) for f in (min, max)))

    def at(x, y):
        across, up = (math.log10(x) - left) / (right - left), (math.log10(y) - low) / (high - low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    def path(points, style):
        return f'<polyline class="{style}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'

    parts = [f'<text class="title" x="{WIDTH / 2:.0f}" y="22">{escape(name)}, {escape(unit)}</text>']
    for exponent in range(low, high + 1):
        _, y = at(first[0], 10.0**exponent)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="left" x="{LEFT - 8}" y="{y + 4:.1f}">{10.0**exponent:g}</text>')
    for exponent in range(left, right + 1):
        x, _ = at(10.0**exponent, 10.0**low)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text class="below" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}">{10**exponent:,}</text>')
    parts.append(f'<text class="below" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}">{escape(of)}</text>')
    # Linear growth, as far as it is within the plot.
    end = min(last[0], first[0] * 10.0**high / first[1])
    parts.append(path([at(*first), at(end, first[1] * end / first[0])], "linear"))
    parts.append(path([at(x, y) for x, y in points], "measured"))
    for point in points:
        x, y = at(*point)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{point[0]:,}: {number(point[1])} {escape(unit)}</title></circle>')
    return parts


def svg(report):
    """The SVG text. Raises `ValueError` when the result has no curve."""
    found = curves(report)
    if not found:
        raise ValueError("the result has no growth curves: measure with --only growth, scale or fleet")
    rows = -(-len(found) // COLUMNS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * COLUMNS}" height="{HEIGHT * rows}" font-family="sans-serif" '
        'font-size="11">',
        "<style>line{stroke:#ddd}text{fill:#333}.title{font-weight:bold;text-anchor:middle}.left{text-anchor:end}.below{text-anchor:middle}"
        "polyline{fill:none;stroke-width:2}.measured{stroke:#1668c7}.linear{stroke:#888;stroke-width:1;stroke-dasharray:4 4}"
        "circle{fill:#1668c7}</style>", '<rect width="100%" height="100%" fill="#fff"/>']
    for index, ((name, unit), (of, points)) in enumerate(found.items()):
        x, y = index % COLUMNS * WIDTH, index // COLUMNS * HEIGHT
        lines += [f'<g transform="translate({x} {y})">', *plot(name, unit, of, points), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    try:
        write_text(svg(read(sys.argv[1])), sys.argv[2])
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
