// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// The state machine of the gallery: which widgets are placed where, and which may be. A plain value, no clock or I/O.
/// A request is refused before it changes something.
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
  package struct State: Sendable, Hashable {
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
  package private(set) var state: State

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
      added.append(place(bundle, kind: widget.kind, family: family, location: location, configuration: [:]))
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
    _ askedPlacement: AddPlacement, offer: IntentDeclaration? = nil, now: Date = .distantPast
  ) throws(BusError) -> PlacementReport {
    let request = try stacking(askedPlacement)
    var (bundle, widget) = try find(request)
    widget.configuration = offer ?? widget.configuration
    if let reason = neverLaunched(bundle) { throw notPlaceable(widget, location: request.location, reason: reason) }
    let family = try family(of: widget, request)
    let values = try widget.configured(with: request.configuration)
    let placement = place(bundle, kind: widget.kind, family: family, location: request.location, configuration: values)
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
    _ bundle: String, kind: String, family: WidgetFamilyName, location: WidgetLocationName,
    configuration: [String: ArchivedValue]
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
        throw notPlaceable(
          widget, location: request.location, reason: "it does not support \(family.rawValue); it supports: \(own)")
      }
      if let reason = section(of: widget, family, request.location).reason {
        throw notPlaceable(widget, location: request.location, reason: reason)
      }
      return family
    }
    let sections = families.map { ($0, section(of: widget, $0, request.location)) }
    for wanted in [ListGallery.Item.Section.main, .other] {
      if let found = sections.first(where: { $0.1.section == wanted }) { return found.0 }
    }
    throw notPlaceable(widget, location: request.location, reason: sections.first?.1.reason ?? "it supports no family")
  }

  private func notPlaceable(
    _ widget: WidgetDeclaration, location: WidgetLocationName, reason: String
  ) -> BusError {
    BusError(
      .notPlaceable, "\(widget.kind) has no place on \(location.rawValue) of this device (\(device.system)): \(reason)")
  }
}

extension GalleryStateMachine {
  typealias Section = ListGallery.Item.Section

  /// Lists the gallery by location: the main section, *Other*, and what is left out, with the reason.
  package func list(_ request: ListGallery) -> ListGallery.Reply {
    let locations = request.location.map { [$0] } ?? device.locations
    var items: [ListGallery.Item] = []
    for location in locations {
      for (bundle, widgets) in state.declarations.sorted(by: { $0.key < $1.key }) {
        // Every place lists the widgets, and only Control Center the controls that it offers.
        for widget in widgets where widget.isControl || location != .controlCenter {
          items += self.items(bundle, widget: widget, location: location)
        }
      }
    }
    return ListGallery.Reply(items: items)
  }

  /// A widget's families in one location's gallery: one item per section, and one per reason for families left out.
  private func items(
    _ bundle: String, widget: WidgetDeclaration, location: WidgetLocationName
  ) -> [ListGallery.Item] {
    var groups: [(section: Section, reason: String?, families: [WidgetFamilyName])] = []
    let families = device.families(of: widget)
    for family in families {
      var (section, reason) = self.section(of: widget, family, location)
      if section != .leftOut, let never = neverLaunched(bundle) { (section, reason) = (.leftOut, never) }
      if let index = groups.firstIndex(where: { $0.section == section && $0.reason == reason }) {
        groups[index].families.append(family)
      } else {
        groups.append((section, reason, [family]))
      }
    }
    if families.isEmpty { groups = [(.leftOut, "it supports no family", [])] }
    return groups.map { group in
      ListGallery.Item(
        bundle: bundle, widgetKind: widget.kind, displayName: widget.displayName ?? widget.kind,
        description: widget.description ?? "", location: location, families: group.families, section: group.section,
        reason: group.reason)
    }
  }

  /// Source: "Creating a widget extension": the containing app must have been launched once.
  func neverLaunched(_ bundle: String) -> String? {
    guard let app = app(of: bundle), !state.launchedApps.contains(app) else { return nil }
    return "its app \(app) was never launched"
  }

