// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import ChaosCampaign
import Cluster
import Foundation
import JournalAnalysis
import MessageBus
import Messages
import Synchronization
import Timekeeping

/// What `chaos run` does: campaigns of one or several seeds, and for each that breaks a law a failure file with as few
/// faults as possible.
struct ChaosSession {
  let options: ChaosOptions
  private let interruption = ChaosInterruption()
  /// Kinds that this machine does not permit.
  private let unavailable: Set<FaultKind>

  init(_ options: ChaosOptions, unavailable: Set<FaultKind> = []) {
    self.options = options
    self.unavailable = unavailable
  }

  /// Runs all campaigns, prints the report, and writes the files.
  func run() async throws -> CampaignReport {
    let signals = Signals()
    // Cancelled and awaited at the end of this scope.
    async let _ = interruption.watch(signals)
    let seeds = try options.chosenSeeds
    var all: CampaignReport?
    for seed in seeds {
      if await interruption.isSet { break }
      var report = try await campaign(seed)
      if seeds.count > 1 { Output.print(CampaignText.line(report)) }
      if let earlier = all {
        var merged = earlier
        merged.merge(report)
        merged.command = options.command(seed: nil)
        report = merged
      }
      all = report
      // After each seed, so that a machine that is taken away leaves what it has.
      for file in options.reports { try file.write(report) }
    }
    guard let all else { throw CommandError(Exit.usage, "this shard has no seed") }
    for line in CampaignText.lines(all, isColored: Output.isColored) { Output.print(line) }
    return all
  }

  private func campaign(_ seed: UInt64) async throws -> CampaignReport {
    let source = ChaosRun.Source.drawn(
      seed: seed, kinds: try options.kinds.subtracting(unavailable), steps: options.stepLimit,
      victims: try options.chosenVictims, kills: options.killLimit,
      duration: options.timeLimit, longestStop: options.longestStop,
      behaviours: try options.chosenBehaviours)
    var outcome = try await trial(seed, source).run()
    guard outcome.report.answer == .broken else { return outcome.report }
    let broken = outcome.report.broken
    Output.print("broken: \(broken.joined(separator: ", ")), after \(CampaignText.count(outcome.report.kills, "kill"))")
    let faults = outcome.steps.faultNumbers
    var first = outcome.report
    // The journal of containers stays broken.
    if options.shrinks, options.compose == nil, let smaller = await shrink(outcome, broken) { outcome = smaller }
    let file = options.failure ?? "chaos-\(seed).tar"
    let campaign = FailureFile.Campaign(
      version: WidgetLabTool.version, seed: seed, steps: outcome.steps, faultsBefore: faults.count, broken: broken)
    try write(FailureFile(campaign, report: outcome.report, files: outcome.files), to: file)
    first.setFailure(file)
    return first
  }

  /// Looks for fewer faults that break the same law, for as long as `--shrink-time`. A candidate counts when it breaks the
  /// law often enough, so that a replay of the file will break it too.
  private func shrink(_ first: ChaosTrial.Outcome, _ broken: [String]) async -> ChaosTrial.Outcome? {
    var smallest: ChaosTrial.Outcome?
    var search = FaultShrinking(first.steps.faultNumbers, crashes: PointCrash.all(in: first.report.events))
    let deadline = ContinuousClock.now + .seconds(options.shrinkTime)
    while ContinuousClock.now < deadline, await !interruption.isSet, let candidate = search.next() {
      let goal = Self.goal(of: candidate)
      var breaking: ChaosTrial.Outcome?
      var count = 0
      var runs = 0
      while count < goal.count, runs - count <= (count == 0 ? 0 : goal.runs - goal.count), await !interruption.isSet {
        runs += 1
        if let outcome = await replay(first, candidate), !Set(outcome.report.broken).isDisjoint(with: broken) {
          breaking = outcome
          count += 1
        }
      }
      search.tried(breaks: count == goal.count, sometimes: count > 0)
      if count == goal.count { smallest = breaking }
      let result = count == 0 ? "not broken" : "broken in \(count) of \(CampaignText.count(runs, "run"))"
      var what = CampaignText.count(candidate.count, "fault")
      if case .crash(let crash) = candidate { what += ": \(crash.fault.text)" }
      Output.print("  \(what): \(result)")
    }
    return smallest
  }

  /// How often a candidate must break the law, in how many runs. So many crashes are tried that some break it by chance.
  private static func goal(of candidate: FaultShrinking.Candidate) -> (count: Int, runs: Int) {
    if case .crash = candidate { (4, 5) } else { (2, 3) }
  }

  /// Runs the steps again with only the faults of a candidate; `nil` when the cluster does not start.
  private func replay(
    _ first: ChaosTrial.Outcome, _ candidate: FaultShrinking.Candidate
  ) async -> ChaosTrial.Outcome? {
    var trial = trial(first.report.runs[0].seed, .given(first.steps.keeping(candidate)))
    trial.isShown = false
    // The named folder has the campaign's own cluster.
    trial.options.instance = nil
    trial.options.keep = false
    return try? await trial.run()
  }

