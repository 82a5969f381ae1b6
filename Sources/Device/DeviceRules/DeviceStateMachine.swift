// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import Messages

/// The device as one value: the state machines of its concerns, and what one asks of another.
///
/// An event is handled by its state machine. What that asks of others is resolved in the same step, in the order in which it
/// was asked: `resolve`. Equal events at equal times give equal steps.
package struct DeviceStateMachine: Sendable {
  package var launching = LaunchStateMachine(agents: [:], suspendAfter: 1)
  package var apps = AppLifecycleStateMachine(apps: [])
  package var conditions = DeviceConditionsStateMachine()
  package var settings = DeviceSettingsStateMachine(DeviceSettings())
  package var loading = LoadingStateMachine(settings: TransferSettings())
  package var delivery = DeliveryStateMachine(settings: TransferSettings())
  package var timelines = TimelineStateMachine(extensions: [])
  package var tokens = TokenStateMachine(products: [])
  package var notifications = NotificationStateMachine(device: "")
  package var gallery = GalleryStateMachine(device: .phone)
  package var screen = ScreenStateMachine(device: .phone)
  package var activities = ActivityStateMachine(apps: [])
  package var facts = DeviceFacts()
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

  /// - Parameter set: sets the concerns that are not empty.
  package init(_ set: (inout DeviceStateMachine) -> Void = { _ in }) { set(&self) }

  package func hasQuestions(for owner: Address) -> Bool { questioned.contains(owner) }

  package mutating func handle(_ event: DeviceEvent, now: Date) -> DeviceStep {
    run(event, now)
    var next = 0
    while next < step.requests.count {
      resolve(step.requests[next], now)
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
    if isDue(nextDelivery) { run(.delivery(.timerFired), now) }
    if isDue(timelines.nextInstant) { run(.timelines(.timerFired), now) }
    if isDue(nextTurn) { turnStacks(mayTurn: true, now) }
    if isDue(activities.next) { advanceActivities(now) }
  }

  // MARK: One concern

  mutating func run(_ event: DeviceEvent, _ now: Date) {
    switch event {
    case .launching(let event): launch(event, now)
    case .apps(let event): take(.apps, apps.handle(event).map(DeviceAction.apps))
    case .conditions(let event): take(.conditions, conditions.handle(event).map(DeviceAction.conditions))
    case .settings(let event): take(.settings, settings.handle(event).map(DeviceAction.settings))
    case .loading(let event): take(.loading, loading.handle(event, now: now).map(DeviceAction.loading))
    case .delivery(let event): take(.delivery, delivery.handle(event, now: now).map(DeviceAction.delivery))
    case .timelines(let event): take(.timelines, timelines.handle(event, now: now).map(DeviceAction.timelines))
    case .tokens(let event): take(.tokens, tokens.handle(event).map(DeviceAction.tokens))
    case .notifications(let events):
      let actions = events.flatMap { notifications.handle($0) }
      take(.notifications, actions.map(DeviceAction.notifications))
    case .gallery(let event):
      step.changed.insert(.gallery)
      step.reply = Result { () throws(BusError) in try handle(event, now) }
    case .activities(let event): step.reply = Result { () throws(BusError) in try handle(event, now) }
    case .asked(let request): step.requests.append(request)
    case .ownerProcess(let action): ask(forEvents: action)
    case .runs(let address, let generation): runs(address, generation: generation, now: now)
    case .resumed(let owner, let generation): resume(owner, generation: generation, now: now)
    case .questions(let owner, let areOpen):
      if areOpen { questioned.insert(owner) } else { questioned.remove(owner) }
    case .quit(let app, let sessions): quit(app, sessions: sessions, now: now)
    case .pushWidgets(let widgets, let dropsRemoved):
      run(.tokens(.widgets(widgets)), now)
      notifications.placements = tokens.reloadedPlacements.mapValues { placed in
        Dictionary(uniqueKeysWithValues: placed.map { ($0.id, $0.kind) })
      }
      if dropsRemoved { run(.notifications([.placed]), now) }
    case .timerFired: timerFired(now)
    }
  }

  mutating func launch(_ event: LaunchStateMachine.Event, _ now: Date) {
    take(.launching, launching.handle(event, now: now).map(DeviceAction.launching))
    for product in preventing.filter(launching.isOver).sorted(by: { $0.text < $1.text }) {
      preventing.remove(product)
      step.requests.append(.launchesPrevented(product))
    }
  }

  /// What a concern asks of others is resolved within the step; the rest is done on the outside.
  private mutating func take(_ concern: DeviceConcern, _ actions: [DeviceAction]) {
    step.changed.insert(concern)
    for action in actions {
      switch action {
      case .launching(.spawn): spawns.append(action)
      // A newer push of the same step replaced it.
      case .notifications(.asks(.reload(let push, _))) where notifications.notification(push) == nil: break
      case .delivery(.asks(.process(let process))): ask(forEvents: process)
      case .timelines(.asks(.process(let process))):
        step.requests.append(.process(process))
        // Its time limit begins.
        step.actions.append(action)
      case .launching(.asks(let request)), .apps(.asks(let request)), .conditions(.asks(let request)),
        .settings(.asks(let request)), .delivery(.asks(let request)), .timelines(.asks(let request)),
        .tokens(.asks(let request)), .notifications(.asks(let request)):
        step.requests.append(request)
      case .launching, .apps, .conditions, .settings, .loading, .delivery, .timelines, .tokens, .notifications,
        .gallery, .activities, .ask, .sessionTaken, .endTasks, .instanceEnded, .network:
        step.actions.append(action)
      }
    }
  }

  private mutating func ask(forEvents action: ProcessAction) {
    step.requests.append(.process(facts.launchesForEvents ? action : action.withoutWake))
  }

  // MARK: What one concern asks of another

  private mutating func resolve(_ request: DeviceRequest, _ now: Date) {
    switch request {
    case .process(let action): launch(.process(action), now)
    case .awake(let address, let instance, false, let because?) where because.isForEvents:
      // An answer to transfers, which nothing else waits for.
      awake(owner: address, generation: instance.generation, woken: false, because: because, now: now)
    case .awake(let address, let instance, let woken, _):
      // The first three are known to the process or to its transfers before their events are delivered.
      if address.role == .app { setFront(address, isInFront: launching.isInFront(address), now: now) }
      runs(address, generation: instance.generation, now: now)
      let isForSessions = woken && launching.isForSessions(address)
      awake(owner: address, generation: instance.generation, woken: isForSessions, because: nil, now: now)
      if address.role == .widgetExtension { run(.timelines(.awake(address)), now) }
      if address.role == .app { launched(address) }
      run(.tokens(.awake(address)), now)
      run(.notifications([.awake(address)]), now)
      // An opening that ended with its process does not count for a later launch in the background.
      if address.role == .app, launching.isInFront(address) { run(.apps(.awake(address)), now) }
    case .suspended(let address, let instance):
      run(.conditions(.suspended(address, generation: instance.generation)), now)
      run(.settings(.suspended(address, generation: instance.generation)), now)
      run(.delivery(.suspended(address, generation: instance.generation)), now)
    case .ended(let address, let instance, _): ended(address, generation: instance.generation, now: now)
    case .launchesPrevented(let address): run(.apps(.launchesPrevented(address)), now)
    case .cancelTransfers(let app):
      let sessions = loading.sessions(quitWith: app)
      let tasks = loading.keys(of: Set(sessions))
      quit(app, sessions: sessions, now: now)
      step.actions.append(.endTasks(tasks, of: app))
    case .preventLaunches(let products, let why):
      preventing.formUnion(products)
      for product in products { launch(.launchesPrevented(product, why: why), now) }
    case .allowLaunches(let products):
      preventing.subtract(products)
      for product in products { launch(.launchesAllowed(product), now) }
    case .networkChanged(let state):
      step.actions.append(.network(state))
      run(.loading(.network(state)), now)
    case .settingChanged(let change, let settings): changed(change, settings: settings, now: now)
    case .relevanceChanged: turnStacks(mayTurn: true, now)
    case .reported(let report): run(.notifications([.reported(report)]), now)
    case .reload(let push, let placements):
      for placement in placements {
        run(.timelines(.reloadOne(placement, .push, MessageContext(correlation: push))), now)
      }
    case .offer(let push, let app, let wakes): offer(push, to: app, wakes: wakes, now)
    case .activity(let notification): receive(notification, now)
    case .activityToken(let key, let token): changeActivities(.none, now: now) { $0.set(token, key) }
    }
  }

  private mutating func runs(_ address: Address, generation: UInt32, now: Date) {
    run(.conditions(.runs(address, generation: generation)), now)
    run(.settings(.runs(address, generation: generation)), now)
  }

  /// The owner of sessions runs. `woken`: the system launched or resumed it for its sessions a moment ago.
  private mutating func awake(
    owner: Address, generation: UInt32, woken: Bool, because: Assertion?, now: Date
  ) {
    resume(owner, generation: generation, now: now)
    let actions = delivery.handle(.awake(owner, generation: generation, woken: woken, because: because), now: now)
    let delivers = actions.contains { if case .deliver = $0 { true } else { false } }
    // The limiter is raised before the handler is called (observed).
    if woken, delivers || questioned.contains(owner) { run(.loading(.woken(owner)), now) }
    take(.delivery, actions.map(DeviceAction.delivery))
    step.actions.append(.ask(owner: owner, woken: woken))
  }

  private mutating func ended(_ address: Address, generation: UInt32, now: Date) {
    if address.role == .app { setFront(address, isInFront: false, now: now) }
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

  mutating func setFront(_ app: Address, isInFront: Bool, now: Date) {
    run(.loading(.front(app, isInFront)), now)
    run(.timelines(.inFront(app: app, isInFront)), now)
  }

  private mutating func quit(_ app: Address, sessions: [SessionKey], now: Date) {
    run(.loading(.front(app, false)), now)
    for session in sessions { run(.delivery(.quit(session)), now) }
  }

  private mutating func changed(_ change: SettingChange, settings: DeviceSettings, now: Date) {
    let name = change.name
    if name == .timeZone, let zone = TimeZone(identifier: settings.timeZone) { run(.timelines(.timeZone(zone)), now) }
    // Before the reloads: the next instance of each process has the language from its beginning.
    if name == .locale { launch(.allEvicted(why: "the language or region of the device changed"), now) }
    // No view reads some of them. Where the device is: `device moved` requests the reloads.
    if !name.reloadsNothing {
      changeActivities(.none, now: now) { $0.archiveAgain() }
      run(.timelines(.systemChanged(name.rawValue, .none)), now)
    }
    run(.settings(.announced(change)), now)
  }

  /// Source: `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`; an app in the background receives
  /// only notifications with `content-available`, and the user sees the others, if the app may show any.
  private mutating func offer(_ push: UUID, to app: Address, wakes: Bool, _ now: Date) {
    guard apps.contains(app) else {
      let reason = "the device has no app \(app.bundleIdentifier ?? "")"
      return run(.notifications([.closed(push, .discarded, reason)]), now)
    }
    guard launching.isInFront(app) || wakes else {
      let (name, text) = settings.showing(to: app.bundleIdentifier ?? "")
      return run(.notifications([.closed(push, name, text)]), now)
    }
    guard !launching.isQuit(app) else {
      let reason = "the user force-quit the app, and a notification does not launch it"
      return run(.notifications([.closed(push, .discarded, reason)]), now)
    }
    run(.notifications([.expect(push)]), now)
    guard notifications.notification(push) != nil else { return }
    launch(.process(.want(app, because: NotificationStateMachine.assertion(push))), now)
  }

  // MARK: Sessions

  /// An instance is resumed: it loses the sessions to which another process has connected since its suspension.
  private mutating func resume(_ owner: Address, generation: UInt32, now: Date) {
    for (key, holder) in delivery.sessionsTaken(from: owner, generation: generation, loading.families) {
      run(.delivery(.closed(key, generation: generation)), now)
      let taken = SessionTaken(session: key.identifier, generation: generation, holder: holder)
      step.actions.append(.sessionTaken(taken, key))
    }
  }
}

/// What one event changed, and what follows.
package struct DeviceStep: Sendable {
  /// The state machines that handled an event, and whose changes must be written.
  package fileprivate(set) var changed: Set<DeviceConcern> = []
  package fileprivate(set) var actions: [DeviceAction] = []
  /// What one concern asked of another, in order. All of it is resolved.
  package fileprivate(set) var requests: [DeviceRequest] = []
  /// The reply to the event, for one that has a reply: the value that its request is answered with, or `Done`.
  package fileprivate(set) var reply: Result<any Sendable, BusError>?
}

extension DeviceStateMachine: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.essence == right.essence }
  package func hash(into hasher: inout Hasher) { hasher.combine(essence) }

  /// What decisions depend on, and can change, except for Live Activities.
  private struct Essence: Hashable {
    let launching: LaunchStateMachine
    let apps: AppLifecycleStateMachine
    let conditions: DeviceConditionsStateMachine
    let settings: DeviceSettingsStateMachine
    let loading: LoadingStateMachine
    let delivery: DeliveryStateMachine
    let timelines: TimelineStateMachine
    let tokens: TokenStateMachine
    let notifications: NotificationStateMachine
    let gallery: GalleryStateMachine.State
    let screen: DeviceScreen
    let dates: [Date?]
    let questioned: Set<Address>
    let preventing: Set<Address>
  }

  private var essence: Essence {
    Essence(
      launching: launching, apps: apps, conditions: conditions, settings: settings, loading: loading,
      delivery: delivery, timelines: timelines, tokens: tokens, notifications: notifications, gallery: gallery.state,
      screen: screen.state, dates: [nextTurn, nextLaunching, nextDelivery], questioned: questioned,
      preventing: preventing)
  }
}

