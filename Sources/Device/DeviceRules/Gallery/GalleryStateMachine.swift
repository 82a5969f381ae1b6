// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// The state machine of the gallery: which widgets are placed where, and which may be. A plain value, no clock or I/O.
package struct GalleryStateMachine: Sendable {
  /// A kind of widget of one extension.
  package struct Kind: Hashable, Sendable, Codable {
    package let bundle: String
    package let kind: String
    package init(bundle: String, kind: String) {
      self.bundle = bundle
      self.kind = kind
    }
  }

  /// The persistent state.
  package struct State: Sendable, Equatable {
    /// By the extension's bundle identifier, in the order of the author's bundle.
    package var declarations: [String: [WidgetDeclaration]] = [:]
    /// In the order in which they were placed.
    package var placements: [Placement] = []
    package var lastNumber = 0
    /// Kinds of which one widget was placed when the kind was first reported.
    package var met: Set<Kind> = []
    /// Apps that were launched at least once.
    package var launchedApps: Set<String> = []
    package var stacks: [Stack] = []
    package init() {}
  }

  package internal(set) var device: WidgetDevice
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

  // MARK: Queries

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
      .noSuchPlacement, "no placement has the number \(number); there are: \(numbers.isEmpty ? "none" : numbers)")
  }

  /// The app that contains an extension: its identifier is a prefix of the extension's.
  package func app(of bundle: String) -> String? {
    apps.filter { bundle == $0 || bundle.hasPrefix($0 + ".") }.max { $0.count < $1.count }
  }

  /// The placements of an app and its extensions. Source: `WidgetCenter.currentConfigurations()`.
  package func placements(askedBy bundle: String) -> [Placement] {
    let family = app(of: bundle)
    return state.placements.filter { $0.bundle == bundle || family != nil && app(of: $0.bundle) == family }
      .map(withIntent)
  }

  /// A placement as an author's process receives it.
  package func withIntent(_ placement: Placement) -> Placement {
    var placement = placement
    placement.intent = declaration(of: placement)?.configuration?.type
    return placement
  }

  /// The only extension with a kind of widget.
  ///
  /// - Throws: `not-placeable`, definite, if several have it.
  package func requireOneBundle(of kind: String) throws(BusError) {
    let bundles = state.declarations.filter { $0.value.contains { $0.kind == kind } }.keys.sorted()
    guard bundles.count > 1 else { return }
    throw severalBundles(kind, bundles)
  }

  private func severalBundles(_ kind: String, _ bundles: [String]) -> BusError {
    BusError(.notPlaceable, "\(kind) is a kind of \(bundles.joined(separator: " and of ")): specify the bundle")
  }

  package func environment(of placement: Placement) -> WidgetEnvironment {
    let declaration = declaration(of: placement)
    return device.environment(
      of: placement, isBackgroundRemovable: declaration?.isBackgroundRemovable ?? true,
      hasMargins: declaration?.contentMarginsDisabled != true)
  }

  // MARK: Events

  /// An extension reported its widgets. If `placesEachKind` is set, one widget of each new kind is placed.
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

  /// The device has these extensions and apps, and no others: what belongs to another one is removed.
  ///
  /// - Returns: the placements that were removed.
  package mutating func keep(extensions: Set<String>, apps: Set<String>, now: Date) -> [Placement] {
    let gone = state.placements.filter { !extensions.contains($0.bundle) }
    for placement in gone { takeOffStack(placement.id, now: now) }
    state.placements.removeAll { !extensions.contains($0.bundle) }
    state.declarations = state.declarations.filter { extensions.contains($0.key) }
    state.met = state.met.filter { extensions.contains($0.bundle) }
    state.launchedApps.formIntersection(apps)
    return gone
  }

  /// An app was launched.
  package mutating func launched(_ app: String) { state.launchedApps.insert(app) }

  /// Adds a widget, as the user does.
  ///
  /// - Parameters:
  ///   - offer: the current options, if the author's code was asked for them.
  ///   - now: the device's time; a stack does not turn automatically right after it.
  /// - Throws: `not-placeable`, `no-such-placement` for the stack, or `bad-configuration`; definite.
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

  /// Changes the configuration of a widget, as the user does.
  ///
  /// - Parameter offer: the current options, if the author's code was asked for them.
  /// - Throws: `no-such-placement` or `bad-configuration`, definite.
  package mutating func edit(
    _ request: EditPlacement, offer: IntentDeclaration? = nil
  ) throws(BusError) -> PlacementReport {
    var placement = try placement(request.placement)
    guard var widget = declaration(of: placement) else {
      throw BusError(
        .badConfiguration, "\(placement.bundle) no longer has a widget of kind \(placement.kind)")
    }
    widget.configuration = offer ?? widget.configuration
    placement.configuration = try widget.configured(with: request.configuration, over: placement.configuration)
    state.placements = state.placements.map { $0.id == placement.id ? placement : $0 }
    return report(placement, widget)
  }

  /// Removes a widget, as the user does.
  ///
  /// - Throws: `no-such-placement`, definite.
  package mutating func remove(_ number: Int, now: Date = .distantPast) throws(BusError) -> Placement {
    let placement = try placement(number)
    takeOffStack(number, now: now)
    state.placements.removeAll { $0.id == number }
    return placement
  }

  // MARK: Implementation

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

  /// The Home Screen if it takes the widget, else the first location that does; locations not disfavored come first.
  private func firstPlace(of widget: WidgetDeclaration) -> (WidgetLocationName, WidgetFamilyName)? {
    for section in [ListGallery.Item.Section.main, .other] {
      for location in device.locations {
        for family in device.families(of: widget) where self.section(of: widget, family, location).section == section {
          return (location, family)
        }
      }
    }
    return nil
  }

  /// The requested widget and its extension.
  ///
  /// - Throws: `not-placeable`, definite, if no extension or more than one has the kind.
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
        "no widget\(place) is of kind \(request.widgetKind); there are: \(kinds.isEmpty ? "none" : kinds)")
    }
    guard Set(fitting.map(\.0)).count == 1 else { throw severalBundles(request.widgetKind, fitting.map(\.0)) }
    return first
  }

  private func family(of widget: WidgetDeclaration, _ request: AddPlacement) throws(BusError) -> WidgetFamilyName {
    let families = device.families(of: widget)
    if let family = request.family {
      guard families.contains(family) else {
        let own = families.map(\.rawValue).joined(separator: ", ")
        throw notPlaceable(widget, request.location, "it does not support \(family.rawValue); it supports: \(own)")
      }
      if let reason = section(of: widget, family, request.location).reason {
        throw notPlaceable(widget, request.location, reason)
      }
      return family
    }
    let sections = families.map { ($0, section(of: widget, $0, request.location)) }
    for wanted in [ListGallery.Item.Section.main, .other] {
      if let found = sections.first(where: { $0.1.section == wanted }) { return found.0 }
    }
    throw notPlaceable(widget, request.location, sections.first?.1.reason ?? "it supports no family")
  }

  private func notPlaceable(
    _ widget: WidgetDeclaration, _ location: WidgetLocationName, _ reason: String
  ) -> BusError {
    BusError(
      .notPlaceable, "\(widget.kind) has no place on \(location.rawValue) of this device (\(device.system)): \(reason)")
  }
}
