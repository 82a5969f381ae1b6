# SPDX-License-Identifier: Apache-2.0

"""Makes the SDK of the archive from what a build has made: Documentation/decisions/0031-installed-sdk.md.

Usage: sdk.py MANIFEST.json BUILD SOURCES SDK    makes the folder SDK/SWIFT-VERSION
       sdk.py --seal SDK/SWIFT-VERSION           writes the hash of all its files into its sdk.json

MANIFEST.json is the output of `swift package dump-package`, BUILD SwiftPM's folder of the configuration, SOURCES the
folder of the package.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from products import Manifest
from runpath import keep_own

# The target whose settings an author's executable has.
SAMPLE = "WidgetExtension"
# Two builds differ in a hash of the compiler's input, and so in that of the linker's output. Nothing reads them.
HASHES = ["--remove-section=.swift_modhash", "--remove-section=.note.gnu.build-id"]


def output(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def run(*command):
    """Runs a command, whose output is shown only when it fails."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(f"error: {command[0]} failed\n{result.stdout[-2000:]}")


class Build:
    """What SwiftPM has built, and the modules of it that an author's module can load."""

    def __init__(self, manifest, folder):
        self.folder = folder
        with open(f"{folder}/description.json") as file:
            self.description = json.load(file)
        self.macros = sorted(name for name, target in manifest.targets.items() if target["type"] == "macro")
        of_macros = manifest.closure(self.macros)
        every = self.description["targetDependencyMap"]
        names = set()
        for target in manifest.libraries().values():
            names |= {target, *every.get(target, [])}
        self.used = sorted(name for name in self.macros if name in names)
        names -= of_macros
        self.swift = sorted(name for name in names if os.path.exists(self.module(name)))
        self.c = sorted(names - set(self.swift))
        self.objects = {name: self.find_objects(name) for name in self.swift + self.c}
        empty = [name for name in self.swift if not self.objects[name]]
        empty += [name for name in self.c if name not in self.headers()]
        if empty:
            sys.exit(f"error: the build has nothing of {', '.join(empty)}: {folder}")

    def module(self, name):
        """The file of a Swift module."""
        return f"{self.folder}/Modules/{name}.swiftmodule"

    def find_objects(self, name):
        """The object files of a module that SwiftPM links, sorted. A folder may have others, of removed sources."""
        commands = self.description["swiftCommands"]
        for command in commands.values():
            listed = [path for path in command["objects"] if path.startswith(f"{self.folder}/{name}.build/")]
            if command["moduleName"] == name and listed:
                # A debug build wraps the module for the debugger.
                every = {*listed, f"{self.folder}/{name}.build/{name}.swiftmodule.o"}
                return sorted(path for path in every if os.path.exists(path))
        found = []
        for folder, _, files in os.walk(f"{self.folder}/{name}.build"):
            found += [f"{folder}/{file}" for file in files if file.endswith(".o")]
        return sorted(found)

    def headers(self):
        """The module map and the folder of the headers of each C module, from the flags of the Swift modules."""
        found = {}
        for name in self.swift:
            flags = [flag for flag in self.description["swiftTargetScanArgs"].get(name, []) if flag != "-Xcc"]
            for index, flag in enumerate(flags):
                if flag.startswith("-fmodule-map-file=") and flags[index + 1] == "-I":
                    path = flag.split("=", 1)[1]
                    with open(path) as file:
                        module = re.search(r"module\s+(\w+)", file.read()).group(1)
                    found[module] = (path, flags[index + 2])
        return found


def copy_modules(build, sdk):
    """The Swift modules without their source information, which has paths, and the C modules, each with its map. Clang reads
    a map in the folder of a module only when it looks for this module, so that an author's package may have it too."""
    modules = f"{sdk}/modules"
    os.makedirs(modules)
    for name in build.swift:
        for ending in ("swiftmodule", "swiftdoc"):
            shutil.copy(f"{build.folder}/Modules/{name}.{ending}", modules)
    for name in build.c:
        path, folder = build.headers()[name]
        shutil.copytree(folder, f"{modules}/{name}", ignore=shutil.ignore_patterns("module.modulemap"))
        with open(path) as file:
            text = file.read()

        def relative(quoted):
            place = os.path.join(os.path.dirname(path), quoted.group(1))
            return f'"{os.path.normpath(os.path.relpath(place, folder))}"'

        with open(f"{modules}/{name}/module.modulemap", "w") as file:
            file.write(re.sub(r'"([^"]+)"', relative, text))


def static_libraries(manifest, build):
    """The paths of the static libraries that the modules name, such as that of libzmq."""
    found = []
    for name in manifest.linked(build.swift + build.c):
        if name.startswith(":"):
            path = output("clang", f"-print-file-name={name[1:]}").strip()
            if not os.path.isabs(path):
                sys.exit(f"error: {name[1:]} is not found")
            found.append(path)
    return found


def make_library(manifest, build, sdk):
    """One object for each module, and one for the static libraries with the C module that names them."""
    os.makedirs(f"{sdk}/lib")
    archives = static_libraries(manifest, build)
    with tempfile.TemporaryDirectory() as scratch:
        merged = []
        for name, objects in build.objects.items():
            if not objects:
                continue
            names = manifest.linked([name]) if name in build.c else []
            inner = archives if any(library.startswith(":") for library in names) else []
            target = f"{scratch}/{name}.o"
            run("ld.lld", "-r", "-o", target, *objects, "--whole-archive", *inner)
            # What is hidden in a C module replaces nothing in shared libraries: its names stay in its object.
            run("llvm-objcopy", "--strip-debug", HASHES[0], *(["--localize-hidden"] if inner else []), target)
            merged.append(target)
        run("llvm-ar", "rcsD", f"{sdk}/lib/libWidgetLabSDK.a", *merged)
    # The headers of such a library are beside the modules: nothing else is needed to compile.
    for archive in archives:
        header = os.path.basename(archive)[3:-2] + ".h"
        if os.path.exists(f"/usr/include/{header}"):
            shutil.copy(f"/usr/include/{header}", f"{sdk}/modules/{header}")


