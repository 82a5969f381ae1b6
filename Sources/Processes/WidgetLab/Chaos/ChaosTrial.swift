// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import ChaosCampaign
import Cluster
import Foundation
import Journal
import JournalAnalysis
import MessageBus
import Messages

/// One campaign in its own cluster, from the start of the cluster to the verdicts.
struct ChaosTrial {
  /// The result.
  struct Outcome: Sendable {
    var report: CampaignReport
    let steps: [CampaignStep]
    /// The journal, the logs and the configuration; empty when nothing is broken.
    let files: [TarArchive.Member]
  }

  /// The newest segments of a journal that are kept in a failure file, in bytes.
  private static let journalKept = 256 << 20

  let seed: UInt64
  let source: ChaosRun.Source
  var options: ChaosOptions
  /// The command line that repeats it.
  let command: String
  let interruption: ChaosInterruption
  /// Whether it prints its progress.
  var isShown = true

  func run() async throws -> Outcome {
    guard let project = options.compose else { return try await inOwnCluster() }
    if isShown { Output.print("chaos: seed \(seed), compose project \(project)") }
    let home = try ChaosHome(named: options.instance)
    await interruption.began(home)
    defer { if home.isTemporary { home.remove() } }
    return try await started(try await ComposeChaosCluster(project, home))
  }

  private func inOwnCluster() async throws -> Outcome {
    let server = source.kinds.contains(.server) ? try MisbehavingServer() : nil
    defer { server?.stop() }
    let home = try ChaosHome(named: options.instance)
    if isShown { Output.print("chaos: seed \(seed), cluster in \(home.folder)") }
    await interruption.began(home)
    let isKept = options.keep || !home.isTemporary
    var disk: BoundedDisk?
    var isOver = false
    defer {
      disk?.end(keepsFiles: isKept || !isOver)
      if isOver, !isKept { home.remove() }
    }
    do {
      if source.kinds.contains(.full) { disk = try BoundedDisk(at: home.folder) }
      try home.write(ChaosHome.configuration(server))
    } catch {
      isOver = true
      throw error
    }
    let outcome = try await started(
      try await OwnChaosCluster(home, executables: options.executables, server: server, disk: disk))
    isOver = true
    if isKept, isShown { Output.print("kept: \(home.folder)") }
    return outcome
  }

  private func started(_ target: any ChaosCluster) async throws -> Outcome {
    do {
      try await target.start()
      return try await play(target)
    } catch {
      await target.stop()
      throw error
    }
  }

  private func play(_ target: any ChaosCluster) async throws -> Outcome {
    let cluster = target.cluster
    let workload = ChaosWorkload(target: target)
    let observer = CampaignObserver(victims: cluster.chaosVictims, digests: try await digests(target))
    let journal = ChaosJournal(target.journal, observer, limits: LawLimits(settle: options.within))
    try await workload.prepare()
    let run = ChaosRun(workload, journal)
    await interruption.runs(run)
    let (began, start) = (Date(), ContinuousClock.now)
    var machine = MachineFacts.current
    let progress = isShown ? ChaosProgress(run, journal) : nil
    // Cancelled and awaited at the end of this scope.
    async let _ = progress?.show()
    await run.play(source)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let quiet = await run.settle(within: .seconds(options.within) + ChaosRun.patience)
    // Before the processes end, which begins new work.
    let left = quiet == nil ? await run.whatIsLeft() : []
    let laws = await journal.verdicts().map(CampaignReport.LawResult.init)
    // A process of a broken build may never reply.
    let answers = await journal.breach == nil ? await answeredPushes(workload) : nil
    let isSettled = quiet != nil && answers != nil
    await workload.end()
    await target.stop()
    machine.loadAfter = MachineFacts.load
    let record = await run.record
    let observed = await journal.look { $0 }
    let hasLost = await journal.hasLost
    let settled = CampaignReport.Check(
      name: "work ends after a loss", holds: quiet != nil,
      text: quiet.map { "after \(CampaignText.seconds($0))" } ?? "a task does not end, or is not delivered")
    let checks =
      try checks(target, observed, lost: await run.lost, hasLost: hasLost) + (hasLost ? [settled] : [])
      + (answers.map { [$0] } ?? []) + judged(target, observed: observed, record: record, traps: await run.traps)
    var facts = CampaignReport.Run(
      seed: seed,
      answer: CampaignReport.answer(
        laws, checks, isQuiet: isSettled, unknowable: await journal.unknowable), kills: record.kills,
      seconds: seconds, quietAfter: quiet, envelopes: await journal.envelopes, wasInterrupted: await run.wasInterrupted)
    facts.left = left
    let report = CampaignReport(
      command: command, version: WidgetLabTool.version, machine: machine, date: began.formatted(.iso8601), run: facts,
      record: record, work: observed.work, laws: laws, checks: checks)
    return Outcome(report: report, steps: record.steps, files: report.answer == .broken ? files(target) : [])
  }

