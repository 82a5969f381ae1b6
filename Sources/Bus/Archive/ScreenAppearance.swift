package import Foundation

/// How a screen shows an archive: when, to whom, and what of it is hidden.
package struct ScreenAppearance: Hashable, Sendable {
  /// What live texts are read at.
  package var now: Date
  package var locale: Locale
  package var timeZone: TimeZone
  /// There is no data yet: texts and images are redacted, but for those that the author left as they are.
  package var isPlaceholder: Bool
  /// The device is locked, and what is private not for everybody's eyes.
  package var hidesPrivate: Bool
  /// Whether the place shows the widget's container background.
  package var showsBackground: Bool

  package init(
    now: Date, locale: Locale = Locale(identifier: "en_US"), timeZone: TimeZone = .gmt, isPlaceholder: Bool = false,
    hidesPrivate: Bool = false, showsBackground: Bool = true
  ) {
    self.now = now
    self.locale = locale
    self.timeZone = timeZone
    self.isPlaceholder = isPlaceholder
    self.hidesPrivate = hidesPrivate
    self.showsBackground = showsBackground
  }

  func format(_ moment: Date, date: Date.FormatStyle.DateStyle, time: Date.FormatStyle.TimeStyle) -> String {
    moment.formatted(Date.FormatStyle(date: date, time: time, locale: locale, timeZone: timeZone))
  }
}

extension ViewArchive {
  /// The archive as a screen shows it: live texts say what they say now, what is hidden is `▒▒▒`, and what has several
  /// states has the one that it is in.
  package func shown(_ appearance: ScreenAppearance) -> ViewArchive {
    shown(appearance, isRedacted: appearance.isPlaceholder, hidesPrivate: appearance.hidesPrivate, isWhole: true)
  }

  /// The archive with what is hidden as `▒▒▒`, and all else as it is: what may leave a device whose person is not there.
  package func hiding(_ appearance: ScreenAppearance) -> ViewArchive {
    shown(appearance, isRedacted: appearance.isPlaceholder, hidesPrivate: appearance.hidesPrivate, isWhole: false)
  }

  /// The texts, line by line, as a screen shows them.
  package func lines(_ appearance: ScreenAppearance) -> [String] { shown(appearance).lines }

  /// What is read out of a view, which says what is hidden in it.
  private static let readOut: Set = ["accessibilityLabel", "accessibilityValue", "accessibilityHint"]

  /// - Parameter isWhole: not only what is hidden is made as a screen has it.
  private func shown(
    _ appearance: ScreenAppearance, isRedacted: Bool, hidesPrivate: Bool, isWhole: Bool
  ) -> ViewArchive {
    var (isRedacted, hidesPrivate) = (isRedacted, hidesPrivate)
    var view = self
    view.modifiers = []
    // From the outermost, whose reasons hold for those within.
    for var modifier in modifiers.reversed() {
      let isBackground = modifier.name == "containerBackground" && modifier.arguments["placement"] == "widget"
      if isBackground, isWhole, !appearance.showsBackground { continue }
      switch modifier.name {
      case "unredacted": (isRedacted, hidesPrivate) = (false, false)
      case "redacted":
        let reasons = modifier.arguments["reason"]?.string ?? ""
        isRedacted = isRedacted || reasons.contains("placeholder")
        hidesPrivate = hidesPrivate || reasons.contains("privacy")
      case "privacySensitive":
        isRedacted = isRedacted || (hidesPrivate && modifier.arguments["sensitive"] != .bool(false))
      default: break
      }
      if isRedacted, ViewArchive.readOut.contains(modifier.name) { continue }
      modifier.views = modifier.views.map {
        $0.shown(appearance, isRedacted: isRedacted, hidesPrivate: hidesPrivate, isWhole: isWhole)
      }
      view.modifiers.insert(modifier, at: 0)
    }
    var children = children
    if isWhole, name == "Toggle", let state = children.first(where: { $0.arguments["isOn"] == arguments["isOn"] }) {
      children = state.children
    }
    view.children = children.map {
      $0.shown(appearance, isRedacted: isRedacted, hidesPrivate: hidesPrivate, isWhole: isWhole)
    }
    if isWhole || isRedacted { view.show(appearance, isRedacted: isRedacted) }
    return view
  }

  /// The view's own words.
  private mutating func show(_ appearance: ScreenAppearance, isRedacted: Bool) {
    if name == "Text", let live = LiveText(arguments) { arguments = ["text": .string(live.text(appearance))] }
    guard isRedacted else { return }
    if let text = arguments["text"]?.string {
      arguments["text"] = .string(String(repeating: "▒", count: min(max(text.count, 1), 24)))
    } else if name == "Image" {
      arguments = ["text": "▒▒"]
    }
  }
}

extension ViewArchive {
  /// The view, those in it and those that modifiers bring, each before those in it.
  package func walk(_ visit: (ViewArchive) -> Void) {
    visit(self)
    for modifier in modifiers { for view in modifier.views { view.walk(visit) } }
    for child in children { child.walk(visit) }
  }

  /// The names of the views that widgets cannot show, each once, in their order.
  package var unsupportedViews: [String] {
    var names: [String] = []
    walk { view in
      guard view.name == "UnsupportedView", let name = view.arguments["view"]?.string else { return }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// Whether one of the views has a background for the whole widget.
  package var hasContainerBackground: Bool {
    var found = false
    walk { view in
      found =
        found || view.modifiers.contains { $0.name == "containerBackground" && $0.arguments["placement"] == "widget" }
    }
    return found
  }
}
