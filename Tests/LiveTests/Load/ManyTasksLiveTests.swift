// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing
import WidgetLabTesting

/// A thousand tasks of one session; ten thousand with `scripts/test --long`.
@Suite(.live, .timeLimit(.live)) struct `Many tasks of one session` {
  private static let count = BulkFixture.isLong ? 10_000 : 1000

  @Test func `many tasks are listed, survive kills and are delivered in the order in which they end`() async throws {
    let settings = ["timelineDeadline: 600", "completionDeadline: 600", "memoryInterval: 0.1"]
    try await BulkFixture.run("many tasks", count: Self.count, path: "/figures?size=1000", settings: settings) {
      try await play($0)
    }
  }

  @inline(never)
  private func play(_ fixture: BulkFixture) async throws {
    var steps = Steps()
    try await fixture.cluster.run("network", "off")
    let made = try await make(fixture)
    steps.add("made", made)

    try await fixture.killHost()
    let text = try await fixture.cluster.run("sessions")
    #expect(text.contains("open in generation 1, \(Self.count) running, 0 undelivered"))
    #expect(text.contains("and \(Self.count - 20) more"))
    steps.add("host killed and tasks listed")

    let last = try await fixture.journal.all().last?.sequence ?? 0
    try await fixture.process(1).signal(SIGKILL)
    try await fixture.cluster.run("reload", LiveFixture.kind, "--timeout", "120")
    let listed = try await fixture.prints("listed", after: last)
    #expect(listed == "listed \(Self.count) tasks")
    try await fixture.journal.waitFor("the timeline is stored", after: last) { $0.kind == TimelineStored.kind.name }
    steps.add("extension killed and tasks listed", try await memory(fixture, 2))

    try await fixture.process(2).signal(SIGKILL)
    let memory = MemoryWatch()
    try await fixture.cluster.run("network", "on")
    let third = try await fixture.process(3)
    await memory.begin { ["extension": third] }
    steps.add("loaded")
    // The repeated timeline request opens the session, so events arrive as tasks end and not all at once.
    try await fixture.cluster.eventually("every task has both delegate calls", within: .seconds(300)) {
      try await fixture.journal.all().count { $0.kind == DelegateCalled.kind.name } >= 2 * Self.count
    }
    try await fixture.journal.waitFor(
      "all tasks are acknowledged", after: try await completions(fixture).last?.sequence ?? 0
    ) {
      $0.kind == SessionAcknowledged.kind.name
    }
    steps.add("delivered", "\(await memory.end())")
    try await expectOrder(fixture)
    // The extension removes the list of tasks when it has read it. One that is suspended before that has it until its end.
    try third.signal(SIGKILL)
    try await fixture.cluster.eventually("no file is left") { fixture.leftFiles() == [] }
    print("\(Self.count) tasks: \(steps.text)")
  }

  /// Makes the extension create the tasks.
  ///
  /// - Returns: the line that it printed, and its memory.
  private func make(_ fixture: BulkFixture) async throws -> String {
    try fixture.letGo()
    try await fixture.cluster.run("reload", LiveFixture.kind, "--timeout", "120")
    let made = try await fixture.prints("made \(Self.count) tasks")
    try await fixture.prints("listed \(Self.count) tasks")
    return "\(made); \(try await memory(fixture, 1))"
  }

  private func memory(_ fixture: BulkFixture, _ generation: UInt32) async throws -> String {
    "\((try await fixture.process(generation).memory ?? 0) >> 10) kB"
  }

  /// Checks that the delegate was called once for each task, in the order in which the tasks ended.
  private func expectOrder(_ fixture: BulkFixture) async throws {
    let entries = try await fixture.journal.all()
    let ended = entries.compactMap { $0.reading(TransferProgress.self) }.filter { $0.step == .finished }
      .map(\.taskIdentifier)
    let completions = try await completions(fixture).compactMap { $0.reading(DelegateCalled.self) }
    #expect(Set(ended).count == Self.count)
    #expect(completions.compactMap(\.taskIdentifier) == ended)
    #expect(completions.allSatisfy { $0.failureCode == nil })
  }

  /// The recorded calls of `didCompleteWithError`.
  private func completions(_ fixture: BulkFixture) async throws -> [LabEnvelope] {
    try await fixture.journal.all().filter { $0.reading(DelegateCalled.self)?.method == "didCompleteWithError" }
  }

  /// The duration of each step.
  private struct Steps {
    private var last = ContinuousClock.now
    private var parts: [String] = []
    var text: String { parts.joined(separator: "; ") }

    mutating func add(_ name: String, _ note: String = "") {
      let now = ContinuousClock.now
      parts.append("\(name) in \(Int((now - last) / .milliseconds(1))) ms\(note.isEmpty ? "" : " (\(note))")")
      last = now
    }
  }
}
