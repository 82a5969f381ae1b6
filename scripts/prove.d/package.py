# SPDX-License-Identifier: Apache-2.0
"""Writes the package that scripts/prove builds: the rules of the device and of the push server, and the searches.

usage: package.py FOLDER [--copied]
With --copied, the sources of the rules are copies in FOLDER/copied, which scripts/prove --mutations changes; otherwise they
are links.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = sys.argv[1]
COPIED = len(sys.argv) > 2

# Each target, its folder in the repository, and what it imports.
TARGETS = [
    ("CPlatform", "Sources/Bus/CPlatform", []),
    ("Archive", "Sources/Bus/Archive", ["CPlatform"]),
    ("Messages", "Sources/Bus/Messages", ["Archive", "CPlatform"]),
    ("FaultPoints", "Sources/Bus/FaultPoints", ["CPlatform", "Messages"]),
    ("Journal", "Sources/Bus/Journal", ["Archive", "FaultPoints", "Messages"]),
    ("JournalAnalysis", "Sources/Observability/JournalAnalysis", ["Archive", "Journal", "Messages"]),
    (
        "ChaosCampaign", "Sources/Observability/ChaosCampaign",
        ["Archive", "FaultPoints", "JournalAnalysis", "Messages"],
    ),
    ("DeviceRules", "Sources/Device/DeviceRules", ["Archive", "Messages", "crypto", "heap"]),
    ("PushRules", "Sources/APNs/PushRules", ["Messages", "heap"]),
    ("ModelChecking", "Sources/Proof/ModelChecking", [
        "Archive", "ChaosCampaign", "DeviceRules", "Journal", "JournalAnalysis", "Messages", "PushRules", "crypto",
        "heap",
    ]),
]
# What scripts/prove --mutations changes.
RULES = ("DeviceRules", "PushRules")
PACKAGES = ["swift-collections", "swift-crypto"]
PRODUCTS = {
    "crypto": '.product(name: "Crypto", package: "swift-crypto")',
    "heap": '.product(name: "HeapModule", package: "swift-collections")',
}
FEATURES = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "InferIsolatedConformances",
    "NonisolatedNonsendingByDefault", "ImmutableWeakCaptures",
]  # fmt: skip


def place(name: str, source: str) -> str:
    """Links the sources of a target, or copies them, and returns the folder of the target in the package."""
    if COPIED and name in RULES:
        target = os.path.join("copied", source)
    else:
        target = os.path.join("Sources", name)
    path = os.path.join(FOLDER, target)
    if COPIED and name in RULES:
        base = os.path.join(ROOT, source)
        put_all(base, path, [os.path.relpath(os.path.join(f, file), base) for f, _, fs in os.walk(base) for file in fs])
    else:
        put_link(os.path.join(ROOT, source), path)
    return target


def put_all(source: str, target: str, files: list[str]) -> None:
    """Puts the files of a folder into another one, and removes there what is not among them."""
    for file in files:
        os.makedirs(os.path.dirname(os.path.join(target, file)), exist_ok=True)
        put(os.path.join(source, file), os.path.join(target, file))
    for folder, _, found in os.walk(target):
        for file in found:
            if os.path.relpath(os.path.join(folder, file), target) not in files:
                os.remove(os.path.join(folder, file))


def put(source: str, target: str) -> None:
    """Copies a file that differs, so that only what changed is compiled; or links it."""
    if COPIED:
        write(target, open(source, encoding="utf-8").read())
    else:
        put_link(source, target)


def put_link(source: str, target: str) -> None:
    if os.path.islink(target) and os.readlink(target) == source:
        return
    if os.path.lexists(target):
        os.remove(target)
    os.symlink(source, target)


def write(path: str, text: str) -> None:
    if os.path.isfile(path) and not os.path.islink(path) and open(path, encoding="utf-8").read() == text:
        return
    if os.path.islink(path):
        os.remove(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def package(name: str) -> str:
    checkout = os.path.join(ROOT, ".build/checkouts", name)
    if not os.path.isdir(checkout):
        sys.exit(f"error: no {checkout}\n       Run scripts/build first, which fetches the packages.")
    return f'    .package(path: "{os.path.realpath(checkout)}"),'


def main() -> None:
    os.makedirs(os.path.join(FOLDER, "Sources"), exist_ok=True)
    targets = []
    for name, source, imports in TARGETS:
        path = place(name, source)
        needed = ", ".join(PRODUCTS.get(i, f'"{i}"') for i in imports)
        settings = "" if name == "CPlatform" else ", swiftSettings: strict"
        excluded = ', exclude: ["Mutations"]' if name == "ModelChecking" else ""
        targets.append(f'    .target(name: "{name}", dependencies: [{needed}], path: "{path}"{excluded}{settings}),')
    for name in ("prove", "simulate"):
        main_folder = os.path.join(FOLDER, "Sources", name)
        os.makedirs(main_folder, exist_ok=True)
        for target, file in (("main", name), ("arguments", "arguments")):
            text = open(os.path.join(ROOT, f"scripts/prove.d/{file}.swift"), encoding="utf-8").read()
            write(os.path.join(main_folder, f"{target}.swift"), text)
        needed = '"ModelChecking"' + (', "ChaosCampaign", "JournalAnalysis"' if name == "simulate" else "")
        targets.append(f'    .executableTarget(name: "{name}", dependencies: [{needed}], swiftSettings: strict),')
    strict = ", ".join(f'.enableUpcomingFeature("{feature}")' for feature in FEATURES)
    lines = [
        "// swift-tools-version: 6.3",
        "import PackageDescription",
        f"let strict: [SwiftSetting] = [{strict}, .treatAllWarnings(as: .error)]",
        "let package = Package(",
        '  name: "WidgetLab",',
        "  dependencies: [",
        *[package(name) for name in PACKAGES],
        "  ],",
        "  targets: [",
        *targets,
        "  ],",
        "  swiftLanguageModes: [.v6]",
        ")",
    ]
    write(os.path.join(FOLDER, "Package.swift"), "\n".join(lines) + "\n")


main()
