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
    for step in DeviceStart.allCases {
      if step == .pushes { isOnline = machine.conditions.network.path != .off }
      let events = step.events(
        of: &machine, extensions: [SimulatedCluster.widget.bundleIdentifier ?? ""],
        apps: [SimulatedCluster.app.bundleIdentifier ?? ""])
      for event in events { handle(event) }
      if step == .notifications {
        askForTokens()
        sendReports()
      }
    }
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

// What the host receives, as `Device.listen` and `listenToUser` of the host system handle it.

extension SimulatedHost {
  func listen() {
    listenToProcesses()
    listenToPushServer()
    listenToUser()
    connection.onPresence = { [unowned self] presence in
      guard presence.isPresent else { return }
      if presence.address.role == .agent { list(presence.address) }
      if presence.address == .pushServer { handle(.conditions(.pushServerConnected)) }
    }
  }

  private func context(_ envelope: Envelope) -> MessageContext {
    MessageContext(cause: envelope.header.id, correlation: envelope.header.correlation)
  }

  private func acknowledge(_ envelope: Envelope) {
    afterCommit { [self] in connection.acknowledge(envelope) }
  }

  private func listenToProcesses() {
    connection.onEvent(AgentStarted.self) { [unowned self] event, envelope in
      handle(
        .launching(
          .agentReported(envelope.header.source, incarnation: event.incarnation, children: event.children)))
      acknowledge(envelope)
    }
    connection.onEvent(ProcessExited.self) { [unowned self] event, envelope in
      handle(
        .launching(
          .exited(event.address, ProcessInstance(generation: event.generation, pid: event.pid), event.ending)))
      acknowledge(envelope)
    }
    connection.onRequest(ProcessReady.self) { [unowned self] request, envelope in
      let (source, generation) = (envelope.header.source, envelope.header.sourceGeneration)
      handle(.runs(source, generation: generation))
      if source.role == .widgetExtension { handle(.gallery(.learned(source, request.widgets, context(envelope)))) }
      handle(.launching(.ready(source, generation: generation)))
      afterCommit { [self] in connection.reply(envelope, to: ProcessReady.self, Done()) }
    }
    connection.onRequest(OpenSession.self) { [unowned self] in open($0, $1) }
    connection.onRequest(CreateTransfer.self) { [unowned self] in create($0, $1) }
    connection.onEvent(ReloadTimelines.self) { [unowned self] event, envelope in
      let source = envelope.header.source
      let isInside = source.role == .widgetExtension && event.within == "getTimeline"
      let areControls: Bool? = source.role == .operator ? nil : event.areControls ?? false
      handle(
        .timelines(
          .reload(
            from: source, kind: event.widgetKind, areControls: areControls, isInside: isInside, context(envelope))))
      acknowledge(envelope)
    }
    connection.onRequest(RegisterForPushes.self) { [unowned self] _, envelope in
      let bundle = envelope.header.source.bundleIdentifier ?? ""
      handle(.tokens(.register(app: bundle)))
      registrations.append(envelope)
      replyToRegistrations()
    }
  }

  // MARK: Pushes

  private func listenToPushServer() {
    connection.onEvent(DeliverPush.self) { [unowned self] event, envelope in
      guard machine.conditions.network.path != .off else {
        return connection.fail(envelope, BusError(.offline, "the device has no network"))
      }
      let notification = event.notification
      if let expiration = notification.expiration, notification.acceptedAt < expiration, expiration <= time.date,
        !machine.notifications.takenNotifications.contains(notification.uniqueID)
      {
        return connection.fail(envelope, BusError(.expired, "its expiration passed before it arrived"))
      }
      if !machine.notifications.takenNotifications.contains(notification.uniqueID) {
        plan(.lasting)
        handle(.notifications([.received(notification)]))
      }
      acknowledge(envelope)
    }
    connection.onEvent(TokenReplaced.self) { [unowned self] event, envelope in
      handle(.tokens(.replaced(TokenKey(event.bundle, event.use), event.token)))
      acknowledge(envelope)
    }
  }

