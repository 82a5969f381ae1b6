// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages
import Timekeeping

// Gallery and screen: requests of the user.

extension Device {
  // MARK: Widgets

  func list(_ request: ListGallery) async -> ListGallery.Reply {
    let failures = await learnAll()
    var reply = core.state.gallery.list(request)
    if !failures.isEmpty { reply.failures = failures }
    return reply
  }

  func add(_ request: AddPlacement, _ context: MessageContext) async throws -> PlacementReport {
    let failures = await learnAll()
    let (bundle, widget) = try found(request, failures)
    let offer = try await offer(of: widget, in: bundle, chosen: [:], choices: request.configuration, context: context)
    return try core.ask(.gallery(.add(request, offer: offer, context)))
  }

  func edit(_ request: EditPlacement, _ context: MessageContext) async throws -> PlacementReport {
    let placement = try core.state.gallery.placement(request.placement)
    var offer: IntentDeclaration?
    if let widget = core.state.gallery.declaration(of: placement) {
      offer = try await self.offer(
        of: widget, in: placement.bundle, chosen: placement.configuration, choices: request.configuration,
        context: context)
    }
    return try core.ask(.gallery(.edit(request, offer: offer, context)))
  }

  /// The widget to place.
  ///
  /// - Parameter failures: the extensions that could not be asked; the widget may be one of theirs.
  private func found(
    _ request: AddPlacement, _ failures: [LaunchFailure]
  ) throws(BusError) -> (bundle: String, widget: WidgetDeclaration) {
    do throws(BusError) {
      return try core.state.gallery.find(request)
    } catch {
      let failure = failures.first { request.bundle == nil || $0.address.bundleIdentifier == request.bundle }
      throw failure?.error ?? error
    }
  }

  /// Launches extensions whose widgets are not known once, so that they report them.
  ///
  /// - Returns: the extensions that could not be launched.
  private func learnAll() async -> [LaunchFailure] {
    failures(of: await gallery.learn(configuration.extensions.map { $0.address(on: configuration.device.name) }))
  }

  /// The options for a widget's configuration, and those that match the user's texts, from the author's queries in
  /// their extension. The time limit is that of a timeline. `nil` if no query is needed.
  ///
  /// - Parameter chosen: the values before these choices.
  /// - Throws: `failed` or the code of a launch failure, definite: nothing was chosen.
  private func offer(
    of widget: WidgetDeclaration, in bundle: String, chosen: [String: ArchivedValue],
    choices: [String: ArchivedValue], context: MessageContext
  ) async throws(BusError) -> IntentDeclaration? {
    guard let intent = widget.configuration, intent.parameters.contains(where: \.isAsked) else { return nil }
    let address = Address.widgetExtension(configuration.device.name, bundle)
    let texts = choices.compactMapValues(\.string)
    let question = DescribeIntent(
      widgetKind: widget.kind, searches: texts,
      chosen: chosen.merging(choices) { $1 }.filter { texts[$0.key] == nil })
    do throws(BusError) {
      return try await withLaunched(address, because: "configuration") { () async throws(BusError) in
        try await bus.request(
          question, to: address, context: context, within: configuration.settings.timelineDeadline,
          whenUnreachable: .wait)
      }
    } catch {
      throw BusError(
        BusError.Code.launchFailures.contains(error.code) ? error.code : .failed,
        "\(address.short) did not return the options of \(widget.kind): \(error.message)", isDefinite: true)
    }
  }

  // MARK: Screen