// The gallery and the screen, and what follows from them for other concerns.

extension DeviceStateMachine {
  /// - Throws: the refusal of a request, definite.
  mutating func handle(_ event: GalleryEvent, _ now: Date) throws(BusError) -> any Sendable {
    switch event {
    case .keep(let extensions, let apps):
      withhold(now)
      let before = gallery.state
      let gone = gallery.keep(extensions: extensions, apps: apps, now: now)
      for placement in gone { record(.removed, placement: placement, context: .none) }
      recordTurns(since: before, .removed, .none)
      let shown = Set(screen.state.activities.keys).union([screen.state.frontApp].compactMap(\.self))
      for app in shown.subtracting(apps).sorted() { leave(app, now) }
      return Done()
    case .began:
      passOnPlacements(now)
      resumeActivities(now)
      passOnVisible(now)
      return Done()
    case .learned(let address, let widgets, let context):
      return learned(address, widgets: widgets, context: context, now: now)
    case .add(let request, let offer, let context): return try add(request, offer: offer, context: context, now: now)
    case .edit(let request, let offer, let context):
      let report = try gallery.edit(request, offer: offer)
      record(.edited, placement: report.placement, context: context)
      run(.timelines(.edited(report.placement, context)), now)
      run(.pushWidgets(pushWidgets), now)
      return report
    case .remove(let number, let context):
      let before = gallery.state
      let placement = try gallery.remove(number, now: now)
      record(.removed, placement: placement, context: context)
      recordTurns(since: before, .removed, context)
      turnStacks(mayTurn: false, now)
      run(.timelines(.removed(number)), now)
      run(.pushWidgets(pushWidgets), now)
      passOnVisible(now)
      return Done()
    case .turn(let number, let context):
      let before = gallery.state
      let reply = try gallery.turn(to: number, now: now)
      recordTurns(since: before, .person, context)
      turnStacks(mayTurn: false, now)
      passOnVisible(now)
      return reply
    case .screen(let change, let context):
      try changeScreen(context, now: now) { screen throws(BusError) in try screen.handle(change) }
      return screen.state
    case .open(let app, let context):
      try changeScreen(context, now: now) { screen throws(BusError) in try screen.open(app) }
      return screen.state
    case .turnStacks:
      turnStacks(mayTurn: true, now)
      return Done()
    }
  }