  func perform(_ action: TokenStateMachine.Action) {
    switch action {
    case .asks: break
    case .tokensChanged: askForTokens()
    case .notify(let address, let notice): notify(address, notice)
    case .notifyApp(let address, let app, let token):
      let id = time.dice.uuid()
      calls[id] = address
      afterCommit { [self] in
        connection.deliver(AppTokenChanged(token: token), to: address, id: id) { [self] error in
          calls[id] = nil
          if error == nil { handle(.tokens(.appNotified(app: app, token))) }
        }
      }
    case .registered, .notRegistered: replyToRegistrations()
    case .withheld(let notice): record(notice)
    }
  }

  /// Replies to the apps that have a token, or are not registered.
  private func replyToRegistrations() {
    let waiting = registrations
    registrations = []
    for envelope in waiting {
      let bundle = envelope.header.source.bundleIdentifier ?? ""
      let token = machine.tokens.token(TokenKey(bundle, .app))
      guard token != nil || !machine.tokens.isRegistered(bundle) else {
        registrations.append(envelope)
        continue
      }
      afterCommit { [self] in
        connection.reply(envelope, to: RegisterForPushes.self, RegisterForPushes.Reply(token: token))
      }
    }
  }

  /// `PushService.askForTokens`.
  func askForTokens() {
    let open = machine.tokens.state.tokens.filter { $0.value.phase != .held }
    for (key, id) in asking.sorted(by: { $0.key < $1.key }) where !isOnline || open[key] == nil {
      connection.forget(id)
      asking[key] = nil
    }
    guard isOnline else { return }
    for (key, kept) in open.sorted(by: { $0.key < $1.key }) where asking[key] == nil { ask(key, kept) }
  }

  private func ask(_ key: TokenKey, _ kept: TokenStateMachine.Kept) {
    let id = time.dice.uuid()
    asking[key] = id
    func ended(_ event: TokenStateMachine.Event) {
      guard asking[key] == id else { return }
      asking[key] = nil
      handle(.tokens(event))
      askForTokens()
    }
    afterCommit { [self] in
      guard asking[key] == id else { return }
      if kept.phase == .releasing {
        connection.request(
          ReleaseToken(bundle: key.bundle, use: key.use), to: .pushServer, id: id, within: 24 * Span.hour
        ) { if case .success = $0 { ended(.released(key)) } }
      } else {
        connection.request(
          IssueToken(bundle: key.bundle, use: key.use, environment: kept.environment), to: .pushServer, id: id,
          within: 24 * Span.hour
        ) { if case .success(let reply) = $0 { ended(.issued(key, reply.token)) } }
      }
    }
  }

  private func notify(_ address: Address, _ notice: TokenStateMachine.TokenNotice) {
    let id = time.dice.uuid()
    calls[id] = address
    func ended<Reply>(_ result: Result<Reply, BusError>) {
      guard calls.removeValue(forKey: id) != nil else { return }
      if case .success = result {
        handle(.tokens(.notified(address, notice)))
      } else {
        handle(.tokens(.notNotified(address, notice)))
      }
    }
    afterCommit { [self] in
      guard calls[id] != nil else { return }
      switch notice {
      case .widgets(let request):
        connection.request(request, to: address, id: id, within: 30 * Span.second) { ended($0) }
      case .controls(let request):
        connection.request(request, to: address, id: id, within: 30 * Span.second) { ended($0) }
      }
    }
  }

  /// A notification for the app itself.
  func ask(_ app: Address, _ notification: PushedNotification) {
    let id = notification.uniqueID
    calls[id] = app
    afterCommit { [self] in
      guard calls[id] != nil else { return }
      connection.request(
        ReceiveNotification(uniqueID: id, payload: notification.payload), to: app, id: id,
        MessageContext(correlation: id), within: 30 * Span.second
      ) { [self] result in
        guard calls.removeValue(forKey: id) != nil else { return }
        switch result {
        case .success(let reply): handle(.notifications([.answered(id, reply)]))
        case .failure(let error) where error.code == .deadline: handle(.notifications([.overran(id)]))
        case .failure(let error): handle(.notifications([.closed(id, .discarded, "\(error)")]))
        }
      }
    }
  }

