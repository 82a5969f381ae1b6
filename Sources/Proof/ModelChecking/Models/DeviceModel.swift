// SPDX-License-Identifier: Apache-2.0

import Archive
package import DeviceRules
package import Foundation
import Glibc
package import Messages

/// How often the environment of a device acts, and which parts of it do.
package struct DeviceScope: Sendable {
  /// Tasks that the extension creates.
  package var tasks: Int8 = 0
  /// Whether tasks are loaded, and not only ended.
  package var loads = false
  /// Attempts that fail.
  package var failures: Int8 = 0
  /// Changes of the network by the user. It returns by itself.
  package var networkChanges: Int8 = 0
  /// Calls of `suspend()` and `resume()`.
  package var suspensions: Int8 = 0
  /// Whether a widget is placed, whose timelines are requested.
  package var hasWidget = false
  /// Calls of `reloadTimelines(ofKind:)`.
  package var reloads: Int8 = 0
  /// Requests that the provider does not answer in time.
  package var overruns: Int8 = 0
  /// Whether the device is locked and unlocked.
  package var locks: Int8 = 0
  /// Notifications that arrive.
  package var pushes: Int8 = 0
  /// Replacements of tokens by the push server.
  package var replacements: Int8 = 0
  /// The user removes the widget.
  package var removals: Int8 = 0
  /// Calls of push handlers that do not return.
  package var failedCalls: Int8 = 0
  /// Exits of the extension.
  package var exits: Int8 = 0
  /// Exits of the host. The next one has what is on the disk.
  package var hostExits: Int8 = 0
  /// The user wants the extension for another reason.
  package var wishes: Int8 = 0
  /// The last second of the search: later states are not followed.
  package var seconds = 1_000.0
  /// Whether messages between host and agent take time.
  package var hasDelays = false
  package var faults = LaunchFaults()

  package init(_ set: (inout DeviceScope) -> Void) { set(&self) }
}

