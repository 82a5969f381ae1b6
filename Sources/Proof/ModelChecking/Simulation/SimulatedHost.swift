// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import Messages

/// The host of the device: the real `DeviceStateMachine`, and what the services of `Device` do around it. What it sends
/// waits for the transaction of all changes before it, as with `CommittedBus`.
final class SimulatedHost {
  unowned let cluster: SimulatedCluster
  let connection: SimulatedConnection
  let disk: HostDisk
  var machine: DeviceStateMachine
  /// The alarm that is set.
  private var alarm: Int64?
  private var inbox: [DeviceEvent] = []
  private var isHandling = false
  private var reply: Result<any Sendable, BusError>?
  // What waits for the next transaction.
  private var outbox: [() -> Void] = []
  private var isCommitPlanned = false
  private var isRidePlanned = false
  // Launching.
  private var listing: [Address: Bool] = [:]
  // Transfers.
  var attempts: [TaskKey: Int] = [:]
  var lastAttempt = 0
  var ends: [HostDisk.End] = []
  var deliveries: [UUID: Int] = [:]
  var lastDelivery = 0
  var acknowledged: [DeliveryStateMachine.Delivery] = []
  // Timelines.
  var timelineRequests: [TimelineStateMachine.ProviderRequest: UUID] = [:]
  private var stalls: [Address: Int] = [:]
  private var lastStall = 0
  var answered: (asked: TimelineStateMachine.ProviderRequest, facts: TimelineFacts)?
  var lastLine: Int
  var lastReload: Int
  // Pushes.
  var isOnline = true
  var asking: [TokenKey: UUID] = [:]
  var calls: [UUID: Address] = [:]
  var registrations: [Envelope] = []
  var reports: [HostDisk.Report]
  var lastReport: Int64
  var sentReports = 0
  private var activations: [Address: UUID] = [:]
  private var reach: UUID?

  var time: VirtualTime { cluster.time }
  var address: Address { cluster.hostAddress }

  init(_ cluster: SimulatedCluster) {
    self.cluster = cluster
    disk = cluster.hostDisk
    disk.opening += 1
    machine = disk.restored(cluster)
    (lastLine, lastReload) = (disk.lastLine, disk.lastReload)
    (reports, lastReport) = (disk.reports, disk.lastReport)
    connection = SimulatedConnection(
      cluster.hostAddress, on: cluster.bus, pid: cluster.nextPid(), incarnation: cluster.time.dice.uuid(),
      store: (disk.identity, disk.opening))
    listen()
    resume()
    cluster.bus.connect(connection)
    // `Device.connected`.
    for agent in SimulatedCluster.agents.values.sorted(by: { $0.text < $1.text }) { list(agent) }
  }

  func kill() { connection.kill() }

  /// `Device.resume`.
  private func resume() {
    func instances(_ state: LaunchStateMachine.State) -> [Address: UInt32] {
      machine.launching.processes.compactMapValues { $0.state == state ? $0.instance?.generation : nil }
    }
    handle(
      .gallery(
        .keep(
          extensions: [SimulatedCluster.widget.bundleIdentifier ?? ""],
          apps: [SimulatedCluster.app.bundleIdentifier ?? ""])))
    handle(.conditions(.began(running: instances(.running))))
    handle(.settings(.began(running: instances(.running))))
    machine.delivery.suspendedInstances = instances(.suspended)
    handle(.delivery(.began))
    handle(.loading(.network(machine.conditions.network)))
    handle(.loading(.began))
    let quit = machine.launching.processes.filter(\.value.isQuit).keys.sorted { $0.text < $1.text }
    handle(.apps(.began(moving: [], quit: quit)))
    handle(.gallery(.began))
    isOnline = machine.conditions.network.path != .off
    let widgets = machine.pushWidgets
    let known = machine.timelines.reports
    handle(.pushWidgets(widgets, dropsRemoved: false))
    handle(.tokens(.began))
    handle(.notifications([.began(known)]))
    handle(.notifications(machine.notifications.open.filter { !$0.reloads }.map { .resumed($0.id) }))
    askForTokens()
    sendReports()
    handle(.timelines(.began))
    handle(.gallery(.turnStacks))
  }

  // MARK: Steps