  // MARK: Widgets

  /// The first step when an extension is ready: its widgets are placed before it receives a request.
  private mutating func learned(
    _ address: Address, widgets: [WidgetDeclaration], context: MessageContext, now: Date
  ) -> [Placement] {
    let families = widgets.map { ($0.kind, $0.isControl ? .control : $0.families?.first ?? .systemSmall) }
    run(.timelines(.kindsReported(address, Dictionary(families) { first, _ in first })), now)
    let bundle = address.bundleIdentifier ?? ""
    let added = gallery.learned(bundle, widgets)
    for placement in added {
      record(.added, placement: placement, context: context)
      run(.timelines(.placed(placement, context)), now)
      passOnVisible(now)
    }
    run(.pushWidgets(pushWidgets), now)
    step.actions.append(.gallery(.learned(address)))
    return added
  }

  private mutating func add(
    _ request: AddPlacement, offer: IntentDeclaration?, context: MessageContext, now: Date
  ) throws(BusError) -> PlacementReport {
    let before = gallery.state
    let report = try gallery.add(request, offer: offer, now: now)
    record(.added, placement: report.placement, context: context)
    recordTurns(since: before, .added, context)
    turnStacks(mayTurn: false, now)
    run(.timelines(.placed(report.placement, context)), now)
    passOnVisible(now)
    run(.pushWidgets(pushWidgets), now)
    return report
  }

