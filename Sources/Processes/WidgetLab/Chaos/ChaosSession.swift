// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Cluster
import Crypto
import Foundation
import Journal
import JournalAnalysis
import MessageBus
import Messages

/// A campaign from the start of its cluster to its report.
struct ChaosSession {
  /// Nothing is left to do within this time after the last fault, or the campaign is not quiet.
  private static let settleLimit = Duration.seconds(90)

  let options: ChaosOptions
  private let seed: UInt64

  init(_ options: ChaosOptions) {
    self.options = options
    seed = options.seed ?? .random(in: 1...999_999)
  }

  /// Runs the campaign, and prints its progress and its report.
  func run() async throws -> CampaignReport {
    let home = try ChaosHome(named: options.instance)
    Output.print("chaos: seed \(seed), cluster in \(home.folder)")
    let hands = try await OwnChaosCluster(home, executables: options.executables)
    let signals = Signals()
    let report: CampaignReport
    do {
      try await hands.start()
      report = try await play(hands, signals)
    } catch {
      await hands.stop()
      throw error
    }
    await hands.stop()
    let isKept = options.keep || !home.isTemporary
    if isKept { Output.print("kept: \(home.folder)") } else { home.remove() }
    for file in options.reports { try file.write(report) }
    for line in CampaignText.lines(report, isColored: Output.isColored) { Output.print(line) }
    return report
  }

  private func play(_ hands: OwnChaosCluster, _ signals: Signals) async throws -> CampaignReport {
    let cluster = hands.cluster
    let session = try await OperatorSession.open(cluster, within: .seconds(30))
    let workload = ChaosWorkload(session: session)
    let observer = CampaignObserver(victims: cluster.chaosVictims, digests: try await digests(cluster))
    let journal = ChaosJournal(cluster.instance.journal, observer, limits: LawLimits())
    try await workload.prepare()
    let run = ChaosRun(hands, workload, journal)
    let (began, start) = (Date(), ContinuousClock.now)
    var machine = MachineFacts.current
    let progress = ChaosProgress(run, journal)
    // Cancelled and awaited at the end of this scope.
    async let _ = Self.stop(run, hands, at: signals)
    async let _ = progress.show()
    let source = ChaosRun.Source.drawn(
      seed: seed, kinds: try options.kinds, victims: try options.chosenVictims, kills: options.killLimit,
      duration: options.timeLimit)
    await run.play(source)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let quiet = await run.settle(within: Self.settleLimit)
    await workload.end()
    await session.connection.leave()
    machine.loadAfter = MachineFacts.load
    let record = await run.record
    let observed = await journal.look { $0 }
    let laws = await journal.verdicts().map(CampaignReport.LawResult.init)
    let checks = try await checks(cluster, observed, lost: await run.lost)
    let facts = CampaignReport.Run(
      seed: seed, answer: CampaignReport.answer(laws, checks, isQuiet: quiet != nil), kills: record.kills,
      seconds: seconds, quietAfter: quiet, envelopes: await journal.envelopes, wasInterrupted: await run.wasInterrupted)
    return CampaignReport(
      command: "widgetlab chaos --seed \(seed)", version: WidgetLabTool.configuration.version, machine: machine,
      date: ISO8601DateFormatter().string(from: began), run: facts, record: record, work: observed.work, laws: laws,
      checks: checks)
  }

  /// Ends the faults at the first signal, and kills everything at the second.
  private static func stop(_ run: ChaosRun, _ hands: OwnChaosCluster, at signals: Signals) async {
    await signals.next()
    guard !Task.isCancelled else { return }
    Output.printError("widgetlab: the faults end, and the report follows; press Ctrl-C again to kill everything")
    await run.interrupt()
    await signals.next()
    guard !Task.isCancelled else { return }
    await hands.killAll()
    ChaosRunCommand.exit(withError: Exit.interrupted)
  }

  /// The hashes of the files that the sessions download.
  private func digests(_ cluster: ClusterFacts) async throws -> [String: String] {
    guard let provider = try ProviderAnnouncement.read(in: cluster.instance)?.url else { return [:] }
    var digests: [String: String] = [:]
    for (session, path) in ChaosHome.files {
      let bytes = try await LocalRequest.send(provider + path, within: .seconds(20))
      digests[session] = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }
    return digests
  }

  /// What the laws do not judge.
  private func checks(
    _ cluster: ClusterFacts, _ observed: CampaignObserver, lost: [String]
  ) async throws -> [CampaignReport.Check] {
    let journal = try JournalVerifier(folder: URL(fileURLWithPath: cluster.instance.journal)).verify()
    let damage = journal.findings.filter { !$0.kind.isRepairable }
    return [
      CampaignReport.Check(
        name: "files as served", holds: observed.wrongFiles.isEmpty,
        text: observed.wrongFiles.first ?? "\(observed.work.compared) files"),
      CampaignReport.Check(
        name: "killed processes came back", holds: lost.isEmpty,
        text: lost.first ?? "each within \(ChaosRun.patience)"),
      CampaignReport.Check(
        name: "journal intact", holds: damage.isEmpty,
        text: damage.first?.text ?? "\(journal.envelopes) envelopes in \(journal.segments) segments"),
      CampaignReport.Check(
        name: "no broker is missing", holds: observed.hasEveryBus,
        text: "\(observed.busGenerations.count) brokers wrote the journal"),
    ]
  }
}
