# SPDX-License-Identifier: Apache-2.0

"""Checks the list of the components of an archive against the rules of SPDX 2.3, and against Package.resolved.

Usage: check_sbom.py FOLDER PACKAGE.resolved

FOLDER is share/doc/widgetlab. The rules are those of the clauses 6 (document), 7 (package), 10 (other licences), 11
(relationships) and of the annex D (licence expressions). The exit code is 1 if one is broken.
"""

import json
import os
import re
import sys

# The identifiers of SPDX that an archive may have.
LICENCES = {"Apache-2.0", "MIT", "OFL-1.1", "ISC", "Zlib", "MPL-2.0", "BSD-3-Clause", "GPL-3.0-or-later"}
EXCEPTIONS = {"Swift-exception", "GCC-exception-3.1"}


def broken(folder, document, pins):
    """A sentence for each rule that is broken."""
    if document.get("spdxVersion") != "SPDX-2.3" or document.get("dataLicense") != "CC0-1.0":
        yield "6.1, 6.2: the version or the licence of the list is wrong"
    if document.get("SPDXID") != "SPDXRef-DOCUMENT" or not document.get("name"):
        yield "6.3, 6.4: the identifier or the name of the list is wrong"
    if not re.fullmatch(r"https?://[^#\s]+", document.get("documentNamespace", "")):
        yield "6.5: the namespace is no address without #"
    creation = document.get("creationInfo", {})
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", creation.get("created", "")):
        yield "6.9: the time is not in UTC"
    creators = creation.get("creators", [])
    if not creators or not all(re.match(r"(Tool|Organization|Person): \S", item) for item in creators):
        yield "6.8: no creator"
    packages = document.get("packages", [])
    identifiers = [item.get("SPDXID", "") for item in packages] + ["SPDXRef-DOCUMENT"]
    if len(set(identifiers)) != len(identifiers):
        yield "7.2: two elements have one identifier"
    yield from (f"7.2: {name} is no identifier" for name in identifiers if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name))
    extracted = {item.get("licenseId"): item.get("extractedText") for item in document.get("hasExtractedLicensingInfos", [])}
    yield from (f"10.2: {name} has no text" for name, text in extracted.items() if not text)
    for item in packages:
        name = item.get("name")
        if not name or not item.get("versionInfo"):
            yield f"7.1, 7.3: {item.get('SPDXID')} has no name or no version"
        if not re.fullmatch(r"NOASSERTION|NONE|(git\+)?https://\S+", item.get("downloadLocation", "")):
            yield f"7.7: {name} has no valid place"
        if item.get("filesAnalyzed") is not False or "packageVerificationCode" in item:
            yield f"7.8, 7.9: the files of {name} are not analysed"
        for key in ("licenseConcluded", "licenseDeclared"):
            licence, _, exception = item.get(key, "").partition(" WITH ")
            if licence not in LICENCES and licence not in extracted or exception and exception not in EXCEPTIONS:
                yield f"annex D: {name} has the licence {item.get(key)}"
        if not any(os.path.getsize(entry.path) for entry in os.scandir(f"{folder}/licences/{name}")):
            yield f"{name} has no text of a licence"
    relationships = document.get("relationships", [])
    for item in relationships:
        if {item["spdxElementId"], item["relatedSpdxElement"]} - set(identifiers):
            yield f"11.1: an element of {item} is not in the list"
    described = [item["relatedSpdxElement"] for item in relationships if item["relationshipType"] == "DESCRIBES"]
    contained = [item["relatedSpdxElement"] for item in relationships if item["relationshipType"] == "CONTAINS"]
    if sorted([*described, *contained, "SPDXRef-DOCUMENT"]) != sorted(identifiers) or len(described) != 1:
        yield "11.1: a package is not described or contained exactly once"
    found = {(item.get("name", "").lower(), item.get("versionInfo")) for item in packages}
    for pin in pins:
        name = os.path.basename(pin["location"]).removesuffix(".git").lower()
        if (name, pin["state"].get("version")) not in found:
            yield f"{name} {pin['state'].get('version')} of Package.resolved is not in the list"


def main():
    folder, resolved = sys.argv[1:]
    with open(f"{folder}/sbom.spdx.json") as file:
        document = json.load(file)
    with open(resolved) as file:
        pins = json.load(file)["pins"]
    problems = list(broken(folder, document, pins))
    if problems:
        sys.exit("error: " + "\n       ".join(problems))
    print(f"the list has {len(document['packages'])} components, and follows SPDX 2.3")


if __name__ == "__main__":
    main()