  private mutating func record(
    _ change: PlacementChanged.Change, placement: Placement, context: MessageContext
  ) {
    step.actions.append(.gallery(.placement(PlacementChanged(change, placement), context)))
  }

  /// An app was launched: its widgets can be placed.
  mutating func launched(_ app: Address) {
    let bundle = app.bundleIdentifier ?? ""
    guard !gallery.state.launchedApps.contains(bundle) else { return }
    gallery.launched(bundle)
    step.changed.insert(.gallery)
  }

  /// Exactly these widgets are placed. Those that timelines have already are not reloaded.
  private mutating func passOnPlacements(_ now: Date) {
    let placed = Set(gallery.state.placements.map(\.id))
    for id in timelines.placements.keys.sorted() where !placed.contains(id) { run(.timelines(.removed(id)), now) }
    for placement in gallery.state.placements where timelines.placements[placement.id]?.placement != placement {
      run(.timelines(.placed(placement, .none)), now)
    }
  }

  /// The push handlers, and the placed widgets and controls that take pushes, of each extension.
  package var pushWidgets: [String: PushWidgets] {
    gallery.state.declarations.reduce(into: [:]) { widgets, declared in
      let (ofWidgets, ofControls) = (declared.value.filter { !$0.isControl }, declared.value.filter(\.isControl))
      let placed = gallery.state.placements.filter { $0.bundle == declared.key }.map(gallery.withIntent)
      let placedWidgets = placed.filter { $0.family != .control }
      let taking = ofWidgets.taking(among: placedWidgets)
      widgets[declared.key] = PushWidgets(
        handlers: ofWidgets.pushHandlers, placements: taking,
        others: facts.pushReloadsAllWidgets ? placedWidgets.filter { !taking.contains($0) } : [],
        controlHandlers: ofControls.pushHandlers,
        controls: ofControls.taking(among: placed.filter { $0.family == .control }))
    }
  }

