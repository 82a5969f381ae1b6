import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// What `Documentation/tap.py` reads from the tap, beside what stands in the journal.
@Suite struct `The tap` {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `is read by a program in another language, from the documented layout alone`() async throws {
    let configuration = """
      device: { name: phone, model: iPhone 16, platform: iOS, version: "18.0" }
      """
    try await LabCluster.with("tap", configuration: configuration) { cluster in
      let wanted = 6
      let viewer = Process()
      viewer.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
      viewer.arguments = [
        Self.root.appendingPathComponent("Documentation/tap.py").path, cluster.folder, "peer.ping", "\(wanted)",
      ]
      let output = Pipe()
      viewer.standardOutput = output
      try viewer.run()
      defer { if viewer.isRunning { viewer.terminate() } }
      // A subscription takes a moment to arrive, and what was said before it is not shown: so there is traffic until the
      // viewer has seen enough.
      for _ in 0..<100 where viewer.isRunning { _ = try await cluster.run("ping", "host") }
      try #require(!viewer.isRunning, "the viewer saw nothing of 100 pings")
      #expect(viewer.terminationStatus == 0)

      let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      let lines = said.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
      #expect(lines.count == wanted)
      let journal = try await cluster.journal.all()
      for line in lines {
        let sequence = try #require(UInt64(line[0]))
        let entry = try #require(journal.first { $0.sequence == sequence })
        let expected = [
          entry.kind, entry.source, ">", entry.destination, "generation", "\(entry.sourceGeneration)",
          entry.id.uuidString.lowercased(),
        ]
        #expect(Array(line[1...7]) == expected)
      }
    }
  }
}
