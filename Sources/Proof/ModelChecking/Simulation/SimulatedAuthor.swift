// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Glibc
import Messages

/// One instance of an extension or an app, as the author wrote it and the SDK runs it.
///
/// It creates its session at its start, in its handler or in its provider (*Downloading files in the background*), returns
/// timelines, calls completion handlers, and may exit at any time and take any time. What it records, and in which order,
/// is that of `SessionDelivery` and `SessionCore`.
final class SimulatedAuthor {
  private enum Opening {
    case no
    case asking(whenDone: [() -> Void])
    case open
  }

  static let session = "com.example.Lab.session"

  private unowned let cluster: SimulatedCluster
  private let agent: SimulatedAgent
  let address: Address
  let connection: SimulatedConnection
  private var opening = Opening.no
  private var nextTask = 1
  /// The host has replied to `process.ready`; how often.
  private var rounds = 0
  private var isAnnouncing = false
  private var mustAnnounceAgain = false
  /// Deliveries that wait for the earlier one.
  private var turn: [(events: SessionEvents, envelope: Envelope)] = []
  private var isInTurn = false
  /// Completion handlers that are not called yet, by delivery.
  private var completions: [UUID: () -> Void] = [:]

  private var time: VirtualTime { cluster.time }
  private var host: Address { cluster.hostAddress }
  private var sessionContext: MessageContext {
    MessageContext(correlation: MessageContext.correlation(ofSession: Self.session, of: address))
  }

  init(_ cluster: SimulatedCluster, _ address: Address, generation: UInt32, agent: SimulatedAgent) {
    self.cluster = cluster
    self.agent = agent
    self.address = address
    connection = SimulatedConnection(
      address, on: cluster.bus, pid: cluster.nextPid(), incarnation: cluster.time.dice.uuid(), generation: generation)
  }

  // MARK: Life

  func start() {
    listen()
    // A process can end before it is ready.
    if errs(in: 300) {
      return connection.after(time.span(2_000, 5_000), "exits at its start") { [self] in end(.exited(code: 1)) }
    }
    connection.after(time.span(8_000, 30_000), "starts") { [self] in
      cluster.bus.connect(connection)
      announce()
      if address.role == .app || !cluster.user.isActive || time.dice.isOne(in: 4) { open {} }
    }
  }

  /// Whether the author makes a mistake, once in `times`. At the end of a simulation none does.
  private func errs(in times: Int) -> Bool { cluster.user.isActive && time.dice.isOne(in: times) }

  /// The kernel ends it, with its agent.
  func kill() { connection.kill() }

  /// It ends, and its agent learns of that.
  func end(_ ending: Ending) {
    guard connection.isAlive else { return }
    connection.kill()
    agent.ended(self, ending)
  }

  private var executable: String { address.role == .app ? "containing-app" : "widget-extension" }

  /// `HostAnnouncer`: at the start, and each time the host returns.
  private func announce() {
    guard !isAnnouncing else {
      mustAnnounceAgain = true
      return
    }
    isAnnouncing = true
    mustAnnounceAgain = false
    let ready = ProcessReady(
      pid: connection.pid, executable: executable,
      widgets: address.role == .widgetExtension ? SimulatedCluster.declarations : [])
    connection.request(ready, to: host, within: 24 * Span.hour) { [unowned self] result in
      isAnnouncing = false
      if case .success = result {
        rounds += 1
        if rounds > 1, case .open = opening { requestSession() }
        if rounds == 1, address.role == .app { launched() }
      }
      if mustAnnounceAgain { announce() }
    }
  }