def autolinked(build):
    """The libraries that the modules name for the linker: it does not read these names in an archive."""
    with tempfile.NamedTemporaryFile("r") as file:
        run("swift-autolink-extract", *(path for name in build.swift for path in build.objects[name]), "-o", file.name)
        return sorted(set(file.read().split()))


def replaced(sdk, libraries):
    """The functions of the C library and of Foundation that the library defines too, to replace them."""
    folder = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swiftc")))) + "/lib/swift/linux"
    shared = [f"{folder}/lib{name[2:]}.so" for name in libraries]
    shared = [path for path in shared if os.path.exists(path)]
    shared.append(output("clang", "-print-file-name=libc.so.6").strip())
    exported = set()
    for path in shared:
        for line in output("nm", "-D", "--defined-only", "--format=posix", path).splitlines():
            exported.add(line.split()[0].split("@")[0])
    defined = set()
    symbols = output("llvm-nm", "--defined-only", "--extern-only", "--format=posix", f"{sdk}/lib/libWidgetLabSDK.a")
    for line in symbols.splitlines():
        if line and not line.endswith(":"):
            defined.add(line.split()[0])
    return defined, sorted(name for name in defined & exported if not name.startswith(("$s", "_Z", "_")))


def write_flags(manifest, build, sdk):
    """The templates of the response files: `@SDK@` is the folder of the SDK, `@FLAGS@` that of these files."""
    author = manifest.flags(SAMPLE, "swift")
    first = author.index("-module-alias")
    plugins = []
    os.makedirs(f"{sdk}/plugins")
    for name in build.used:
        run("strip", *HASHES, "-o", f"{sdk}/plugins/{name}", f"{build.folder}/{name}-tool")
        keep_own(f"{sdk}/plugins/{name}")  # the script that starts it names the toolchain's folder
        plugins += ["-Xfrontend", "-load-plugin-executable", "-Xfrontend", f"@FLAGS@/plugins/{name}#{name}"]
    # Of a module that is found by -I, sourcekit-lsp opens no interface.
    base = ["-Isystem", "@SDK@/modules", *author[:first], *plugins]

    libraries = autolinked(build)
    defined, functions = replaced(sdk, libraries)
    flags = manifest.flags(SAMPLE, "linker")
    wrapped = [flag.split("=", 1)[1] for flag in flags if flag.startswith("--wrap=")]
    # A name that the library defines itself comes before that of a shared library; the others need the linker.
    wraps = [name for name in wrapped if name not in defined]
    roots = sorted({*functions, *(f"__wrap_{name}" for name in wrapped)})
    missing = [name for name in roots if name not in defined]
    if missing:
        sys.exit(f"error: the library does not define {', '.join(missing)}")
    link = ["-use-ld=lld", "-L", "@SDK@/lib", "-lWidgetLabSDK", "-lstdc++", *libraries]
    for option in [f"--wrap={name}" for name in wraps] + [f"--undefined={name}" for name in roots]:
        link += ["-Xlinker", option]
    for name, arguments in {"modules.rsp": base, "compile.rsp": base + author[first:], "link.rsp": link}.items():
        with open(f"{sdk}/{name}.in", "w") as file:
            file.writelines(f'"{argument}"\n' for argument in arguments)


def write_facts(manifest, build, sdk, compiler):
    """What `widgetlab` must know of the SDK."""
    lines = compiler.splitlines()
    facts = {
        "compiler": lines[0],
        "target": lines[1].removeprefix("Target: "),
        "libraries": sorted(manifest.libraries()),
        "names": build.swift + build.c + build.macros,
    }
    with open(f"{sdk}/sdk.json", "w") as file:
        json.dump(facts, file, indent=2, sort_keys=True)


def seal(sdk):
    """Adds the hash of all files: a build is made again when the SDK is another one."""
    total = hashlib.sha256()
    for folder, folders, files in os.walk(sdk):
        folders.sort()
        for name in sorted(files):
            path = f"{folder}/{name}"
            with open(path, "rb") as file:
                total.update(f"{os.path.relpath(path, sdk)} {hashlib.sha256(file.read()).hexdigest()}\n".encode())
    with open(f"{sdk}/sdk.json") as file:
        facts = json.load(file)
    facts["hash"] = total.hexdigest()[:16]
    with open(f"{sdk}/sdk.json", "w") as file:
        json.dump(facts, file, indent=2, sort_keys=True)
        file.write("\n")


def main():
    if sys.argv[1] == "--seal":
        return seal(sys.argv[2])
    manifest = Manifest(sys.argv[1])
    folder, sources, place = sys.argv[2:5]
    build = Build(manifest, os.path.realpath(folder))
    compiler = subprocess.run(["swiftc", "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"Swift version (\S+)", compiler).group(1)
    sdk = f"{place}/{version}"
    copy_modules(build, sdk)
    make_library(manifest, build, sdk)
    write_flags(manifest, build, sdk)
    # The manifests of Tuist are compiled with it.
    description = "Sources/SDK/ProjectDescription"
    shutil.copytree(f"{sources}/{description}", f"{sdk}/{description}")
    write_facts(manifest, build, sdk, compiler)
    print(f"Swift {version}: {len(build.swift)} Swift modules, {len(build.c)} C modules, {len(build.used)} macros")


if __name__ == "__main__":
    main()