  @concurrent nonisolated func show(_ request: ShowScreen) async throws -> ShowScreen.Reply {
    let (stateMachine, screen, settings) = await shownState
    let location = request.location ?? screen.current
    if let refusal = stateMachine.device.refusal(of: location) { throw BusError(.notNow, refusal) }
    var tiles: [ShowScreen.Tile] = []
    for placement in stateMachine.state.placements
    where placement.location == location && stateMachine.isOnTop(placement.id) {
      let isProtected = configuration.product(placement.bundle)?.dataProtection.isOfUnlockedDevice ?? true
      var tile = stateMachine.tile(
        of: placement, try await shown(placement), on: screen.state, isProtected: isProtected,
        locale: settings.settings.locale, now: conditions.clockState.now)
      tile.covers = stateMachine.covered(by: placement.id)
      tiles.append(tile)
    }
    let tint = stateMachine.device.tint(at: location)
    let failures = await failedExtensions
    var reply = ShowScreen.Reply(state: screen.state, location: location, tint: tint, tiles: tiles)
    reply.activities = await shownActivities(at: location, isLocked: screen.state.isLocked)
    reply = try reply.fitting()
    if !failures.isEmpty { reply.failures = failures }
    reply.settings = settings.settings
    reply.changedSettings = settings.changed
    return reply
  }

  /// Of one moment, so that a screen is made from them outside of the actor.
  private var shownState: (GalleryStateMachine, ScreenStateMachine, DeviceSettingsStateMachine) {
    (core.state.gallery, core.state.screen, core.state.settings)
  }

  func change(_ change: ChangeScreen.Change, _ context: MessageContext) throws -> DeviceScreen {
    if case .activity(let bundle, _?) = change {
      let address = try core.state.apps.app(bundle).address
      guard core.state.launching.runningInstance(of: address) != nil else {
        throw BusError(.notNow, "\(bundle) is not running: run `widgetlab app open` first")
      }
    }
    let wasLocked = core.state.screen.state.isLocked
    let state: DeviceScreen = try core.ask(.gallery(.screen(change, context)))
    if let event = DeviceEventNotice.Event(change, wasLocked: wasLocked, isLocked: state.isLocked) {
      notifyApps(of: event, context)
    }
    return state
  }

  /// Notifies the apps that have a process. A suspended one is called when it is resumed, and only for the time.
  func notifyApps(of event: DeviceEventNotice.Event, _ context: MessageContext) {
    for app in configuration.apps {
      let address = app.address(on: configuration.device.name)
      let process = core.state.launching.processes[address]
      guard process?.state == .running || (event == .timeChanged && process?.state == .suspended) else { continue }
      bus.notify(DeviceEventNotice(event), to: address, context: context)
    }
  }
}

extension DeviceEventNotice.Event {
  /// What a change of the screen is to an app; `nil` if it is nothing.
  init?(_ change: ChangeScreen.Change, wasLocked: Bool, isLocked: Bool) {
    if case .system("time") = change {
      self = .timeChanged
    } else if wasLocked != isLocked {
      self = isLocked ? .locked : .unlocked
    } else {
      return nil
    }
  }
}

extension WidgetDevice {
  init(_ configuration: ClusterConfiguration) {
    let settings = configuration.settings.gallery
    var options = Options()
    options.defaultFamiliesIncludeAccessory = settings.defaultFamiliesIncludeAccessory
    options.contentMargin = Double(settings.contentMargin)
    options.homeScreen = settings.homeScreenRenderingMode
    options.standBy = settings.standByRenderingMode
    options.hidesSensitiveContent = settings.hidesSensitiveContent
    // Source: WidgetKit Developer Mode.
    options.smartRotatePause = configuration.settings.developerMode ? 0 : settings.smartRotatePause.seconds
    let device = configuration.device
    self.init(
      isPad: device.isPad, version: device.majorVersion, width: device.screen.width, height: device.screen.height,
      scale: device.screen.scale, options: options)
    hasAlwaysOn = device.screen.hasAlwaysOn
  }
}

extension ShowScreen.Reply {
  /// Shortens the largest views if all together exceed the size of a message, in which failures and settings are too.
  fileprivate func fitting() throws -> ShowScreen.Reply {
    if try BodyCoding.data(self).count <= Wire.bodyLimit - 8_192 { return self }
    var reply = self
    reply.activities = try activities.map { all in try all.map { try $0.fitting(in: 65_536 / all.count) } }
    let used = try BodyCoding.data(reply.activities ?? []).count
    let room = (Wire.bodyLimit - used) / max(1, tiles.count) - 2048
    reply.tiles = try tiles.map { tile in
      guard try BodyCoding.data(tile.view).count > room else { return tile }
      var short = tile
      short.view = .group(tile.view.lines.prefix(20).map(ViewArchive.text))
      short.note = tile.note ?? "its views are too large to show here; these are its first texts"
      return short
    }
    return reply
  }
}