  /// `DeviceCore.handle`.
  func handle(_ event: DeviceEvent) {
    inbox.append(event)
    guard !isHandling, connection.isAlive else { return }
    isHandling = true
    var next = 0
    while next < inbox.count {
      next += 1
      let step = machine.handle(inbox[next - 1], now: time.date)
      cluster.decisions += 1
      if next == 1 { reply = step.reply }
      take(step)
    }
    inbox = []
    isHandling = false
    setAlarm()
  }

  /// Handles an event that has a reply.
  func ask(_ event: DeviceEvent) -> Result<any Sendable, BusError> {
    handle(event)
    return reply ?? .failure(BusError(.failed, "the device has no reply"))
  }

  private func take(_ step: DeviceStep) {
    var reported = false
    for action in step.actions {
      switch action {
      case .timelines(.decided(let decided, _)):
        lastLine = max(lastLine, decided.entry.number)
        lastReload = max(lastReload, decided.entry.reload)
      case .notifications(.step(let id, let name, let detail)):
        lastReport += 1
        let progress = PushProgress(uniqueID: id, step: PushStep(name, at: time.date, detail: detail))
        reports.append(HostDisk.Report(number: lastReport, envelope: time.dice.uuid(), progress: progress))
        reported = true
      default: break
      }
    }
    plan(disk.urgency(of: step, machine: &machine, hasReports: reported))
    if let (asked, facts) = answered {
      answered = nil
      recordStored(asked, facts)
    }
    for action in step.actions { perform(action) }
    if reported { sendReports() }
  }

  private func setAlarm() {
    // A date has fewer digits than a microsecond needs.
    guard let instant = machine.nextInstant.map({ max($0.microseconds, time.now) + 1 }), alarm != instant else {
      return
    }
    alarm = instant
    time.at(instant, address.short, "a date of the device is reached") { [self] in
      guard connection.isAlive, alarm == instant else { return }
      alarm = nil
      handle(.timerFired)
    }
  }

  // MARK: Transactions

  /// Does something when all changes before it are written.
  func afterCommit(_ act: @escaping () -> Void) {
    if isCommitPlanned { outbox.append(act) } else { act() }
  }

  func plan(_ urgency: HostDisk.Urgency) {
    switch urgency {
    case .nothing: break
    case .riding:
      guard !isCommitPlanned, !isRidePlanned else { return }
      isRidePlanned = true
      connection.after(Span.second, "writes what rides") { [self] in
        isRidePlanned = false
        if !isCommitPlanned { commit() }
      }
    case .soon, .lasting:
      guard !isCommitPlanned else { return }
      isCommitPlanned = true
      let span = urgency == .soon ? time.span(100, 300) : time.span(300, 1_500)
      connection.after(span, "a transaction is on the disk") { [self] in commit() }
    }
  }

  private func commit() {
    isCommitPlanned = false
    cluster.commits += 1
    let (sent, ends, acknowledged) = (outbox, self.ends, self.acknowledged)
    outbox = []
    self.ends = []
    self.acknowledged = []
    disk.commit(self, ends, acknowledged)
    for act in sent { act() }
    for end in ends { report(end) }
    for delivery in acknowledged { forgotten(delivery) }
    if !ends.isEmpty { handle(.delivery(.ended(ends.map(\.key)))) }
  }

  // MARK: Actions

  private func perform(_ action: DeviceAction) {
    switch action {
    case .launching(let action): perform(action)
    case .apps(let action): perform(action)
    case .conditions(let action): perform(action)
    case .settings(let action): perform(action)
    case .loading(let action): perform(action)
    case .delivery(let action): perform(action)
    case .timelines(let action): perform(action)
    case .tokens(let action): perform(action)
    case .notifications(.ask(let app, let notification)): ask(app, notification)
    case .notifications: break
    case .gallery(.placement(let notice, let context)): record(notice, context)
    case .gallery(.turned(let notice, let context)): record(notice, context)
    case .gallery(.screen(let notice, let context)): record(notice, context)
    case .gallery(.learned): break
    case .sessionTaken(let taken, let session):
      afterCommit { [self] in connection.deliver(taken, to: session.owner, session.context) }
    case .endTasks(let tasks, _):
      let failure = TransferFailure(code: -999, message: "cancelled", cancelledReason: 0)
      for key in tasks { end(key, failure: failure) }
    case .instanceEnded(let address, _):
      for (id, process) in calls where process == address {
        connection.forget(id)
        calls[id] = nil
      }
    case .network(let state):
      isOnline = state.path != .off
      askForTokens()
    // No Live Activities, and no questions about tasks.
    case .activities, .ask: break
    }
  }

