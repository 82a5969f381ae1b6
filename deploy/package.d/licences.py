# SPDX-License-Identifier: Apache-2.0

"""Collects the licences of all components of the archive, and writes a page and a list in SPDX 2.3 of them.

Usage: licences.py MANIFEST.json SOURCES VERSION EPOCH FOLDER

MANIFEST.json is the output of `swift package dump-package`, SOURCES the folder of the package, EPOCH the time of the list
in seconds. FOLDER gets licences/COMPONENT/, licences.md and sbom.spdx.json. An unknown licence is an error.
"""

import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

from products import Manifest

# Words of a licence's text, and its identifier. The first that has all its words is that of the text.
TEXTS = [
    ("GPL-3.0-or-later WITH GCC-exception-3.1", ["GNU General Public License", "GCC Runtime Library Exception"]),
    ("Apache-2.0 WITH Swift-exception", ["Apache License", "Version 2.0", "Runtime Library Exception"]),
    ("Apache-2.0", ["Apache License", "Version 2.0"]),
    ("MIT", ["Permission is hereby granted, free of charge", "THE SOFTWARE IS PROVIDED \"AS IS\""]),
    ("OFL-1.1", ["SIL OPEN FONT LICENSE Version 1.1"]),
]
# The names of licences in Debian's copyright files. One without an identifier is in the list with its text.
DEBIAN = {
    "ISC": "ISC",
    "Zlib": "Zlib",
    "MPL-2.0": "MPL-2.0",
    "BSD-3-clause": "BSD-3-Clause",
    "public-domain": "LicenseRef-public-domain",
    "LGPL-3.0+ with special exception granted by copyright holders": "LicenseRef-LGPL-3.0-or-later-with-exception-of-libzmq",
}
# What is beside the sources of the pictures: the file of the licence, the file with the version, and the origin.
PICTURES = "Sources/Model/Layout/Resources"
ARTWORK = {
    "Inter": ("Inter-OFL.txt", "Inter-roman.var.ttf", "https://github.com/rsms/inter"),
    "bootstrap-icons": ("bootstrap-icons-MIT.txt", "symbol-outlines.txt", "https://github.com/twbs/icons"),
}


@dataclasses.dataclass
class Component:
    """A part of the archive that has its licence."""

    name: str
    version: str
    licence: str
    files: list
    origin: str
    # The identifiers and texts of licences that SPDX does not list.
    extracted: dict = dataclasses.field(default_factory=dict)
    package_url: str = ""

    def identifier(self):
        """Its identifier in the list."""
        return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", self.name)