extension ShowScreen.LiveActivity {
  /// Leaves out views that exceed a size in bytes.
  fileprivate func fitting(in room: Int) throws -> ShowScreen.LiveActivity {
    guard let views, try BodyCoding.data(views).count > room else { return self }
    var short = self
    short.views = nil
    short.note = note ?? "its views are too large to show here"
    return short
  }
}

// What is shown of a placement.

extension Device {
  /// The content of a placement.
  nonisolated func shown(_ placement: Placement) async throws -> ShownWidget {
    let failure = await core.state.timelines.placements[placement.id]?.lastFailure?.reason
    guard var shown = try await timelines.shown(placement.id) else { return ShownWidget(note: failure) }
    shown.placeholder = try await timelines.placeholder(placement.id)
    shown.note = failure
    shown.touched = await intents.touchedControl(of: placement.id)
    return shown
  }
}

// Taps on a widget.

extension Device {
  func tap(_ request: TapWidget, _ context: MessageContext) async throws -> TapWidget.Reply {
    let stateMachine = core.state.gallery
    let placement = try stateMachine.placement(request.placement)
    if let refusal = stateMachine.device.refusal(of: placement.location) { throw BusError(.notNow, refusal) }
    try stateMachine.requireOnTop(placement.id)
    let screen = core.state.screen.state
    let shown = try await shown(placement)
    var view = (screen.colorScheme == .dark ? shown.entry?.darkView : nil) ?? shown.entry?.view ?? .empty
    // Nothing of it is on the screen.
    if stateMachine.lacksBackground(view, of: placement) { view = .empty }
    switch try stateMachine.touch(request, on: placement, view, isLocked: screen.isLocked) {
    case .nothing(let reason): return TapWidget.Reply(outcome: "nothing happens: \(reason)")
    case .open(let url): return TapWidget.Reply(outcome: try openApp(of: placement, url, context))
    case .perform(let intent, let values, let performer):
      let question = PerformIntent(intent: intent, values: values, placement: placement.id)
      let touch = intents.touch(request.touchedControl(of: placement), of: placement.id)
      let result: Result<TapWidget.Reply, any Error>
      do {
        result = .success(try await perform(question, placement: placement, by: performer, context: context))
      } catch {
        result = .failure(error)
      }
      // A toggle stays in its new state until its timeline has arrived or failed.
      intents.keep(touch, of: placement.id) { [timelines] in await timelines.whenReloaded(placement.id) }
      return try result.get()
    }
  }

  /// Opens the app, and sends it the cause as soon as it runs.
  private func openApp(of placement: Placement, _ url: String?, _ context: MessageContext) throws -> String {
    let app = try app(of: placement)
    let event = OpenFromWidget(
      url: url, widgetKind: placement.kind, family: placement.family, configuration: placement.configuration,
      intent: core.state.gallery.withIntent(placement).intent)
    try open(app, event, context)
    core.handle(.timelines(.openedFromWidget(app: .app(configuration.device.name, app))))
    return url.map { "\(app) opens with \($0)" } ?? "\(app) opens with a user activity that names \(placement.kind)"
  }

  func open(_ app: String, _ event: OpenFromWidget, _ context: MessageContext) throws {
    let address = try open(app, context)
    tasks.start { [bus] in
      do throws(BusError) {
        try await bus.deliver(event, to: address, context: context)
      } catch {
        // The app has exited or refuses the event: the journal contains the refusal.
      }
    }
  }

  private func app(of placement: Placement) throws(BusError) -> String {
    guard let app = core.state.gallery.app(of: placement.bundle) else {
      throw BusError(.noSuchApp, "\(placement.bundle) belongs to no app of this device")
    }
    return app
  }

