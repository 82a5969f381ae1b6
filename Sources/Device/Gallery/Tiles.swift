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
    light: ViewArchive? = nil, dark: ViewArchive? = nil, date: Date? = nil, isPlaceholder: Bool = false,
    placeholder: ViewArchive? = nil, darkPlaceholder: ViewArchive? = nil, note: String? = nil, touched: Int? = nil
  ) {
    self.light = light
    self.dark = dark
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
  ///   - now: the device's time, at which the length of a hidden live text is computed.
  package func tile(
    of placement: Placement, _ shown: ShownWidget, on screen: DeviceScreen, isProtected: Bool, now: Date
  ) -> ShowScreen.Tile {
    let declaration = declaration(of: placement)
    let hiding = hiding(on: screen, isProtected: isProtected)
    let isPlaceholder = shown.isPlaceholder || hiding != nil
    let isDark = screen.colorScheme == .dark
    var view = (isDark ? shown.dark : nil) ?? shown.light
    if let touched = shown.touched { view = view?.touched(touched) }
    if hiding != nil { view = (isDark ? shown.darkPlaceholder : nil) ?? shown.placeholder }
    let orphan = declaration == nil ? "its extension no longer has a widget of kind \(placement.kind)" : nil
    let appearance = ScreenAppearance(
      now: now, locale: Locale(identifier: device.locale), isPlaceholder: isPlaceholder,
      hidesPrivate: screen.isLocked && device.options.hidesSensitiveContent)
    return ShowScreen.Tile(
      placement: placement, content: view == nil ? .skeleton : isPlaceholder ? .placeholder : .entry,
      background: background(of: placement, declaration), renderingMode: device.renderingMode(at: placement.location),
      date: isPlaceholder ? nil : shown.date,
      view: view.map { withMargins($0.hiding(appearance), placement, declaration) } ?? .empty,
      note: [hiding, orphan, shown.note].compactMap(\.self).first)
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

extension DeviceScreen {
  /// Why an extension's files can be neither read nor written; `nil` if they can.
  ///
  /// - Parameter isProtected: whether their protection class denies access on a locked device.
  package func withholding(isProtected: Bool) -> Withholding? {
    if !wasUnlocked { return .notUnlockedYet }
    return isLocked && isProtected ? .locked : nil
  }
}