  // MARK: Stacks

  private mutating func recordTurns(
    since before: GalleryStateMachine.State, _ cause: StackTurned.Cause, _ context: MessageContext
  ) {
    for turn in GalleryStateMachine.turned(from: before, to: gallery.state, because: cause) {
      step.actions.append(.gallery(.turned(turn, context)))
    }
  }

  /// Smart Rotate turns stacks by the relevance of their widgets.
  ///
  /// - Parameter mayTurn: `false` after the user changed a stack: then only the next run is scheduled.
  mutating func turnStacks(mayTurn: Bool, _ now: Date) {
    guard !gallery.state.stacks.isEmpty else {
      nextTurn = nil
      return
    }
    let relevances = timelines.placements.all.mapValues(\.relevance)
    let (turned, next) = gallery.smartRotate(relevances, mayTurn: mayTurn, now: now)
    nextTurn = next
    step.changed.insert(.gallery)
    for turn in turned { step.actions.append(.gallery(.turned(turn, .none))) }
    if !turned.isEmpty { passOnVisible(now) }
  }

  // MARK: Screen

  private mutating func changeScreen(
    _ context: MessageContext, now: Date,
    body: (inout ScreenStateMachine) throws(BusError) -> [ScreenStateMachine.Action]
  ) throws(BusError) {
    var changed = screen
    let actions = try body(&changed)
    set(changed, context: context, now: now)
    for action in actions {
      switch action {
      case .background(let app):
        let address = Address.app(facts.device, app)
        setFront(address, isInFront: false, now: now)
        run(.apps(.leftForeground(address)), now)
      case .systemChanged(let setting): run(.timelines(.systemChanged(setting, .none)), now)
      case .restarted: launch(.allEvicted(why: "the device restarts"), now)
      }
    }
  }