  /// The hashes of the files that the sessions download.
  private func digests(_ target: any ChaosCluster) async throws -> [String: String] {
    // In containers, the configuration is not this command's: the sizes are others.
    guard options.compose == nil, target.server == nil, let provider = await target.provider else { return [:] }
    var digests: [String: String] = [:]
    for (session, path) in ChaosHome.files {
      let bytes = try await LocalRequest.send(provider + path, within: .seconds(20))
      digests[session] = ContentDigest.hexadecimal(of: bytes)
    }
    return digests
  }

  /// What the laws do not judge.
  private func checks(
    _ target: any ChaosCluster, _ observed: CampaignObserver, lost: [String], hasLost: Bool
  ) throws -> [CampaignReport.Check] {
    let journal = try JournalVerifier(folder: URL(fileURLWithPath: target.journal)).verify()
    let damage = journal.findings.filter { !$0.kind.isRepairable && !(hasLost && $0.kind == .lost) }
    let files = CampaignReport.Check(
      name: "files as served", holds: observed.wrongFiles.isEmpty,
      text: observed.wrongFiles.first ?? "\(observed.work.compared) files")
    // A journal that has lost its end does not have every broker.
    let brokers = CampaignReport.Check(
      name: "no broker is missing", holds: observed.hasEveryBus,
      text: "\(observed.busGenerations.count) brokers wrote the journal")
    return (options.compose == nil && target.server == nil ? [files] : []) + [
      CampaignReport.Check(
        name: "killed processes came back", holds: lost.isEmpty,
        text: lost.first ?? "each within \(ChaosRun.patience)"),
      CampaignReport.Check(
        name: "journal intact", holds: damage.isEmpty,
        text: damage.first?.text ?? "\(journal.envelopes) envelopes in \(journal.segments) segments"),
    ] + (hasLost ? [] : [brokers])
  }

  /// How processes and downloads ended.
  private func judged(
    _ target: any ChaosCluster, observed: CampaignObserver, record: CampaignRecord, traps: [ProcessTrap]
  ) -> [CampaignReport.Check] {
    let first = traps.first.map { "\($0)" + (traps.count > 1 ? ", and \(traps.count - 1) more" : "") }
    let ends = CampaignReport.Check(
      name: "no process ends by a trap", holds: traps.isEmpty, text: first ?? "none of those that were restarted")
    guard let server = target.server else { return [ends] }
    let served = server.served
    let others = record.events.filter { ![.server, .clock].contains($0.kind) }.map { event in
      Timestamp(microseconds: record.began.microseconds + Int64(saturating: event.time * 1e6))
    }
    let judge = DownloadJudge(
      disturbances: observed.interruptions + others, permitted: MisbehavingServer.permitted)
    let findings = judge.findings(observed.ended, served)
    let met = Set(served.compactMap(\.behaviour)).count
    return [
      ends,
      CampaignReport.Check(
        name: "downloads end as they may", holds: findings.isEmpty,
        text: findings.isEmpty
          ? "\(observed.ended.count) downloads met \(met) of \(ServerBehaviour.all.count) behaviours"
          : findings.prefix(Self.findingsShown).joined(separator: "; ")
            + (findings.count > Self.findingsShown ? "; and \(findings.count - Self.findingsShown) more" : "")),
    ]
  }

  private static let findingsShown = 8

  /// A push of the operator that was answered with 200 is in the delivery log of the push server, whatever happened
  /// since. `nil` when the push server does not reply.
  private func answeredPushes(_ workload: ChaosWorkload) async -> CampaignReport.Check? {
    guard let (answered, missing) = try? await workload.pushesNotLogged() else { return nil }
    let first = missing.sorted().first.map { "not logged: \(missing.count) of \(answered), such as \($0)" }
    return CampaignReport.Check(
      name: "answered pushes are logged", holds: missing.isEmpty, text: first ?? "\(answered) pushes")
  }

  private func files(_ target: any ChaosCluster) -> [TarArchive.Member] {
    func members(of folder: String, in name: String) -> [TarArchive.Member] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.sorted().compactMap { file in
        FileManager.default.contents(atPath: "\(folder)/\(file)").map { TarArchive.Member(name: name + file, data: $0) }
      }
    }
    var keptCount = 0
    let segments = members(of: target.journal, in: FailureFile.journalFolder).reversed().prefix { segment in
      keptCount += segment.data.count
      return keptCount <= Self.journalKept
    }
    let configuration = FileManager.default.contents(atPath: target.cluster.configurationPath) ?? Data()
    return segments.reversed() + members(of: target.cluster.instance.logs, in: "logs/")
      + [TarArchive.Member(name: "widgetlab.yaml", data: configuration)]
  }
}
