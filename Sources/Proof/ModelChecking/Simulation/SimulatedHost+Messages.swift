// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import Messages

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
        case .success(let reply): handle(.notifications([.answered(id, reply.result)]))
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
