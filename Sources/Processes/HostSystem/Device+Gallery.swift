import Archive
import Cluster
import Conversations
import Foundation
import Gallery
import Launching
import MessageBus
import Timekeeping
import Timelines
import Transfers

// Gallery and screen: what a person places, sees and looks at, and what follows for the other rooms.

extension Device {
  nonisolated func listenToGallery() {
    bus.onRequest(ListGallery.self) { [weak self] request, _ in try await there(self).list(request) }
    bus.onRequest(AddPlacement.self) { [weak self] request, from in try await there(self).add(request, from.story) }
    bus.onRequest(EditPlacement.self) { [weak self] request, from in try await there(self).edit(request, from.story) }
    bus.onRequest(RemovePlacement.self) { [weak self] request, from in
      try await there(self).remove(request, from.story)
      return Done()
    }
    bus.onRequest(ListPlacements.self) { [gallery] _, from in
      ListPlacements.Reply(placements: gallery.decision.placements(askedBy: from.source.bundleIdentifier ?? ""))
    }
    bus.onRequest(ShowScreen.self) { [weak self] request, _ in try await there(self).show(request) }
    bus.onRequest(ChangeScreen.self) { [weak self] request, from in
      try await there(self).change(request.change, from.story)
    }
    bus.onRequest(TapWidget.self) { [weak self] request, from in try await there(self).tap(request, from.story) }
  }

  // MARK: Widgets

  /// The first act of an extension that is ready: what it declares is known, and placed, before it is asked for anything.
  func learned(_ widgets: [WidgetDeclaration], _ from: Received) async throws {
    try await timelines.knows(from.source, widgets)
    let added = try await gallery.learned(from.source.bundleIdentifier ?? "", widgets, from.story)
    for placement in added { try await hand(placement, from.story) }
    await tellPushes()
    stopWaiting(for: from.source)
  }

  private func list(_ request: ListGallery) async -> ListGallery.Reply {
    let failures = await learnAll()
    var reply = await gallery.list(request)
    if !failures.isEmpty { reply.failures = failures }
    return reply
  }

  private func add(_ request: AddPlacement, _ story: Story) async throws -> PlacementReport {
    let failures = await learnAll()
    let (bundle, widget) = try found(request, failures)
    let offer = try await offer(of: widget, in: bundle, request.configuration, story)
    let report = try await gallery.add(request, offer: offer, now: clock.now, story)
    try await hand(report.placement, story)
    await tellPushes()
    await turnStacks(mayTurn: false)
    return report
  }

  private func edit(_ request: EditPlacement, _ story: Story) async throws -> PlacementReport {
    let placement = try gallery.decision.placement(request.placement)
    var offer: IntentDeclaration?
    if let widget = gallery.decision.declaration(of: placement) {
      offer = try await self.offer(of: widget, in: placement.bundle, request.configuration, story)
    }
    let report = try await gallery.edit(request, offer: offer, story)
    try await hand(report.placement, story, isEdited: true)
    await tellPushes()
    return report
  }

  private func remove(_ request: RemovePlacement, _ story: Story) async throws {
    try await gallery.remove(request, now: clock.now, story)
    try await timelines.removed(request.placement)
    await tellPushes()
    await tellWhatIsSeen()
    await turnStacks(mayTurn: false)
  }

  /// The widget that is to be placed.
  ///
  /// - Parameter failures: the extensions that could not be asked; the widget may be theirs.
  private func found(
    _ request: AddPlacement, _ failures: [LaunchFailure]
  ) throws(BusError) -> (bundle: String, widget: WidgetDeclaration) {
    do throws(BusError) {
      return try gallery.decision.find(request)
    } catch {
      let failure = failures.first { request.bundle == nil || $0.address.bundleIdentifier == request.bundle }
      throw failure?.error ?? error
    }
  }