  func record<N: Notice>(_ notice: N, _ context: MessageContext = .none) {
    afterCommit { [self] in connection.notify(notice, to: .journal, context) }
  }

  // MARK: Launching

  private func perform(_ action: LaunchStateMachine.Action) {
    switch action {
    case .spawn(let address, let reason): spawn(address, reason)
    case .signal(let address, let generation, let signal): send(signal, to: address, generation)
    case .list(let agent): list(agent)
    case .pause(let address):
      connection.after(Span.second, "the pause of a launch ends") { [self] in handle(.launching(.pauseEnded(address))) }
    case .changed(let state): record(state)
    case .asks: break
    }
  }

  private func spawn(_ address: Address, _ reason: String) {
    guard let agent = SimulatedCluster.agents[address] else { return }
    let spawn = SpawnProcess(
      address: address, executable: address.role == .app ? "containing-app" : "widget-extension", environment: [:],
      container: "containers/\(address.bundleIdentifier ?? "")", groups: [:], reason: reason)
    afterCommit { [self] in
      connection.request(spawn, to: agent, within: 20 * Span.second, waits: false) { [self] result in
        switch result {
        case .success(let reply):
          handle(.launching(.spawned(address, ProcessInstance(generation: reply.generation, pid: reply.pid))))
        case .failure(let error): handle(.launching(.spawnFailed(address, error)))
        }
      }
    }
  }

  private func send(_ signal: Int32, to address: Address, _ generation: UInt32) {
    guard let agent = SimulatedCluster.agents[address] else { return }
    let request = SignalProcess(address: address, generation: generation, signal: signal)
    afterCommit { [self] in
      connection.request(request, to: agent, within: 5 * Span.second, waits: false) { [self] result in
        switch result {
        case .success: handle(.launching(.signalled(address, generation: generation, signal: signal)))
        case .failure(let error):
          handle(.launching(.signalFailed(address, generation: generation, signal: signal, error)))
        }
      }
    }
  }

  func list(_ agent: Address) {
    guard listing[agent] == nil else {
      listing[agent] = true
      return
    }
    listing[agent] = false
    requestChildren(of: agent)
  }

  private func requestChildren(of agent: Address) {
    listing[agent] = false
    afterCommit { [self] in
      connection.request(ListProcesses(), to: agent, within: 5 * Span.second) { [self] result in
        guard case .success(let reply) = result else {
          return connection.after(Span.second, "asks an agent again") { [self] in requestChildren(of: agent) }
        }
        handle(.launching(.agentReported(agent, incarnation: reply.incarnation, children: reply.children)))
        if listing[agent] == true { requestChildren(of: agent) } else { listing[agent] = nil }
      }
    }
  }

  // MARK: Apps, conditions, settings

  private func perform(_ action: AppLifecycleStateMachine.Action) {
    switch action {
    case .notify(let app, let isActive):
      if let former = activations[app] { connection.forget(former) }
      let id = time.dice.uuid()
      activations[app] = id
      afterCommit { [self] in
        guard activations[app] == id else { return }
        connection.deliver(AppActivation(isActive: isActive), to: app, id: id)
      }
    case .stopNotifying(let app): activations.removeValue(forKey: app).map { connection.forget($0) }
    case .asks, .move, .updateEnded: break
    }
  }

  private func perform(_ action: DeviceConditionsStateMachine.Action) {
    switch action {
    case .record(let state): record(NetworkChanged(state: state))
    case .send(let state, let address):
      afterCommit { [self] in connection.notify(NetworkChanged(state: state), to: address) }
    case .report(let isOnline, let isAwake):
      if let reach { connection.forget(reach) }
      let id = time.dice.uuid()
      reach = id
      afterCommit { [self] in
        guard reach == id else { return }
        connection.deliver(DeviceReach(isOnline: isOnline, isAwake: isAwake), to: .pushServer, id: id)
      }
    case .asks, .changeClock: break
    }
  }

