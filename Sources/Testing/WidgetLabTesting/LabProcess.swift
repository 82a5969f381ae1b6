// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// A process of this machine, as `/proc` describes it.
public struct LabProcess: Sendable, Hashable {
  /// The process id.
  public let pid: Int32

  /// The process with a pid, whether it exists or not.
  public init(pid: Int32) { self.pid = pid }

  /// The target of `/proc/PID/exe`; `nil` when the process does not exist.
  public var executable: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe") }

  /// The last part of `executable`.
  public var executableName: String? { executable?.split(separator: "/").last.map(String.init) }

  /// The letter in `/proc/PID/stat`: `T` is stopped, `Z` a zombie; `nil` when the process does not exist.
  public var state: Character? {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    return stat[stat.index(after: end)...].first { $0 != " " }
  }

  /// `RssAnon` of `/proc/PID/status`: its private memory in bytes; `nil` when the process does not exist.
  public var memory: Int? {
    guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return nil }
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }

  /// Whether the process exists and is not a zombie.
  public var isAlive: Bool { state.map { $0 != "Z" && $0 != "X" } ?? false }
  /// Whether SIGSTOP has stopped it.
  public var isStopped: Bool { state == "T" }

  /// Sends a signal.
  ///
  /// - Throws: `LabError` with the kernel's reason.
  public func signal(_ number: Int32) throws {
    guard kill(pid, number) == 0 else {
      throw LabError("pid \(pid) cannot be signalled: \(String(cString: strerror(errno)))")
    }
  }

  /// Waits until the process has exited.
  ///
  /// - Throws: `LabError` when it is still running after `limit`.
  public func ended(within limit: Duration = LabTimeout.usual) async throws {
    let deadline = ContinuousClock.now + limit
    while isAlive {
      guard ContinuousClock.now < deadline else {
        throw LabError("pid \(pid) (\(executable ?? "?")) is still running after \(limit)")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// All processes of this machine whose command line contains `text`, such as an instance's folder.
  public static func all(naming text: String) -> [LabProcess] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.compactMap(Int32.init).filter { pid in
      guard let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else { return false }
      return String(decoding: line, as: UTF8.self).contains(text)
    }.map(LabProcess.init(pid:))
  }

  /// All descendants of `pid` on this machine.
  public static func descendants(of pid: Int32) -> [LabProcess] {
    let entries = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap(Int32.init)
    var children: [Int32: [Int32]] = [:]
    for entry in entries {
      guard let stat = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8),
        let end = stat.lastIndex(of: ")")
      else { continue }
      let fields = stat[stat.index(after: end)...].split(separator: " ")
      if fields.count > 1, let parent = Int32(fields[1]) { children[parent, default: []].append(entry) }
    }
    var foundProcesses: [LabProcess] = []
    var open = [pid]
    while let next = open.popLast() {
      for child in children[next] ?? [] {
        foundProcesses.append(LabProcess(pid: child))
        open.append(child)
      }
    }
    return foundProcesses
  }
}

