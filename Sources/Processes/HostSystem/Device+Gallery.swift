import Archive
import Cluster
import Foundation
import Gallery
import Launching
import MessageBus
import Messages
import ProcessActions
import Timekeeping
import Timelines
import Transfers

// Gallery and screen: placements, what is visible, and the consequences for the other services.

extension Device {
  nonisolated func listenToGallery() {
    bus.onRequest(ListGallery.self) { [weak self] request, _ in try await there(self).list(request) }
    bus.onRequest(AddPlacement.self) { [weak self] request, from in try await there(self).add(request, from.context) }
    bus.onRequest(EditPlacement.self) { [weak self] request, from in try await there(self).edit(request, from.context) }
    bus.onRequest(RemovePlacement.self) { [weak self] request, from in
      try await there(self).remove(request, from.context)
      return Done()
    }
    bus.onRequest(ListPlacements.self) { [gallery] _, from in
      ListPlacements.Reply(placements: gallery.stateMachine.placements(askedBy: from.source.bundleIdentifier ?? ""))
    }
    bus.onRequest(ShowScreen.self) { [weak self] request, _ in try await there(self).show(request) }
    bus.onRequest(ChangeScreen.self) { [weak self] request, from in
      try await there(self).change(request.change, from.context)
    }
    bus.onRequest(TapWidget.self) { [weak self] request, from in try await there(self).tap(request, from.context) }
  }

  // MARK: Widgets

  /// The first step when an extension is ready: its widgets are recorded and placed before it receives a request.
  func learned(_ widgets: [WidgetDeclaration], _ from: Received) async throws {
    try await timelines.knows(from.source, widgets)
    let added = try await gallery.learned(from.source.bundleIdentifier ?? "", widgets, from.context)
    for placement in added { try await hand(placement, from.context) }
    await sendPushes()
    stopWaiting(for: from.source)
  }

  private func list(_ request: ListGallery) async -> ListGallery.Reply {
    let failures = await learnAll()
    var reply = await gallery.list(request)
    if !failures.isEmpty { reply.failures = failures }
    return reply
  }

  private func add(_ request: AddPlacement, _ context: MessageContext) async throws -> PlacementReport {
    let failures = await learnAll()
    let (bundle, widget) = try found(request, failures)
    let offer = try await offer(of: widget, in: bundle, request.configuration, context)
    let report = try await gallery.add(request, offer: offer, now: clock.now, context)
    try await hand(report.placement, context)
    await sendPushes()
    await turnStacks(mayTurn: false)
    return report
  }

  private func edit(_ request: EditPlacement, _ context: MessageContext) async throws -> PlacementReport {
    let placement = try gallery.stateMachine.placement(request.placement)
    var offer: IntentDeclaration?
    if let widget = gallery.stateMachine.declaration(of: placement) {
      offer = try await self.offer(of: widget, in: placement.bundle, request.configuration, context)
    }
    let report = try await gallery.edit(request, offer: offer, context)
    try await hand(report.placement, context, isEdited: true)
    await sendPushes()
    return report
  }

  private func remove(_ request: RemovePlacement, _ context: MessageContext) async throws {
    try await gallery.remove(request, now: clock.now, context)
    try await timelines.removed(request.placement)
    await sendPushes()
    await sendVisiblePlacements()
    await turnStacks(mayTurn: false)
  }

  /// The widget to place.
  ///
  /// - Parameter failures: the extensions that could not be asked; the widget may be one of theirs.
  private func found(
    _ request: AddPlacement, _ failures: [LaunchFailure]
  ) throws(BusError) -> (bundle: String, widget: WidgetDeclaration) {
    do throws(BusError) {
      return try gallery.stateMachine.find(request)
    } catch {
      let failure = failures.first { request.bundle == nil || $0.address.bundleIdentifier == request.bundle }
      throw failure?.error ?? error
    }
  }

  /// iOS reads the widgets of an installed app without running it. Here they are declared in the extension's code, so
  /// an extension that never ran is launched once.
  ///
  /// - Returns: the extensions that could not be launched.
  private func learnAll() async -> [LaunchFailure] {
    let known = gallery.stateMachine.state.declarations
    var failures: [LaunchFailure] = []
    for product in configuration.extensions where known[product.bundle] == nil {
      let address = product.address(on: configuration.device.name)
      await launcher.want(address, because: Device.galleryAssertion)
      await learn(address)
      await launcher.release(address, because: Device.galleryAssertion)
      if !isKnown(address), let error = await launcher.launchFailure(of: address) {
        failures.append(LaunchFailure(address: address, error: error))
      }
    }
    return failures
  }

