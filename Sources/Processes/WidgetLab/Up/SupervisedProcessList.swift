// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `processes.json` of an instance: the processes that `up` started. `up` keeps it current for `ps` and `kill`.
struct SupervisedProcessList: Codable, Sendable {
  struct Record: Codable, Sendable {
    /// `message-bus`, `agent-1`, `host`, `push-server`, `provider`, `console`.
    let name: String
    /// `nil` between an exit and the next start.
    var pid: Int32?
    /// How often `up` has started it.
    var generation: Int
    let executable: String
    var lastEnding: String?
  }

  /// The `widgetlab up` that wrote it.
  var supervisor: Int32
  var processes: [Record]

  static func file(in instance: String) -> String { instance + "/processes.json" }

  /// Reads the file; `nil` when it does not exist or cannot be read.
  static func read(in instance: String) -> SupervisedProcessList? {
    guard let data = FileManager.default.contents(atPath: file(in: instance)) else { return nil }
    return try? JSONDecoder().decode(SupervisedProcessList.self, from: data)
  }

  /// Writes the file atomically.
  func write(in instance: String) throws {
    try Output.jsonData(self, pretty: true).write(
      to: URL(fileURLWithPath: Self.file(in: instance)), options: .atomic)
  }
}
