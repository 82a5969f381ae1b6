// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Finds the executables of a cluster: its standing processes, and those that `widgetlab.yaml` names.
package struct ExecutableSearch: Sendable, Hashable {
  /// The environment variable with the path of an installed prefix or a clone of WidgetLab.
  package static let homeVariable = "WIDGETLAB_HOME"

  /// The folder of `widgetlab.yaml`, absolute.
  package let project: String
  /// The folder of `--executables`, absolute; `nil` without that option.
  package let named: String?
  /// The folders of WidgetLab's own executables, in search order.
  package let tool: [String]
  /// Whether the tool was built in this project.
  private let isToolOfProject: Bool

  /// The search order, for help texts.
  package static let help = """
    An `executable:` with a slash is a path relative to the folder of widgetlab.yaml. A plain name is searched for in
      1. the folder given by --executables;
      2. the folder of widgetlab.yaml;
      3. its .build/debug and .build/release, whichever was built last;
      4. the folder of WidgetLab's own executables.
    WidgetLab's own executables are searched for in the folder given by --executables, then in WIDGETLAB_HOME (the
    PREFIX of scripts/install, or a clone with its .build) if it is set, otherwise next to `widgetlab` itself.
    """

  /// - Parameters:
  ///   - configuration: the path of `widgetlab.yaml`.
  ///   - named: the value of `--executables`, relative to the working directory unless absolute.
  ///   - ownPath: the path of the running executable.
  ///   - environment: used to look up `WIDGETLAB_HOME`.
  package init(
    configuration: String, named: String?, ownPath: String = ExecutableSearch.ownPath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    project = URL(fileURLWithPath: configuration).standardizedFileURL.deletingLastPathComponent().path
    self.named = named.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    if let home = environment[Self.homeVariable], !home.isEmpty {
      tool = Self.folders(ofHome: URL(fileURLWithPath: home).standardizedFileURL.path)
    } else {
      tool = [URL(fileURLWithPath: ownPath).deletingLastPathComponent().path]
    }
    let build = URL(fileURLWithPath: project + "/.build").resolvingSymlinksInPath().path + "/"
    isToolOfProject = tool.contains { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path.hasPrefix(build) }
  }

  /// The path of the running executable, with all links resolved.
  package static var ownPath: String {
    let path =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    // The kernel appends this when the executable was rebuilt while its process runs.
    return path.hasSuffix(" (deleted)") ? String(path.dropLast(10)) : path
  }

  /// Returns the folders of a prefix or a clone that contain the tool, or all candidates when none does.
  private static func folders(ofHome home: String) -> [String] {
    let all = [home + "/libexec/widgetlab", home + "/bin", home] + builds(in: home)
    let holding = all.filter { isFile($0 + "/message-bus") }
    return holding.isEmpty ? all : holding
  }

  /// Returns the two build folders of a package, the one with the newer message bus first.
  private static func builds(in package: String) -> [String] {
    let folders = [package + "/.build/debug", package + "/.build/release"]
    let dates = folders.map { date(of: $0 + "/message-bus") ?? .distantPast }
    return dates[1] > dates[0] ? folders.reversed() : folders
  }

  // MARK: Searching

  /// Returns the path of an executable that `widgetlab.yaml` names; `nil` when it is not found.
  package func authored(_ executable: String) -> String? {
    for group in groups(of: executable) {
      let found = group.filter(Self.isFile).map { (path: $0, date: Self.date(of: $0) ?? .distantPast) }
      if let newest = found.max(by: { $0.date < $1.date }) {
        // The first one wins when both are equally new.
        return found.first { $0.date == newest.date }?.path ?? newest.path
      }
    }
    return nil
  }

  /// Returns the path of one of WidgetLab's own executables; `nil` when it is not found.
  package func standing(_ name: String) -> String? { places(ofStanding: name).first(where: Self.isFile) }

  /// All paths at which an executable of `widgetlab.yaml` is searched for, in order.
  package func places(of executable: String) -> [String] { groups(of: executable).flatMap(\.self) }

  /// All paths at which one of WidgetLab's own executables is searched for, in order.
  package func places(ofStanding name: String) -> [String] {
    ([named].compactMap(\.self) + tool).map { "\($0)/\(name)" }
  }

  /// Groups of paths in search order. Within a group, the newest file wins.
  private func groups(of executable: String) -> [[String]] {
    if executable.contains("/") {
      return [[URL(fileURLWithPath: executable, relativeTo: folder).standardizedFileURL.path]]
    }
    let builds = [["debug", "release"].map { "\(project)/.build/\($0)/\(executable)" }]
    let tools = tool.map { ["\($0)/\(executable)"] }
    let own = named.map { [["\($0)/\(executable)"]] } ?? []
    // In the tool's own clone, the sample from the same build is used.
    return own + [["\(project)/\(executable)"]] + (isToolOfProject ? tools + builds : builds + tools)
  }

  private var folder: URL { URL(fileURLWithPath: project, isDirectory: true) }

  private static func isFile(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
  }

  private static func date(of path: String) -> Date? {
    // A launch waits for it. The attributes of `FileManager` contain the names of the file's user and group.
    var facts = stat()
    guard stat(path, &facts) == 0 else { return nil }
    let time = facts.st_mtim
    return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
  }
}