  /// Source: "Adding interactivity to widgets": in the extension, or in the app if the intent opens it or requires it;
  /// whatever the result, the widget is reloaded for free. Then the system performs the intent that the result opens.
  ///
  /// - Parameters:
  ///   - placement: the widget; for a Live Activity, what it would be as one.
  ///   - isOpened: whether the result of another intent opens this one.
  func perform(
    _ question: PerformIntent, placement: Placement, by who: Touch.Performer, isOpened: Bool = false,
    context: MessageContext
  ) async throws -> TapWidget.Reply {
    let performer: Address
    switch who {
    case .widgetExtension: performer = .widgetExtension(configuration.device.name, placement.bundle)
    case .app: performer = .app(configuration.device.name, try app(of: placement))
    case .openApp: performer = try open(try app(of: placement), context)
    }
    // An app that is opened stays awake because it is in the foreground.
    if who != .openApp { launcher.want(performer, because: .interaction) }
    if let failure = await launcher.launchOutcome(of: performer, within: configuration.settings.timelineDeadline) {
      if who != .openApp { launcher.release(performer, because: .interaction) }
      throw failure
    }
    let limit = configuration.settings.intentDeadline
    let result = await intents.perform(by: performer) { [bus] () async throws(BusError) in
      try await bus.request(question, to: performer, context: context, within: limit, whenUnreachable: .wait)
    }
    let outcome: String
    var opening: PerformIntent.Opening?
    var hasFailed = true
    switch result {
    case .performed(let reply):
      outcome = "\(question.intent) was performed by \(performer.short)"
      opening = reply.opens
      hasFailed = false
    case .interrupted:
      outcome = "\(question.intent) failed: \(performer.short) exited during it; `widgetlab ps` shows how"
    case .failed(let error): outcome = "\(question.intent) failed in \(performer.short): \(error.message)"
    }
    if who != .openApp { launcher.release(performer, because: .interaction) }
    if let widget = question.placement { try core.record(.timelines(.reloadOne(widget, .interaction, context))) }
    guard let opening else { return TapWidget.Reply(outcome: outcome, hasFailed: hasFailed) }
    let next = try await open(opening, by: question, of: placement, isLast: isOpened, context)
    return TapWidget.Reply(outcome: "\(outcome); \(next.outcome)", hasFailed: next.hasFailed)
  }

  /// Source: `OpensIntent`. An intent that is opened opens no third intent, so that a tap ends.
  private func open(
    _ opening: PerformIntent.Opening, by opener: PerformIntent, of placement: Placement, isLast: Bool,
    _ context: MessageContext
  ) async throws -> TapWidget.Reply {
    let isLocked = core.state.screen.state.isLocked
    if let url = opening.ignoredURL {
      return TapWidget.Reply(
        outcome: "\(url) is not opened: OpenURLIntent opens universal links only", hasFailed: true)
    }
    switch opening {
    case .url(let url) where isLocked:
      return TapWidget.Reply(
        outcome: "\(url) is not opened: the device must be unlocked before it opens an app: run `widgetlab unlock`")
    case .url(let url): return TapWidget.Reply(outcome: try openApp(of: placement, url, context))
    case .intent(let intent, _, let opensApp, _) where isLocked && opensApp:
      return TapWidget.Reply(
        outcome: "\(intent) is not performed: it needs an unlocked device: run `widgetlab unlock`")
    case .intent(let intent, _, _, _) where isLast:
      return TapWidget.Reply(outcome: "\(intent) is not performed: an intent that was opened opens it")
    case .intent(let intent, let values, let opensApp, let runsInApp):
      let performer: Touch.Performer = opensApp ? .openApp : runsInApp ? .app : .widgetExtension
      return try await perform(
        PerformIntent(intent: intent, values: values, placement: opener.placement), placement: placement,
        by: performer, isOpened: true, context: context)
    }
  }
}