/// The folders of one test's clusters. They are deleted when the test passes, and copied to a named folder when it
/// fails.
///
/// A failure by a recorded issue, without an error, is known only after the test has ended. The folders of its clusters
/// are kept until then.
package final class LabRemains: Sendable {
  /// The remains of the test that runs in this task; `nil` outside of tests that keep them.
  @TaskLocal package static var current: LabRemains?

  private struct State {
    var folders: [String] = []
    var failures: [String] = []
  }

  private let test: String
  private let runFolder: String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - test: the name of the test, from which the folder's name is derived.
  ///   - runFolder: the folder in which that folder is created when the test fails.
  package init(test: String, in runFolder: String = LabRemains.runFolder) {
    self.test = test
    self.runFolder = runFolder
  }

  /// The folder for the failures of this run: `WIDGETLAB_FAILURES`, or a folder below `.build/test-failures` that is
  /// named after the time of the first failure.
  package static let runFolder: String = {
    if let folder = ProcessInfo.processInfo.environment["WIDGETLAB_FAILURES"] { return folder }
    let time = Date().ISO8601Format(.iso8601(timeZone: .gmt, timeSeparator: .omitted))
    return FileManager.default.currentDirectoryPath + "/.build/test-failures/" + time
  }()

  /// Records a failure of the test.
  package func fail(_ words: String) { state.withLock { $0.failures.append(words) } }

  /// Passes a folder that is no longer used to the test that runs in this task; deletes it outside of such a test.
  package static func retire(_ folder: String) throws {
    if let current { try current.take(folder) } else { try? FileManager.default.removeItem(atPath: folder) }
  }

  /// Takes over the folder of a process or a cluster that has ended. The folder is moved at once, so that its path is
  /// free.
  ///
  /// - Throws: when the folder cannot be moved.
  package func take(_ folder: String) throws {
    var aside = folder + ".ended"
    // The folder of a cluster that was started again there.
    while FileManager.default.fileExists(atPath: aside) { aside += "-again" }
    try FileManager.default.moveItem(atPath: folder, toPath: aside)
    state.withLock { $0.folders.append(aside) }
  }

  /// Ends the test: copies the diagnostic files if the test failed, and deletes the folders that it took over.
  ///
  /// - Returns: the folder with the copies; `nil` when the test passed.
  /// - Throws: when a folder cannot be deleted or copied.
  @discardableResult
  package func close() throws -> String? {
    let (folders, failures) = state.withLock { state in
      defer { state = State() }
      return (state.folders, state.failures)
    }
    defer { for folder in folders { try? FileManager.default.removeItem(atPath: folder) } }
    guard !failures.isEmpty else {
      try keepJournals(of: folders)
      return nil
    }
    let place = try newFolder(in: runFolder)
    try Data(failures.map { $0 + "\n" }.joined(separator: "\n").utf8)
      .write(to: URL(fileURLWithPath: place + "/issues.txt"))
    for (number, folder) in zip(1..., folders) {
      try Self.copy(from: folder, to: folders.count == 1 ? place : "\(place)/cluster-\(number)")
    }
    return place
  }

  /// Copies the journals of a test that passed to a folder below `WIDGETLAB_JOURNALS`, for `widgetlab check`.
  private func keepJournals(of folders: [String]) throws {
    guard let kept = ProcessInfo.processInfo.environment["WIDGETLAB_JOURNALS"] else { return }
    for folder in folders where FileManager.default.fileExists(atPath: folder + "/journal") {
      try FileManager.default.copyItem(atPath: folder + "/journal", toPath: try newFolder(in: kept) + "/journal")
    }
  }

  /// Creates a folder named after the test, with a number if the name is taken.
  private func newFolder(in runFolder: String) throws -> String {
    try FileManager.default.createDirectory(atPath: runFolder, withIntermediateDirectories: true)
    let words = test.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    let name = String(words.joined(separator: "-").prefix(150))
    for number in 1...10_000 {
      let path = "\(runFolder)/\(name)\(number == 1 ? "" : "-\(number)")"
      if mkdir(path, 0o755) == 0 { return path }
      guard errno == EEXIST else { throw LabError("\(path): \(String(cString: strerror(errno)))") }
    }
    throw LabError("\(runFolder) has 10,000 folders for \(name)")
  }

  /// Copies the journal, the logs and the outputs. Keys and certificates are not copied.
  private static func copy(from folder: String, to place: String) throws {
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where isCopied(name) {
      try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(place)/\(name)")
    }
    // That of a campaign, beside its report.
    let cluster = folder + "/cluster"
    if FileManager.default.fileExists(atPath: cluster) { try copy(from: cluster, to: place + "/cluster") }
  }

  private static func isCopied(_ name: String) -> Bool {
    ["journal", "logs", "widgetlab.yaml", "processes.json"].contains(name)
      || [".out", ".err", ".log", ".tar"].contains { name.hasSuffix($0) }
  }
}