  private func trial(_ seed: UInt64, _ source: ChaosRun.Source) -> ChaosTrial {
    ChaosTrial(
      seed: seed, source: source, options: options, command: options.command(seed: seed), interruption: interruption)
  }

  private func write(_ file: FailureFile, to path: String) throws {
    do {
      try NamedFile.write(file.archive.bytes, to: path)
    } catch {
      throw CommandError(
        Exit.broken, "the failure file cannot be written: \(error.localizedDescription)", at: path,
        advice: "give --failure a file in a writable folder")
    }
    Output.print(
      "\(path): \(CampaignText.count(file.campaign.lines.count, "fault")), from \(file.campaign.faultsBefore)")
    for line in file.campaign.lines.prefix(12) { Output.print("  \(line)") }
  }
}

/// What users, providers and programs do during a campaign. Nothing waits for a result: a process may be dead.
struct ChaosWorkload: Sendable {
  /// How many actions may be in progress; beyond that, none is started.
  private static let most = 12
  static let patience = Duration.seconds(8)

  /// The pushes that were answered with 200, by the id that the push server gave them.
  private final class AnsweredPushes: Sendable {
    let ids = Mutex<Set<UUID>>([])
  }

  let target: any ChaosCluster
  private let tasks = TaskOwner()
  private let answered = AnsweredPushes()

  private var cluster: ClusterFacts { target.cluster }
  private var connection: Connection {
    get async throws { try await target.session().connection }
  }
  private var app: String { cluster.apps.first?.bundleIdentifier ?? "" }

  /// Opens the app, without which no widget can be placed, and places the widget whose timelines are reloaded.
  func prepare() async throws {
    try await target.session().openApp(app)
    _ = try await connection.request(
      AddPlacement(widgetKind: ChaosHome.widgetKind, family: nil, location: .homeScreen), to: cluster.host,
      within: .seconds(30), whenUnreachable: .wait)
  }

  /// Whether no action is in progress.
  var isIdle: Bool { tasks.count == 0 }

  /// Waits for no action any more.
  func end() async { await tasks.end() }

  /// Starts an action.
  func start(_ action: WorkloadAction) {
    guard tasks.count < Self.most else { return }
    // A failure is a legitimate result while processes are killed; the laws judge what was promised.
    tasks.start { try? await perform(action) }
  }

  /// Performs an action, and waits for its result.
  func perform(_ action: WorkloadAction) async throws {
    switch action {
    case .reload: try await connection.deliver(ReloadTimelines(widgetKind: ChaosHome.widgetKind), to: cluster.host)
    case .openApp: try await ask(OpenApp(bundle: app))
    case .background: try await ask(ChangeScreen(.background(app: app)))
    case .tap: try await ask(TapWidget(placement: 1))
    case .drink:
      guard let url = await target.provider else { return }
      _ = try await LocalRequest.send(url + "/drinks", json: #"{"name":"Espresso","milligrams":63}"#)
    case .push:
      let subject = PushSubject(device: cluster.device, bundle: app, use: .widgets)
      let push = SendPush(
        token: nil, subject: subject,
        headers: ["apns-push-type": "widgets", "apns-topic": app + PushType.widgets.topicSuffix],
        payload: #"{"aps":{"content-changed":true}}"#)
      let reply = try await connection.request(push, to: .pushServer, within: Self.patience, whenUnreachable: .wait)
      if reply.status == 200 { answered.ids.withLock { _ = $0.insert(reply.uniqueID) } }
    }
  }

  /// The database of the push server is older now: what was answered is not compared.
  func forgetPushes() { answered.ids.withLock { $0 = [] } }

  /// Compares the pushes that were answered with 200 with the delivery log of the push server.
  ///
  /// - Returns: how many there are, and those that the log does not have.
  /// - Throws: `BusError` when the push server does not reply.
  func pushesNotLogged() async throws -> (answered: Int, missing: Set<UUID>) {
    let all = answered.ids.withLock(\.self)
    return (all.count, all.subtracting(try await readPushLog()))
  }

  /// Reads the delivery log to its end. The replies are in the journal, from which the laws take results whose notices
  /// were lost.
  ///
  /// - Returns: the ids of all pushes in the log.
  /// - Throws: `BusError` when the push server does not reply.
  @discardableResult
  func readPushLog() async throws -> Set<UUID> {
    var foundIDs: Set<UUID> = []
    // Entries after this number; 0 would select the newest.
    var last: Int64 = -1
    while true {
      let page = try await connection.request(
        ListPushes(after: last, limit: 100), to: .pushServer, within: .seconds(30), whenUnreachable: .wait)
      guard let newest = page.pushes.last?.number else { return foundIDs }
      foundIDs.formUnion(page.pushes.map(\.uniqueID))
      last = newest
    }
  }

  /// Sends a request to the host, which may be dead.
  @discardableResult
  func ask<R: Request>(_ request: R, within limit: Duration = patience) async throws -> R.Reply {
    try await connection.request(request, to: cluster.host, within: limit, whenUnreachable: .wait)
  }

  /// Whether the process at an address replies and is ready.
  func isReady(_ address: Address) async -> Bool {
    let reply = try? await connection.request(Ping(), to: address, within: .seconds(5), whenUnreachable: .wait)
    return reply?.isReady ?? false
  }
}