  /// `PushService.report`: at most a hundred unacknowledged at once.
  func sendReports() {
    while sentReports < reports.count, sentReports < 100 {
      let report = reports[sentReports]
      sentReports += 1
      afterCommit { [self] in
        connection.deliver(
          report.progress, to: .pushServer, id: report.envelope,
          MessageContext(correlation: report.progress.uniqueID)
        ) { [self] _ in
          guard let index = reports.firstIndex(where: { $0.number == report.number }) else { return }
          reports.remove(at: index)
          sentReports -= 1
          plan(.riding)
          sendReports()
        }
      }
    }
  }

  // MARK: The user

  private func answer<R: Request>(_ type: R.Type, _ envelope: Envelope, _ result: Result<R.Reply, BusError>) {
    afterCommit { [self] in
      switch result {
      case .success(let reply): connection.reply(envelope, to: type, reply)
      case .failure(let error): connection.fail(envelope, error)
      }
    }
  }

  private func listenToUser() {
    connection.onRequest(OpenApp.self) { [unowned self] request, envelope in
      let opened = ask(.gallery(.open(app: request.bundle, context(envelope))))
      if case .success = opened { handle(.apps(.opened(.app(SimulatedCluster.device, request.bundle)))) }
      answer(OpenApp.self, envelope, opened.map { _ in Done() })
    }
    connection.onRequest(ChangeScreen.self) { [unowned self] request, envelope in
      let changed = ask(.gallery(.screen(request.change, context(envelope))))
      answer(ChangeScreen.self, envelope, changed.map { _ in machine.screen.state })
    }
    connection.onRequest(SetNetwork.self) { [unowned self] request, envelope in
      plan(.lasting)
      handle(.conditions(.networkSet(request.state)))
      answer(SetNetwork.self, envelope, .success(request.state))
    }
    connection.onRequest(SetPower.self) { [unowned self] request, envelope in
      if let isAwake = request.isAwake { handle(.conditions(.powerSet(isAwake: isAwake))) }
      answer(
        SetPower.self, envelope,
        .success(SetPower.Reply(isAwake: machine.conditions.isAwake, network: machine.conditions.network)))
    }
    connection.onRequest(ForceQuitApp.self) { [unowned self] request, envelope in
      let app = Address.app(SimulatedCluster.device, request.bundle)
      handle(.apps(.forceQuit(app)))
      handle(.launching(.quit(app)))
      let sessions = machine.loading.sessions(quitWith: app)
      let tasks = machine.loading.keys(of: Set(sessions))
      handle(.quit(app: app, sessions))
      let failure = TransferFailure(code: -999, message: "cancelled", cancelledReason: 0)
      for key in tasks { end(key, failure: failure) }
      answer(ForceQuitApp.self, envelope, .success(Done()))
    }
    connection.onRequest(AddPlacement.self) { [unowned self] request, envelope in
      let added = ask(.gallery(.add(request, offer: nil, context(envelope))))
      answer(
        AddPlacement.self, envelope,
        added.flatMap { ($0 as? PlacementReport).map { .success($0) } ?? .failure(BusError(.failed, "no report")) })
    }
    connection.onRequest(RemovePlacement.self) { [unowned self] request, envelope in
      let removed = ask(.gallery(.remove(request.placement, context(envelope))))
      answer(RemovePlacement.self, envelope, removed.map { _ in Done() })
    }
    connection.onRequest(DeviceStatus.self) { [unowned self] _, envelope in
      let sessions = machine.delivery.sessions.keys.sorted().map { key in
        let session = machine.delivery.sessions[key]
        let delivered = machine.delivery.deliveries.values.filter { $0.session == key }.reduce(0) {
          $0 + $1.tasks.count
        }
        return SessionStatus(
          owner: key.owner, session: key.identifier, running: session?.running.count ?? 0,
          undelivered: (session?.ended.count ?? 0) + delivered, bytesReceived: 0)
      }
      answer(
        DeviceStatus.self, envelope,
        .success(DeviceStatus.Reply(device: SimulatedCluster.device, processes: [], sessions: sessions, timelines: [])))
    }
  }
}

extension DeviceStateMachine {
  /// Seconds for a reply of a provider. Source: `TimelineSettings.deadline`.
  fileprivate var timelineDeadline: Double { TimelineSettings().deadline }
}