/// Checks an executable without starting it.
package struct ExecutableFile: Sendable, Hashable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// Why the kernel would not start it, as the end of a sentence that begins with its path; `nil` when no problem is
  /// found.
  package var problem: String? {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return "cannot be found: \(String(cString: strerror(errno)))" }
    guard facts.st_mode & S_IFMT != S_IFDIR else { return "is a folder, not an executable" }
    guard facts.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
    guard access(path, X_OK) == 0 else { return "is not executable: run `chmod +x` on it" }
    guard let file = FileHandle(forReadingAtPath: path) else { return "cannot be read" }
    defer { try? file.close() }
    guard let start = try? file.read(upToCount: 4096), !start.isEmpty else { return "is an empty file" }
    if start.starts(with: Array("#!".utf8)) { return problem(ofScript: start) }
    guard start.starts(with: ELF.magic) else {
      return Self.isMachO(start)
        ? "is a program for macOS, not for Linux" : "is not a program: neither an ELF file nor a script with #!"
    }
    return problem(ofProgram: start)
  }

  /// The dynamic loader of the program; `nil` for a script and for a statically linked program.
  package var loader: String? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    guard let start = try? file.read(upToCount: 4096) else { return nil }
    return ELF(start)?.loader
  }

  private func problem(ofScript start: Data) -> String? {
    let line = String(decoding: start.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).dropFirst(2)
    guard let interpreter = line.split(separator: " ").first.map(String.init), access(interpreter, X_OK) != 0 else {
      return nil
    }
    return "is a script whose interpreter \(interpreter) cannot be started"
  }

  private func problem(ofProgram start: Data) -> String? {
    guard let program = ELF(start), program.isProgram else { return "is an ELF file but not a program" }
    let ownStart = FileHandle(forReadingAtPath: "/proc/self/exe").flatMap { try? $0.read(upToCount: 64) }
    if let ownProgram = ownStart.flatMap({ ELF($0) }),
      ownProgram.machine != program.machine || ownProgram.isLong != program.isLong
    {
      return "is built for \(program.machineName), but this machine is \(ownProgram.machineName)"
    }
    if let loader = program.loader, access(loader, X_OK) != 0 {
      return "needs the dynamic loader \(loader), which does not exist"
    }
    return nil
  }

  private static func isMachO(_ start: Data) -> Bool {
    [[0xcf, 0xfa, 0xed, 0xfe], [0xca, 0xfe, 0xba, 0xbe]].contains(Array(start.prefix(4)))
  }

  /// Finds problems in the output of the dynamic loader's `--list` for this file.
  ///
  /// - Parameters:
  ///   - output: standard output and standard error of the loader.
  ///   - failed: whether the loader's exit code was not 0.
  /// - Returns: the end of a sentence that begins with the executable's path; `nil` when nothing is missing.
  package func problem(inListing output: String, failed: Bool) -> String? {
    let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let missing = lines.filter { $0.hasSuffix("=> not found") }.compactMap { $0.split(separator: " ").first }
    if !missing.isEmpty {
      let word = missing.count == 1 ? "the shared library" : "the shared libraries"
      return "needs \(word) \(missing.joined(separator: ", ")), which the dynamic loader cannot find"
    }
    guard failed, let last = lines.last else { return nil }
    return "cannot be loaded: \(last.hasPrefix(path + ": ") ? String(last.dropFirst(path.count + 2)) : last)"
  }
}

/// The header of an ELF file. Source: *System V Application Binary Interface*, chapters 4 and 5.
private struct ELF {
  static let magic: [UInt8] = [0x7f, 0x45, 0x4c, 0x46]

  private let bytes: [UInt8]

  /// - Parameter start: the first bytes of a file. The result is `nil` unless they are the header of a little-endian
  ///   ELF file.
  init?(_ start: Data) {
    bytes = Array(start)
    guard bytes.starts(with: Self.magic), bytes.count >= 64, bytes[5] == 1 else { return nil }
  }

  /// Whether it is a 64-bit file.
  var isLong: Bool { bytes[4] == 2 }
  var machine: Int { integer(at: 18, length: 2) }
  /// Whether it is executable or position-independent, not an object file.
  var isProgram: Bool { [2, 3].contains(integer(at: 16, length: 2)) }

  var machineName: String {
    let names = [3: "i386", 40: "arm", 62: "x86-64", 183: "aarch64", 243: "riscv"]
    return names[machine] ?? "machine \(machine)"
  }

  /// The path in the program header `PT_INTERP`, if the header is within the bytes.
  var loader: String? {
    guard isLong else { return nil }
    let (table, length, count) = (integer(at: 32, length: 8), integer(at: 54, length: 2), integer(at: 56, length: 2))
    guard (0..<1 << 20).contains(table) else { return nil }
    for index in 0..<count {
      let header = table + index * length
      guard header + 56 <= bytes.count else { return nil }
      guard integer(at: header, length: 4) == 3 else { continue }
      let (start, size) = (integer(at: header + 8, length: 8), integer(at: header + 32, length: 8))
      guard start >= 0, size > 0, size < 4096, start <= bytes.count - size else { return nil }
      return String(decoding: bytes[start..<start + size].prefix { $0 != 0 }, as: UTF8.self)
    }
    return nil
  }

  private func integer(at offset: Int, length: Int) -> Int {
    bytes[offset..<offset + length].reversed().reduce(0) { ($0 & 0xff_ffff_ffff_ffff) << 8 | Int($1) }
  }
}
