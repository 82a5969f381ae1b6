# SPDX-License-Identifier: Apache-2.0

"""What of the package belongs into the archive, from the manifest and from SwiftPM's description of its build.

Usage: products.py MANIFEST.json executables | resources | sources
       products.py MANIFEST.json missing BUILD

MANIFEST.json is the output of `swift package dump-package`. `executables` prints the products that the target
DemoExecutables links and device-fleet, `resources` the folders of their resources, `sources` the folders of the sources of the author
libraries, and `missing` the targets of author libraries that the folder BUILD does not have.
"""

import json
import os
import re
import sys

# It has no library for authors: it is for tests of a cluster.
NOT_FOR_AUTHORS = {"WidgetLabTesting"}


class Manifest:
    """The manifest of this package."""

    def __init__(self, path):
        with open(path) as file:
            content = json.load(file)
        self.name = content["name"]
        self.products = content["products"]
        self.targets = {target["name"]: target for target in content["targets"]}

    def dependencies(self, target):
        """The targets of this package that a target depends on."""
        names = [next(iter(item.values()))[0] for item in self.targets[target]["dependencies"]]
        return [name for name in names if name in self.targets]

    def closure(self, targets):
        """Some targets and all that they depend on, in this package."""
        found, queue = set(), list(targets)
        while queue:
            name = queue.pop()
            if name not in found:
                found.add(name)
                queue += self.dependencies(name)
        return found

    def executables(self):
        """The name of each product that the demo or a fleet starts, and its target."""
        started = {*self.dependencies("DemoExecutables"), "DeviceFleetMain"}
        return {
            product["name"]: target
            for product in self.products
            if "executable" in product["type"]
            for target in product["targets"]
            if target in started
        }

    def resources(self):
        """The folders with the resources of the executables."""
        targets = self.closure(self.executables().values())
        return sorted(f"{self.name}_{name}.resources" for name in targets if self.targets[name]["resources"])

    def libraries(self):
        """The target of each library for authors, by the name of the product."""
        return {
            product["name"]: product["targets"][0]
            for product in self.products
            if "library" in product["type"] and product["name"] not in NOT_FOR_AUTHORS
        }

    def sources(self):
        """The folders of the sources of all libraries for authors, and of what they need."""
        targets = self.closure({*self.libraries().values(), "ProjectDescription"})
        return sorted(self.targets[name]["path"] for name in targets)

    def flags(self, target, tool):
        """The flags of a target that hold in each configuration."""
        flags = []
        for setting in self.targets[target]["settings"]:
            if setting["tool"] == tool and "condition" not in setting and "unsafeFlags" in setting["kind"]:
                flags += setting["kind"]["unsafeFlags"]["_0"]
        return flags

    def linked(self, targets):
        """The system libraries that some targets of this package name."""
        return sorted(
            {
                setting["kind"]["linkedLibrary"]["_0"]
                for target in targets
                for setting in self.targets.get(target, {"settings": []})["settings"]
                if "linkedLibrary" in setting["kind"]
            }
        )

    def static(self, scripts):
        """The static libraries that a target names, and those that the linker's scripts in a folder name."""
        found = {name[1:] for name in self.linked(self.targets) if name.startswith(":")}
        for name in os.listdir(scripts):
            with open(f"{scripts}/{name}") as file:
                found.update(re.findall(r"-l:([^) ]+)", file.read()))
        return sorted(found)


def main():
    manifest = Manifest(sys.argv[1])
    what = sys.argv[2]
    if what == "executables":
        print(*sorted(manifest.executables()), sep="\n")
    elif what == "resources":
        print(*manifest.resources(), sep="\n")
    elif what == "sources":
        print(*manifest.sources(), sep="\n")
    else:
        modules = sorted(set(manifest.libraries().values()) | {"ProjectDescription"})
        print(*[name for name in modules if not os.path.exists(f"{sys.argv[3]}/Modules/{name}.swiftmodule")], sep="\n")


if __name__ == "__main__":
    main()
