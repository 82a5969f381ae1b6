// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

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
  package static let noSuchTarget = BusError.Code("no-such-target")
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
    if let number = tap.touchedControl(of: placement) { return try control(number, placement, view, isLocked) }
    let url = try tap.link.map { label throws(BusError) in try link(label, placement, view) } ?? view.widgetURL
    if isLocked { return .nothing("the device must be unlocked before it opens an app: run `widgetlab unlock`") }
    return .open(url: url)
  }

  private func control(
    _ number: Int, _ placement: Placement, _ view: ViewArchive, _ isLocked: Bool
  ) throws(BusError) -> Touch {
    let controls = view.controls
    guard controls.indices.contains(number - 1) else {
      let names = controls.enumerated().map { "\($0.offset + 1) (\($0.element.name) \($0.element.label))" }
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
    if control.modifiers.contains(where: { $0.name == "disabled" && $0.arguments["disabled"] == .bool(true) }) {
      return .nothing("the \(control.name.lowercased()) is disabled")
    }
    guard case .record(let intent)? = control.arguments["intent"], let type = intent["type"]?.string else {
      // A control without an intent acts like the rest of the widget.
      return .open(url: view.widgetURL)
    }
    var values: [String: ArchivedValue] = [:]
    if case .record(let record)? = intent["values"] ?? intent["parameters"] { values = record }
    let performer = performer(intent)
    if isLocked, performer == .openApp || intent["needsUnlock"] == .bool(true) {
      return .nothing("\(type) needs an unlocked device: run `widgetlab unlock`")
    }
    return .perform(intent: type, values: values, by: performer)
  }

  /// Source: "Adding interactivity to widgets": the extension, or the app if the intent opens it or is of a type that
  /// requires it.
  private func performer(_ intent: [String: ArchivedValue]) -> Touch.Performer {
    if intent["opensApp"] == .bool(true) { return .openApp }
    return intent["runsInApp"] == .bool(true) ? .app : .widgetExtension
  }

  /// The destination of a link. Source: "Linking to specific app scenes": systemSmall and larger, and
  /// accessoryRectangular; before iOS 17 systemMedium and larger. In other families the whole widget is one target.
  private func link(_ label: String, _ placement: Placement, _ view: ViewArchive) throws(BusError) -> String? {
    let links = view.all { $0.name == "Link" }
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

  fileprivate var destination: String? { (arguments["destination"] ?? arguments["url"])?.string }

  /// The URL of the outermost `widgetURL(_:)`.
  fileprivate var widgetURL: String? {
    if let own = modifiers.last(where: { $0.name == "widgetURL" }) { return own.arguments["url"]?.string }
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
    if name == "Button" || name == "Toggle" {
      left -= 1
      if left == 0, name == "Toggle", case .bool(let isOn)? = arguments["isOn"] {
        view.arguments["isOn"] = .bool(!isOn)
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
      if modifier.name == "invalidatableContent", modifier.arguments["invalidatable"] != .bool(false) {
        view.modifiers.append(Modifier("redacted", ["reason": "invalidated"]))
      }
    }
    return view
  }
}