  private func listen() {
    connection.onPresence = { [unowned self] presence in
      guard presence.address == host, presence.isPresent, rounds > 0 else { return }
      announce()
    }
    connection.onRequest(Ping.self) { [unowned self] _, envelope in
      connection.reply(envelope, to: Ping.self, Ping.Reply(pid: connection.pid, isReady: rounds > 0))
    }
    connection.onEvent(SessionEvents.self) { [unowned self] in received($0, $1) }
    connection.onNotice(ExpireEvents.self) { [unowned self] notice, _ in
      // Three of four authors call the completion when their time is over.
      if !time.dice.isOne(in: 4), let call = completions.removeValue(forKey: notice.delivery) { call() }
    }
    connection.onRequest(RequestTimeline.self) { [unowned self] in provide($0, $1) }
    connection.onRequest(TellPushHandlers.self) { [unowned self] _, envelope in
      connection.after(time.span(500, 4_000), "its push handler returns") { [self] in
        connection.reply(envelope, to: TellPushHandlers.self, TellPushHandlers.Reply(handlers: ["Drinks"]))
      }
    }
    connection.onRequest(ReceiveNotification.self) { [unowned self] _, envelope in
      connection.after(time.span(1_000, 50_000), "handles a notification") { [self] in
        connection.reply(envelope, to: ReceiveNotification.self, ReceiveNotification.Reply(result: .newData))
      }
    }
    connection.onEvent(AppActivation.self) { [unowned self] activation, envelope in
      connection.acknowledge(envelope)
      if activation.isActive, rounds > 0 { open {} }
    }
    connection.onEvent(AppTokenChanged.self) { [unowned self] _, envelope in connection.acknowledge(envelope) }
    connection.onEvent(OpenFromWidget.self) { [unowned self] _, envelope in connection.acknowledge(envelope) }
    connection.onEvent(SessionTaken.self) { [unowned self] _, envelope in
      // Another process has the session now: this session object is invalid.
      opening = .no
      connection.acknowledge(envelope)
    }
  }

  /// What the app does when it is launched.
  private func launched() {
    connection.request(RegisterForPushes(), to: host, within: 24 * Span.hour) { _ in }
    if time.dice.isOne(in: 2) { createTasks(1 + time.dice.below(3)) {} }
    if time.dice.isOne(in: 2) {
      connection.after(time.span(20_000, 900_000), "reloads the timelines") { [self] in reload(nil, .none) }
    }
  }

  private func reload(_ method: String?, _ context: MessageContext) {
    let kind = time.dice.isOne(in: 3) ? nil : SimulatedCluster.declarations[time.dice.below(2)].kind
    connection.deliver(ReloadTimelines(widgetKind: kind, within: method), to: host, context)
  }

  // MARK: The session

  /// Opens the session, and calls `done` when the host has replied.
  private func open(_ done: @escaping () -> Void) {
    switch opening {
    case .open: done()
    case .asking(let whenDone): opening = .asking(whenDone: whenDone + [done])
    case .no:
      opening = .asking(whenDone: [done])
      requestSession()
    }
  }

  private func requestSession() {
    var configuration = SessionConfiguration()
    configuration.timeoutIntervalForResource = 7_200
    connection.request(
      OpenSession(identifier: Self.session, configuration: configuration), to: host, sessionContext,
      within: 24 * Span.hour
    ) { [unowned self] result in
      let whenDone = if case .asking(let whenDone) = opening { whenDone } else { [() -> Void]() }
      switch result {
      case .success(let reply):
        nextTask = max(nextTask, reply.nextTaskIdentifier)
        opening = .open
      case .failure: opening = .no
      }
      for done in whenDone { done() }
    }
  }

  /// Creates tasks, and calls `done` when the host has accepted them.
  private func createTasks(_ count: Int, _ done: @escaping () -> Void) {
    guard count > 0, cluster.user.isActive else { return done() }
    open { [self] in
      guard case .open = opening else { return done() }
      let number = nextTask
      nextTask += 1
      let create = CreateTransfer(
        session: Self.session, taskIdentifier: number,
        request: TransferRequest(url: "https://example.com/drinks/\(number)"), taskDescription: nil)
      connection.request(create, to: host, sessionContext, within: 10 * Span.second) { [self] _ in
        createTasks(count - 1, done)
      }
    }
  }

  // MARK: Events

  private func received(_ events: SessionEvents, _ envelope: Envelope) {
    guard !isInTurn else { return turn.append((events, envelope)) }
    isInTurn = true
    handle(events, envelope)
  }

  private func endTurn() {
    isInTurn = false
    guard !turn.isEmpty else { return }
    let (events, envelope) = turn.removeFirst()
    received(events, envelope)
  }