  /// The gallery section of a widget's family at a location, whether or not its app was ever launched.
  func section(
    of widget: WidgetDeclaration, _ family: WidgetFamilyName, _ location: WidgetLocationName
  ) -> (section: Section, reason: String?) {
    if widget.isControl, location != .controlCenter {
      return (.leftOut, "a control is not a widget: it is placed with `--location controlCenter`")
    }
    if !widget.isControl, location == .controlCenter { return (.leftOut, "Control Center has controls only") }
    if let refusal = device.refusal(of: family, at: location) { return (.leftOut, refusal) }
    if !widget.isBackgroundRemovable, device.requiresRemoval(at: location, family) {
      return (.leftOut, "its background is not removable, and \(location.rawValue) shows widgets without it")
    }
    let isDisfavored = widget.disfavored.contains { $0.locations.contains(location) && $0.families.contains(family) }
    // `disfavoredLocations(_:for:)` is available from iOS 17 on.
    return (isDisfavored && device.version >= 17 ? .other : .main, nil)
  }
}

// Stacks and Smart Rotate. Source: Human Interface Guidelines, "Widgets": up to ten widgets of one size, of which the
// system shows the most relevant. Entries state their relevance (`TimelineEntryRelevance`).

extension GalleryStateMachine {
  /// Widgets of one family at one location, of which one is visible.
  package struct Stack: Codable, Sendable, Hashable {
    /// At least two, in the order in which the user turns them.
    fileprivate(set) var members: [Int]
    fileprivate(set) var top: Int
    /// When another widget last came to the top.
    package fileprivate(set) var turned: Date

    /// The hidden widgets, in the order in which they come to the top when the stack is turned.
    package var covered: [Int] {
      guard let index = members.firstIndex(of: top) else { return members }
      return Array(members[(index + 1)...] + members[..<index])
    }
  }

  /// Source: Human Interface Guidelines.
  static let stackLimit = 10

  package func stack(of number: Int) -> Stack? { state.stacks.first { $0.members.contains(number) } }

  /// Whether a widget is in no stack, or on top of its stack.
  package func isOnTop(_ number: Int) -> Bool { stack(of: number).map { $0.top == number } ?? true }

  /// The widgets that are hidden in the stack of a widget.
  package func covered(by number: Int) -> [ShowScreen.Covered] {
    (stack(of: number)?.covered ?? []).compactMap { other in
      state.placements.first { $0.id == other }.map { ShowScreen.Covered(placement: other, widgetKind: $0.kind) }
    }
  }

  /// Checks that a widget is visible, for example before a tap.
  ///
  /// - Throws: `not-now`, definite; the message states what to do first.
  package func requireOnTop(_ number: Int) throws(BusError) {
    guard let stack = stack(of: number), stack.top != number else { return }
    throw BusError(.notNow, "\(number) is under \(stack.top) in its stack: run `widgetlab turn \(number)` first")
  }

  // MARK: User actions

  /// Completes a request to put a widget on another widget, or on the stack of that widget.
  ///
  /// - Throws: `no-such-placement`, `not-placeable`, definite.
  func stacking(_ request: AddPlacement) throws(BusError) -> AddPlacement {
    guard let number = request.stack else { return request }
    let base = try placement(number)
    if base.location == .lockScreen { throw notStackable(request, "a Lock Screen has no stacks") }
    if let family = request.family, family != base.family {
      throw notStackable(request, "all widgets of a stack have the same size, here \(base.family.rawValue)")
    }
    guard stack(of: number)?.members.count ?? 1 < Self.stackLimit else {
      throw notStackable(request, "a stack has at most \(Self.stackLimit) widgets")
    }
    return AddPlacement(
      bundle: request.bundle, widgetKind: request.widgetKind, family: base.family, location: base.location,
      configuration: request.configuration, stack: number)
  }