  private mutating func set(_ changed: ScreenStateMachine, context: MessageContext, now: Date) {
    let before = screen.state
    guard changed.state != before else { return }
    screen = changed
    step.changed.insert(.screen)
    step.actions.append(.gallery(.screen(ScreenChanged(state: changed.state), context)))
    keepAwake(changed.state.activities, before: before.activities, now: now)
    withhold(now)
    passOnVisible(now)
  }

  /// The process of an app has ended. A later instance may be in the foreground already.
  mutating func endedOnScreen(_ address: Address, _ now: Date) {
    guard address.role == .app, !launching.isInFront(address) else { return }
    leave(address.bundleIdentifier ?? "", now)
  }

  private mutating func leave(_ app: String, _ now: Date) {
    var changed = screen
    changed.ended(app)
    set(changed, context: .none, now: now)
  }

  /// An app that plays audio, navigates or uses the location is not suspended in the background.
  private mutating func keepAwake(_ new: [String: AppActivity], before: [String: AppActivity], now: Date) {
    for app in Set(new.keys).symmetricDifference(before.keys).sorted() {
      let address = Address.app(facts.device, app)
      if new[app] == nil {
        launch(.process(.release(address, because: .activity)), now)
      } else {
        launch(.process(.want(address, because: .activity, mayWake: false)), now)
      }
    }
  }

  /// After a host restart, apps that still run continue their activities.
  private mutating func resumeActivities(_ now: Date) {
    for app in screen.state.activities.keys.sorted() {
      let address = Address.app(facts.device, app)
      launch(.process(.want(address, because: .activity, mayWake: false)), now)
      if launching.processes[address]?.assertions.contains(.activity) != true { leave(app, now) }
    }
  }

  /// Passes on which widgets are visible, and which apps have an activity.
  private mutating func passOnVisible(_ now: Date) {
    let activities = screen.state.activities.map { (Address.app(facts.device, $0.key), $0.value) }
    run(.timelines(.atWork(Dictionary(activities) { first, _ in first })), now)
    run(.timelines(.luminance(isReduced: screen.state.isLuminanceReduced)), now)
    let seen = screen.state.seen
    let visible = gallery.state.placements.filter { $0.location == seen && gallery.isOnTop($0.id) }
    run(.timelines(.seen(Set(visible.map(\.id)), isStandBy: seen == .standBy)), now)
  }

  /// Passes on the extensions whose timelines cannot be stored now, and why.
  private mutating func withhold(_ now: Date) {
    let rules = facts.extensions.compactMapValues { screen.state.withholding(isProtected: $0) }
    run(.timelines(.withheld(rules)), now)
  }
}

extension [WidgetDeclaration] {
  /// The types of `pushHandler(_:)`, without duplicates.
  fileprivate var pushHandlers: [String] { Set(compactMap(\.pushHandler)).sorted() }

