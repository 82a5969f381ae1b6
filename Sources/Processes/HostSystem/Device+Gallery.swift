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
  nonisolated func listenToGallery() {
    onRequest(ListGallery.self) { device, request, _ in await device.list(request) }
    onRequest(AddPlacement.self) { device, request, from in try await device.add(request, from.context) }
    onRequest(EditPlacement.self) { device, request, from in try await device.edit(request, from.context) }
    onRequest(RemovePlacement.self) { device, request, from in
      try device.gallery.remove(request, from.context)
      return Done()
    }
    bus.onRequest(ListPlacements.self) { [gallery] _, from in
      ListPlacements.Reply(placements: gallery.stateMachine.placements(askedBy: from.source.bundleIdentifier ?? ""))
    }
    onRequest(ShowScreen.self) { device, request, _ in try await device.show(request) }
    onRequest(ReadImage.self) { device, request, _ in
      try device.activities.image(request) ?? device.timelines.image(request)
    }
    onRequest(ChangeScreen.self) { device, request, from in
      try device.change(request.change, from.context)
    }
    onRequest(TapWidget.self) { device, request, from in try await device.tap(request, from.context) }
    onRequest(TurnStack.self) { device, request, from in try device.gallery.turn(request, from.context) }
  }

  // MARK: Widgets

  private func list(_ request: ListGallery) async -> ListGallery.Reply {
    let failures = await learnAll()
    var reply = gallery.list(request)
    if !failures.isEmpty { reply.failures = failures }
    return reply
  }

  private func add(_ request: AddPlacement, _ context: MessageContext) async throws -> PlacementReport {
    let failures = await learnAll()
    let (bundle, widget) = try found(request, failures)
    let offer = try await offer(of: widget, in: bundle, [:], request.configuration, context)
    return try gallery.add(request, offer: offer, context)
  }

  private func edit(_ request: EditPlacement, _ context: MessageContext) async throws -> PlacementReport {
    let placement = try gallery.stateMachine.placement(request.placement)
    var offer: IntentDeclaration?
    if let widget = gallery.stateMachine.declaration(of: placement) {
      offer = try await self.offer(
        of: widget, in: placement.bundle, placement.configuration, request.configuration, context)
    }
    return try gallery.edit(request, offer: offer, context)
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
    of widget: WidgetDeclaration, in bundle: String, _ chosen: [String: ArchivedValue],
    _ choices: [String: ArchivedValue], _ context: MessageContext
  ) async throws(BusError) -> IntentDeclaration? {
    guard let known = widget.configuration, known.parameters.contains(where: \.isAsked) else { return nil }
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

  @concurrent private nonisolated func show(_ request: ShowScreen) async throws -> ShowScreen.Reply {
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
        of: placement, try await shown(placement), on: screen, isProtected: isProtected,
        locale: conditions.settings.locale, now: conditions.clockState.now)
      tile.covers = stateMachine.covered(by: placement.id)
      tiles.append(tile)
    }
    let tint = stateMachine.device.tint(at: location)
    let failures = await failedExtensions
    var reply = try ShowScreen.Reply(state: screen, location: location, tint: tint, tiles: tiles).fitting()
    if !failures.isEmpty { reply.failures = failures }
    reply.activities = await shownActivities(at: location, isLocked: screen.isLocked)
    reply.settings = conditions.settings
    reply.changedSettings = conditions.changedSettings
    return reply
  }

  private func change(_ change: ChangeScreen.Change, _ context: MessageContext) throws -> DeviceScreen {
    if case .activity(let bundle, _?) = change {
      let address = try apps.address(of: bundle)
      guard launcher.awakeInstance(of: address) != nil else {
        throw BusError(.notNow, "\(bundle) is not running: run `widgetlab app open` first")
      }
    }
    return try gallery.change(change, context)
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
  /// Shortens the largest views if all together exceed the size of a message.
  fileprivate func fitting() throws -> ShowScreen.Reply {
    let activities = try activities.map { all in try all.map { try $0.fitting(in: 65_536 / all.count) } }
    let used = try BodyCoding.data(activities ?? []).count
    let room = (Wire.bodyLimit - used) / max(1, tiles.count) - 2048
    let fitting = try tiles.map { tile in
      guard try BodyCoding.data(tile.view).count > room else { return tile }
      var short = ShowScreen.Tile(
        placement: tile.placement, content: tile.content, background: tile.background,
        renderingMode: tile.renderingMode, date: tile.date,
        view: .group(tile.view.lines.prefix(20).map(ViewArchive.text)),
        note: tile.note ?? "its views are too large to show here; these are its first texts")
      short.covers = tile.covers
      short.size = tile.size
      return short
    }
    var reply = ShowScreen.Reply(state: state, location: location, tint: tint, tiles: fitting)
    reply.activities = activities
    return reply
  }
}

extension ShowScreen.LiveActivity {
  /// Leaves out views that exceed a size in bytes.
  fileprivate func fitting(in room: Int) throws -> ShowScreen.LiveActivity {
    guard let views, try BodyCoding.data(views).count > room else { return self }
    return ShowScreen.LiveActivity(
      activity: activity, place: place, views: nil, note: note ?? "its views are too large to show here")
  }
}
