// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import FaultPoints
import OwnedTasks
import Synchronization

/// Faults of the other side: of servers, disks, files and limits.
extension ChaosRun {
  func injectOutside(_ fault: ChaosFault, _ step: Int) async {
    switch fault {
    case .server(let behaviour, let owner, let times):
      guard let server = target.server, let id = server.arm(behaviour, owner, times: times) else { return }
      let task = tasks.start { await self.follow(server, id, of: owner, fault, step) }
      if let task { lasting.append(task) }
    case .full(let milliseconds):
      guard let disk = target.disk, disk.fill() else { return }
      took(fault, step)
      last(milliseconds) { disk.empty() }
    case .limit(let victim, let resource, let spare, let milliseconds):
      let instances = await journal.look(\.instances)
      // Dispatch ends a process that gets no descriptor while it starts.
      if let address = target.cluster.address(of: victim), !victim.isLaunched, await !workload.isReady(address) {
        return
      }
      guard let limit = await target.limit(victim, instances, resource, spare: spare) else { return }
      if resource == .memory || victim.isLaunched { mayTrap.insert(limit.pid) }
      if resource == .descriptors, victim.isLaunched { await journal.descriptorsAreFew() }
      took(fault, step)
      last(milliseconds) { limit.end() }
    case .jump(let seconds, let milliseconds):
      guard let page = target.page else { return }
      let task = tasks.start { await self.jump(page, seconds, for: milliseconds, fault, step) }
      if let task { lasting.append(task) }
    case .tail(let milliseconds):
      let sequence = await journal.note()
      let loss = ClusterLoss(ofJournal: target.journal)
      try? await Task.sleep(for: .milliseconds(milliseconds))
      await lose(loss, after: sequence, fault, step)
    case .store(let victim, let milliseconds): await putBack(victim, after: milliseconds, fault, step)
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
    _ page: FaultPointPage, _ seconds: Int, for milliseconds: Int, _ fault: ChaosFault, _ step: Int
  ) async {
    guard await journal.timeJumped(true) else { return }
    page.jump(seconds: seconds)
    took(fault, step)
    try? await Task.sleep(for: .milliseconds(milliseconds))
    page.jump(seconds: 0)
    try? await Task.sleep(for: Self.returning)
    _ = await journal.timeJumped(false)
  }

  /// Begins downloads until enough requests have met a behaviour, or its time is over.
  private func follow(
    _ server: MisbehavingServer, _ id: Int, of owner: ChaosVictim, _ fault: ChaosFault, _ step: Int
  ) async {
    let deadline = ContinuousClock.now + Self.armedTime
    var asked = deadline - .seconds(100)
    while ContinuousClock.now < deadline, !Task.isCancelled, server.progress(of: id).left > 0 {
      if ContinuousClock.now - asked > .milliseconds(500) {
        asked = .now
        // An app begins a download when it comes to the foreground.
        if owner == .app { try? await workload.perform(.background) }
        workload.start(owner == .app ? .openApp : .reload)
      }
      try? await Task.sleep(for: .milliseconds(10))
    }
    let performed = server.progress(of: id).performed
    server.disarm(id)
    if performed > 0 { took(fault, step) }
  }

  /// A database is copied while all is down; after some more work, the copy is put back.
  private func putBack(_ victim: ChaosVictim, after milliseconds: Int, _ fault: ChaosFault, _ step: Int) async {
    let instance = target.cluster.instance
    let copy = Mutex<ClusterLoss?>(nil)
    let death = Moment.now
    let first = await target.killAll { copy.withLock { $0 = ClusterLoss(ofStore: victim, instance) } }
    for (victim, pid) in first { await measure(victim, pid, step, since: death) }
    for task in recoveries.values { await task.value }
    guard let loss = copy.withLock({ $0 }) else { return }
    try? await Task.sleep(for: .milliseconds(milliseconds))
    await lose(loss, after: nil, fault, step)
    if victim == .pushServer { workload.forgetPushes() }
  }

  /// - Parameter sequence: the last envelope that is kept; `nil` when all are.
  private func lose(_ loss: ClusterLoss, after sequence: UInt64?, _ fault: ChaosFault, _ step: Int) async {
    let death = Moment.now
    let pids = await target.killAll { loss.happen() }
    guard !pids.isEmpty else { return }
    let last = if let sequence { sequence } else { await journal.note() }
    await journal.lost(after: last)
    await killed(pids, by: fault, step, death)
  }
}
