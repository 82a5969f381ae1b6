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
  ///   - own: the path of the running executable.
  ///   - environment: used to look up `WIDGETLAB_HOME`.
  package init(
    configuration: String, named: String?, own: String = ExecutableSearch.ownPath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    project = URL(fileURLWithPath: configuration).standardizedFileURL.deletingLastPathComponent().path
    self.named = named.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
    if let home = environment[Self.homeVariable], !home.isEmpty {
      tool = Self.folders(ofHome: URL(fileURLWithPath: home).standardizedFileURL.path)
    } else {
      tool = [URL(fileURLWithPath: own).deletingLastPathComponent().path]
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
