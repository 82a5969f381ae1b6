// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// The content that Timelines has for a placement, in the form that the screen needs.
package struct ShownWidget: Sendable, Hashable {
  /// `nil` while the extension has provided nothing.
  package var entry: ArchivedEntry?
  /// Whether no timeline has arrived yet.
  package var isPlaceholder: Bool
  /// The provider's placeholder, which replaces hidden content; `nil` if the extension provided none.
  package var placeholder: ArchivedEntry?
  /// Why the content is not newer.
  package var note: String?
  /// The button or toggle whose intent is running, or whose timeline is pending; from 1.
  package var touched: Int?
  package init(
    entry: ArchivedEntry? = nil, isPlaceholder: Bool = false, placeholder: ArchivedEntry? = nil, note: String? = nil,
    touched: Int? = nil
  ) {
    self.entry = entry
    self.isPlaceholder = isPlaceholder
    self.placeholder = placeholder
    self.note = note
    self.touched = touched
  }
}

extension GalleryStateMachine {
  /// A widget as it appears on the screen.
  ///
  /// Hidden content is left out, so neither a journal nor a viewer of the bus receives it while the device is locked.
  /// If all content is hidden, the provider's placeholder replaces it.
  ///
  /// - Parameters:
  ///   - isProtected: whether its extension's files cannot be read while the device is locked.
  ///   - locale: the device's; with the time, it determines the length of a hidden live text.
  ///   - now: the device's time.
  package func tile(
    of placement: Placement, _ shown: ShownWidget, on screen: DeviceScreen, isProtected: Bool,
    locale: String = "en_US", now: Date
  ) -> ShowScreen.Tile {
    let declaration = declaration(of: placement)
    let hiding = hiding(on: screen, isProtected: isProtected)
    let isPlaceholder = shown.isPlaceholder || hiding != nil
    let isDark = screen.colorScheme == .dark
    let hidesPrivate = screen.isLocked && device.options.hidesSensitiveContent
    var view = (isDark ? shown.entry?.darkView : nil) ?? shown.entry?.view
    let form = hidesPrivate ? shown.entry?.privateForm : shown.touched == nil ? nil : shown.entry?.invalidatedForm
    if let form { view = (isDark ? form.darkView : nil) ?? form.view }
    if let touched = shown.touched { view = view?.touched(touched) }
    if hiding != nil { view = (isDark ? shown.placeholder?.darkView : nil) ?? shown.placeholder?.view }
    let isRefused = view.map { lacksBackground($0, of: placement) } ?? false
    if isRefused { view = .missingBackground }
    let refusal = isRefused ? "its view has no containerBackground(for: .widget)" : nil
    let orphan = declaration == nil ? "its extension no longer has a widget of kind \(placement.kind)" : nil
    let appearance = ScreenAppearance(
      now: now, locale: Locale(identifier: locale), isPlaceholder: isPlaceholder, hidesPrivate: hidesPrivate)
    var tile = ShowScreen.Tile(
      placement: placement, content: view == nil ? .skeleton : isPlaceholder ? .placeholder : .entry,
      background: background(of: placement, declaration), renderingMode: device.renderingMode(at: placement.location),
      date: isPlaceholder ? nil : shown.entry?.date,
      view: view.map {
        isRefused ? $0 : withMargins($0.hiding(appearance), placement: placement, declaration: declaration)
      } ?? .empty,
      note: [hiding, orphan, refusal, shown.note].compactMap(\.self).first)
    let size = device.sizes.size(of: placement.family)
    tile.size = ShowScreen.Tile.Size(width: size.width, height: size.height)
    return tile
  }

  /// Whether the system shows a sign instead of a view: from iOS 17 on, if the view declares no background for the
  /// widget, and the widget does not declare that its background cannot be removed. A control has no background.
  package func lacksBackground(_ view: ViewArchive, of placement: Placement) -> Bool {
    device.version >= 17 && placement.family != .control && declaration(of: placement)?.isBackgroundRemovable != false
      && !view.hasContainerBackground
  }

  /// Why the content is hidden. Source: "Creating a widget extension", data protection.
  private func hiding(on screen: DeviceScreen, isProtected: Bool) -> String? {
    screen.withholding(isProtected: isProtected).map { rule in
      switch rule {
      case .notUnlockedYet: "the device has not been unlocked since it started: only placeholders are shown"
      case .locked: "the device is locked, and the extension's data protection hides its content"
      }
    }
  }

