// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

/// The guarantees of the live tests: how many run at once, and which files a failed one leaves.
@Suite(.live, .timeLimit(.live)) struct `The trait of live tests` {
  /// A folder like a cluster's, and the folder for failures.
  private struct Places {
    let root = FileManager.default.temporaryDirectory.path + "/remains-\(UUID().uuidString)"
    var cluster: String { root + "/cluster" }
    var failures: String { root + "/failures" }

    init() throws {
      let files = [
        "journal/00001": "journal", "logs/host.log": "log", "keys/host/key.json": "secret", "up.out": "output",
        "up.err": "errors", "widgetlab.yaml": "device: {name: phone}", "push/key.p8": "secret",
        "cluster/journal/00001": "of a campaign", "cluster/keys/host/key.json": "secret",
      ]
      for (name, text) in files {
        let file = URL(fileURLWithPath: "\(cluster)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
      }
    }

    func remove() { try? FileManager.default.removeItem(atPath: root) }
  }

  @Test func `a failed live test leaves its journal, outputs and issues in its own folder, and no key`() throws {
    let places = try Places()
    defer { places.remove() }
    for name in ["the-host-s-test", "the-host-s-test-2"] {
      let remains = LabRemains(test: "the host's test", in: places.failures)
      if FileManager.default.fileExists(atPath: places.cluster) { try remains.take(places.cluster) }
      remains.fail("it was 2, and not 1")
      #expect(try remains.close() == "\(places.failures)/\(name)")
    }
    let folder = places.failures + "/the-host-s-test"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(names.sorted() == ["cluster", "issues.txt", "journal", "logs", "up.err", "up.out", "widgetlab.yaml"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/cluster") == ["journal"])
    #expect(try String(contentsOfFile: folder + "/issues.txt", encoding: .utf8) == "it was 2, and not 1\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: places.root) == ["failures"])
  }

  @Test func `a live test that passes leaves no files`() throws {
    let places = try Places()
    defer { places.remove() }
    let remains = LabRemains(test: "passes", in: places.failures)
    try remains.take(places.cluster)
    #expect(!FileManager.default.fileExists(atPath: places.cluster))
    #expect(try remains.close() == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: places.root) == [])
  }

  @Test func `the number of live tests that run at once grows with the cores unless the environment sets it`() throws {
    #expect(Turns.processors >= 1)
    #expect(Turns.count(cores: 2, wanted: nil) > Turns.count(cores: 1, wanted: nil))
    #expect(Turns.count(cores: 2, wanted: "7") == 7)
    #expect(Turns.count(cores: 2, wanted: "0") == 1)
  }

  @Test func `every suite of live tests takes turns and has a time limit`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
    #expect(!names.isEmpty)
    for name in names {
      let lines = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8).split(separator: "\n")
      let isAsynchronous = lines.contains { $0.contains("await ") }
      for line in lines where line.hasPrefix("@Suite") && isAsynchronous {
        #expect(line.hasPrefix("@Suite(.live, .timeLimit(.live)"), "\(name): \(line)")
      }
    }
  }
}