/// The whole device with one extension, one session, one widget and one push server.
package struct DeviceModel: Model {
  package struct State: Hashable, Sendable {
    package var machine: DeviceStateMachine
    package var agent: AgentEnvironment
    package var author = ExtensionEnvironment()
    var now = 0.0
    var left: Left
    var pushed: Int8 = 0
    /// The number of the reload that was requested last, and of the one that was stored last.
    var requested = 0
    var stored = 0
    /// The last call of the push handlers that returned, and whether one did not.
    var called: TokenStateMachine.TokenNotice?
    var hasFailedCall = false
    /// The reloads that were paid, by number.
    var paid: Set<Int> = []
    /// The highest number of a reload in the ledger.
    var decided = 0
    /// The generation that reported ready, and so handles messages while it is not stopped.
    var readyGeneration: UInt32 = 0
    /// Tasks that have ended, which is not on the disk.
    var unwritten: [LoadingStateMachine.Transfer] = []
    var restarts: Int8 = 0
    var objection: String?
    /// What the last action caused, for *sometimes*.
    var met: Set<Event> = []
  }

  /// How often each may still happen.
  struct Left: Hashable, Sendable {
    var tasks, failures, networkChanges, suspensions, reloads, overruns, locks, pushes, replacements, removals: Int8
    var failedCalls, exits, wishes: Int8
  }

  /// What a search must meet.
  enum Event: Hashable, Sendable {
    case woken, withoutHandler, redelivered, evicted, stopped, retried, limited, delayed, exitedDuringRequest
    case superseded, tokenReplaced, unpaid, restartedDuringWork
  }

  package enum Action: Hashable, Sendable, CustomStringConvertible {
    case agent(AgentEnvironment.Action)
    case opensSession, createsTask, suspendsTask, resumesTask
    case taskEnds(Int)
    case endIsOnDisk
    case copiesAreComplete(UUID)
    case handles(UUID)
    case completes(UUID)
    case refuses(UUID)
    case replyArrives, checkEnds
    case attemptFails(Int)
    case attemptStops(Int)
    case networkGoes, networkReturns
    case reloads, providerReplies, providerOverruns, locks, unlocks
    case pushArrives, tokenServerReplies, tokenIsReplaced, removesWidget, handlerReturns, handlerFails
    case wants, releases

    package var description: String {
      switch self {
      case .agent(let action): action.description
      case .opensSession: "the extension creates its session"
      case .createsTask: "the extension creates a task"
      case .suspendsTask: "the extension suspends its task"
      case .resumesTask: "the extension resumes its task"
      case .taskEnds(let task): "the download of task \(task) ends"
      case .endIsOnDisk: "the end of the tasks is on the disk"
      case .copiesAreComplete: "the files are copied, and the events are sent"
      case .handles: "the extension receives the events"
      case .completes: "the extension calls the completion handler"
      case .refuses: "the extension refuses the events of a session that it has not created"
      case .replyArrives: "the acknowledgement or the refusal arrives"
      case .checkEnds: "the extension has not acknowledged in time"
      case .attemptFails(let task): "an attempt to load task \(task) fails"
      case .attemptStops(let task): "the attempt to load task \(task) has stopped"
      case .networkGoes: "the network goes"
      case .networkReturns: "the network returns"
      case .reloads: "the app reloads the timelines"
      case .providerReplies: "the provider returns a timeline"
      case .providerOverruns: "the provider takes too long"
      case .locks: "the user locks the device"
      case .unlocks: "the user unlocks the device"
      case .pushArrives: "a push to the widgets arrives"
      case .tokenServerReplies: "the push server issues or releases a token"
      case .tokenIsReplaced: "the push server replaces the token"
      case .removesWidget: "the user removes the widget"
      case .handlerReturns: "the push handler returns"
      case .handlerFails: "the push handler does not return"
      case .wants: "the user configures the widget"
      case .releases: "the configuration is over"
      }
    }
  }

  package static let address = Address.widgetExtension("p", "a.W")
  static let app = Address.app("p", "a")
  static let session = SessionKey(owner: address, identifier: "s")
  private static let kind = "k"
  private static let wish: Assertion = "configuration"

  package let name: String
  package let about: String
  let scope: DeviceScope
  private let own: [Property<State>]

  package init(_ name: String, about: String, _ scope: DeviceScope, _ properties: [Property<State>]) {
    self.name = name
    self.about = about
    self.scope = scope
    own = properties
  }

  // MARK: The beginning

  static var transferSettings: TransferSettings {
    var settings = TransferSettings()
    settings.completionDeadline = 2
    settings.completionGrace = 1
    settings.redeliverAfter = 2
    settings.redeliveries = 2
    settings.resumeAfter = 1
    settings.resumeAfterMax = 2
    settings.limiterFirst = 4
    settings.limiterMax = 8
    return settings
  }

  private static var policy: BudgetPolicy {
    var policy = BudgetPolicy()
    policy.initial = 1
    policy.burst = 2
    policy.minimumSpacing = 10
    policy.hours = Array(repeating: 1, count: 24)
    policy.perDay = 4_320
    policy.learningDays = 0
    policy.standByEvery = nil
    policy.isFreeInForeground = false
    return policy
  }

  private static var timelineSettings: TimelineSettings {
    var settings = TimelineSettings()
    settings.backoff = Backoff(first: 2, limit: 4)
    return settings
  }

  private var declaration: WidgetDeclaration {
    var declaration = WidgetDeclaration(kind: Self.kind)
    declaration.families = [.systemSmall]
    if scope.pushes > 0 || scope.replacements > 0 { declaration.pushHandler = "H" }
    return declaration
  }

  static let products = [
    PushProduct(address: app, app: "a", environment: .development),
    PushProduct(address: address, app: "a", environment: .development),
  ]

  func machine(
    _ processes: [Address: LaunchStateMachine.Process] = [:], incarnations: [Address: UUID] = [:]
  ) -> DeviceStateMachine {
    DeviceStateMachine {
      $0.launching = LaunchStateMachine(
        agents: [Self.address: AgentEnvironment.agent], processes: processes, incarnations: incarnations,
        suspendAfter: 1, backoff: Backoff(first: 1, limit: 2))
      $0.loading = LoadingStateMachine(settings: Self.transferSettings, families: AppFamilies(apps: ["a"]))
      $0.delivery = DeliveryStateMachine(settings: Self.transferSettings)
      $0.timelines = TimelineStateMachine(
        extensions: [Self.address], apps: [Self.app], settings: Self.timelineSettings, policy: Self.policy)
      $0.tokens = TokenStateMachine(products: Self.products)
      $0.notifications = NotificationStateMachine(device: "p")
      $0.gallery = GalleryStateMachine(device: .phone, apps: ["a"])
      $0.facts.device = "p"
      $0.facts.extensions = [Self.address: true]
    }
  }

  package var initialState: State {
    var state = State(
      machine: machine(), agent: AgentEnvironment(scope.faults),
      left: Left(
        tasks: scope.tasks, failures: scope.failures, networkChanges: scope.networkChanges,
        suspensions: scope.suspensions, reloads: scope.reloads, overruns: scope.overruns, locks: scope.locks,
        pushes: scope.pushes, replacements: scope.replacements, removals: scope.removals,
        failedCalls: scope.failedCalls, exits: scope.exits, wishes: scope.wishes))
    state.agent.faults.crashes = scope.exits
    state.agent.faults.hostExits = scope.hostExits
    var log = Log()
    _ = state.agent.apply(.hostStarts, Self.address)
    if scope.hasWidget {
      handle(.gallery(.keep(extensions: ["a.W"], apps: ["a"])), &state, &log)
      handle(.gallery(.learned(Self.address, [declaration], .none)), &state, &log)
    }
    settle(&state, &log)
    return state
  }

  // MARK: What may happen

  package func isProgress(_ action: Action) -> Bool {
    switch action {
    case .agent(let action): AgentEnvironment.isProgress(action)
    case .opensSession, .taskEnds, .endIsOnDisk, .copiesAreComplete, .handles, .completes, .refuses, .replyArrives,
      .checkEnds, .attemptStops, .networkReturns, .providerReplies, .unlocks, .tokenServerReplies, .handlerReturns,
      .releases, .resumesTask:
      true
    case .createsTask, .suspendsTask, .attemptFails, .networkGoes, .reloads, .providerOverruns, .locks, .pushArrives,
      .tokenIsReplaced, .removesWidget, .handlerFails, .wants:
      false
    }
  }

  package func actions(in state: State) -> [Action] {
    var agent: [AgentEnvironment.Action] = []
    // Within the search no time for a resource is over: it would end what is never loaded.
    let instant = state.machine.nextInstant.flatMap { $0 < state.date.addingTimeInterval(86_400) ? $0 : nil }
    state.agent.actions(nextInstant: instant, into: &agent)
    // What is not written is never sent.
    agent.removeAll { $0 == .hostExits(forgetting: true) }
    var actions = agent.map(Action.agent)
    guard state.agent.isHostUp else { return actions }
    let left = state.left
    if scope.tasks > 0 { addTransfers(state, &actions) }
    if scope.hasWidget {
      if left.reloads > 0 { actions.append(.reloads) }
      if !state.author.requests.isEmpty {
        if state.isAwake { actions.append(.providerReplies) }
        if left.overruns > 0 { actions.append(.providerOverruns) }
      }
      if state.machine.screen.state.isLocked {
        actions.append(.unlocks)
      } else if left.locks > 0 {
        actions.append(.locks)
      }
      addPushes(state, &actions)
    }
    if state.isWished {
      actions.append(.releases)
    } else if left.wishes > 0 {
      actions.append(.wants)
    }
    return actions
  }

  private func addTransfers(_ state: State, _ actions: inout [Action]) {
    let (author, left) = (state.author, state.left)
    let delivery = state.machine.delivery
    if state.isAwake {
      let isHandling = author.attempts.contains(where: \.isBeingHandled)
      if author.openIn == nil, left.tasks > 0 || isHandling { actions.append(.opensSession) }
      if author.openIn != nil, left.tasks > 0 { actions.append(.createsTask) }
      for attempt in author.attempts where attempt.isSent && attempt.generation == state.agent.child?.generation {
        if attempt.isBeingHandled {
          if author.openIn != nil { actions.append(.completes(attempt.id)) }
        } else if attempt.wakesHandler || author.openIn != nil {
          actions.append(.handles(attempt.id))
        } else {
          actions.append(.refuses(attempt.id))
        }
      }
      if scope.suspensions > 0, author.openIn != nil, let first = state.machine.loading.transfers[Self.task(1)] {
        if first.isSuspended {
          actions.append(.resumesTask)
        } else if left.suspensions > 0 {
          actions.append(.suspendsTask)
        }
      }
    }
    if scope.loads {
      if let task = author.expired.first { actions.append(.taskEnds(task)) }
      for (task, isStopping) in author.loads.sorted(by: { $0.key < $1.key }) {
        if isStopping { actions.append(.attemptStops(task)) } else { actions.append(.taskEnds(task)) }
        if !isStopping, left.failures > 0 { actions.append(.attemptFails(task)) }
      }
      if state.machine.conditions.network.path == .off {
        actions.append(.networkReturns)
      } else if left.networkChanges > 0 {
        actions.append(.networkGoes)
      }
    } else {
      for task in (delivery.sessions[Self.session]?.running ?? []).sorted() where !author.ends.contains(task) {
        actions.append(.taskEnds(task))
      }
    }
    if !author.ends.isEmpty { actions.append(.endIsOnDisk) }
    for attempt in author.attempts where !attempt.isSent { actions.append(.copiesAreComplete(attempt.id)) }
    if !author.replies.isEmpty { actions.append(.replyArrives) }
    if !author.checks.isEmpty { actions.append(.checkEnds) }
  }

  private func addPushes(_ state: State, _ actions: inout [Action]) {
    let (machine, left) = (state.machine, state.left)
    guard scope.pushes > 0 || scope.replacements > 0 else { return }
    if machine.tokens.state.tokens.values.contains(where: { $0.phase != .held }) { actions.append(.tokenServerReplies) }
    if machine.tokens.token(TokenKey("a", .widgets)) != nil {
      if left.pushes > 0 { actions.append(.pushArrives) }
      if left.replacements > 0 { actions.append(.tokenIsReplaced) }
    }
    if left.removals > 0, !machine.gallery.state.placements.isEmpty { actions.append(.removesWidget) }
    if !state.author.calls.isEmpty {
      if state.isAwake { actions.append(.handlerReturns) }
      if left.failedCalls > 0 { actions.append(.handlerFails) }
    }
  }

  static func task(_ number: Int) -> TaskKey { TaskKey(session: session, identifier: number) }

  // MARK: The next state

  package func next(_ state: State, _ action: Action, _ log: inout Log) -> State {
    var state = state
    state.met = []
    act(action, &state, &log)
    settle(&state, &log)
    return state
  }

  package func isWithinBoundary(_ state: State) -> Bool { state.now <= scope.seconds }

  /// What happened on the way is no part of the state.
  package func representative(of state: State) -> State {
    var state = state
    state.met = []
    return state
  }

  private func act(_ action: Action, _ state: inout State, _ log: inout Log) {
    let generation = state.agent.child?.generation ?? 0
    switch action {
    case .agent(let action): act(action, &state, &log)
    case .opensSession:
      state.author.openIn = generation
      handle(.resumed(Self.address, generation: generation), &state, &log)
      handle(.loading(.opened(Self.session, SessionConfiguration(httpMaximumConnectionsPerHost: 1))), &state, &log)
      handle(
        .delivery(.opened(Self.session, sendsLaunchEvents: true, generation: generation)), &state, &log)
    case .createsTask:
      state.left.tasks -= 1
      state.author.created += 1
      let key = Self.task(Int(state.author.created))
      handle(.delivery(.created(key, by: generation)), &state, &log)
      guard scope.loads else { return }
      handle(
        .loading(.created(LoadingStateMachine.Transfer(key: key, host: "h", created: state.date))), &state, &log)
    case .suspendsTask:
      state.left.suspensions -= 1
      change(isSuspended: true, &state, &log)
    case .resumesTask: change(isSuspended: false, &state, &log)
    case .taskEnds(let task):
      state.author.ends.append(task)
      state.author.expired.removeAll { $0 == task }
      state.author.loads[task] = nil
      if let transfer = state.machine.loading.transfers[Self.task(task)] { state.unwritten.append(transfer.row) }
      handle(.delivery(.ending(Self.task(task))), &state, &log)
      if scope.loads { handle(.loading(.ended(Self.task(task))), &state, &log) }
    case .endIsOnDisk:
      let ends = state.author.ends
      state.author.ends = []
      state.unwritten = []
      handle(.delivery(.ended(ends.map(Self.task))), &state, &log)
    case .copiesAreComplete(let id):
      guard let index = state.author.attempts.firstIndex(where: { $0.id == id }) else { return }
      state.author.attempts[index].isSent = true
      handle(.delivery(.sent(id, generation: state.author.attempts[index].generation)), &state, &log)
    case .handles(let id):
      for index in state.author.attempts.indices where state.author.attempts[index].id == id {
        state.author.attempts[index].isBeingHandled = true
      }
    case .completes(let id), .refuses(let id):
      guard let index = state.author.attempts.firstIndex(where: { $0.id == id }) else { return }
      let attempt = state.author.attempts.remove(at: index)
      let isRefused = if case .refuses = action { true } else { false }
      state.author.replies.append(ExtensionEnvironment.Reply(id: id, tasks: isRefused ? nil : attempt.tasks))
    case .replyArrives:
      let reply = state.author.replies.removeFirst()
      guard let tasks = reply.tasks else { return handle(.delivery(.refused(reply.id)), &state, &log) }
      state.author.attempts.removeAll { $0.id == reply.id }
      handle(.delivery(.acknowledged(reply.id, of: tasks)), &state, &log)
    case .checkEnds:
      let check = state.author.checks.removeFirst()
      // What the owner sent before arrives before.
      while state.author.replies.contains(where: { $0.id == check.id }) { act(.replyArrives, &state, &log) }
      handle(.delivery(.overdue(check.id, generation: UInt32(check.tasks?.first ?? 0))), &state, &log)
    case .attemptFails(let task):
      state.left.failures -= 1
      state.author.loads[task] = nil
      state.met.insert(.retried)
      handle(.loading(.failed(Self.task(task), progressed: false)), &state, &log)
    case .attemptStops(let task):
      state.author.loads[task] = nil
      state.met.insert(.stopped)
      handle(.loading(.stopped(Self.task(task))), &state, &log)
    case .networkGoes:
      state.left.networkChanges -= 1
      handle(.conditions(.networkSet(NetworkState(path: .off))), &state, &log)
    case .networkReturns: handle(.conditions(.networkSet(NetworkState(path: .wifi))), &state, &log)
    case .wants:
      state.left.wishes -= 1
      handle(.launching(.process(.want(Self.address, because: Self.wish))), &state, &log)
    case .releases: handle(.launching(.process(.release(Self.address, because: Self.wish))), &state, &log)
    case .reloads, .providerReplies, .providerOverruns, .locks, .unlocks, .pushArrives, .tokenServerReplies,
      .tokenIsReplaced, .removesWidget, .handlerReturns, .handlerFails:
      actOnWidget(action, &state, &log)
    }
  }

  private func change(isSuspended: Bool, _ state: inout State, _ log: inout Log) {
    handle(
      .loading(.changed(Self.task(1), isSuspended: isSuspended, priority: nil, earliestBeginDate: nil)), &state, &log)
  }

  private func act(_ action: AgentEnvironment.Action, _ state: inout State, _ log: inout Log) {
    if action == .timerFires {
      if let instant = state.machine.nextInstant {
        state.now = max(state.now, instant.timeIntervalSinceReferenceDate)
      }
      return handle(.timerFired, &state, &log)
    }
    if action == .childExits, !state.author.requests.isEmpty { state.met.insert(.exitedDuringRequest) }
    if [.childExits, .childIsReaped, .agentExits].contains(action) { state.author.ended() }
    if action == .hostExits(forgetting: false) {
      if !state.author.isQuiet { state.met.insert(.restartedDuringWork) }
      return hostExits(&state, &log)
    }
    if action == .hostStarts { return hostStarts(&state, &log) }
    guard let event = state.agent.apply(action, Self.address) else { return }
    if action == .childIsReady {
      state.readyGeneration = state.agent.child?.generation ?? 0
      handle(.runs(Self.address, generation: state.agent.child?.generation ?? 0), &state, &log)
      if scope.hasWidget { handle(.gallery(.learned(Self.address, [declaration], .none)), &state, &log) }
    }
    handle(.launching(event), &state, &log)
  }

  private func actOnWidget(_ action: Action, _ state: inout State, _ log: inout Log) {
    switch action {
    case .reloads:
      state.left.reloads -= 1
      handle(.timelines(.reload(from: Self.app, kind: Self.kind, isInside: false, .none)), &state, &log)
      state.requested = state.machine.timelines.placements.values.compactMap { $0.pendingReload?.reload }.max() ?? 0
    case .providerReplies:
      let asked = state.author.requests.removeFirst()
      guard asked.purpose == .timeline else { return handle(.timelines(.answered(asked)), &state, &log) }
      let facts = TimelineFacts(
        reloadCause: asked.reloadCause, entries: 1, first: state.date, last: state.date, policy: .never, bytes: 1,
        digest: "", note: nil)
      state.stored = max(state.stored, asked.serial)
      handle(.timelines(.gave(asked, facts, [])), &state, &log)
    case .providerOverruns:
      state.left.overruns -= 1
      let asked = state.author.requests.removeFirst()
      handle(.timelines(.overran(asked, limit: 30)), &state, &log)
    case .locks:
      state.left.locks -= 1
      handle(.gallery(.screen(.lock, .none)), &state, &log)
    case .unlocks: handle(.gallery(.screen(.unlock, .none)), &state, &log)
    case .pushArrives:
      state.left.pushes -= 1
      state.pushed += 1
      handle(.notifications([.received(push(Int(state.pushed)))]), &state, &log)
    case .tokenServerReplies:
      guard let key = state.machine.tokens.state.tokens.filter({ $0.value.phase != .held }).keys.min() else { return }
      let isAsking = state.machine.tokens.state.tokens[key]?.phase == .asking
      handle(.tokens(isAsking ? .issued(key, "t") : .released(key)), &state, &log)
    case .tokenIsReplaced:
      state.left.replacements -= 1
      state.met.insert(.tokenReplaced)
      handle(.tokens(.replaced(TokenKey("a", .widgets), "u\(state.left.replacements)")), &state, &log)
    case .removesWidget:
      state.left.removals -= 1
      if let first = state.machine.gallery.state.placements.first {
        handle(.gallery(.remove(first.id, .none)), &state, &log)
      }
    case .handlerReturns:
      let call = state.author.calls.removeFirst()
      state.called = call
      handle(.tokens(.notified(Self.address, call)), &state, &log)
    case .handlerFails:
      state.left.failedCalls -= 1
      state.hasFailedCall = true
      handle(.tokens(.notNotified(Self.address, state.author.calls.removeFirst())), &state, &log)
    case .agent, .opensSession, .createsTask, .suspendsTask, .resumesTask, .taskEnds, .endIsOnDisk, .copiesAreComplete,
      .handles, .completes, .refuses, .replyArrives, .checkEnds, .attemptFails, .attemptStops, .networkGoes,
      .networkReturns, .wants, .releases:
      break
    }
  }

  private func push(_ number: Int) -> PushedNotification {
    PushedNotification(
      uniqueID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, UInt8(number))), apnsID: "",
      subject: PushSubject(device: "p", bundle: "a", use: .widgets), type: .widgets, priority: 10, collapseID: nil,
      payload: #"{"aps":{"content-changed":true}}"#, acceptedAt: Date(timeIntervalSinceReferenceDate: 0),
      expiration: nil, isFromStorage: false)
  }

  /// Without delays, what is on its way between host and agent arrives at once.
  private func settle(_ state: inout State, _ log: inout Log) {
    guard !scope.hasDelays else { return }
    while true {
      let action: AgentEnvironment.Action
      if !state.agent.toHost.isEmpty {
        action = .hostReceives
      } else if state.agent.spawning != nil {
        action = .childStarts
      } else if state.agent.child?.isEnding == true {
        action = .childIsReaped
      } else if !state.agent.toAgent.isEmpty {
        action = .agentReceives
      } else {
        return
      }
      act(action, &state, &log)
    }
  }

  // MARK: What the host does

  func handle(_ event: DeviceEvent, _ state: inout State, _ log: inout Log) {
    log.add("event   \(event)")
    let step = state.machine.handle(event, now: state.date)
    _ = state.machine.timelines.takeChanges()
    _ = state.machine.delivery.takeTouched()
    for action in step.actions {
      log.add("action  \(action)")
      perform(action, &state)
    }
  }

  private func perform(_ action: DeviceAction, _ state: inout State) {
    switch action {
    case .launching(let action): state.agent.perform(action)
    case .delivery(let action): perform(action, &state)
    case .loading(let action): perform(action, &state)
    case .timelines(let action): perform(action, &state)
    case .tokens(.notify(_, let notice)):
      if !state.author.calls.isEmpty { state.objection = "a push handler is called twice at once" }
      if !scope.hasDelays, !state.isAwake, state.knowsProcess {
        state.objection = "a push handler of a process that does not run is called"
      }
      state.author.calls.append(notice)
    case .notifications(.step(_, let name, _)):
      if name == .supersededOnDevice { state.met.insert(.superseded) }
      if name == .budget { state.met.insert(.delayed) }
    case .instanceEnded:
      if !state.author.calls.isEmpty { state.hasFailedCall = true }
      state.author.calls = []
    case .apps, .conditions, .settings, .tokens, .notifications, .gallery, .activities, .ask, .sessionTaken, .endTasks,
      .network:
      break
    }
  }

  private func perform(_ action: DeliveryStateMachine.Action, _ state: inout State) {
    switch action {
    case .asks: break
    case .deliver(let id, let attempt):
      guard let delivery = state.machine.delivery.deliveries[id] else { return }
      if !Set(delivery.tasks).isDisjoint(with: state.author.acknowledged) {
        state.objection = "acknowledged events are delivered again"
      }
      if !scope.hasDelays, !state.isAwake, state.knowsProcess {
        state.objection = "events are delivered to a process that does not run"
      }
      if delivery.tasks.isEmpty { state.objection = "a delivery without events" }
      if state.author.attempts.contains(where: {
        $0.id == id && $0.isBeingHandled && $0.generation == attempt.generation
      }) {
        state.met.insert(.redelivered)
      }
      if Set(delivery.tasks).count < delivery.tasks.count { state.objection = "a delivery has a task twice" }
      state.met.insert(attempt.wakesHandler ? .woken : .withoutHandler)
      if state.author.attempts.contains(where: { $0.id != id && !Set($0.tasks).isDisjoint(with: delivery.tasks) }) {
        state.objection = "the events of a task are delivered twice at once"
      }
      state.author.attempts.removeAll { $0.id == id }
      state.author.attempts.append(
        ExtensionEnvironment.Attempt(
          id: id, generation: attempt.generation, wakesHandler: attempt.wakesHandler, tasks: delivery.tasks))
    case .stop(let id):
      state.met.insert(.redelivered)
      state.author.attempts.removeAll { $0.id == id }
      state.author.checks.removeAll { $0.id == id }
    case .expire: break
    case .ask(let id, let generation):
      state.met.insert(.evicted)
      state.author.checks.append(ExtensionEnvironment.Reply(id: id, tasks: [Int(generation)]))
    case .forget(let delivery):
      state.author.attempts.removeAll { $0.id == delivery.id }
      state.author.checks.removeAll { $0.id == delivery.id }
      state.author.acknowledged.formUnion(delivery.tasks)
    }
  }

  private func perform(_ action: LoadingStateMachine.Action, _ state: inout State) {
    switch action {
    case .load(let key):
      if state.author.loads[key.identifier] != nil { state.objection = "a task is loaded twice at once" }
      if state.machine.conditions.network.path == .off { state.objection = "a task is loaded without a network" }
      if state.machine.loading.transfers[key]?.isSuspended == true { state.objection = "a suspended task is loaded" }
      state.author.loads[key.identifier] = false
    case .stop(let key):
      if state.author.loads[key.identifier] == nil { state.objection = "a task is stopped that is not loaded" }
      state.author.loads[key.identifier] = true
    case .limiter: state.met.insert(.limited)
    case .waits, .ask: break
    case .expire(let key, _):
      state.author.loads[key.identifier] = nil
      state.author.expired.append(key.identifier)
    }
  }

  private func perform(_ action: TimelineStateMachine.Action, _ state: inout State) {
    switch action {
    case .ask(let asked):
      if !scope.hasDelays, !state.isAwake, state.knowsProcess {
        state.objection = "a timeline is requested from a process that does not run"
      }
      if state.author.requests.contains(where: { $0.placement.id == asked.placement.id }) {
        state.objection = "a placement is requested twice at once"
      }
      if state.machine.screen.state.isLocked {
        state.objection = "a protected timeline is requested while the device is locked"
      }
      if state.author.requests.count >= 1 { state.objection = "an extension has more requests than the settings allow" }
      if asked.purpose == .timeline, asked.placement.id > 0, !state.paid.contains(asked.serial) {
        state.objection = "a timeline is requested that was not paid"
      }
      state.author.requests.append(asked)
    case .stopAsking(let asked): state.author.requests.removeAll { $0 == asked }
    case .decided(let decided, _):
      state.decided = max(state.decided, decided.entry.reload)
      switch decided.entry.verdict {
      case .granted:
        if !state.paid.insert(decided.entry.reload).inserted { state.objection = "a reload is paid twice" }
        if decided.entry.balance < -1e-3 { state.objection = "a budget is overdrawn" }
      case .free: state.paid.insert(decided.entry.reload)
      case .delayed: state.met.insert(decided.entry.rule == "budget" ? .unpaid : .delayed)
      case .merged, .refused: break
      }
    case .asks, .shown, .reloadFailed, .noSnapshot: break
    }
  }

  package var properties: [Property<State>] {
    let restarts: [Property<State>] =
      scope.hostExits == 0
      ? [] : [.sometimes("the host is killed while work is in progress") { $0.met.contains(.restartedDuringWork) }]
    return [.always("the device does nothing that it must not do") { $0.objection == nil }] + own + restarts
  }
}