  private func notStackable(_ request: AddPlacement, _ reason: String) -> BusError {
    BusError(.notPlaceable, "\(request.widgetKind) cannot be put on \(request.stack ?? 0): \(reason)")
  }

  /// The added widget is on top.
  mutating func put(_ number: Int, on base: Int, now: Date) {
    if let index = state.stacks.firstIndex(where: { $0.members.contains(base) }) {
      state.stacks[index].members.append(number)
      state.stacks[index].top = number
      state.stacks[index].turned = now
    } else {
      state.stacks.append(Stack(members: [base, number], top: number, turned: now))
    }
  }

  /// Removes a widget from its stack. If it was on top, the next one replaces it. A single widget is not a stack.
  mutating func takeOffStack(_ number: Int, now: Date) {
    guard let index = state.stacks.firstIndex(where: { $0.members.contains(number) }) else { return }
    var stack = state.stacks[index]
    if stack.top == number, let next = stack.covered.first {
      stack.top = next
      stack.turned = now
    }
    stack.members.removeAll { $0 == number }
    if stack.members.count > 1 { state.stacks[index] = stack } else { state.stacks.remove(at: index) }
  }

  /// Brings a widget to the top of its stack, as the user does.
  ///
  /// - Throws: `no-such-placement`; `not-now` for a widget that is in no stack. Both are definite.
  package mutating func turn(to number: Int, now: Date) throws(BusError) -> TurnStack.Reply {
    _ = try placement(number)
    guard let index = state.stacks.firstIndex(where: { $0.members.contains(number) }) else {
      throw BusError(.notNow, "\(number) is in no stack: `widgetlab add KIND --stack \(number)` adds a widget to it")
    }
    if state.stacks[index].top != number {
      state.stacks[index].top = number
      state.stacks[index].turned = now
    }
    return TurnStack.Reply(members: state.stacks[index].members)
  }

  /// The stacks whose top widget has changed.
  package static func turned(
    from before: State, to now: State, because cause: StackTurned.Cause
  ) -> [StackTurned] {
    let tops = Set(before.stacks.map(\.top))
    return now.stacks.filter { !tops.contains($0.top) }
      .map { StackTurned(members: $0.members, top: $0.top, because: cause, date: $0.turned) }
  }

  // MARK: Smart Rotate

  /// Turns each stack to its most relevant widget, at most once per `smartRotatePause`. If several are equally
  /// relevant, the top one stays; otherwise the first in the stack's order is selected.
  ///
  /// - Parameters:
  ///   - relevance: by number; a widget that is missing is not relevant.
  ///   - mayTurn: `false` right after the user turned a stack, which is not undone before something else happens.
  /// - Returns: what turned, and when to check again.
  mutating func smartRotate(
    _ relevance: [Int: CurrentRelevance], mayTurn: Bool = true, now: Date
  ) -> (turned: [StackTurned], next: Date?) {
    var turned: [StackTurned] = []
    var next: Date?
    func lookAgain(at instant: Date) { next = min(next ?? instant, instant) }
    for index in state.stacks.indices {
      let stack = state.stacks[index]
      for number in stack.members {
        if let end = relevance[number]?.until, end > now { lookAgain(at: end) }
      }
      let scores = stack.members.map { (number: $0, score: relevance[$0]?.score(at: now) ?? 0) }
      let formerScore = scores.first { $0.number == stack.top }?.score ?? 0
      guard let best = scores.map(\.score).max(), best > formerScore,
        let foundScore = scores.first(where: { $0.score == best })
      else { continue }
      let earliest = stack.turned.addingTimeInterval(device.options.smartRotatePause)
      if earliest > now { lookAgain(at: earliest) }
      guard mayTurn, earliest <= now else { continue }
      state.stacks[index].top = foundScore.number
      state.stacks[index].turned = now
      turned.append(
        StackTurned(
          members: stack.members, top: foundScore.number, because: .relevance, date: now, score: best,
          formerScore: formerScore))
    }
    return (turned, next)
  }
}