  /// The gallery knows the widgets of an installed app without running it; here they are in the extension's own code, so
  /// an extension that never ran is launched once.
  ///
  /// - Returns: the extensions that could not be started.
  private func learnAll() async -> [LaunchFailure] {
    let known = gallery.decision.state.declarations
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

  /// What there is to choose of a widget, and what a person's words find: of the author's queries, in their extension, which has
  /// as long as for a timeline. `nil` where all is known without them.
  ///
  /// - Throws: `failed`, definite: nothing was chosen.
  private func offer(
    of widget: WidgetDeclaration, in bundle: String, _ choices: [String: ArchivedValue], _ story: Story
  ) async throws(BusError) -> IntentDeclaration? {
    guard let known = widget.configuration, known.parameters.contains(where: \.isAsked) else { return nil }
    let address = Address.widgetExtension(configuration.device.name, bundle)
    let question = DescribeIntent(widgetKind: widget.kind, searches: choices.compactMapValues(\.string))
    do throws(BusError) {
      return try await withLaunched(address, because: Device.configuringAssertion) { () async throws(BusError) in
        try await bus.request(
          question, to: address, story: story, within: configuration.settings.timelineDeadline, whenUnreachable: .wait)
      }
    } catch {
      throw BusError(
        BusError.Code.launchFailures.contains(error.code) ? error.code : .failed,
        "\(address.short) did not say what there is to choose of \(widget.kind): \(error.message)", isDefinite: true)
    }
  }

  private static var configuringAssertion: Assertion { Assertion("configuration") }
  private static var galleryAssertion: Assertion { Assertion("gallery") }

  /// Returns when the extension said its widgets, when it cannot be started, when its life is over, or after ten seconds.
  private func learn(_ address: Address) async {
    // Of the machine's time, in which author's code runs: a person who looks at the gallery must not wait for ever.
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

  /// Whether the extension has said its widgets.
  private func isKnown(_ address: Address) -> Bool {
    gallery.decision.state.declarations[address.bundleIdentifier ?? ""] != nil
  }

  private func stopWaiting(for address: Address) {
    for continuation in learning.removeValue(forKey: address) ?? [] { continuation.resume() }
  }

  // MARK: Screen

  private func show(_ request: ShowScreen) async throws -> ShowScreen.Reply {
    let screen = await gallery.state
    let current = await gallery.current
    let location = request.location ?? current
    let decision = gallery.decision
    if let refusal = decision.device.refusal(of: location) { throw BusError(.notNow, refusal) }
    var tiles: [ShowScreen.Tile] = []
    for placement in decision.state.placements where placement.location == location && decision.isOnTop(placement.id) {
      let isProtected = configuration.product(placement.bundle)?.dataProtection.isOfUnlockedDevice ?? true
      var tile = decision.tile(
        of: placement, try await shown(placement), on: screen, isProtected: isProtected, now: clock.now)
      tile.covers = decision.covered(by: placement.id)
      tiles.append(tile)
    }
    let tint = decision.device.tint(at: location)
    let failures = await failedExtensions()
    var reply = try ShowScreen.Reply(state: screen, location: location, tint: tint, tiles: tiles).fitting()
    if !failures.isEmpty { reply.failures = failures }
    return reply
  }

  private func change(_ change: ChangeScreen.Change, _ story: Story) async throws -> DeviceScreen {
    if case .activity(let bundle, _?) = change {
      let address = try app(bundle).address(on: configuration.device.name)
      guard await launcher.awakeLife(of: address) != nil else {
        throw BusError(.notNow, "\(bundle) does not run, and begins nothing: `widgetlab app open` first")
      }
    }
    let screen = try await gallery.change(change, story)
    // Whoever is answered finds it so: the device is locked, and what comes due then is of what is seen now.
    await tellWhatIsWithheld()
    await tellWhatIsSeen()
    return screen
  }

  /// An app that plays, leads or follows is not suspended behind the front.
  private func keepAwake(_ now: [String: AppActivity], _ before: [String: AppActivity]) async {
    for product in configuration.apps where (now[product.bundle] == nil) != (before[product.bundle] == nil) {
      let address = product.address(on: configuration.device.name)
      if now[product.bundle] == nil {
        await launcher.release(address, because: .activity)
      } else if await launcher.awakeLife(of: address) != nil {
        await launcher.want(address, because: .activity)
      }
    }
  }

  /// What apps were doing when the last life of the host ended they still do, if they live.
  func resumeActivities() async throws {
    for bundle in await gallery.state.activities.keys.sorted() {
      let address = try app(bundle).address(on: configuration.device.name)
      if await launcher.awakeLife(of: address) != nil {
        await launcher.want(address, because: .activity)
      } else {
        try await gallery.ended(bundle)
      }
    }
  }

  func launched(_ app: Address) async {
    do {
      try await gallery.launched(app.bundleIdentifier ?? "")
    } catch {
      // The keeper has said that it is broken.
    }
  }

  func endedOnScreen(_ address: Address) async {
    stopWaiting(for: address)
    // A later life may be in front already.
    guard address.role == .app, await !launcher.isInFront(address) else { return }
    do {
      try await gallery.ended(address.bundleIdentifier ?? "")
    } catch {
      // The keeper has said that it is broken.
    }
  }

  func route(_ intent: GalleryIntent) async {
    switch intent {
    case .screen(let now, let before):
      await keepAwake(now.activities, before.activities)
      await tellWhatIsSeen()
    case .systemChanged(let setting): await tellSystemChanged(setting)
    case .background(let app):
      guard let address = configuration.product(app)?.address(on: configuration.device.name) else { return }
      opening.remove(address)
      await setFront(address, false)
      activate(address, isActive: false)
      await launcher.release(address, because: .foreground)
    case .restarted:
      for process in await launcher.status where process.pid != nil {
        await launcher.evict(process.address, generation: process.generation, why: "the device is started anew")
      }
    case .broken(let reason): broken(reason)
    }
  }
}

/// The device, while it is there.
private func there(_ device: Device?) throws(BusError) -> Device {
  guard let device else { throw BusError(.closed, "the device is going down", isDefinite: false) }
  return device
}

extension WidgetDevice {
  init(_ configuration: ClusterConfiguration) {
    let settings = configuration.settings.gallery
    var taste = Taste()
    taste.defaultFamiliesIncludeAccessory = settings.defaultFamiliesIncludeAccessory
    taste.contentMargin = Double(settings.contentMargin)
    taste.homeScreen = settings.homeScreenRenderingMode
    taste.standBy = settings.standByRenderingMode
    taste.hidesSensitiveContent = settings.hidesSensitiveContent
    // Source: WidgetKit Developer Mode.
    taste.smartRotatePause = configuration.settings.developerMode ? 0 : settings.smartRotatePause.seconds
    let device = configuration.device
    self.init(
      isPad: device.isPad, version: device.majorVersion, width: device.screen.width, height: device.screen.height,
      scale: device.screen.scale, locale: device.locale, taste: taste)
    hasAlwaysOn = device.screen.hasAlwaysOn
  }
}

extension ShowScreen.Reply {
  /// With the largest views left out, if all of them together are too long for an envelope.
  fileprivate func fitting() throws -> ShowScreen.Reply {
    let room = Wire.bodyLimit / max(1, tiles.count) - 2048
    let fitting = try tiles.map { tile in
      guard try BodyCoding.data(tile.view).count > room else { return tile }
      var short = ShowScreen.Tile(
        placement: tile.placement, content: tile.content, background: tile.background,
        renderingMode: tile.renderingMode, date: tile.date,
        view: .group(tile.view.lines.prefix(20).map(ViewArchive.text)),
        note: tile.note ?? "its views are too long to be shown here: these are its first texts")
      short.covers = tile.covers
      return short
    }
    return ShowScreen.Reply(state: state, location: location, tint: tint, tiles: fitting)
  }
}