  private func handle(_ events: SessionEvents, _ envelope: Envelope) {
    let id = envelope.header.id
    let context = MessageContext(cause: id, correlation: sessionContext.correlation)
    let isOpen = if case .open = opening { true } else { false }
    // Some authors forget the handler.
    guard isOpen || !errs(in: 150) else {
      connection.fail(
        envelope, BusError(.unclaimed, "session \(events.session) is not open, and no handler matches it"))
      return endTurn()
    }
    let wakesHandler = events.wakesHandler || !isOpen
    connection.after(time.span(300, 2_000), "handles events") { [self] in
      if wakesHandler {
        connection.notify(HandlerCalled(session: events.session, pid: connection.pid, matching: 1), context)
      }
      open { [self] in callDelegate(events.outcomes[...], events, envelope, wakesHandler, context) }
    }
  }

  private func callDelegate(
    _ outcomes: ArraySlice<TaskOutcome>, _ events: SessionEvents, _ envelope: Envelope, _ wakesHandler: Bool,
    _ context: MessageContext
  ) {
    guard let outcome = outcomes.first else {
      if wakesHandler || events.finishes {
        connection.notify(DelegateCalled(session: events.session, method: "urlSessionDidFinishEvents"), context)
      }
      if time.dice.isOne(in: 3) { reload(nil, context) }
      endTurn()
      return complete(events, envelope, wakesHandler, context)
    }
    connection.after(time.span(100, 1_500), "calls the delegate") { [self] in
      let task = outcome.task.taskIdentifier
      if let file = outcome.file {
        let content = cluster.files[file]
        connection.notify(
          DelegateCalled(
            session: events.session, method: "didFinishDownloadingTo", taskIdentifier: task, bytes: content?.bytes,
            sha256: content?.sha256), context)
      }
      connection.notify(
        DelegateCalled(
          session: events.session, method: "didCompleteWithError", taskIdentifier: task,
          failureCode: outcome.failure?.code), context)
      callDelegate(outcomes.dropFirst(), events, envelope, wakesHandler, context)
    }
  }

  private func complete(
    _ events: SessionEvents, _ envelope: Envelope, _ wakesHandler: Bool, _ context: MessageContext
  ) {
    guard wakesHandler else { return connection.acknowledge(envelope) }
    completions[envelope.header.id] = { [self] in
      connection.notify(CompletionCalled(session: events.session, outstanding: 0), context)
      connection.acknowledge(envelope)
    }
    // Some authors forget the completion handler.
    guard !errs(in: 120) else { return }
    connection.after(time.span(500, 60_000), "calls the completion handler") { [self] in
      completions.removeValue(forKey: envelope.header.id)?()
    }
  }

  // MARK: Timelines

  private func provide(_ request: RequestTimeline, _ envelope: Envelope) {
    guard cluster.user.isActive else { return open { [self] in answer(request, envelope) } }
    let choice = time.dice.below(100)
    switch choice {
    case 0: return  // It never calls its completion.
    case 1: return connection.after(time.span(1_000, 9_000), "crashes") { [self] in end(.signalled(signal: SIGSEGV)) }
    case 2:
      return connection.after(time.span(1_000, 9_000), "fails") { [self] in
        connection.fail(envelope, BusError(.failed, "the provider has no data"))
      }
    case 3...40 where request.purpose == .timeline:
      return createTasks(1 + time.dice.below(5)) { [self] in answer(request, envelope) }
    default: answer(request, envelope)
    }
  }

  private func answer(_ request: RequestTimeline, _ envelope: Envelope) {
    connection.after(time.span(2_000, 80_000), "returns a timeline") { [self] in
      let now = time.date
      let count = 1 + time.dice.below(4)
      let pause = 300 * (1 + time.dice.below(12))
      let number = time.dice.below(1_000)
      let entries = (0..<count).map { index in
        ArchivedEntry(
          date: now.addingTimeInterval(Double(index * pause)),
          view: ViewArchive(ViewName(rawValue: "Text"), [.text: .string("\(number + index) drinks")]))
      }
      let policy: ReloadPolicy =
        switch time.dice.below(4) {
        case 0: .never
        case 1: .after(now.addingTimeInterval(Double(pause)))
        default: .atEnd
        }
      connection.reply(
        envelope, to: RequestTimeline.self, RequestTimeline.Reply(entries: entries, policy: policy))
    }
  }
}
