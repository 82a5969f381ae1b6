// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalAnalysis
import Messages
import Testing
import WidgetLabTesting

/// The laws over the journal of the sample: a download whose owner is killed, reloads, and a push. And the same journal
/// with a mistake in it, for each law: a law that cannot be broken is no law.
@Suite(.live, .timeLimit(.live)) struct `Laws over real processes` {
  private static let widget = SampleFixture.widgetExtension
  private static let figures = "com.example.CaffeineTracker.Widget.figures"

  private static let configuration = SampleFixture.configuration(
    app: "${provider.url}/figures?size=65536&bytesPerSecond=131072",
    widget: "${provider.url}/figures?size=393216&holdAt=196608", settings: ["suspendAfter: 0.5"])

  @Test func `all laws hold for the sample with a kill, and each is broken by a mistake in the journal`() async throws {
    for round in 1...LiveTrait.rounds {
      do {
        try await LabCluster.with("laws", configuration: Self.configuration) { cluster in
          try await play(SampleFixture(cluster: cluster))
          try await expectLawful(cluster)
          let envelopes = try await cluster.journal.all().map(\.envelope)
          try expectBreakable(envelopes)
          expectUnbroken(envelopes)
        }
      } catch {
        throw LabError("round \(round) of \(LiveTrait.rounds): \(error)")
      }
    }
  }

  /// The extension is killed in the middle of its download, and the backend pushes a change.
  private func play(_ sample: SampleFixture) async throws {
    let (cluster, journal) = (sample.cluster, sample.journal)
    try await cluster.run("app", "open")
    try await cluster.run("reload", "CaffeineTracker")
    try await journal.waitFor("the extension's download has started") {
      let progress = $0.reading(TransferProgress.self)
      return progress?.session == Self.figures && progress?.step == .started
    }
    // One that is killed earlier is launched again for its timeline, or for its token, and not for its events.
    try await journal.waitFor("the timeline is stored") { $0.kind == TimelineStored.kind.name }
    try await cluster.eventually("the backend has the widget's token") {
      try await sample.subscriptions().count == 1
    }
    try await cluster.run("kill", "extension")
    try await cluster.post("/figures/release", json: "{}")
    let deleted = try await journal.waitFor("the host deleted the extension's events") {
      $0.reading(SessionAcknowledged.self)?.session == Self.figures
    }
    let change = try await sample.drink()
    try await journal.waitFor("the push has reloaded the widget", after: deleted.sequence) {
      $0.reading(PushProgress.self)?.step.name == .reloaded
    }
    try await sample.shown(change)
  }

  private struct Report: Decodable {
    struct Law: Decodable {
      let code: String
      let answer: String
      let checks: Int
    }
    let answer: String
    let laws: [Law]
  }

  /// Waits until no work is open, and expects that each law holds and had something to check.
  private func expectLawful(_ cluster: LabCluster) async throws {
    try await cluster.run("ps")
    var checked: LabCluster.Answer?
    try await cluster.eventually("no work is open") {
      checked = try await cluster.attempt(["check", "--json"])
      return checked?.status != 2
    }
    let answer = try #require(checked)
    let report = try JSONDecoder().decode(Report.self, from: Data(answer.output.utf8))
    #expect(answer.status == 0, "\(answer.output)")
    #expect(report.answer == "holds")
    #expect(report.laws.map(\.code) == LawTable.descriptions.map(\.code))
    for law in report.laws {
      #expect(law.answer == "holds" && law.checks > 0, "\(law.code): \(law.answer) with \(law.checks) checks")
    }
  }

  private func expectBreakable(_ envelopes: [Envelope]) throws {
    #expect(Set(JournalMutation.all.map(\.law)) == Set(LawTable.descriptions.map(\.code)))
    for mutation in JournalMutation.all {
      let before = try #require(JournalMutation.verdict(mutation.law, envelopes))
      #expect(before.answer != .broken, "\(mutation)")
      let verdict = try #require(try mutation.verdict(envelopes), "the journal has nothing to change for \(mutation)")
      #expect(verdict.answer == .broken, "\(mutation): \(verdict.findings)")
      #expect(verdict.findings.breaches.allSatisfy { !$0.evidence.isEmpty }, "\(mutation)")
    }
  }

  /// A clock that is set, and a journal without its beginning or its end, break no law.
  private func expectUnbroken(_ envelopes: [Envelope]) {
    let places = stride(from: 1, to: envelopes.count, by: max(1, envelopes.count / 12))
    for place in places {
      expectUnbroken(Array(envelopes[place...]), "the journal begins at \(place)")
      expectUnbroken(Array(envelopes[..<place]), "the journal ends at \(place)")
      for hours in [-24, -1, 1, 24, 9600] as [Int64] {
        expectUnbroken(envelopes[..<place] + envelopes[place...].map { $0.later(hours) }, "\(hours) h at \(place)")
      }
      let host = envelopes.map { $0.header.source.role == .host && $0.header.sequence > place ? $0.later(-2) : $0 }
      expectUnbroken(host, "the host's clock at \(place)")
    }
  }

  private func expectUnbroken(_ envelopes: [Envelope], _ what: String) {
    var checker = LawChecker()
    for envelope in envelopes { _ = checker.handle(envelope) }
    for verdict in checker.verdicts() {
      #expect(verdict.answer != .broken, "\(what): \(verdict.law.code): \(verdict.findings.breaches)")
    }
  }

  /// The verdicts of `widgetlab up --check`, which are printed when the cluster was stopped. They are the same when the
  /// folder of the host was removed in between, as the host itself advises: task numbers begin again.
  @Test(arguments: [false, true])
  func `up with check prints the verdicts when the cluster stops, and exits with their code`(
    isEmptied: Bool
  ) async throws {
    try await LabCluster.with("up check", configuration: LiveFixture.configuration) { cluster in
      try await cluster.run("reload", LiveFixture.kind)
      let first = try await cluster.journal.waitFor("the host deleted the extension's events") {
        $0.reading(SessionAcknowledged.self) != nil
      }
      #expect(await cluster.stop() == 0)
      // Without its container, the extension has no file and downloads again.
      for name in isEmptied ? ["host", "device"] : [] {
        try FileManager.default.removeItem(atPath: cluster.folder + "/" + name)
      }
      let again = try await LabChild.start(
        cluster.executables + "/widgetlab",
        [
          "up", "--check", "--instance", cluster.folder, "--config", cluster.folder + "/widgetlab.yaml",
          "--executables", cluster.executables, "--die-with-parent", "\(getpid())",
        ], output: cluster.folder + "/check.out", errors: cluster.folder + "/check.err")
      let ending = Task { await again.ending() }
      func output() -> String { (try? String(contentsOfFile: cluster.folder + "/check.out", encoding: .utf8)) ?? "" }
      try await cluster.eventually("the second run is ready") { output().contains("ready: bus") }
      if isEmptied {
        try await cluster.run("reload", LiveFixture.kind)
        try await cluster.journal.waitFor("the host deleted the events of the same task", after: first.sequence) {
          $0.reading(SessionAcknowledged.self)?.tasks?.identifiers.contains(1) == true
        }
      }
      again.signal(SIGINT)
      #expect(await ending.value == 0, "\(output())")
      #expect(output().contains("holds    no-loss"), "\(output())")
      #expect(output().contains("9 holds"), "\(output())")
    }
  }
}

extension Envelope {
  /// The same envelope, sent some hours later.
  fileprivate func later(_ hours: Int64) -> Envelope {
    var changed = EnvelopeHeader(
      kind: header.kind, sentAt: Timestamp(microseconds: header.sentAt.microseconds + hours * 3_600_000_000),
      id: header.id, cause: header.cause, correlation: header.correlation, source: header.source,
      destination: header.destination)
    changed.sequence = header.sequence
    changed.sourceGeneration = header.sourceGeneration
    changed.destinationGeneration = header.destinationGeneration
    changed.attempt = header.attempt
    return Envelope(header: changed, body: body)
  }
}