  /// The placements whose declaration has a push handler.
  fileprivate func taking(among placements: [Placement]) -> [Placement] {
    let kinds = Set(filter { $0.pushHandler != nil }.map(\.kind))
    return placements.filter { kinds.contains($0.kind) }
  }
}

// Live Activities, and what follows from them for tokens and notifications.

extension DeviceStateMachine {
  /// - Throws: the refusal of a request, definite.
  mutating func handle(_ event: ActivityEvent, _ now: Date) throws(BusError) -> any Sendable {
    switch event {
    case .advance: advanceActivities(now)
    case .request(let request, let app, let cause, let context):
      do throws(BusError) {
        try changeActivities(context, now: now) { activities throws(BusError) in
          try activities.request(request, app: app, because: cause, now: now)
        }
      } catch {
        if error.code == .noPushEntitlement { run(.tokens(.activityRefused(app: app)), now) }
        throw error
      }
      return activities.activities(of: app)
    case .change(let request, let app, let cause, let context):
      let owner = try changeActivities(context, now: now) { activities throws(BusError) in
        try activities.change(request.id, request.change, of: app, because: cause, now: now)
      }
      return activities.activities(of: owner)
    case .allow(let request, let context):
      let needsToken = try changeActivities(context, now: now) { activities throws(BusError) in
        activities.allow(request.app, isAllowed: request.isAllowed, now: now)
      }
      if needsToken { step.actions.append(.activities(.started(app: request.app))) }
    case .declared(let bundle, let declarations):
      // Most extensions have none.
      if declarations.isEmpty, activities.state.declarations[bundle] == nil { return Done() }
      try changeActivities(.none, now: now) { activities throws(BusError) in activities.declare(bundle, declarations) }
    case .archived(let number, let version, let note, let isUndecodable, let text):
      let context = activities.activity(number)?.start.map { MessageContext(correlation: $0) }
      let started = try changeActivities(context ?? .none, now: now) { activities throws(BusError) in
        activities.archived(number, version: version, note: note, isUndecodable: isUndecodable, text: text)
      }
      guard let started else { return Done() }
      // A token that starts activities is used once (observed).
      if started.result.step == .handled, let key = notifications.notification(started.push)?.key {
        run(.tokens(.used(key)), now)
      }
      close(started.push, started.result, now)
    }
    return Done()
  }

  mutating func advanceActivities(_ now: Date) { changeActivities(.none, now: now) { $0.advance(to: now) } }

  /// A notification for an activity, or one that starts one.
  mutating func receive(_ push: PushedNotification, _ now: Date) {
    let result = changeActivities(MessageContext(correlation: push.uniqueID), now: now) { activities in
      // At the start of a host, activities may have ended since the last one.
      activities.advance(to: now)
      return activities.receive(push, now: now)
    }
    if let result { close(push.uniqueID, result, now) }
  }

  private mutating func close(_ push: UUID, _ result: ActivityStateMachine.PushResult, _ now: Date) {
    run(.notifications([.closed(push, result.step, result.detail)]), now)
    if let app = result.started { step.actions.append(.activities(.started(app: app))) }
  }

  /// The tokens that activities need, and those that start them.
  package var activityTokens: Set<TokenKey> {
    let own = activities.withToken.map { TokenKey($0.app, .liveActivity($0.number)) }
    let starts = activities.startable.flatMap { app, types in types.map { TokenKey(app, .liveActivityStarts($0)) } }
    return Set(own + starts)
  }

  /// The state machine refuses before it changes something.
  @discardableResult
  private mutating func changeActivities<Value, Refusal: Error>(
    _ context: MessageContext, now: Date, body: (inout ActivityStateMachine) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    let formerTokens = activityTokens
    let value = try body(&activities)
    let moved = activities.moved
    activities.moved = []
    step.changed.insert(.activities)
    for notice in moved { step.actions.append(.activities(.moved(notice, context))) }
    if activityTokens != formerTokens { run(.tokens(.activities(activityTokens)), now) }
    step.actions.append(.activities(.changed(context)))
    return value
  }
}
