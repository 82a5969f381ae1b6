import Conversations
import Foundation
import Testing
import WidgetLabTesting

/// A thousand tasks of one session; ten thousand with `scripts/test --long`.
@Suite(.live, .timeLimit(.live)) struct `Many tasks of one session` {
  private static let count = BulkTrial.isLong ? 10_000 : 1000

  @Test func `are listed, carried over deaths, and told in the order in which they ended`() async throws {
    let settings = ["timelineDeadline: 600", "completionDeadline: 600", "memoryInterval: 0.1"]
    try await BulkTrial.run("many tasks", count: Self.count, path: "/figures?size=1000", settings: settings) {
      try await play($0)
    }
  }

  @inline(never)
  private func play(_ trial: BulkTrial) async throws {
    var steps = Steps()
    try await trial.cluster.run("network", "off")
    let made = try await make(trial)
    steps.add("made", made)

    try await trial.killHost()
    let text = try await trial.cluster.run("sessions")
    #expect(text.contains("open in generation 1, \(Self.count) running, 0 undelivered"))
    #expect(text.contains("and \(Self.count - 20) more"))
    steps.add("host killed and tasks listed")

    let last = try await trial.journal.all().last?.sequence ?? 0
    try await trial.process(1).signal(SIGKILL)
    try await trial.cluster.run("reload", Trial.kind, "--timeout", "120")
    let listed = try await trial.says("listed", after: last)
    #expect(listed == "listed \(Self.count) tasks")
    try await trial.journal.waitFor("the timeline is stored", after: last) { $0.kind == TimelineStored.kind.name }
    steps.add("extension killed and tasks listed", try await memory(trial, 2))

    try await trial.process(2).signal(SIGKILL)
    let memory = MemoryWatch()
    try await trial.cluster.run("network", "on")
    let third = try await trial.process(3)
    await memory.begin { ["extension": third] }
    steps.add("loaded")
    // A provider that is asked once more opens the session: then events come as tasks end, and not all at once.
    try await trial.cluster.eventually("all are told: of the file, and of the end", within: .seconds(300)) {
      try await trial.journal.all().count { $0.kind == DelegateCalled.kind.name } >= 2 * Self.count
    }
    try await trial.journal.waitFor("all are acknowledged", after: try await told(trial).last?.sequence ?? 0) {
      $0.kind == SessionAcknowledged.kind.name
    }
    steps.add("told", "\(await memory.end())")
    try await expectOrder(trial)
    #expect(trial.leftFiles() == [])
    print("\(Self.count) tasks: \(steps.text)")
  }

  /// Has the extension make the tasks.
  ///
  /// - Returns: what it said, and its memory.
  private func make(_ trial: BulkTrial) async throws -> String {
    try trial.letGo()
    try await trial.cluster.run("reload", Trial.kind, "--timeout", "120")
    let made = try await trial.says("made \(Self.count) tasks")
    try await trial.says("listed \(Self.count) tasks")
    return "\(made); \(try await memory(trial, 1))"
  }

  private func memory(_ trial: BulkTrial, _ generation: UInt32) async throws -> String {
    "\((try await trial.process(generation).memory ?? 0) >> 10) kB"
  }

  /// The delegate was told of all tasks, once, and as they ended.
  private func expectOrder(_ trial: BulkTrial) async throws {
    let entries = try await trial.journal.all()
    let ended = entries.compactMap { $0.reading(TransferProgress.self) }.filter { $0.step == .finished }
      .map(\.taskIdentifier)
    let told = try await told(trial).compactMap { $0.reading(DelegateCalled.self) }
    #expect(Set(ended).count == Self.count)
    #expect(told.compactMap(\.taskIdentifier) == ended)
    #expect(told.allSatisfy { $0.failureCode == nil })
  }

  /// What the delegate was told of ends.
  private func told(_ trial: BulkTrial) async throws -> [LabEnvelope] {
    try await trial.journal.all().filter { $0.reading(DelegateCalled.self)?.method == "didCompleteWithError" }
  }

  /// How long each step took.
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