  /// Source: `containerBackgroundRemovable(_:)`; which look a location uses is ours.
  private func background(of placement: Placement, _ declaration: WidgetDeclaration?) -> ShowScreen.Tile.Background {
    guard device.removesBackground(at: placement.location) else { return .shown }
    guard declaration?.isBackgroundRemovable == false else { return .removed }
    return switch device.renderingMode(at: placement.location) {
    case .fullColor: .kept
    case .accented: .faded
    case .vibrant: .desaturated
    }
  }

  /// The system pads the content from iOS 17 on, unless the author disabled it. Source: `contentMarginsDisabled()`.
  private func withMargins(
    _ view: ViewArchive, placement: Placement, declaration: WidgetDeclaration?
  ) -> ViewArchive {
    let margins = device.contentMargins(at: placement.location, placement.family)
    guard declaration?.contentMarginsDisabled != true, margins != WidgetEnvironment.Insets(0) else { return view }
    var padded = view
    padded.modifiers.append(
      ViewArchive.Modifier(
        .layout(.contentMargins),
        [
          .top: .number(margins.top), .leading: .number(margins.leading), .bottom: .number(margins.bottom),
          .trailing: .number(margins.trailing),
        ]))
    return padded
  }
}

extension ViewArchive {
  /// The system's sign in place of a view without a background for the widget. Source: observed.
  fileprivate static let missingBackground = ViewArchive(
    .leaf(.text), [.text: "Please adopt containerBackground API"], modifiers: [Modifier(.silent(.unredacted))])
}

extension DeviceScreen {
  /// Why an extension's files can be neither read nor written; `nil` if they can.
  ///
  /// - Parameter isProtected: whether their protection class denies access on a locked device.
  func withholding(isProtected: Bool) -> Withholding? {
    if !wasUnlocked { return .notUnlockedYet }
    return isLocked && isProtected ? .locked : nil
  }
}

/// The result of a tap on a widget.
package enum Touch: Sendable, Equatable {
  /// An intent is performed.
  case perform(intent: String, values: [String: ArchivedValue], by: Performer)
  /// The app is opened, with a URL or for the widget itself.
  case open(url: String?)
  /// Nothing happens, for this reason.
  case nothing(String)

  /// The process in which an intent is performed.
  package enum Performer: Sendable, Equatable {
    case widgetExtension
    /// The app, in the background unless it is in the foreground already.
    case app
    /// The app, which is opened.
    case openApp
  }
}

extension BusError.Code {
  /// The widget has no such control or link. Definite.
  static let noSuchTarget = BusError.Code("no-such-target")
}

extension GalleryStateMachine {
  /// Determines the result of a tap.
  ///
  /// - Parameters:
  ///   - view: as it is displayed.
  ///   - isLocked: whether the device is locked.
  /// - Throws: `no-such-target`, definite; the message lists the targets.
  package func touch(
    _ tap: TapWidget, on placement: Placement, _ view: ViewArchive, isLocked: Bool
  ) throws(BusError) -> Touch {
    if let number = tap.touchedControl(of: placement) {
      return try control(number, placement: placement, view: view, isLocked: isLocked)
    }
    let url =
      try tap.link.map { label throws(BusError) in try link(label, placement: placement, view: view) } ?? view.widgetURL
    if isLocked { return .nothing("the device must be unlocked before it opens an app: run `widgetlab unlock`") }
    return .open(url: url)
  }

  /// Determines the result of a tap on a presentation of a Live Activity. Its controls act as those of a widget. Source:
  /// *Adding interactivity to widgets and Live Activities*.
  ///
  /// - Throws: `no-such-target`, definite; the message lists the targets.
  package func touch(
    _ tap: TapActivity, on presentation: TapActivity.Presentation, _ views: ActivityViews, screen: DeviceScreen
  ) throws(BusError) -> Touch {
    let parts: [ActivityViews.Part] =
      switch presentation {
      case .lockScreen: [.lockScreen]
      case .expanded: [.expandedLeading, .expandedCenter, .expandedTrailing, .expandedBottom]
      }
    let forms = parts.compactMap { views[$0] }
    let view = ViewArchive.group(forms.map { (screen.colorScheme == .dark ? $0.darkView : nil) ?? $0.view })
    // As large as the Lock Screen presentation.
    let place = Placement(id: 0, bundle: "", kind: "", family: .systemMedium, location: .lockScreen)
    let touch = try touch(
      TapWidget(placement: 0, control: tap.control, link: tap.link), on: place, view, isLocked: screen.isLocked)
    guard case .open(let url) = touch, presentation == .expanded, tap.link == nil else { return touch }
    return .open(url: views.islandURL ?? url)
  }

