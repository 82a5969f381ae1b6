// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import FaultPoints
import Foundation
import Glibc
import JournalAnalysis
import MessageBus
import Messages
import Synchronization
import Timekeeping

/// One campaign in a running cluster: performs steps, measures recoveries, and waits until all is quiet.
actor ChaosRun {
  /// Where the steps come from.
  enum Source: Sendable {
    /// Drawn from the seed, until so many processes were killed or so much time has passed.
    case drawn(
      seed: UInt64, kinds: Set<FaultKind>, steps: Int?, victims: Set<ChaosVictim>, kills: Int?, duration: Duration?,
      longestStop: Int, behaviours: [String])
    /// Those of an earlier run.
    case given([CampaignStep])

    var kinds: Set<FaultKind> {
      switch self {
      case .drawn(_, let kinds, _, _, _, _, _, _): kinds
      case .given(let steps): Set(steps.compactMap { $0.fault?.kind })
      }
    }
  }

  /// After this time a killed process counts as lost.
  static let patience = Duration.seconds(30)

  /// How long a fault at a point stays armed when the process does not reach the point.
  static let armedTime = Duration.seconds(4)

  /// A time by both clocks.
  struct Moment {
    let instant: ContinuousClock.Instant
    let time: Timestamp
    static var now: Moment { Moment(instant: .now, time: .now) }
  }

  let target: any ChaosCluster
  let workload: ChaosWorkload
  let journal: ChaosJournal
  let tasks = TaskOwner()
  private let began = ContinuousClock.now

  private(set) var record = CampaignRecord()
  /// Processes that were not back in time.
  private(set) var lost: [String] = []
  /// Faults that last, and which a step waits for.
  var lasting: [Task<Void, Never>] = []
  /// Processes that may end by a trap: with little memory, or of an author with few descriptors, which Dispatch needs.
  var mayTrap: Set<Int32> = []
  var recoveries: [ChaosVictim: Task<Void, Never>] = [:]
  private var isOffline = false
  private(set) var wasInterrupted = false
  private(set) var isSettling = false

  init(_ workload: ChaosWorkload, _ journal: ChaosJournal) {
    target = workload.target
    self.workload = workload
    self.journal = journal
  }

  /// No further step is begun.
  func interrupt() { wasInterrupted = true }

  // MARK: The steps

  /// Performs all steps. Ends early when a law is broken.
  func play(_ source: Source) async {
    switch source {
    case .given(let steps):
      for step in steps where await goesOn { await perform(step) }
    case .drawn(let seed, let kinds, let limit, let victims, let kills, let duration, let longestStop, let behaviours):
      var plan = CampaignPlan(seed: seed)
      while await goesOn {
        if let limit, record.steps.count >= limit { break }
        if let kills, record.kills >= kills { break }
        if let duration, ContinuousClock.now - began >= duration { break }
        let instances = await journal.look(\.instances)
        let running = await target.running(instances).filter(victims.contains)
        let possible = isOffline ? kinds.subtracting([.network]) : kinds
        let faults = PossibleFaults(
          running: running, kinds: possible, longestStop: longestStop, behaviours: behaviours)
        await perform(plan.next(faults))
      }
    }
  }

  private var goesOn: Bool {
    get async {
      guard !wasInterrupted, !Task.isCancelled else { return false }
      return await !isBroken
    }
  }

  /// Whether a law is broken, or a process has ended by a trap.
  private var isBroken: Bool {
    get async {
      if await journal.breach != nil { return true }
      return await !traps.isEmpty
    }
  }

  /// Processes that ended by a trap, except those whose memory was limited.
  var traps: [ProcessTrap] {
    get async {
      await (target.traps + journal.look(\.traps)).filter { !mayTrap.contains($0.pid) }
    }
  }

  private func perform(_ step: CampaignStep) async {
    record.begin(step)
    for action in step.actions { workload.start(action) }
    try? await Task.sleep(for: .milliseconds(step.delay))
    if let fault = step.fault { await inject(fault, step.number) }
    guard step.waits else { return }
    for task in Array(recoveries.values) + lasting { await task.value }
    lasting = []
  }

  private func inject(_ fault: ChaosFault, _ step: Int) async {
    switch fault {
    case .kill(let victims):
      let instances = await journal.look(\.instances)
      let death = Moment.now
      await killed(await target.kill(victims, instances), by: fault, step: step, death: death)
    case .journal(let damage):
      let death = Moment.now
      guard let pid = await target.killBus(damage) else { return }
      await killed([.messageBus: pid], by: fault, step: step, death: death)
    case .stop(let victim, let milliseconds):
      let instances = await journal.look(\.instances)
      guard await target.setStopped(true, of: victim, in: instances) else { return }
      took(fault, step: step)
      tasks.start { await self.continueLater(victim, instances, after: milliseconds) }
    case .network(let milliseconds):
      isOffline = true
      tasks.start { await self.outage(fault, step: step, milliseconds: milliseconds) }
    case .clock(let seconds):
      tasks.start {
        guard await self.ask(SetClock(change: .advance(Double(seconds))), within: .seconds(20)) else { return }
        await self.took(fault, step: step)
      }
    case .recreate(let victim):
      let death = Moment.now
      guard let pid = await target.recreate(victim) else { return }
      await killed([victim: pid], by: fault, step: step, death: death)
    case .server, .full, .tail, .store, .limit, .jump: await injectOutside(fault, step)
    case .point, .stall, .disk, .spawn, .line:
      let start = Moment.now
      guard let page = target.page, let armed = target.arm(fault) else { return }
      tasks.start { await self.follow(armed, page: page, fault: fault, step: step, since: start) }
    }
  }

  /// Waits until an armed fault takes effect, and disarms it then, or when its time is over.
  private func follow(
    _ armed: FaultPointPage.Fault, page: FaultPointPage, fault: ChaosFault, step: Int, since start: Moment
  ) async {
    let deadline = start.instant + Self.armedTime
    // When it had not happened yet, and in which process. On a busy machine another one may run before the death is seen.
    var death = start
    var pid: Int32?
    while ContinuousClock.now < deadline, !Task.isCancelled {
      let now = Moment.now
      let victim = crashing(fault, page)?.pid
      guard page.performed(armed) == 0 else { break }
      (death, pid) = (now, victim ?? pid)
      try? await Task.sleep(for: .milliseconds(4))
    }
    let isEffective = page.performed(armed) > 0
    if isEffective, case .stall(_, _, let milliseconds) = fault {
      try? await Task.sleep(for: .milliseconds(milliseconds))
    }
    page.disarm(armed)
    guard isEffective else { return }
    await journal.disturbed()
    if case .point(let victim, let point, _) = fault, let address = target.cluster.address(of: victim) {
      // The last two instances. One that has begun since then may not have reached the point.
      let dead = page.lastStates(of: address).filter { $0.point?.name == point }
      guard let found = dead.first(where: { $0.pid == pid }) ?? dead.first else { return took(fault, step: step) }
      await killed([victim: found.pid], by: fault, step: step, death: death)
    } else {
      took(fault, step: step)
    }
  }

  /// The instance that is to end at a point.
  private func crashing(_ fault: ChaosFault, _ page: FaultPointPage) -> FaultPointPage.State? {
    guard case .point(let victim, _, _) = fault else { return nil }
    return target.cluster.address(of: victim).flatMap { page.state(of: $0) }
  }

  private func took(_ fault: ChaosFault, step: Int, kills: [CampaignEvent.Kill] = []) {
    let time = (ContinuousClock.now - began) / .seconds(1)
    record.took(CampaignEvent(step: step, kind: fault.kind, text: fault.text, time: time, kills: kills))
  }

  private func continueLater(
    _ victim: ChaosVictim, _ instances: [ChaosVictim: CampaignObserver.Instance], after milliseconds: Int
  ) async {
    // Also continued when the campaign is cancelled.
    try? await Task.sleep(for: .milliseconds(milliseconds))
    _ = await target.setStopped(false, of: victim, in: instances)
    await journal.disturbed()
  }

  private func outage(_ fault: ChaosFault, step: Int, milliseconds: Int) async {
    if await ask(SetNetwork(state: NetworkState(path: .off))) { took(fault, step: step) }
    try? await Task.sleep(for: .milliseconds(milliseconds))
    await endOutage()
    isOffline = false
  }

  private func endOutage() async {
    while !Task.isCancelled {
      if await ask(SetNetwork(state: NetworkState())) { return }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  private func ask<R: Request>(_ request: R, within limit: Duration = .seconds(5)) async -> Bool {
    await (try? workload.ask(request, within: limit)) != nil
  }

  // MARK: Recovery

  func killed(
    _ pids: [ChaosVictim: Int32], by fault: ChaosFault, step: Int, death: Moment
  ) async {
    guard !pids.isEmpty else { return }
    let states = Dictionary(
      uniqueKeysWithValues: pids.compactMap { victim, pid in target.state(of: victim, pid: pid).map { (victim, $0) } })
    let kills = await journal.look { observer in
      pids.keys.sorted().map {
        CampaignEvent.Kill(victim: $0, state: states[$0] ?? observer.state(of: $0, at: death.time))
      }
    }
    took(fault, step: step, kills: kills)
    for (victim, pid) in pids {
      recoveries[victim]?.cancel()
      recoveries[victim] = tasks.start { await self.measure(victim, pid: pid, step: step, since: death) }
    }
  }

  func measure(
    _ victim: ChaosVictim, pid: Int32, step: Int, since death: Moment
  ) async {
    let deadline = death.instant + Self.patience
    var askedAt = death.instant - .seconds(10)
    while !Task.isCancelled {
      if victim.isLaunched {
        let instance = await journal.look { $0.instances[victim] }
        if let instance, let ready = instance.readyAt, instance.pid != pid || ready > death.time {
          let passed = (ContinuousClock.now - death.instant) / .milliseconds(1)
          let recovery = Double(ready.microseconds - death.time.microseconds) / 1000
          // The machine's clock may have jumped.
          record.recovered(victim, step: step, after: (0...passed).contains(recovery) ? recovery : passed)
          return
        }
        if victim == .app, ContinuousClock.now - askedAt > .milliseconds(100) {
          // Asked again soon, one request at a time: the device does not open an app whose end it has not seen.
          askedAt = .now
          try? await workload.perform(.openApp)
          continue
        }
        if ContinuousClock.now - askedAt > .seconds(1) {
          askedAt = .now
          workload.start(.reload)
        }
      } else if await isBack(victim, but: pid) {
        record.recovered(victim, step: step, after: (ContinuousClock.now - death.instant) / .milliseconds(1))
        return
      }
      if ContinuousClock.now > deadline {
        lost.append("\(victim), killed in step \(step), was not back within \(Self.patience)")
        return
      }
      try? await Task.sleep(for: .milliseconds(4))
    }
  }

  private func isBack(_ victim: ChaosVictim, but old: Int32) async -> Bool {
    guard await target.isRestarted(victim, since: old) else { return false }
    if let address = target.cluster.address(of: victim) { return await workload.isReady(address) }
    guard let url = await target.provider else { return false }
    return (try? await LocalRequest.send(url + "/health", within: .seconds(1))) != nil
  }

  // MARK: The end

  /// Ends the faults and the workload, kills the owner of a download, and waits until nothing is left to do.
  ///
  /// - Returns: the seconds that it took; `nil` when the limit was reached, or when a law was broken before.
  func settle(within limit: Duration) async -> Double? {
    let start = ContinuousClock.now
    isSettling = true
    for task in recoveries.values {
      // A broken law is news enough; a process of a broken build may never be back.
      if await isBroken { task.cancel() }
      await task.value
    }
    await tasks.end()
    await killOwner()
    await endOutage()
    var hasReadLog = false
    while ContinuousClock.now - start < limit, !Task.isCancelled, await !isBroken {
      if workload.isIdle, await isWithoutTransfers() {
        let unknowable = await journal.unknowable
        if await journal.verdicts().allSatisfy({
          $0.answer == .holds || $0.answer == .unknown && unknowable.contains($0.law.code)
        }) {
          return (ContinuousClock.now - start) / .seconds(1)
        }
        // The notice of a push's result is lost when the bus is killed before it has it.
        if !hasReadLog { hasReadLog = await (try? workload.readPushLog()) != nil }
      }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return nil
  }

  /// Kills the app while it has a download and the device has no network, so that nothing but the events of the download
  /// gives a reason to launch it again. Without this, a host that launches no owner is found only by luck. It is no fault
  /// of the campaign, and its recovery is not measured.
  private func killOwner() async {
    guard await journal.breach == nil, await ask(SetNetwork(state: NetworkState(path: .off))) else { return }
    // A new instance begins a download. One that runs may have none.
    _ = await target.kill([.app], await journal.look(\.instances))
    let deadline = ContinuousClock.now + .seconds(10)
    while !(await isAppLoading()), ContinuousClock.now < deadline, !Task.isCancelled {
      // The device does not open an app whose end it has not seen.
      try? await workload.perform(.openApp)
      try? await Task.sleep(for: .milliseconds(20))
    }
    _ = await target.kill([.app], await journal.look(\.instances))
  }

  private func isAppLoading() async -> Bool {
    let status = try? await workload.ask(DeviceStatus(), within: .seconds(5))
    return status?.sessions.contains { target.cluster.apps.contains($0.owner) && $0.running > 0 } ?? false
  }

  /// What a campaign that does not become quiet waits for, for a reader: sessions with tasks, and the processes.
  func whatIsLeft() async -> [String] {
    guard let status = try? await workload.ask(DeviceStatus(), within: .seconds(5)) else {
      return ["the device does not reply"]
    }
    let sessions = status.sessions.filter { $0.running > 0 || $0.undelivered > 0 }
    return sessions.map { "\($0.session) of \($0.owner): \($0.running) running, \($0.undelivered) not delivered" }
      + status.processes.map { "\($0.address) generation \($0.generation): \($0.state), \($0.why)" }
  }

  private func isWithoutTransfers() async -> Bool {
    let status = try? await workload.ask(DeviceStatus(), within: .seconds(5))
    return status?.sessions.allSatisfy { $0.running == 0 && $0.undelivered == 0 } ?? false
  }
}

extension ClusterFacts {
  /// The address of a victim; `nil` for the provider, which is not on the bus.
  func address(of victim: ChaosVictim) -> Address? {
    switch victim {
    case .messageBus: .messageBus
    case .host: host
    case .pushServer: .pushServer
    case .widgetExtension: extensions.first
    case .app: apps.first
    default: (agents + pushServers).first { Self.standingName(of: $0) == victim.rawValue }
    }
  }

  /// The victims of this cluster, by address.
  var chaosVictims: [Address: ChaosVictim] {
    let all =
      standing.filter { $0.role != .provider }.map { ChaosVictim(rawValue: Self.standingName(of: $0)) }
      + [.widgetExtension, .app]
    return Dictionary(
      all.compactMap { victim in address(of: victim).map { ($0, victim) } }, uniquingKeysWith: { first, _ in first })
  }
}

/// Faults of the other side: of servers, disks, files and limits.
extension ChaosRun {
  private func injectOutside(_ fault: ChaosFault, _ step: Int) async {
    switch fault {
    case .server(let behaviour, let owner, let times):
      guard let server = target.server, let id = server.arm(behaviour, owner, times: times) else { return }
      let task = tasks.start { await self.follow(server, id: id, of: owner, fault: fault, step: step) }
      if let task { lasting.append(task) }
    case .full(let milliseconds):
      guard let disk = target.disk, disk.fill() else { return }
      took(fault, step: step)
      last(milliseconds) { disk.empty() }
    case .limit(let victim, let resource, let spare, let milliseconds):
      let instances = await journal.look(\.instances)
      // Dispatch ends a process that gets no descriptor while it starts.
      if let address = target.cluster.address(of: victim), !victim.isLaunched, await !workload.isReady(address) {
        return
      }
      guard let limit = await target.limit(victim, in: instances, resource: resource, spare: spare) else { return }
      if resource == .memory || victim.isLaunched { mayTrap.insert(limit.pid) }
      if resource == .descriptors, victim.isLaunched { await journal.descriptorsAreFew() }
      took(fault, step: step)
      last(milliseconds) { limit.end() }
    case .jump(let seconds, let milliseconds):
      guard let page = target.page else { return }
      let task = tasks.start { await self.jump(page, seconds: seconds, for: milliseconds, fault: fault, step: step) }
      if let task { lasting.append(task) }
    case .tail(let milliseconds):
      let sequence = await journal.note()
      let loss = ClusterLoss(ofJournal: target.journal)
      try? await Task.sleep(for: .milliseconds(milliseconds))
      await lose(loss, after: sequence, fault: fault, step: step)
    case .store(let victim, let milliseconds): await putBack(victim, after: milliseconds, fault: fault, step: step)
    default: break
    }
  }

  /// Ends a fault after a time, also when the campaign is cancelled.
  private func last(_ milliseconds: Int, _ end: @escaping @Sendable () -> Void) {
    let task = tasks.start {
      try? await Task.sleep(for: .milliseconds(milliseconds))
      end()
      await self.journal.disturbed()
    }
    if let task { lasting.append(task) }
  }

  /// Messages of a process may still have the other time a second after the jump.
  private static let returning = Duration.seconds(1)

  private func jump(
    _ page: FaultPointPage, seconds: Int, for milliseconds: Int, fault: ChaosFault, step: Int
  ) async {
    guard await journal.timeJumped(true) else { return }
    page.jump(seconds: seconds)
    took(fault, step: step)
    try? await Task.sleep(for: .milliseconds(milliseconds))
    page.jump(seconds: 0)
    try? await Task.sleep(for: Self.returning)
    _ = await journal.timeJumped(false)
  }

  /// Begins downloads until enough requests have met a behaviour, or its time is over.
  private func follow(
    _ server: MisbehavingServer, id: Int, of owner: ChaosVictim, fault: ChaosFault, step: Int
  ) async {
    let deadline = ContinuousClock.now + Self.armedTime
    var askedAt = deadline - .seconds(100)
    while ContinuousClock.now < deadline, !Task.isCancelled, server.progress(of: id).left > 0 {
      if ContinuousClock.now - askedAt > .milliseconds(500) {
        askedAt = .now
        // An app begins a download when it comes to the foreground.
        if owner == .app { try? await workload.perform(.background) }
        workload.start(owner == .app ? .openApp : .reload)
      }
      try? await Task.sleep(for: .milliseconds(10))
    }
    let performed = server.progress(of: id).performed
    server.disarm(id)
    if performed > 0 { took(fault, step: step) }
  }

  /// A database is copied while all is down; after some more work, the copy is put back.
  private func putBack(_ victim: ChaosVictim, after milliseconds: Int, fault: ChaosFault, step: Int) async {
    let instance = target.cluster.instance
    let copy = Mutex<ClusterLoss?>(nil)
    let death = Moment.now
    let first = await target.killAll { copy.withLock { $0 = ClusterLoss(ofStore: victim, instance) } }
    for (victim, pid) in first { await measure(victim, pid: pid, step: step, since: death) }
    for task in recoveries.values { await task.value }
    guard let loss = copy.withLock({ $0 }) else { return }
    try? await Task.sleep(for: .milliseconds(milliseconds))
    await lose(loss, after: nil, fault: fault, step: step)
    if victim == .pushServer { workload.forgetPushes() }
  }

  /// - Parameter sequence: the last envelope that is kept; `nil` when all are.
  private func lose(_ loss: ClusterLoss, after sequence: UInt64?, fault: ChaosFault, step: Int) async {
    let death = Moment.now
    let pids = await target.killAll { loss.happen() }
    guard !pids.isEmpty else { return }
    let last = if let sequence { sequence } else { await journal.note() }
    await journal.lost(after: last)
    await killed(pids, by: fault, step: step, death: death)
  }
}
