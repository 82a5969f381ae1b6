// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

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
    var found: [LabProcess] = []
    var open = [pid]
    while let next = open.popLast() {
      for child in children[next] ?? [] {
        found.append(LabProcess(pid: child))
        open.append(child)
      }
    }
    return found
  }
}