  private func control(
    _ number: Int, placement: Placement, view: ViewArchive, isLocked: Bool
  ) throws(BusError) -> Touch {
    let controls = view.controls
    guard controls.indices.contains(number - 1) else {
      let names = controls.enumerated().map { "\($0.offset + 1) (\($0.element.name.rawValue) \($0.element.label))" }
      throw BusError(
        .noSuchTarget,
        "the widget has no control \(number); it has: \(names.isEmpty ? "none" : names.joined(separator: ", "))")
    }
    // Source: "Adding interactivity to widgets": from iOS 17 on, in all system families and in
    // accessoryCircular and accessoryRectangular.
    guard device.version >= 17 else { return .nothing("widgets have buttons and toggles from iOS 17 on") }
    guard placement.family != .accessoryInline else { return .nothing("accessoryInline has no buttons or toggles") }
    guard !isLocked || placement.family == .control else {
      return .nothing("buttons and toggles do nothing while the device is locked: run `widgetlab unlock`")
    }
    let control = controls[number - 1]
    if control.modifiers.contains(where: { $0.name == .silent(.disabled) && $0.arguments[.disabled] == .bool(true) }) {
      return .nothing("the \(control.name.rawValue.lowercased()) is disabled")
    }
    guard case .record(let intent)? = control.arguments[.intent], let type = intent[.type]?.string else {
      // A control without an intent acts like the rest of the widget.
      return .open(url: view.widgetURL)
    }
    var values: [String: ArchivedValue] = [:]
    if case .record(let record)? = intent[.parameters] { values = record.values }
    // Source: "Adding interactivity to widgets": the extension, or the app if the intent opens it or is of a type that
    // requires it.
    let performer: Touch.Performer =
      intent[.opensApp] == .bool(true) ? .openApp : intent[.runsInApp] == .bool(true) ? .app : .widgetExtension
    if isLocked, performer == .openApp || intent[.needsUnlock] == .bool(true) {
      return .nothing("\(type) needs an unlocked device: run `widgetlab unlock`")
    }
    return .perform(intent: type, values: values, by: performer)
  }

  /// The destination of a link. Source: "Linking to specific app scenes": systemSmall and larger, and
  /// accessoryRectangular; before iOS 17 systemMedium and larger. In other families the whole widget is one target.
  private func link(_ label: String, placement: Placement, view: ViewArchive) throws(BusError) -> String? {
    let links = view.all { $0.name == .control(.link) }
    guard let link = links.first(where: { $0.label == label || $0.destination == label }) else {
      let names = links.map { "'\($0.label)'" }.joined(separator: ", ")
      throw BusError(.noSuchTarget, "the widget has no link '\(label)'; it has: \(names.isEmpty ? "none" : names)")
    }
    let isTarget: Bool =
      switch placement.family {
      case .systemSmall, .accessoryRectangular: device.version >= 17
      case .accessoryInline, .accessoryCircular, .accessoryCorner, .control: false
      case .systemMedium, .systemLarge, .systemExtraLarge, .systemExtraLargePortrait: true
      }
    return isTarget ? link.destination : view.widgetURL
  }
}

extension TapWidget {
  /// The number of the button or toggle that is touched; a control in Control Center has one, which fills it.
  package func touchedControl(of placement: Placement) -> Int? { control ?? (placement.family == .control ? 1 : nil) }
}

extension ViewArchive {
  /// The texts of a control or a link.
  package var label: String { lines.joined(separator: " ") }

  fileprivate var destination: String? { (arguments[.destination] ?? arguments[.url])?.string }