  /// The options for a widget's configuration, and those that match the user's texts, from the author's queries in
  /// their extension. The time limit is that of a timeline. `nil` if no query is needed.
  ///
  /// - Throws: `failed` or the code of a launch failure, definite: nothing was chosen.
  private func offer(
    of widget: WidgetDeclaration, in bundle: String, _ choices: [String: ArchivedValue], _ context: MessageContext
  ) async throws(BusError) -> IntentDeclaration? {
    guard let known = widget.configuration, known.parameters.contains(where: \.isAsked) else { return nil }
    let address = Address.widgetExtension(configuration.device.name, bundle)
    let question = DescribeIntent(widgetKind: widget.kind, searches: choices.compactMapValues(\.string))
    do throws(BusError) {
      return try await withLaunched(address, because: Device.configuringAssertion) { () async throws(BusError) in
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

  private static var configuringAssertion: Assertion { Assertion("configuration") }
  private static var galleryAssertion: Assertion { Assertion("gallery") }

  /// Returns when the extension reported its widgets, cannot be launched or has ended, or after ten seconds.
  private func learn(_ address: Address) async {
    // In machine time, because author's code runs: the gallery must not wait for ever.
    let limit = Duration.seconds(10)
    let impatience = Task {
      try await Task.sleep(for: limit)
      stopWaiting(for: address)
    }
    Task {
      if await launcher.launchOutcome(of: address, within: limit) != nil { stopWaiting(for: address) }
    }
    await withCheckedContinuation { continuation in
      if isKnown(address) { continuation.resume() } else { learning[address, default: []].append(continuation) }
    }
    impatience.cancel()
  }

  /// Whether the extension has reported its widgets.
  private func isKnown(_ address: Address) -> Bool {
    gallery.stateMachine.state.declarations[address.bundleIdentifier ?? ""] != nil
  }

  private func stopWaiting(for address: Address) {
    for continuation in learning.removeValue(forKey: address) ?? [] { continuation.resume() }
  }

  // MARK: Screen

  private func show(_ request: ShowScreen) async throws -> ShowScreen.Reply {
    let screen = await gallery.state
    let current = await gallery.current
    let location = request.location ?? current
    let stateMachine = gallery.stateMachine
    if let refusal = stateMachine.device.refusal(of: location) { throw BusError(.notNow, refusal) }
    var tiles: [ShowScreen.Tile] = []
    for placement in stateMachine.state.placements
    where placement.location == location && stateMachine.isOnTop(placement.id) {
      let isProtected = configuration.product(placement.bundle)?.dataProtection.isOfUnlockedDevice ?? true
      var tile = stateMachine.tile(
        of: placement, try await shown(placement), on: screen, isProtected: isProtected, now: clock.now)
      tile.covers = stateMachine.covered(by: placement.id)
      tiles.append(tile)
    }
    let tint = stateMachine.device.tint(at: location)
    let failures = await failedExtensions()
    var reply = try ShowScreen.Reply(state: screen, location: location, tint: tint, tiles: tiles).fitting()
    if !failures.isEmpty { reply.failures = failures }
    return reply
  }

  private func change(_ change: ChangeScreen.Change, _ context: MessageContext) async throws -> DeviceScreen {
    if case .activity(let bundle, _?) = change {
      let address = try app(bundle).address(on: configuration.device.name)
      guard await launcher.awakeInstance(of: address) != nil else {
        throw BusError(.notNow, "\(bundle) is not running: run `widgetlab app open` first")
      }
    }
    let screen = try await gallery.change(change, context)
    // Before the reply: the device is locked by then, and what is due after it depends on what is visible.
    await sendWithheld()
    await sendVisiblePlacements()
    return screen
  }

  /// An app that plays audio, navigates or uses the location is not suspended in the background.
  private func keepAwake(_ now: [String: AppActivity], _ before: [String: AppActivity]) async {
    for product in configuration.apps where (now[product.bundle] == nil) != (before[product.bundle] == nil) {
      let address = product.address(on: configuration.device.name)
      if now[product.bundle] == nil {
        await launcher.release(address, because: .activity)
      } else {
        await launcher.want(address, because: .activity, mayLaunch: false)
      }
    }
  }

  /// After a host restart, apps that still run continue their activities.
  func resumeActivities() async throws {
    for bundle in await gallery.state.activities.keys.sorted() {
      let address = try app(bundle).address(on: configuration.device.name)
      if await !launcher.want(address, because: .activity, mayLaunch: false) { try await gallery.ended(bundle) }
    }
  }

  func launched(_ app: Address) async {
    do {
      try await gallery.launched(app.bundleIdentifier ?? "")
    } catch {
      // The service has already reported that it is broken.
    }
  }

  func endedOnScreen(_ address: Address) async {
    stopWaiting(for: address)
    // A later process instance may be in the foreground already.
    guard address.role == .app, await !launcher.isInFront(address) else { return }
    do {
      try await gallery.ended(address.bundleIdentifier ?? "")
    } catch {
      // The service has already reported that it is broken.
    }
  }

  func route(_ output: GalleryOutput) async {
    switch output {
    case .screen(let now, let before):
      await keepAwake(now.activities, before.activities)
      await sendVisiblePlacements()
    case .systemChanged(let setting): await sendSystemChanged(setting)
    case .background(let app):
      guard let address = configuration.product(app)?.address(on: configuration.device.name) else { return }
      opening.remove(address)
      await setFront(address, false)
      activate(address, isActive: false)
      await launcher.release(address, because: .foreground)
    case .restarted:
      await launcher.evictAll(why: "the device restarts")
    case .broken(let reason): broken(reason)
    }
  }
}

/// The device, while it exists.
private func there(_ device: Device?) throws(BusError) -> Device {
  guard let device else { throw BusError(.closed, "the device is shutting down", isDefinite: false) }
  return device
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
      scale: device.screen.scale, locale: device.locale, options: options)
    hasAlwaysOn = device.screen.hasAlwaysOn
  }
}

extension ShowScreen.Reply {
  /// Shortens the largest views if all together exceed the size of a message.
  fileprivate func fitting() throws -> ShowScreen.Reply {
    let room = Wire.bodyLimit / max(1, tiles.count) - 2048
    let fitting = try tiles.map { tile in
      guard try BodyCoding.data(tile.view).count > room else { return tile }
      var short = ShowScreen.Tile(
        placement: tile.placement, content: tile.content, background: tile.background,
        renderingMode: tile.renderingMode, date: tile.date,
        view: .group(tile.view.lines.prefix(20).map(ViewArchive.text)),
        note: tile.note ?? "its views are too large to show here; these are its first texts")
      short.covers = tile.covers
      return short
    }
    return ShowScreen.Reply(state: state, location: location, tint: tint, tiles: fitting)
  }
}
