// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// The content that Timelines has for a placement, in the form that the screen needs.
package struct ShownWidget: Sendable, Hashable {
  /// `nil` while the extension has provided nothing.
  package var light: ViewArchive?
  /// `nil` if it equals `light`.
  package var dark: ViewArchive?
  /// The views while private content is hidden; `nil` if they are the same.
  package var hidden: ArchivedEntry.Form?
  /// The views between a tap and its timeline; `nil` if they are the same.
  package var invalidated: ArchivedEntry.Form?
  package var date: Date?
  package var isPlaceholder: Bool
  /// The provider's placeholder, which replaces hidden content; `nil` if the extension provided none.
  package var placeholder: ViewArchive?
  package var darkPlaceholder: ViewArchive?
  /// Why the content is not newer.
  package var note: String?
  /// The button or toggle whose intent is running, or whose timeline is pending; from 1.
  package var touched: Int?
  package init(
    light: ViewArchive? = nil, dark: ViewArchive? = nil, hidden: ArchivedEntry.Form? = nil,
    invalidated: ArchivedEntry.Form? = nil, date: Date? = nil, isPlaceholder: Bool = false,
    placeholder: ViewArchive? = nil, darkPlaceholder: ViewArchive? = nil, note: String? = nil, touched: Int? = nil
  ) {
    self.light = light
    self.dark = dark
    self.hidden = hidden
    self.invalidated = invalidated
    self.date = date
    self.isPlaceholder = isPlaceholder
    self.placeholder = placeholder
    self.darkPlaceholder = darkPlaceholder
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
    var view = (isDark ? shown.dark : nil) ?? shown.light
    let form = hidesPrivate ? shown.hidden : shown.touched == nil ? nil : shown.invalidated
    if let form { view = (isDark ? form.darkView : nil) ?? form.view }
    if let touched = shown.touched { view = view?.touched(touched) }
    if hiding != nil { view = (isDark ? shown.darkPlaceholder : nil) ?? shown.placeholder }
    let isRefused = view.map { lacksBackground($0, of: placement) } ?? false
    if isRefused { view = .missingBackground }
    let refusal = isRefused ? "its view has no containerBackground(for: .widget)" : nil
    let orphan = declaration == nil ? "its extension no longer has a widget of kind \(placement.kind)" : nil
    let appearance = ScreenAppearance(
      now: now, locale: Locale(identifier: locale), isPlaceholder: isPlaceholder, hidesPrivate: hidesPrivate)
    var tile = ShowScreen.Tile(
      placement: placement, content: view == nil ? .skeleton : isPlaceholder ? .placeholder : .entry,
      background: background(of: placement, declaration), renderingMode: device.renderingMode(at: placement.location),
      date: isPlaceholder ? nil : shown.date,
      view: view.map { isRefused ? $0 : withMargins($0.hiding(appearance), placement, declaration) } ?? .empty,
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
    _ view: ViewArchive, _ placement: Placement, _ declaration: WidgetDeclaration?
  ) -> ViewArchive {
    let margins = device.contentMargins(at: placement.location, placement.family)
    guard declaration?.contentMarginsDisabled != true, margins != WidgetEnvironment.Insets(0) else { return view }
    var padded = view
    padded.modifiers.append(
      ViewArchive.Modifier(
        "contentMargins",
        [
          "top": .number(margins.top), "leading": .number(margins.leading), "bottom": .number(margins.bottom),
          "trailing": .number(margins.trailing),
        ]))
    return padded
  }
}

extension ViewArchive {
  /// The system's sign in place of a view without a background for the widget. Source: observed.
  fileprivate static let missingBackground = ViewArchive(
    "Text", ["text": "Please adopt containerBackground API"], modifiers: [Modifier("unredacted")])
}

extension DeviceScreen {
  /// Why an extension's files can be neither read nor written; `nil` if they can.
  ///
  /// - Parameter isProtected: whether their protection class denies access on a locked device.
  package func withholding(isProtected: Bool) -> Withholding? {
    if !wasUnlocked { return .notUnlockedYet }
    return isLocked && isProtected ? .locked : nil
  }
}