  /// The URL of the outermost `widgetURL(_:)`.
  fileprivate var widgetURL: String? {
    if let own = modifiers.last(where: { $0.name == .silent(.widgetURL) }) { return own.arguments[.url]?.string }
    for child in children {
      if let found = child.widgetURL { return found }
    }
    return nil
  }
}

extension ViewArchive {
  /// The view between a tap and the timeline that results from it: a toggle is in its other state, and content that the
  /// author marked as invalidatable is redacted for that reason.
  ///
  /// Source: "Adding interactivity to widgets", `invalidatableContent(_:)`.
  func touched(_ control: Int) -> ViewArchive {
    var left = control
    return touched(&left)
  }

  /// Counts controls in the order of `controls`.
  private func touched(_ left: inout Int) -> ViewArchive {
    var view = self
    if name == .control(.button) || name == .control(.toggle) {
      left -= 1
      if left == 0, name == .control(.toggle), case .bool(let isOn)? = arguments[.isOn] {
        view.arguments[.isOn] = .bool(!isOn)
      }
    }
    view.children = []
    for child in children { view.children.append(child.touched(&left)) }
    view.modifiers = []
    for var modifier in modifiers {
      let views = modifier.views
      modifier.views = []
      for view in views { modifier.views.append(view.touched(&left)) }
      view.modifiers.append(modifier)
      if modifier.name == .silent(.invalidatableContent), modifier.arguments[.invalidatable] != .bool(false) {
        view.modifiers.append(Modifier(.silent(.redacted), [.reason: "invalidated"]))
      }
    }
    return view
  }
}

extension GalleryStateMachine {
  /// A device that shows a widget in a rendering mode, and the location at which it does. Source: `WidgetDevice`; ours:
  /// which location is chosen.
  ///
  /// - Parameter mode: `nil`: `vibrant` for an accessory family, `fullColor` for the others.
  /// - Throws: `unknown-widget-kind` if no extension has the kind, `not-placeable` if no location of the device shows the
  ///   family in the mode; definite.
  package func showing(
    _ kind: String, of bundle: String? = nil, _ family: WidgetFamilyName, in mode: RenderingModeName?
  ) throws(BusError) -> (machine: GalleryStateMachine, location: WidgetLocationName) {
    let having = state.declarations.filter { bundle == nil || $0.key == bundle }
    let widgets = having.values.joined().filter { $0.kind == kind }
    guard !widgets.isEmpty else {
      throw BusError(.unknownWidgetKind, "no extension has a widget of the kind \(kind)", isDefinite: true)
    }
    guard widgets.contains(where: { device.families(of: $0).contains(family) }) else {
      throw BusError(.notPlaceable, "\(kind) does not support \(family.rawValue)", isDefinite: true)
    }
    let mode = mode ?? (family.isAccessory ? .vibrant : .fullColor)
    var machine = self
    let location: WidgetLocationName
    if family == .control {
      location = .controlCenter
    } else if family.isAccessory {
      location = .lockScreen
    } else if mode == .vibrant {
      location = .standBy
      machine.device.options.standBy = mode
    } else {
      location = .homeScreen
      machine.device.options.homeScreen = mode
    }
    if let refusal = device.refusal(of: family, at: location) {
      throw BusError(.notPlaceable, "\(family.rawValue) is not shown as \(mode.rawValue): \(refusal)", isDefinite: true)
    }
    let own = machine.device.renderingMode(at: location)
    guard own == mode else {
      let place = "\(device.system) shows \(family.rawValue) in \(location.rawValue) as \(own.rawValue)"
      throw BusError(.notPlaceable, "\(place), and not as \(mode.rawValue)", isDefinite: true)
    }
    return (machine, location)
  }

  /// An entry of a widget that is not placed, as an unlocked screen shows it.
  ///
  /// - Parameter locale: of the views.
  package func entry(_ entry: ArchivedEntry, of placement: Placement, locale: String) -> ArchiveWidget.Entry {
    func shown(_ scheme: ColorSchemeName) -> ShowScreen.Tile {
      tile(
        of: placement, ShownWidget(entry: entry), on: DeviceScreen(colorScheme: scheme), isProtected: false,
        locale: locale, now: entry.date)
    }
    return ArchiveWidget.Entry(light: shown(.light), dark: entry.darkView == nil ? nil : shown(.dark))
  }
}
