// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import WidgetLabTesting

/// The output of `Documentation/tap.py`, compared with the journal.
@Suite(.live, .timeLimit(.live)) struct `The tap` {
  private static let configuration = """
    device: { name: phone, model: iPhone 16, platform: iOS, version: "18.0" }
    """
  private static let script = Repository.root.appending(path: "Documentation/tap.py").path

  @Test func `a program in another language reads the tap from the documented layout`() async throws {
    try await LabCluster.with("tap", configuration: Self.configuration) { cluster in
      let wanted = 6
      let output = cluster.folder + "/viewer.out"
      let viewer = try await LabChild.start(
        "/usr/bin/python3", [Self.script, cluster.folder, "peer.ping", "\(wanted)"], output: output,
        errors: output + ".err")
      let ending = Task { await viewer.ending() }
      let process = LabProcess(pid: viewer.pid)
      // The subscription takes a moment, and earlier messages are not shown, so the test sends traffic until the viewer
      // has seen enough.
      for _ in 0..<100 where process.isAlive { _ = try? await cluster.run("ping", "host") }
      let isLate = process.isAlive
      if isLate { viewer.signal(SIGKILL) }
      #expect(await ending.value == 0)
      try #require(!isLate, "the viewer saw nothing of 100 pings")

      let printed = try String(contentsOfFile: output, encoding: .utf8)
      let lines = printed.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
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

  @Test func `a tap viewer that is too slow receives the sequence numbers that it lost`() async throws {
    try await LabCluster.with("slow tap", configuration: Self.configuration) { cluster in
      let output = cluster.folder + "/viewer.out"
      let viewer = try await LabChild.start(
        "/usr/bin/python3", [Self.script, cluster.folder], output: output, errors: output + ".err")
      let ending = Task { await viewer.ending() }
      let verdict = await Task { try await stop(LabProcess(pid: viewer.pid), until: output, cluster) }.result
      viewer.signal(SIGKILL)
      _ = await ending.value
      try verdict.get()
    }
  }

  /// Stops the viewer until the messages sent in the meantime overflow its queue.
  @inline(never)
  private func stop(_ viewer: LabProcess, until output: String, _ cluster: LabCluster) async throws {
    let host = Address.host("phone")
    let bus = try await connect(
      as: .operator, address: .operator("talker"), instance: cluster.instance, within: LabTimeout.usual)
    try await cluster.eventually("the viewer shows something") {
      _ = try await bus.request(Ping(), to: host)
      return try !shown(output).isEmpty
    }
    try viewer.signal(SIGSTOP)
    let nobodys = ReloadTimelines(widgetKind: String(repeating: "x", count: 16_000))
    for _ in 0..<1000 { try await bus.deliver(nobodys, to: host) }
    let last = try #require(try await cluster.journal.all().last?.sequence)
    try viewer.signal(SIGCONT)
    try await cluster.eventually("the viewer shows an envelope after #\(last)") {
      _ = try await bus.request(Ping(), to: host)
      return try shown(output).last.map { $0.upperBound > last } ?? false
    }
    await bus.leave()
    let ranges = try shown(output)
    #expect(
      zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound + 1 == $1.lowerBound },
      "every sequence number appears once")
    #expect(ranges.contains { $0.count > 100 }, "the viewer lost some envelopes")
  }

  /// The output of the viewer: sequence numbers, and ranges that it lost.
  private func shown(_ output: String) throws -> [ClosedRange<UInt64>] {
    let text = try String(contentsOfFile: output, encoding: .utf8)
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
      let words = line.split(separator: " ", maxSplits: 2)
      let ends = words.first == "lost" ? words[1].split(separator: ".") : Array(words.prefix(1))
      guard let first = ends.first.flatMap({ UInt64($0) }), let last = ends.last.flatMap({ UInt64($0) }) else {
        return nil
      }
      return first...last
    }
  }
}
