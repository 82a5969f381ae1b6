// SPDX-License-Identifier: Apache-2.0

import BusTesting
import CAuthorProcess
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing

@testable import AuthorRuntime

/// The containers of the other products of a device. One test, because the limit is that of the whole process.
@Suite(.timeLimit(.minutes(1))) struct `Containers of other products` {
  @Test(.rule("PROCESS-26"))
  func `their files cannot be opened, and each container is reported once, unless separatesContainers is off`()
    async throws
  {
    let scratch = FileManager.default.temporaryDirectory.appending(path: "containers-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let all = scratch.path + "/containers"
    func note(_ bundle: String) -> String { "\(all)/\(bundle)/A4F2/note" }
    for bundle in ["com.example.App", "com.example.App.Widget", "com.example.Other"] {
      try FileManager.default.createDirectory(
        at: URL(filePath: note(bundle)).deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("text".utf8).write(to: URL(filePath: note(bundle)))
    }
    defer { containers_limit(nil, nil, nil) }
    for separates in [false, true] {
      var rules = ProcessRules()
      rules.separatesContainers = separates
      let bus = InMemoryBus()
      let address = Address.widgetExtension("phone", "com.example.App.Widget")
      let container = URL(filePath: note("com.example.App.Widget")).deletingLastPathComponent().path
      let connection = bus.connection(address)
      _ = try await connection.start()
      let process = HostedProcess(
        LaunchContext(
          address: address, generation: 1, host: .host("phone"), endpoint: "", serverKey: "", publicKey: "",
          secretKey: "", container: container, groups: [:], rules: rules, agentPid: 0),
        connection: connection)
      process.separateContainers()
      let codes = process.asCurrent {
        ["com.example.App.Widget", "com.example.App", "com.example.App", "com.example.Other"].map {
          Self.codes(of: URL(filePath: note($0)))
        }
      }
      let free = ["0 0 true", "0 0 true", "0 0 true", "0 0 true"]
      #expect(codes == (separates ? ["0 0 true"] + Array(repeating: "257 513 false", count: 3) : free))
      guard separates else { continue }
      var subjects: [String] = []
      for await envelope in await bus.watch() where envelope.header.kind == FaultNoticed.kind {
        subjects.append(try BodyCoding.decode(FaultNoticed.self, from: envelope.body).subject)
        if subjects.count == 2 { break }
      }
      #expect(subjects == ["container of com.example.App", "container of com.example.Other"])
    }
  }

  /// The error codes of reading and of writing, and whether the file exists.
  private static func codes(of file: URL) -> String {
    func code(_ work: () throws -> Void) -> Int {
      do {
        try work()
        return 0
      } catch {
        return (error as NSError).code
      }
    }
    let read = code { _ = try Data(contentsOf: file) }
    let write = code { try Data("text".utf8).write(to: file, options: .atomic) }
    return "\(read) \(write) \(FileManager.default.fileExists(atPath: file.path))"
  }
}
