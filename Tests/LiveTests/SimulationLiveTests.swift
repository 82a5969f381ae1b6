// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

/// `widgetlab simulate` as a process: each has another seed of its hash tables.
@Suite(.live, .timeLimit(.live)) struct `The simulate command` {
  private func withFolder(_ body: (_ folder: String, _ executables: String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-simulate-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder, LabCluster.findExecutables())
  }

  @Test func `two processes write the same journal, byte for byte`() async throws {
    try await withFolder { folder, executables in
      var journals: [Data] = []
      for number in 1...2 {
        let path = "\(folder)/\(number).journal"
        let answer = try await LabCluster.tool(
          ["simulate", "--seed", "7", "--hours", "1", "--kills", "10", "--journal", path], executables: executables,
          in: folder)
        #expect(answer.status == 0, "\(answer)")
        journals.append(try Data(contentsOf: URL(fileURLWithPath: path)))
      }
      #expect(journals[0].count > 100_000)
      #expect(journals[0] == journals[1])
    }
  }

  @Test func `a journal that cannot be written is an error, and a device stays a device`() async throws {
    try await withFolder { folder, executables in
      let link = folder + "/link.journal"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/full")
      let answer = try await LabCluster.tool(
        ["simulate", "--seed", "7", "--hours", "1", "--kills", "10", "--journal", link], executables: executables,
        in: folder)
      #expect(answer.status == 74, "\(answer)")
      #expect(answer.errors.contains("No space left on device"), "\(answer)")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/dev/full")
    }
  }

  @Test func `Ctrl-C ends simulations with the sums so far and 130`() async throws {
    try await withFolder { folder, executables in
      let (output, errors) = (folder + "/out", folder + "/err")
      let child = try await LabChild.start(
        executables + "/widgetlab", ["simulate", "--seeds", "1-100000", "--hours", "1", "--kills", "10"],
        output: output, errors: errors)
      while try !String(contentsOfFile: output, encoding: .utf8).contains("\n") {
        // A file sends no notification.
        try await Task.sleep(for: .milliseconds(20))
      }
      child.signal(SIGINT)
      #expect(await child.ending() == 130)
      let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
      #expect(lines.contains { $0.contains(" device hours, ") }, "\(lines)")
      #expect(try String(contentsOfFile: errors, encoding: .utf8).isEmpty, "standard error is no terminal")
    }
  }
}
