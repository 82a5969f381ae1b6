"""The table of declarations, for scripts/declarations: what the authoring modules have of Apple's, by their symbol graphs."""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "scripts/declarations.d/declarations.txt"
PAGE = ROOT / "Documentation/declarations.md"
MODULES = ["AppIntents", "Localization", "SwiftUI", "UIKit", "WidgetKit"]
HEAD = """# Declarations

What WidgetKit's face has of Apple's declarations. *With effect*: the live test that is named shows it over real processes.
*Accepted*: an author's code compiles, and what comes of it is shown by a test within one process alone, or nothing comes of
it for the reason that is given. *Absent*: code that names it does not compile.
Made by `scripts/declarations` from `scripts/declarations.d/declarations.txt` and the symbol graphs of what is built.
"""


def symbols():
    """How often each name is declared in the modules that are built."""
    build = pathlib.Path(sys.argv[sys.argv.index("--build") + 1]) if "--build" in sys.argv else ROOT / ".build/debug"
    ours = [*ROOT.glob("Sources/*/C*")]
    maps = [*(folder / "module.modulemap" for folder in ours), *(build / f"{folder.name}.build/module.modulemap" for folder in ours)]
    maps = [path for path in maps if path.exists()]
    flags = [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
    names = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for module in MODULES:
            command = ["swift", "symbolgraph-extract", "-module-name", module, "-I", f"{build}/Modules"]
            command += ["-target", "x86_64-unknown-linux-gnu", "-minimum-access-level", "public"]
            command += ["-skip-synthesized-members", "-output-dir", folder, *flags]
            subprocess.run(command, check=True)
        for file in pathlib.Path(folder).glob("*.symbols.json"):
            for symbol in json.loads(file.read_text())["symbols"]:
                names[".".join(symbol["pathComponents"])] += 1
    return names


def tests(folder):
    """The names of all tests below a folder."""
    return {name for file in ROOT.glob(f"{folder}/**/*.swift") for name in re.findall(r"func `([^`]+)`", file.read_text())}


def table(names):
    """The page, and what is wrong with the list."""
    known, live = tests("Tests"), tests("Tests/LiveTests")
    page, wrong, counts = [], [], collections.Counter()
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if line.startswith("## "):
            page += ["", line, "", "| declaration | since | here |", "|---|---|---|"]
        if not line or line.startswith("#"):
            continue
        name, since, here = (cell.strip() for cell in line.split(" | "))
        name, _, times = name.partition(" ×")
        has = names[name] >= int(times or 1)
        kind = here.partition(":")[0] if here.startswith(("accepted:", "absent:")) else "with effect"
        if has == (kind == "absent"):
            wrong.append(f"{LIST.name}:{number}: {name} is {'there' if has else 'not there'}, and the list says: {here}")
        if kind == "with effect":
            shown = re.findall(r"`([^`]+)`", here)
            wrong += [f"{LIST.name}:{number}: there is no test `{test}`" for test in shown if test not in known]
            if not live.issuperset(shown):
                kind, here = "accepted", f"accepted: {here} shows it within one process"
        counts[kind] += 1
        overloads = f" ×{times}" if times else ""
        page.append(f"| `{name}`{overloads} | {since} | {here if kind != 'with effect' else 'with effect: ' + here} |")
    total = ", ".join(f"{counts[kind]} {kind}" for kind in ("with effect", "accepted", "absent"))
    return HEAD + f"\n{sum(counts.values())} declarations: {total}.\n" + "\n".join(page) + "\n", wrong


def main():
    page, wrong = table(symbols())
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text() != page:
            wrong.append(f"{PAGE.relative_to(ROOT)} is not what scripts/declarations makes: run it")
    else:
        PAGE.write_text(page)
    sys.exit("\n".join(wrong) or 0)


main()
