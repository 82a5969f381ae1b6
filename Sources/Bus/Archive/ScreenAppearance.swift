// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// How a screen shows an archive: the time, the locale, and what is hidden.
package struct ScreenAppearance: Hashable, Sendable {
  /// The time at which live texts are evaluated.
  package var now: Date
  package var locale: Locale
  package var timeZone: TimeZone
  /// There is no data yet: texts and images are redacted, except those that the author marked `unredacted`.
  package var isPlaceholder: Bool
  /// The device is locked: privacy-sensitive views are redacted.
  package var hidesPrivate: Bool
  /// Whether the location shows the widget's container background.
  package var showsBackground: Bool
  /// Whether the location replaces the author's colours by the colours of the accent group and of the default group.
  package var isAccented: Bool

  package init(
    now: Date, locale: Locale = Locale(identifier: "en_US"), timeZone: TimeZone = .gmt, isPlaceholder: Bool = false,
    hidesPrivate: Bool = false, showsBackground: Bool = true, isAccented: Bool = false
  ) {
    self.isAccented = isAccented
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
  /// The archive as a screen shows it: live texts are evaluated, hidden text is `▒▒▒`, and a view with several states
  /// shows its current one.
  package func shown(_ appearance: ScreenAppearance) -> ViewArchive {
    let view = shown(
      appearance, isRedacted: appearance.isPlaceholder, hidesPrivate: appearance.hidesPrivate, isWhole: true)
    return appearance.isAccented ? view.accented() : view
  }

  /// The archive with hidden text as `▒▒▒` and everything else unchanged: what may leave a device while its user is
  /// absent.
  package func hiding(_ appearance: ScreenAppearance) -> ViewArchive {
    shown(appearance, isRedacted: appearance.isPlaceholder, hidesPrivate: appearance.hidesPrivate, isWhole: false)
  }

  /// The texts, line by line, as a screen shows them.
  package func lines(_ appearance: ScreenAppearance) -> [String] { shown(appearance).lines }

  /// - Parameter isWhole: evaluates live texts, states and backgrounds too, and not only redaction.
  private func shown(
    _ appearance: ScreenAppearance, isRedacted: Bool, hidesPrivate: Bool, isWhole: Bool
  ) -> ViewArchive {
    var (isRedacted, hidesPrivate) = (isRedacted, hidesPrivate)
    var view = self
    view.modifiers = []
    // Outermost first: its redaction applies to the views within.
    for var modifier in modifiers.reversed() {
      switch modifier.name {
      case .layout where isWhole && !appearance.showsBackground && modifier.isWidgetBackground: continue
      case .accessibility(let name) where isRedacted && name.isReadOut: continue
      case .silent(.unredacted): (isRedacted, hidesPrivate) = (false, false)
      case .silent(.redacted):
        let reasons = modifier.arguments[.reason]?.string ?? ""
        isRedacted = isRedacted || reasons.contains("placeholder")
        hidesPrivate = hidesPrivate || reasons.contains("privacy")
      case .silent(.privacySensitive):
        isRedacted = isRedacted || (hidesPrivate && modifier.arguments[.sensitive] != .bool(false))
      case .style, .shape, .layout, .layer, .effect, .color, .chart, .accessibility, .silent, .undrawn, .unknown: break
      }
      modifier.views = modifier.views.map {
        $0.shown(appearance, isRedacted: isRedacted, hidesPrivate: hidesPrivate, isWhole: isWhole)
      }
      view.modifiers.insert(modifier, at: 0)
    }
    var children = children
    if isWhole, name == .control(.toggle),
      let state = children.first(where: { $0.arguments[.isOn] == arguments[.isOn] })
    {
      children = state.children
    }
    view.children = children.map {
      $0.shown(appearance, isRedacted: isRedacted, hidesPrivate: hidesPrivate, isWhole: isWhole)
    }
    if isWhole || isRedacted { view.show(appearance, isRedacted: isRedacted) }
    return view
  }

  /// Applies the appearance to the view's own text.
  private mutating func show(_ appearance: ScreenAppearance, isRedacted: Bool) {
    if name == .leaf(.text), let live = LiveText(arguments) {
      arguments = [.text: .string(live.text(appearance))]
      if live.isTimer, !isRedacted { arguments[.isTimer] = true }
    }
    if name == .control(.progressView), let fraction = Self.progress(arguments, at: appearance.now) {
      arguments[.value] = .number(fraction)
    }
    guard isRedacted else { return }
    if let text = arguments[.text]?.string {
      arguments[.text] = .string(String(repeating: "▒", count: min(max(text.count, 1), 24)))
      return
    }
    switch name {
    case .leaf(.image):
      // Only its size is left.
      arguments = arguments.only(.pixelWidth, .pixelHeight, .scale, .symbol)
      arguments[.text] = "▒▒"
    case .chart(.chart):
      // Its marks are what is hidden.
      (arguments, children) = ([.text: "▒▒"], [])
    case .leaf(.text), .leaf(.emptyView), .leaf(.spacer), .leaf(.divider), .leaf(.unsupportedView), .shape, .fill,
      .container, .control, .chart(.chartPlotContent), .chart(.axisMarks), .chart(.axisMark), .mark, .unknown:
      break
    }
  }

  /// The progress within an interval at a time: from 0 to 1, or from 1 to 0 where it counts down. `nil` for a progress
  /// view without an interval.
  private static func progress(_ arguments: ArchivedArguments, at now: Date) -> Double? {
    guard case .list(let bounds) = arguments[.timerInterval], bounds.count == 2, case .date(let start) = bounds[0],
      case .date(let end) = bounds[1]
    else { return nil }
    let length = end.timeIntervalSince(start)
    let passed = length > 0 ? min(max(now.timeIntervalSince(start) / length, 0), 1) : 1
    return arguments[.countsDown] == .bool(false) ? passed : 1 - passed
  }
}

extension ViewArchive {
  /// Visits the view, its children and the views of modifiers, parents first.
  package func walk(_ visit: (ViewArchive) -> Void) {
    visit(self)
    for modifier in modifiers { for view in modifier.views { view.walk(visit) } }
    for child in children { child.walk(visit) }
  }

  /// The names of the views that widgets cannot show, each once, in order.
  package var unsupportedViews: [String] {
    var names: [String] = []
    walk { view in
      guard view.name == .leaf(.unsupportedView), let name = view.arguments[.view]?.string else { return }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// The names of the modifiers that change what a phone shows of a control, and nothing here; each once.
  package var modifiersWithoutEffect: [String] {
    let known: Set<ModifierName> = [.silent(.controlWidgetActionHint), .silent(.controlWidgetStatus)]
    var found: Set<ModifierName> = []
    walk { view in found.formUnion(view.modifiers.map(\.name)) }
    return found.intersection(known).map(\.rawValue).sorted()
  }

  /// Whether one of the views has a background for the whole widget.
  package var hasContainerBackground: Bool {
    var found = false
    walk { view in found = found || view.modifiers.contains(where: \.isWidgetBackground) }
    return found
  }
}

extension ViewArchive.Modifier {
  fileprivate var isWidgetBackground: Bool {
    name == .layout(.containerBackground) && arguments[.placement] == "widget"
  }
}
