package import Archive
package import Conversations
package import Foundation

/// What stands where, and what may: a plain value without clock or I/O.
package struct GalleryDecision: Sendable {
  /// A kind of widget of one extension.
  package struct Kind: Hashable, Sendable, Codable {
    package let bundle: String
    package let kind: String
    package init(bundle: String, kind: String) {
      self.bundle = bundle
      self.kind = kind
    }
  }

  /// All that is kept on disk.
  package struct State: Sendable, Equatable {
    /// By the extension's bundle identifier, in the order of the author's bundle.
    package var declarations: [String: [WidgetDeclaration]] = [:]
    /// In the order in which they were placed.
    package var placements: [Placement] = []
    package var lastNumber = 0
    /// Kinds of which one was placed when they were first heard of.
    package var met: Set<Kind> = []
    /// Apps that were launched once.
    package var launchedApps: Set<String> = []
    package var stacks: [Stack] = []
    package init() {}
  }

  package let device: WidgetDevice
  /// Bundle identifiers of the device's apps.
  private let apps: [String]
  private let placesEachKind: Bool
  package internal(set) var state: State

  package init(device: WidgetDevice, apps: [String] = [], placesEachKind: Bool = true, state: State = State()) {
    self.device = device
    self.apps = apps
    self.placesEachKind = placesEachKind
    self.state = state
  }

  // MARK: What is known

  package func declaration(_ bundle: String, _ kind: String) -> WidgetDeclaration? {
    state.declarations[bundle]?.first { $0.kind == kind }
  }

  package func declaration(of placement: Placement) -> WidgetDeclaration? {
    declaration(placement.bundle, placement.kind)
  }

  package func placement(_ number: Int) throws(BusError) -> Placement {
    if let placement = state.placements.first(where: { $0.id == number }) { return placement }
    let numbers = state.placements.map { "\($0.id)" }.joined(separator: ", ")
    throw BusError(
      .noSuchPlacement, "nothing has the number \(number); there are: \(numbers.isEmpty ? "none" : numbers)")
  }

  /// The app that contains an extension: the one whose identifier begins the extension's.
  package func app(of bundle: String) -> String? {
    apps.filter { bundle == $0 || bundle.hasPrefix($0 + ".") }.max { $0.count < $1.count }
  }

  /// The placements of an app and its extensions. Source: `WidgetCenter.currentConfigurations()`.
  package func placements(askedBy bundle: String) -> [Placement] {
    let family = app(of: bundle)
    return state.placements.filter { $0.bundle == bundle || family != nil && app(of: $0.bundle) == family }
  }

  package func environment(of placement: Placement) -> WidgetEnvironment {
    device.environment(
      of: placement, isBackgroundRemovable: declaration(of: placement)?.isBackgroundRemovable ?? true)
  }

  // MARK: What happens

  /// An extension said its widgets. One of each kind that was not heard of before is placed, when that is the setting.
  ///
  /// - Returns: the new placements.
  package mutating func learned(_ bundle: String, _ widgets: [WidgetDeclaration]) -> [Placement] {
    state.declarations[bundle] = widgets
    guard placesEachKind else { return [] }
    var added: [Placement] = []
    for widget in widgets where !widget.isControl {
      let kind = Kind(bundle: bundle, kind: widget.kind)
      guard !state.met.contains(kind), let (location, family) = firstPlace(of: widget) else { continue }
      state.met.insert(kind)
      added.append(place(bundle, widget.kind, family, location, [:]))
    }
    return added
  }

  /// An app was launched.
  package mutating func launched(_ app: String) { state.launchedApps.insert(app) }

  /// A person places a widget.
  ///
  /// - Parameters:
  ///   - offer: what there is to choose now, where the author was asked.
  ///   - now: of a stack, which does not turn by itself at once.
  /// - Throws: `not-placeable`, `no-such-placement` of the stack, or `bad-configuration`, definite.
  package mutating func add(
    _ asked: AddPlacement, offer: IntentDeclaration? = nil, now: Date = .distantPast
  ) throws(BusError) -> PlacementReport {
    let request = try stacking(asked)
    var (bundle, widget) = try find(request)
    widget.configuration = offer ?? widget.configuration
    if let reason = neverLaunched(bundle) { throw notPlaceable(widget, request.location, reason) }
    let family = try family(of: widget, request)
    let values = try widget.configured(with: request.configuration)
    let placement = place(bundle, widget.kind, family, request.location, values)
    if let base = request.stack { put(placement.id, on: base, now: now) }
    return report(placement, widget)
  }

  /// A person chooses something else for a widget.
  ///
  /// - Parameter offer: what there is to choose now, where the author was asked.
  /// - Throws: `no-such-placement` or `bad-configuration`, definite.
  package mutating func edit(
    _ request: EditPlacement, offer: IntentDeclaration? = nil
  ) throws(BusError) -> PlacementReport {
    var placement = try placement(request.placement)
    guard var widget = declaration(of: placement) else {
      throw BusError(
        .badConfiguration, "\(placement.bundle) has no widget of the kind \(placement.kind) any longer")
    }
    widget.configuration = offer ?? widget.configuration
    placement.configuration = try widget.configured(with: request.configuration, over: placement.configuration)
    state.placements = state.placements.map { $0.id == placement.id ? placement : $0 }
    return report(placement, widget)
  }

  /// A person removes a widget.
  ///
  /// - Throws: `no-such-placement`, definite.
  package mutating func remove(_ number: Int, now: Date = .distantPast) throws(BusError) -> Placement {
    let placement = try placement(number)
    takeOffStack(number, now: now)
    state.placements.removeAll { $0.id == number }
    return placement
  }

  // MARK: How

  private mutating func place(
    _ bundle: String, _ kind: String, _ family: WidgetFamilyName, _ location: WidgetLocationName,
    _ configuration: [String: ArchivedValue]
  ) -> Placement {
    state.lastNumber += 1
    let placement = Placement(
      id: state.lastNumber, bundle: bundle, kind: kind, family: family, location: location,
      configuration: configuration)
    state.placements.append(placement)
    return placement
  }

  private func report(_ placement: Placement, _ widget: WidgetDeclaration) -> PlacementReport {
    PlacementReport(
      placement: placement, displayName: widget.displayName ?? widget.kind, description: widget.description ?? "",
      configuration: widget.configuration,
      promptsForConfiguration: widget.promptsForUserConfiguration && device.version >= 18
        && widget.configuration != nil)
  }

  /// The Home Screen where it takes the widget, else the first place that does; where the author wants it, if there is one.
  private func firstPlace(of widget: WidgetDeclaration) -> (WidgetLocationName, WidgetFamilyName)? {
    for shelf in [ListGallery.Item.Shelf.main, .other] {
      for location in device.locations {
        for family in device.families(of: widget) where self.shelf(of: widget, family, location).shelf == shelf {
          return (location, family)
        }
      }
    }
    return nil
  }

  /// The widget that is meant, and its extension.
  ///
  /// - Throws: `not-placeable`, definite, when none is, or several are.
  package func find(_ request: AddPlacement) throws(BusError) -> (String, WidgetDeclaration) {
    let all = state.declarations.sorted { $0.key < $1.key }.flatMap { bundle, widgets in widgets.map { (bundle, $0) } }
    let fitting = all.filter {
      $0.1.kind == request.widgetKind && (request.bundle == nil || request.bundle == $0.0)
    }
    guard let first = fitting.first else {
      let kinds = all.map(\.1.kind).joined(separator: ", ")
      let place = request.bundle.map { " in \($0)" } ?? ""
      throw BusError(
        .notPlaceable,
        "no widget\(place) is of the kind \(request.widgetKind); there are: \(kinds.isEmpty ? "none" : kinds)")
    }
    guard Set(fitting.map(\.0)).count == 1 else {
      throw BusError(
        .notPlaceable,
        "\(request.widgetKind) is a kind of \(fitting.map(\.0).joined(separator: " and of ")): say which")
    }
    return first
  }

  private func family(of widget: WidgetDeclaration, _ request: AddPlacement) throws(BusError) -> WidgetFamilyName {
    let families = device.families(of: widget)
    if let family = request.family {
      guard families.contains(family) else {
        let own = families.map(\.rawValue).joined(separator: ", ")
        throw notPlaceable(widget, request.location, "it does not support \(family.rawValue), but: \(own)")
      }
      if let reason = shelf(of: widget, family, request.location).reason {
        throw notPlaceable(widget, request.location, reason)
      }
      return family
    }
    let shelves = families.map { ($0, shelf(of: widget, $0, request.location)) }
    for wanted in [ListGallery.Item.Shelf.main, .other] {
      if let found = shelves.first(where: { $0.1.shelf == wanted }) { return found.0 }
    }
    throw notPlaceable(widget, request.location, shelves.first?.1.reason ?? "it supports no family")
  }

  private func notPlaceable(
    _ widget: WidgetDeclaration, _ location: WidgetLocationName, _ reason: String
  ) -> BusError {
    BusError(
      .notPlaceable, "\(widget.kind) has no place on \(location.rawValue) of this device (\(device.system)): \(reason)")
  }
}