  private func perform(_ action: DeviceSettingsStateMachine.Action) {
    switch action {
    case .record(let settings, let name): record(SettingChanged(settings: settings, name: name))
    case .send(let settings, let address):
      afterCommit { [self] in connection.notify(SettingChanged(settings: settings), to: address) }
    case .asks, .save: break
    }
  }

  // MARK: Timelines

  private func perform(_ action: TimelineStateMachine.Action) {
    switch action {
    case .asks(.process(.want(let address, _, _))):
      guard !timelineRequests.keys.contains(where: { $0.address == address }) else { return }
      lastStall += 1
      let number = lastStall
      stalls[address] = number
      connection.after(Int64(saturating: machine.timelineDeadline * 1e6), "an extension does not start") { [self] in
        if stalls[address] == number { handle(.timelines(.stalled(address))) }
      }
    case .asks(.process(.release(let address, _))): stalls[address] = nil
    case .asks: break
    case .ask(let asked): ask(asked)
    case .stopAsking(let asked): timelineRequests.removeValue(forKey: asked).map { connection.forget($0) }
    case .decided(let decided, let context):
      if cluster.mistake == .ledgerGap, decided.entry.number.isMultiple(of: 7) { return }
      record(decided, context)
    case .shown(let notice, let context): record(notice, context)
    case .reloadFailed(let notice, let context): record(notice, context)
    case .noSnapshot: break
    }
  }

  private func ask(_ asked: TimelineStateMachine.ProviderRequest) {
    stalls[asked.address] = nil
    let id = time.dice.uuid()
    timelineRequests[asked] = id
    var environment = machine.gallery.environment(of: asked.placement)
    environment.settings = machine.settings.settings(of: asked.address)
    let request = RequestTimeline(
      asked.purpose, widgetKind: asked.placement.kind, placement: asked.placement.id, because: asked.reloadCause,
      environment: environment, configuration: asked.placement.configuration)
    let limit = machine.timelineDeadline
    connection.after(Int64(saturating: limit * 1e6), "the time for a timeline is over") { [self] in
      if timelineRequests[asked] == id { handle(.timelines(.overran(asked, limit: limit))) }
    }
    afterCommit { [self] in
      guard timelineRequests[asked] == id else { return }
      connection.request(request, to: asked.address, id: id, asked.context, within: 24 * Span.hour) { [self] result in
        guard timelineRequests[asked] == id else { return }
        timelineRequests[asked] = nil
        answered(asked, result)
      }
    }
  }

  /// `TimelineService.answered`.
  private func answered(
    _ asked: TimelineStateMachine.ProviderRequest, _ result: Result<RequestTimeline.Reply, BusError>
  ) {
    switch result {
    case .failure(let error): handle(.timelines(.failed(asked, TimelineFault(.failed, "\(error)"))))
    case .success(let reply):
      do throws(TimelineFault) {
        let kept = try StoredTimeline(reply.entries, reply: reply, limits: TimelineSettings().limits)
        guard asked.purpose == .timeline else { return handle(.timelines(.answered(asked))) }
        let facts = kept.facts(asked.reloadCause)
        answered = (asked, facts)
        handle(.timelines(.gave(asked, facts, kept.entries.map(\.upcoming))))
      } catch {
        handle(.timelines(.failed(asked, error)))
      }
    }
  }

  private func recordStored(_ asked: TimelineStateMachine.ProviderRequest, _ facts: TimelineFacts) {
    guard let placed = machine.timelines.placements[asked.placement.id], placed.timeline == facts else { return }
    let placement = placed.placement
    record(
      TimelineStored(
        bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, family: placement.family,
        because: facts.reloadCause, entries: facts.entries, first: facts.first, last: facts.last, policy: facts.policy,
        bytes: facts.bytes, digest: facts.digest, text: machine.timelines.upcoming[placement.id]?.first?.text ?? [],
        note: placed.lastFailure.map { "the last reload failed: \($0.reason)" } ?? facts.note), asked.context)
  }
}

extension DeviceStateMachine {
  /// Seconds for a reply of a provider. Source: `TimelineSettings.deadline`.
  fileprivate var timelineDeadline: Double { TimelineSettings().deadline }
}
