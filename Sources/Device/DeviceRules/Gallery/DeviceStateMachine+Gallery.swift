// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

// The gallery and the screen, and what follows from them for other concerns.

extension DeviceStateMachine {
  /// - Throws: the refusal of a request, definite.
  mutating func handle(_ event: GalleryEvent, _ now: Date) throws(BusError) -> DeviceReply {
    switch event {
    case .keep(let extensions, let apps):
      withhold(now)
      let before = gallery.state
      let gone = try change { gallery throws(BusError) in
        gallery.keep(extensions: extensions, apps: apps, now: now)
      }
      for placement in gone { record(.removed, placement, .none) }
      recordTurns(since: before, .removed, .none)
      let shown = Set(screen.state.activities.keys).union([screen.state.frontApp].compactMap(\.self))
      for app in shown.subtracting(apps).sorted() { leave(app, now) }
      return .done
    case .began:
      passOnPlacements(now)
      resumeActivities(now)
      passOnVisible(now)
      return .done
    case .learned(let address, let widgets, let context):
      return .placements(try learned(address, widgets, context, now))
    case .add(let request, let offer, let context): return .placed(try add(request, offer, context, now))
    case .edit(let request, let offer, let context):
      let report = try change { gallery throws(BusError) in try gallery.edit(request, offer: offer) }
      record(.edited, report.placement, context)
      run(.timelines(.edited(report.placement, context)), now)
      run(.pushWidgets(pushWidgets), now)
      return .placed(report)
    case .remove(let number, let context):
      let before = gallery.state
      let placement = try change { gallery throws(BusError) in try gallery.remove(number, now: now) }
      record(.removed, placement, context)
      recordTurns(since: before, .removed, context)
      turnStacks(mayTurn: false, now)
      run(.timelines(.removed(number)), now)
      run(.pushWidgets(pushWidgets), now)
      passOnVisible(now)
      return .done
    case .turn(let number, let context):
      let before = gallery.state
      let reply = try change { gallery throws(BusError) in try gallery.turn(to: number, now: now) }
      recordTurns(since: before, .person, context)
      turnStacks(mayTurn: false, now)
      passOnVisible(now)
      return .turned(reply)
    case .screen(let change, let context):
      try changeScreen(context, now) { screen throws(BusError) in try screen.handle(change) }
      return .screen(screen.state)
    case .open(let app, let context):
      try changeScreen(context, now) { screen throws(BusError) in try screen.open(app) }
      return .screen(screen.state)
    case .turnStacks:
      turnStacks(mayTurn: true, now)
      return .done
    }
  }

  // MARK: Widgets

  /// The first step when an extension is ready: its widgets are placed before it receives a request.
  private mutating func learned(
    _ address: Address, _ widgets: [WidgetDeclaration], _ context: MessageContext, _ now: Date
  ) throws(BusError) -> [Placement] {
    let families = widgets.map { ($0.kind, $0.isControl ? .control : $0.families?.first ?? .systemSmall) }
    run(.timelines(.kindsReported(address, Dictionary(families) { first, _ in first })), now)
    let bundle = address.bundleIdentifier ?? ""
    let added = try change { gallery throws(BusError) in gallery.learned(bundle, widgets) }
    for placement in added {
      record(.added, placement, context)
      run(.timelines(.placed(placement, context)), now)
      passOnVisible(now)
    }
    run(.pushWidgets(pushWidgets), now)
    step.actions.append(.gallery(.learned(address)))
    return added
  }

  private mutating func add(
    _ request: AddPlacement, _ offer: IntentDeclaration?, _ context: MessageContext, _ now: Date
  ) throws(BusError) -> PlacementReport {
    let before = gallery.state
    let report = try change { gallery throws(BusError) in try gallery.add(request, offer: offer, now: now) }
    record(.added, report.placement, context)
    recordTurns(since: before, .added, context)
    turnStacks(mayTurn: false, now)
    run(.timelines(.placed(report.placement, context)), now)
    passOnVisible(now)
    run(.pushWidgets(pushWidgets), now)
    return report
  }

  /// A change that is refused has no effect.
  private mutating func change<Value>(
    _ body: (inout GalleryStateMachine) throws(BusError) -> Value
  ) throws(BusError) -> Value {
    var changed = gallery
    let value = try body(&changed)
    gallery = changed
    step.changed.insert(.gallery)
    return value
  }

  private mutating func record(
    _ change: PlacementChanged.Change, _ placement: Placement, _ context: MessageContext
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
    let relevances = timelines.placements.all.mapValues {
      GalleryStateMachine.Relevance(score: $0.relevance.score, until: $0.relevance.until)
    }
    let (turned, next) = gallery.smartRotate(relevances, mayTurn: mayTurn, now: now)
    nextTurn = next
    step.changed.insert(.gallery)
    for turn in turned { step.actions.append(.gallery(.turned(turn, .none))) }
    if !turned.isEmpty { passOnVisible(now) }
  }

  // MARK: Screen

  private mutating func changeScreen(
    _ context: MessageContext, _ now: Date,
    _ body: (inout ScreenStateMachine) throws(BusError) -> [ScreenStateMachine.Action]
  ) throws(BusError) {
    var changed = screen
    let actions = try body(&changed)
    set(changed, context, now)
    for action in actions {
      switch action {
      case .background(let app):
        let address = Address.app(facts.device, app)
        setFront(address, false, now)
        run(.apps(.leftForeground(address)), now)
      case .systemChanged(let setting): run(.timelines(.systemChanged(setting, .none)), now)
      case .restarted: launch(.allEvicted(why: "the device restarts"), now)
      }
    }
  }

  private mutating func set(_ changed: ScreenStateMachine, _ context: MessageContext, _ now: Date) {
    let before = screen.state
    guard changed.state != before else { return }
    screen = changed
    step.changed.insert(.screen)
    step.actions.append(.gallery(.screen(ScreenChanged(state: changed.state), context)))
    keepAwake(changed.state.activities, before.activities, now)
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
    set(changed, .none, now)
  }

  /// An app that plays audio, navigates or uses the location is not suspended in the background.
  private mutating func keepAwake(_ new: [String: AppActivity], _ before: [String: AppActivity], _ now: Date) {
    for app in Set(new.keys).symmetricDifference(before.keys).sorted() {
      let address = Address.app(facts.device, app)
      if new[app] == nil {
        launch(.released(address, .activity), now)
      } else {
        launch(.wanted(address, .activity, mayWake: false), now)
      }
    }
  }

  /// After a host restart, apps that still run continue their activities.
  private mutating func resumeActivities(_ now: Date) {
    for app in screen.state.activities.keys.sorted() {
      let address = Address.app(facts.device, app)
      launch(.wanted(address, .activity, mayWake: false), now)
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
