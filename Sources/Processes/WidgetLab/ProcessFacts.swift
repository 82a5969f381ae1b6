// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages

/// A process of this machine, as the kernel reports it.
struct ProcessFacts {
  let pid: Int32

  /// The target of `/proc/PID/exe`; `nil` when the process does not exist or may not be inspected.
  var executable: String? {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe") else { return nil }
    // The kernel appends this when the executable was rebuilt while its process runs.
    return path.hasSuffix(" (deleted)") ? String(path.dropLast(10)) : path
  }

  /// `running`, `stopped` (SIGSTOP) or `zombie`; `nil` when the process does not exist.
  var state: String? {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    switch stat[stat.index(after: end)...].first(where: { $0 != " " }) {
    case "T", "t": return "stopped"
    case "Z", "X": return "zombie"
    default: return "running"
    }
  }

  var isAlive: Bool { state != nil && state != "zombie" }

  /// Whether this process was started from that file. Links are resolved.
  func runs(_ path: String) -> Bool {
    executable.map { $0 == URL(fileURLWithPath: path).resolvingSymlinksInPath().path } ?? false
  }

  /// The executable of this process itself, with all links resolved.
  static var own: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  }

  /// The number of a signal: `KILL`, `SIGKILL` or `9`.
  static func signal(named text: String) -> Int32? {
    if let number = Int32(text) { return (1...64).contains(number) ? number : nil }
    let name = text.uppercased().hasPrefix("SIG") ? text.uppercased() : "SIG\(text.uppercased())"
    return (1...31).first { Ending.name(ofSignal: $0) == name } ?? others[name]
  }

  static func name(ofSignal signal: Int32) -> String { Ending.name(ofSignal: signal) }

  private static let others: [String: Int32] = ["SIGUSR1": SIGUSR1, "SIGUSR2": SIGUSR2, "SIGALRM": SIGALRM]
}