extension DeviceModel.State {
  package var date: Date { Date(timeIntervalSinceReferenceDate: now) }
  package var process: LaunchStateMachine.Process {
    machine.launching.processes[DeviceModel.address] ?? LaunchStateMachine.Process()
  }

  /// Whether the extension runs, and handles messages.
  var isAwake: Bool { agent.child.map { !$0.isStopped && $0.generation == readyGeneration && !$0.isEnding } ?? false }

  /// Whether the host has learned what happened to the process while there was no host.
  var knowsProcess: Bool {
    agent.unacknowledged.isEmpty && agent.listing == .no
      && machine.launching.reportedAgents.contains(AgentEnvironment.agent)
  }

  var isWished: Bool { process.assertions.contains("configuration") }

  /// Nothing is on its way, and no process is kept running.
  var isQuiet: Bool { agent.isQuiet && author.isQuiet && process.assertions.isEmpty }

  /// All events of all tasks have been handled.
  var areEventsHandled: Bool {
    // After several deliveries without an acknowledgement, they wait until a process creates the session.
    let deliveries = machine.delivery.deliveries.values
    return isQuiet && deliveries.allSatisfy(\.isHeld)
      && author.acknowledged.count + deliveries.reduce(0) { $0 + $1.tasks.count } == Int(author.created)
  }

  /// No reload is pending.
  var areTimelinesStored: Bool {
    isQuiet && stored >= requested
      && machine.timelines.placements.values.allSatisfy { $0.pendingReload == nil && $0.timeline != nil }
  }

  /// After a call that did not return, the next one may wait for a launch with another cause.
  private var haveHandlersTheToken: Bool {
    guard let placement = machine.gallery.state.placements.first else { return machine.tokens.state.tokens.isEmpty }
    guard !hasFailedCall, let token = machine.tokens.token(TokenKey("a", .widgets)) else { return hasFailedCall }
    return called == .widgets(TellPushHandlers(token: token, widgets: [placement]))
  }

  /// Every notification has its results, and every handler has the tokens.
  var arePushesHandled: Bool {
    isQuiet && machine.notifications.open.isEmpty
      && machine.tokens.state.tokens.values.allSatisfy { $0.phase == .held } && haveHandlersTheToken
  }
}
