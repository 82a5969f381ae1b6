// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import Messages

/// The device as one value: the state machines of its concerns, and what one asks of another.
///
/// An event is handled by its state machine. What that asks of others is resolved in the same step, in the order in which it
/// was asked: `resolve`. Equal events at equal times give equal steps.
package struct DeviceStateMachine: Sendable {
  package var launching: LaunchStateMachine
  package var apps: AppLifecycleStateMachine
  package var conditions: DeviceConditionsStateMachine
  package var settings: DeviceSettingsStateMachine
  package var loading: LoadingStateMachine
  package var delivery: DeliveryStateMachine
  package var timelines: TimelineStateMachine
  package var tokens: TokenStateMachine
  package var notifications: NotificationStateMachine
  package var gallery: GalleryStateMachine
  package var screen: ScreenStateMachine
  package var activities: ActivityStateMachine
  let facts: DeviceFacts
  /// When the stacks are looked at again.
  var nextTurn: Date?
  /// The next dates of concerns that look for them among all that they have, after their last change.
  private var nextLaunching: Date?
  private var nextDelivery: Date?
  /// Owners with tasks or challenges about which they are to be asked.
  private var questioned: Set<Address> = []
  /// Products whose launches are prevented, and that may still run.
  private var preventing: Set<Address> = []
  var step = DeviceStep()
  /// Processes are spawned last: the end of the former instance withdraws messages, which the next one would receive.
  private var spawns: [DeviceAction] = []

  package init(
    launching: LaunchStateMachine = LaunchStateMachine(agents: [:], suspendAfter: 1),
    apps: AppLifecycleStateMachine = AppLifecycleStateMachine(apps: []),
    conditions: DeviceConditionsStateMachine = DeviceConditionsStateMachine(),
    settings: DeviceSettingsStateMachine = DeviceSettingsStateMachine(DeviceSettings()),
    loading: LoadingStateMachine = LoadingStateMachine(settings: TransferSettings()),
    delivery: DeliveryStateMachine = DeliveryStateMachine(settings: TransferSettings()),
    timelines: TimelineStateMachine = TimelineStateMachine(extensions: []),
    tokens: TokenStateMachine = TokenStateMachine(products: []),
    notifications: NotificationStateMachine = NotificationStateMachine(device: ""),
    gallery: GalleryStateMachine = GalleryStateMachine(device: .phone),
    screen: ScreenStateMachine = ScreenStateMachine(device: .phone),
    activities: ActivityStateMachine = ActivityStateMachine(apps: []), facts: DeviceFacts = DeviceFacts()
  ) {
    self.launching = launching
    self.apps = apps
    self.conditions = conditions
    self.settings = settings
    self.loading = loading
    self.delivery = delivery
    self.timelines = timelines
    self.tokens = tokens
    self.notifications = notifications
    self.gallery = gallery
    self.screen = screen
    self.activities = activities
    self.facts = facts
  }

  package func hasQuestions(for owner: Address) -> Bool { questioned.contains(owner) }

  package mutating func handle(_ event: DeviceEvent, now: Date) -> DeviceStep {
    run(event, now)
    var next = 0
    while next < step.asked.count {
      resolve(step.asked[next], now)
      next += 1
    }
    // A date that has been reached stays until it is handled: launching does not name it again.
    if step.changed.contains(.launching), nextLaunching.map({ $0 > now }) ?? true {
      nextLaunching = launching.nextInstant(after: now)
    }
    if step.changed.contains(.delivery) { nextDelivery = delivery.nextInstant(after: now) }
    defer {
      step = DeviceStep()
      spawns = []
    }
    step.actions += spawns
    return step
  }

  // MARK: Dates

  /// The next date at which `timerFired` is due.
  package var nextInstant: Date? {
    [nextLaunching, loading.nextInstant, nextDelivery, timelines.nextInstant, nextTurn, activities.next]
      .compactMap(\.self).min()
  }

  private mutating func timerFired(_ now: Date) {
    func isDue(_ instant: Date?) -> Bool { instant.map { $0 <= now } ?? false }
    if isDue(nextLaunching) {
      nextLaunching = nil
      launch(.timerFired, now)
    }
    if isDue(loading.nextInstant) { run(.loading(.timerFired), now) }
    if isDue(nextDelivery) { take(deliver(.timerFired, now)) }
    if isDue(timelines.nextInstant) { run(.timelines(.timerFired), now) }
    if isDue(nextTurn) { turnStacks(mayTurn: true, now) }
    if isDue(activities.next) { advanceActivities(now) }
  }

  // MARK: One concern

  mutating func run(_ event: DeviceEvent, _ now: Date) {
    switch event {
    case .launching(let event): launch(event, now)
    case .apps(let event):
      step.changed.insert(.apps)
      for action in apps.handle(event) { take(action) }
    case .conditions(let event):
      step.changed.insert(.conditions)
      for action in conditions.handle(event) { take(action) }
    case .settings(let event):
      step.changed.insert(.settings)
      for action in settings.handle(event) { take(action) }
    case .loading(let event):
      step.changed.insert(.loading)
      step.actions += loading.handle(event, now: now).map(DeviceAction.loading)
    case .delivery(let event): take(deliver(event, now))
    case .timelines(let event):
      step.changed.insert(.timelines)
      for action in timelines.handle(event, now: now) { take(action) }
    case .tokens(let event):
      step.changed.insert(.tokens)
      for action in tokens.handle(event) { take(action) }
    case .notifications(let events):
      step.changed.insert(.notifications)
      let actions = events.flatMap { notifications.handle($0) }
      for action in actions { take(action) }
    case .gallery(let event): step.reply = Result { () throws(BusError) in try handle(event, now) }
    case .activities(let event): step.reply = Result { () throws(BusError) in try handle(event, now) }
    case .asked(let request): step.asked.append(request)
    case .ownerProcess(let action): ask(forEvents: action)
    case .runs(let address, let generation): runs(address, generation, now)
    case .resumed(let owner, let generation): resume(owner, generation, now)
    case .front(let app, let isInFront): setFront(app, isInFront, now)
    case .questions(let owner, let areOpen):
      if areOpen { questioned.insert(owner) } else { questioned.remove(owner) }
    case .quit(let app, let sessions): quit(app, sessions, now)
    case .pushWidgets(let widgets, let dropsRemoved):
      run(.tokens(.widgets(widgets)), now)
      notifications.placements = tokens.reloadedPlacements.mapValues { placed in
        Dictionary(uniqueKeysWithValues: placed.map { ($0.id, $0.kind) })
      }
      if dropsRemoved { run(.notifications([.placed]), now) }
    case .launchesPrevented(let products, let why):
      preventing.formUnion(products)
      for product in products { launch(.launchesPrevented(product, why: why), now) }
    case .launchesAllowed(let products):
      preventing.subtract(products)
      for product in products { launch(.launchesAllowed(product), now) }
    case .timerFired: timerFired(now)
    }
  }

  mutating func launch(_ event: LaunchStateMachine.Event, _ now: Date) {
    step.changed.insert(.launching)
    for action in launching.handle(event, now: now) {
      switch action {
      case .output(let output): step.asked.append(.launch(output))
      case .spawn: spawns.append(.launching(action))
      case .signal, .list, .pause, .changed: step.actions.append(.launching(action))
      }
    }
    for product in preventing.filter(launching.isOver).sorted(by: { $0.text < $1.text }) {
      preventing.remove(product)
      step.asked.append(.launch(.launchesPrevented(product)))
    }
  }

  private mutating func deliver(_ event: DeliveryStateMachine.Event, _ now: Date) -> [DeliveryStateMachine.Action] {
    step.changed.insert(.delivery)
    return delivery.handle(event, now: now)
  }

  private mutating func take(_ action: AppLifecycleStateMachine.Action) {
    switch action {
    case .output(let output): step.asked.append(.app(output))
    case .process(let action): step.asked.append(.process(action))
    case .notify, .stopNotifying, .move, .updateEnded: step.actions.append(.apps(action))
    }
  }

  private mutating func take(_ action: DeviceConditionsStateMachine.Action) {
    if case .output(let output) = action {
      step.asked.append(.conditions(output))
    } else {
      step.actions.append(.conditions(action))
    }
  }

  private mutating func take(_ action: DeviceSettingsStateMachine.Action) {
    if case .output(let output) = action {
      step.asked.append(.conditions(output))
    } else {
      step.actions.append(.settings(action))
    }
  }

  private mutating func take(_ actions: [DeliveryStateMachine.Action]) {
    for action in actions {
      if case .process(let action) = action { ask(forEvents: action) } else { step.actions.append(.delivery(action)) }
    }
  }

  private mutating func ask(forEvents action: ProcessAction) {
    step.asked.append(.process(facts.launchesForEvents ? action : action.withoutWake))
  }

  private mutating func take(_ action: TimelineStateMachine.Action) {
    switch action {
    case .output(let output): step.asked.append(.timelines(output))
    case .report(let report): step.asked.append(.report(report))
    case .process(let process):
      step.asked.append(.process(process))
      // Its time limit begins.
      step.actions.append(.timelines(action))
    default: step.actions.append(.timelines(action))
    }
  }

  private mutating func take(_ action: TokenStateMachine.Action) {
    switch action {
    case .output(let output): step.asked.append(.push(output))
    case .process(let action): step.asked.append(.process(action))
    default: step.actions.append(.tokens(action))
    }
  }

  private mutating func take(_ action: NotificationStateMachine.Action) {
    switch action {
    // A newer push of the same step replaced it.
    case .output(.reload(let push, _)) where notifications.notification(push) == nil: break
    case .output(let output): step.asked.append(.push(output))
    case .process(let action): step.asked.append(.process(action))
    case .step, .ask: step.actions.append(.notifications(action))
    }
  }

  // MARK: What one concern asks of another

  private mutating func resolve(_ request: DeviceRequest, _ now: Date) {
    switch request {
    case .launch(let output): resolve(output, now)
    case .process(.want(let address, let assertion, let mayWake)):
      launch(.wanted(address, assertion, mayWake: mayWake), now)
    case .process(.release(let address, let assertion)): launch(.released(address, assertion), now)
    case .process(.halt(let address, let assertion)): launch(.halted(address, assertion), now)
    case .process(.evict(let address, let generation, let why)):
      launch(.evicted(address, generation: generation, why: why), now)
    case .app(.cancelTransfers(let app)):
      let sessions = loading.sessions(quitWith: app)
      let tasks = loading.keys(of: Set(sessions))
      quit(app, sessions, now)
      step.actions.append(.endTasks(tasks, of: app))
    case .app(.preventLaunches(let products, let why)): run(.launchesPrevented(products, why: why), now)
    case .app(.allowLaunches(let products)): run(.launchesAllowed(products), now)
    case .conditions(.networkChanged(let state)):
      step.actions.append(.network(state))
      run(.loading(.network(state)), now)
    case .conditions(.settingChanged(let change, let settings)): changed(change, settings, now)
    case .timelines(.relevanceChanged): turnStacks(mayTurn: true, now)
    case .report(let report): run(.notifications([.reported(report)]), now)
    case .push(let output): resolve(output, now)
    }
  }

  private mutating func resolve(_ output: LaunchOutput, _ now: Date) {
    switch output {
    case .awake(let address, let instance, false, let because?) where because.isForEvents:
      // An answer to transfers, which nothing else waits for.
      awake(owner: address, instance.generation, woken: false, because, now)
    case .awake(let address, let instance, let woken, _):
      // The first three are known to the process or to its transfers before their events are delivered.
      if address.role == .app { setFront(address, launching.isInFront(address), now) }
      runs(address, instance.generation, now)
      awake(owner: address, instance.generation, woken: woken, nil, now)
      if address.role == .widgetExtension { run(.timelines(.awake(address)), now) }
      if address.role == .app { launched(address) }
      run(.tokens(.awake(address)), now)
      run(.notifications([.awake(address)]), now)
      if address.role == .app { run(.apps(.awake(address)), now) }
    case .suspended(let address, let instance):
      run(.conditions(.suspended(address, generation: instance.generation)), now)
      run(.settings(.suspended(address, generation: instance.generation)), now)
      run(.delivery(.suspended(address, generation: instance.generation)), now)
    case .ended(let address, let instance, _): ended(address, instance.generation, now)
    case .launchesPrevented(let address): run(.apps(.launchesPrevented(address)), now)
    }
  }

  private mutating func runs(_ address: Address, _ generation: UInt32, _ now: Date) {
    run(.conditions(.runs(address, generation: generation)), now)
    run(.settings(.runs(address, generation: generation)), now)
  }

  /// The owner of sessions runs. `woken`: it was launched or resumed a moment ago.
  private mutating func awake(
    owner: Address, _ generation: UInt32, woken: Bool, _ because: Assertion?, _ now: Date
  ) {
    resume(owner, generation, now)
    let actions = deliver(.awake(owner, generation: generation, woken: woken, because: because), now)
    // The limiter is raised before the handler is called (observed).
    if woken, actions.contains(where: \.isDelivery) || questioned.contains(owner) { run(.loading(.woken(owner)), now) }
    take(actions)
    step.actions.append(.ask(owner: owner, woken: woken))
  }

  private mutating func ended(_ address: Address, _ generation: UInt32, _ now: Date) {
    if address.role == .app { setFront(address, false, now) }
    step.actions.append(.instanceEnded(address, deliveries: delivery.deliveries(to: address, generation: generation)))
    // Before all others: it stops messages to this instance.
    run(.delivery(.instanceEnded(address, generation: generation)), now)
    run(.conditions(.ended(address, generation: generation)), now)
    run(.settings(.ended(address, generation: generation)), now)
    if address.role == .app { run(.apps(.instanceEnded(address, isQuit: launching.isQuit(address))), now) }
    if address.role == .widgetExtension { run(.timelines(.instanceEnded(address)), now) }
    run(.tokens(.instanceEnded(address)), now)
    run(.notifications([.instanceEnded(address)]), now)
    endedOnScreen(address, now)
  }

  mutating func setFront(_ app: Address, _ isInFront: Bool, _ now: Date) {
    run(.loading(.front(app, isInFront)), now)
    run(.timelines(.inFront(app: app, isInFront)), now)
  }

  private mutating func quit(_ app: Address, _ sessions: [SessionKey], _ now: Date) {
    run(.loading(.front(app, false)), now)
    for session in sessions { run(.delivery(.quit(session)), now) }
  }

  private mutating func changed(_ change: SettingChange, _ settings: DeviceSettings, _ now: Date) {
    let name = change.name
    if name == .timeZone, let zone = TimeZone(identifier: settings.timeZone) { run(.timelines(.timeZone(zone)), now) }
    // Before the reloads: the next instance of each process has the language from its beginning.
    if name == .locale { launch(.allEvicted(why: "the language or region of the device changed"), now) }
    // Where the device is changes no view: `device moved` requests the reloads.
    if !name.isOfLocation {
      archiveActivitiesAgain(now)
      run(.timelines(.systemChanged(name.rawValue, .none)), now)
    }
    run(.settings(.announced(change)), now)
  }

  private mutating func resolve(_ output: PushOutput, _ now: Date) {
    switch output {
    case .reload(let push, let placements):
      for placement in placements {
        run(.timelines(.reloadOne(placement, .push, MessageContext(correlation: push))), now)
      }
    case .offer(let push, let app, let wakes): offer(push, to: app, wakes: wakes, now)
    case .activity(let notification): receive(notification, now)
    case .activityToken(let key, let token): set(token, key, now)
    }
  }

  /// Source: `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`; an app in the background receives
  /// only notifications with `content-available`, and the user sees the others.
  private mutating func offer(_ push: UUID, to app: Address, wakes: Bool, _ now: Date) {
    guard apps.contains(app) else {
      return run(.notifications([.discarded(push, "the device has no app \(app.bundleIdentifier ?? "")")]), now)
    }
    guard launching.isInFront(app) || wakes else { return run(.notifications([.shown(push)]), now) }
    guard !launching.isQuit(app) else {
      let reason = "the user force-quit the app, and a notification does not launch it"
      return run(.notifications([.discarded(push, reason)]), now)
    }
    run(.notifications([.expect(push)]), now)
    guard notifications.notification(push) != nil else { return }
    launch(.wanted(app, NotificationStateMachine.assertion(push), mayWake: true), now)
  }

  // MARK: Sessions

  /// An instance is resumed: it loses the sessions to which another process has connected since its suspension.
  private mutating func resume(_ owner: Address, _ generation: UInt32, _ now: Date) {
    for (key, holder) in delivery.sessionsTaken(from: owner, generation: generation, loading.families) {
      run(.delivery(.closed(key, generation: generation)), now)
      let taken = SessionTaken(session: key.identifier, generation: generation, holder: holder)
      step.actions.append(.sessionTaken(taken, key))
    }
  }
}