extension WidgetDeclaration {
  /// Merges the user's choices into earlier ones, as values of the intent's parameters. A text is parsed as the
  /// parameter's type; an empty text resets the parameter to its default.
  ///
  /// - Throws: `bad-configuration`, definite; the message states what the parameter takes.
  func configured(
    with choices: [String: ArchivedValue], over earlier: [String: ArchivedValue] = [:]
  ) throws(BusError) -> [String: ArchivedValue] {
    var values = earlier
    for (name, choice) in choices.sorted(by: { $0.key < $1.key }) {
      guard let configuration else {
        throw BusError(.badConfiguration, "\(kind) has no configurable parameters")
      }
      guard let parameter = configuration.parameters.first(where: { $0.name == name }) else {
        let names = configuration.parameters.map(\.name).joined(separator: ", ")
        throw BusError(
          .badConfiguration, "\(configuration.type) has no parameter \(name); its parameters: \(names)")
      }
      values[name] = choice == .string("") ? nil : try parameter.value(of: choice)
    }
    return values
  }
}

extension IntentDeclaration.Parameter {
  /// Converts a choice to a value of this parameter.
  fileprivate func value(of choice: ArchivedValue) throws(BusError) -> ArchivedValue {
    if !options.isEmpty {
      let text = choice.string
      let fitting = options.first { $0.value == choice || text != nil && ($0.value.plain == text || $0.title == text) }
      if let fitting { return fitting.value }
      // For a text or a number the options are only suggestions.
      if type == .enum || type == .entity { throw wrong(choice, optionList) }
    }
    guard let text = choice.string else { return try typed(choice) }
    return try read(text)
  }

  private var optionList: String {
    "one of: "
      + options.map { $0.title == $0.value.plain ? $0.title : "\($0.value.plain) (\($0.title))" }
      .joined(separator: ", ")
  }

  private func typed(_ value: ArchivedValue) throws(BusError) -> ArchivedValue {
    switch (type, value) {
    case (.bool, .bool), (.double, .number), (.date, .date), (.entity, _), (.enum, _): return value
    case (.int, .number(let number)) where number == number.rounded(): return value
    default: throw wrong(value, words)
    }
  }

  private func read(_ text: String) throws(BusError) -> ArchivedValue {
    switch type {
    case .bool:
      if ["true", "yes", "on"].contains(text.lowercased()) { return true }
      if ["false", "no", "off"].contains(text.lowercased()) { return false }
    case .int: if let number = Int(text) { return .number(Double(number)) }
    case .double: if let number = Double(text), number.isFinite { return .number(number) }
    case .date: if let date = try? Date(text, strategy: .iso8601) { return .date(date) }
    case .url: if let url = URL(string: text), url.scheme != nil { return .string(text) }
    case .string, .enum, .entity: return .string(text)
    }
    throw wrong(.string(text), words)
  }

  private var words: String {
    switch type {
    case .bool: "true or false"
    case .int: "a whole number"
    case .double: "a number"
    case .date: "a date such as 2026-11-21T07:15:00Z"
    case .url: "a URL with a scheme"
    case .string: "text"
    case .enum, .entity: optionList
    }
  }

  private func wrong(_ value: ArchivedValue, _ wanted: String) -> BusError {
    BusError(.badConfiguration, "\(name) must be \(wanted); got '\(value.plain)'")
  }
}

extension ArchivedValue {
  /// The value as text that the user would enter.
  package var plain: String {
    switch self {
    case .bool(let value): "\(value)"
    case .number(let value): value == value.rounded() && abs(value) < 1e15 ? "\(Int(saturating: value))" : "\(value)"
    case .string(let value): value
    case .date(let value): value.formatted(.iso8601)
    case .list(let values): values.map(\.plain).joined(separator: ", ")
    case .record(let values):
      values.sorted.map { "\($0.key): \($0.value.plain)" }.joined(separator: ", ")
    }
  }
}