def output(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def content(path):
    """The text of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def identified(path):
    """The identifier of the licence with a text."""
    found = " ".join(content(path).split()).lower()
    for identifier, words in TEXTS:
        if all(word.lower() in found for word in words):
            return identifier
    sys.exit(f"error: the licence of {path} is unknown\n       Add it to TEXTS in deploy/package.d/licences.py.")


def debian_licence(path):
    """The identifier of the licence of a Debian package, and the text that defines it when SPDX does not."""
    text = content(path)
    if not text.startswith("Format:"):
        return identified(path), {}
    paragraphs = re.split(r"\n\s*\n", text)
    main = next((item for item in paragraphs if re.match(r"Files:\s*\*\s*$", item, re.M)), "")
    name = re.search(r"^License:\s*(.+)$", main, re.M)
    identifier = DEBIAN.get(name.group(1).strip()) if name else None
    if identifier is None:
        sys.exit(
            f"error: the licence {name.group(1) if name else 'of all files'} is unknown: {path}\n"
            "       Add it to DEBIAN in deploy/package.d/licences.py."
        )
    if not identifier.startswith("LicenseRef-"):
        return identifier, {}
    texts = [item for item in paragraphs if f"License: {name.group(1).strip()}\n" in item + "\n"]
    return identifier, {identifier: max((item[item.index("License:") :] for item in texts), key=len)}


def packages(sources):
    """The packages on which the manifest depends, with the versions that were built."""
    state = json.loads(content(f"{sources}/.build/workspace-state.json"))["object"]["dependencies"]
    for entry in sorted(state, key=lambda entry: entry["packageRef"]["identity"]):
        folder = f"{sources}/.build/checkouts/{entry['subpath']}"
        files = sorted(f for f in os.listdir(folder) if re.match(r"LICEN[CS]E|NOTICE|COPYING", f))
        licences = [name for name in files if not name.startswith("NOTICE")]
        if not licences:
            sys.exit(f"error: the licence of {entry['subpath']} is not found: {folder}")
        checkout, origin = entry["state"]["checkoutState"], entry["packageRef"]["location"].removesuffix(".git")
        yield Component(
            entry["subpath"],
            checkout.get("version") or checkout["revision"],
            identified(f"{folder}/{licences[0]}"),
            [f"{folder}/{name}" for name in files],
            f"git+{origin}.git@{checkout['revision']}",
            package_url=f"pkg:swift/{origin.removeprefix('https://')}@{checkout.get('version') or checkout['revision']}",
        )


def libraries(manifest, sources):
    """The Debian packages of the static libraries."""
    system = {line.split("=", 1)[0]: line.split("=", 1)[1].strip('"') for line in content("/etc/os-release").splitlines() if "=" in line}
    found = {}
    for library in manifest.static(f"{sources}/deploy/static-libraries"):
        path = os.path.realpath(output("clang", f"-print-file-name={library}"))
        result = subprocess.run(["dpkg", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if result.returncode != 0:
            sys.exit(f"error: the licence of {library} is not found: {path}\n       Make the archive on Debian or Ubuntu.")
        found[result.stdout.split(":")[0]] = library
    for package in sorted(found):
        version, source = output("dpkg-query", "-W", "-f", "${Version}\n${source:Package}", package).splitlines()
        copyright_file = f"/usr/share/doc/{package}/copyright"
        licence, extracted = debian_licence(copyright_file)
        url = f"pkg:deb/{system['ID']}/{package}@{version}"
        yield Component(package, version, licence, [copyright_file], "NOASSERTION", extracted, url)


def version_of_artwork(path):
    """The version of a font, from its names, or of the icons, from the first line of their file."""
    with open(path, "rb") as file:
        start = file.read()
    # The names of a font are in UTF-16, those of the icons in UTF-8.
    found = re.search(rb"Bootstrap Icons ([0-9.]+)", start[:200])
    if not found:
        found = re.search(rb"Version ([0-9]+\.[0-9]+)", start.replace(b"\0", b""))
    if not found:
        sys.exit(f"error: the version of {path} is not found")
    return found.group(1).decode()


def components(manifest, sources, version):
    """All components. The first is WidgetLab."""
    yield Component("WidgetLab", version, identified(f"{sources}/LICENSE"), [f"{sources}/LICENSE"], "NOASSERTION")
    yield from packages(sources)
    yield from libraries(manifest, sources)
    for name, (licence, file, origin) in ARTWORK.items():
        path = f"{sources}/{PICTURES}/{licence}"
        yield Component(name, version_of_artwork(f"{sources}/{PICTURES}/{file}"), identified(path), [path], origin)
    toolchain = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swiftc"))))
    swift = re.search(r"Swift version (\S+)", output("swiftc", "--version")).group(1)
    path = f"{toolchain}/share/swift/LICENSE.txt"
    yield Component("swift", swift, identified(path), [path], "https://www.swift.org/download/")


def page(every):
    """The page for people."""
    lines = ["# Licences", "", "What the files of WidgetLab contain or are linked with. `sbom.spdx.json` has the same in SPDX 2.3.", ""]
    lines += ["| component | version | licence | text |", "|---|---|---|---|"]
    for item in every:
        texts = ", ".join(f"[{os.path.basename(f)}](licences/{item.name}/{os.path.basename(f)})" for f in item.files)
        lines.append(f"| {item.name} | {item.version} | {item.licence} | {texts} |")
    return "\n".join(lines) + "\n"


def described(item):
    """A component in SPDX."""
    entry = {
        "SPDXID": item.identifier(),
        "name": item.name,
        "versionInfo": item.version,
        "downloadLocation": item.origin,
        "filesAnalyzed": False,
        "licenseConcluded": item.licence,
        "licenseDeclared": item.licence,
        "copyrightText": "NOASSERTION",
    }
    if item.package_url:
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": item.package_url}
        entry["externalRefs"] = [reference]
    return entry


def document(every, epoch):
    """The list in SPDX. Its namespace has a hash of its content."""
    own = every[0]
    extracted = {identifier: text for item in every for identifier, text in item.extracted.items()}
    result = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"widgetlab-{own.version}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "creators": [f"Tool: widgetlab-package-{own.version}"],
        },
        "packages": [described(item) for item in every],
        "hasExtractedLicensingInfos": [
            {"licenseId": identifier, "extractedText": text} for identifier, text in sorted(extracted.items())
        ],
        "relationships": [related("SPDXRef-DOCUMENT", "DESCRIBES", own.identifier())]
        + [related(own.identifier(), "CONTAINS", item.identifier()) for item in every[1:]],
    }
    digest = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
    return result | {"documentNamespace": f"https://spdx.org/spdxdocs/widgetlab-{own.version}-{digest[:32]}"}


def related(element, kind, other):
    """A relationship of two elements."""
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": other}


def main():
    manifest = Manifest(sys.argv[1])
    sources, version, epoch, folder = sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
    every = list(components(manifest, sources, version))
    for item in every:
        os.makedirs(f"{folder}/licences/{item.name}")
        for path in item.files:
            shutil.copyfile(path, f"{folder}/licences/{item.name}/{os.path.basename(path)}")
    with open(f"{folder}/licences.md", "w") as file:
        file.write(page(every))
    with open(f"{folder}/sbom.spdx.json", "w") as file:
        json.dump(document(every, epoch), file, indent=2, sort_keys=True)
        file.write("\n")
    print(f"{len(every)} components, {len({item.licence for item in every})} licences")


if __name__ == "__main__":
    main()
