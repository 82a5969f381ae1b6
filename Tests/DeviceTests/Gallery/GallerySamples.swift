// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import GRDB
import Messages
import Stores
import Timekeeping

@testable import Device
@testable import DeviceRules

/// Devices and widgets for the tests.
enum GallerySamples {
  static let bundle = "com.example.App.Widget"
  static let app = "com.example.App"

  static func phone(_ version: Int = 18, _ options: WidgetDevice.Options = WidgetDevice.Options()) -> WidgetDevice {
    WidgetDevice(isPad: false, version: version, width: 393, height: 852, scale: 3, options: options)
  }

  static func pad(_ version: Int = 18) -> WidgetDevice {
    WidgetDevice(isPad: true, version: version, width: 834, height: 1194, scale: 2)
  }

  static func widget(
    _ kind: String = "Weather", families: [WidgetFamilyName]? = [.systemSmall],
    set: (inout WidgetDeclaration) -> Void = { _ in }
  ) -> WidgetDeclaration {
    var widget = WidgetDeclaration(kind: kind)
    widget.displayName = "The \(kind)"
    widget.description = "Shows \(kind)."
    widget.families = families
    set(&widget)
    return widget
  }

  /// Returns a gallery whose app was launched, with declared widgets.
  static func gallery(
    _ device: WidgetDevice, _ widgets: [WidgetDeclaration], isLaunched: Bool = true, places: Bool = false
  ) -> GalleryStateMachine {
    var gallery = GalleryStateMachine(device: device, apps: [app], placesEachKind: places)
    if isLaunched { gallery.launched(app) }
    _ = gallery.learned(bundle, widgets)
    return gallery
  }

  /// Returns the same gallery on a phone.
  static func gallery(
    _ widgets: [WidgetDeclaration], isLaunched: Bool = true, places: Bool = false
  ) -> GalleryStateMachine { gallery(phone(), widgets, isLaunched: isLaunched, places: places) }

  static let city = IntentDeclaration(
    type: "SelectCity", title: "Select City",
    parameters: [
      .init(
        name: "city", title: "City", type: .enum, isOptional: false, standard: "london",
        options: [.init(value: "london", title: "London"), .init(value: "paris", title: "Paris")]),
      .init(name: "days", title: "Days", type: .int, isOptional: false, standard: 3, options: []),
      .init(name: "hourly", title: "Hourly", type: .bool, isOptional: false, standard: false, options: []),
      .init(name: "from", title: "From", type: .date, isOptional: true, standard: nil, options: []),
      .init(name: "page", title: "Page", type: .url, isOptional: true, standard: nil, options: []),
      .init(name: "share", title: "Share", type: .double, isOptional: true, standard: nil, options: []),
      .init(name: "note", title: "Note", type: .string, isOptional: true, standard: nil, options: []),
    ])
}

extension ListGallery.Reply {
  func section(_ location: WidgetLocationName, _ family: WidgetFamilyName) -> ListGallery.Item.Section? {
    items.first { $0.location == location && $0.families.contains(family) }?.section
  }

  func reason(_ location: WidgetLocationName, _ family: WidgetFamilyName) -> String? {
    items.first { $0.location == location && $0.families.contains(family) }?.reason
  }
}

extension GalleryService {
  /// A service on a device without other concerns.
  static func alone(
    _ database: any DatabaseWriter, _ device: WidgetDevice = GallerySamples.phone(), placesEachKind: Bool = true,
    clock: any ControllableClock, timelines: TimelineStateMachine = TimelineStateMachine(extensions: []),
    launchOutcome: @escaping @Sendable (Address, Duration) async -> BusError? = { _, _ in nil }
  ) async throws -> GalleryService {
    let storedState = try Stored(
      DeviceTransactions(immediate: database), device: device, apps: [GallerySamples.app],
      placesEachKind: placesEachKind)
    let state = DeviceStateMachine {
      $0.timelines = timelines
      $0.gallery = storedState.gallery
      $0.screen = storedState.screen
    }
    let lone = await LoneDevice(state, clock: clock)
    let service = GalleryService(
      storedState, core: lone.core, bus: InMemoryBus().connection(.host("phone")), launchOutcome: launchOutcome)
    lone.core.connect(service)
    return service
  }

  nonisolated var device: LoneDevice { LoneDevice.of(core) }

  func launched(_ app: String) {
    let instance = ProcessInstance(generation: 1, pid: 1)
    core.handle(.asked(.awake(.app("phone", app), instance, woken: true)))
  }

  var stateMachine: GalleryStateMachine { core.state.gallery }
  var screen: DeviceScreen { core.state.screen.state }

  func learned(_ bundle: String, _ widgets: [WidgetDeclaration]) throws(BusError) -> [Placement] {
    try core.ask(.gallery(.learned(.widgetExtension("phone", bundle), widgets, .none)))
  }

  func add(_ request: AddPlacement) throws(BusError) -> PlacementReport {
    try core.ask(.gallery(.add(request, offer: nil, .none)))
  }

  func turn(_ request: TurnStack) throws(BusError) -> TurnStack.Reply {
    try core.ask(.gallery(.turn(to: request.placement, .none)))
  }

  func open(_ app: String) throws(BusError) -> DeviceScreen { try core.ask(.gallery(.open(app: app, .none))) }

  func change(_ change: ChangeScreen.Change) throws(BusError) -> DeviceScreen {
    try core.ask(.gallery(.screen(change, .none)))
  }
}
