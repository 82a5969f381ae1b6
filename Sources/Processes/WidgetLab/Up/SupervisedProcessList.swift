// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
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

  /// Writes the file: atomically, or in place on a full disk, which has no room for another file.
  func write(in instance: String) throws {
    let path = Self.file(in: instance)
    let data = try padded()
    do {
      try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      guard Self.overwrite(path, with: data) else { throw error }
    }
  }

  /// The content of the file. Its end is blank, so that a longer list has the same length.
  func padded() throws -> Data {
    let data = try Output.jsonData(self, pretty: true)
    return data + Data(repeating: UInt8(ascii: " "), count: 4096 - data.count % 4096)
  }

  /// - Returns: `false` when the file has another length; it is not changed then.
  static func overwrite(_ path: String, with data: Data) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size == data.count else { return false }
    return data.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == data.count
  }
}
