// SPDX-License-Identifier: Apache-2.0

extension ViewArchive {
  /// Modifiers that give colours, which an accented place replaces.
  private static let colors: Set = ["foregroundStyle", "foregroundColor", "tint", "accentColor"]
  /// Views without anything to colour.
  private static let invisible: Set = ["Spacer", "EmptyView", "Group"]

  /// The archive as an accented place colours it: without the author's colours, and with the group of each view that is
  /// drawn.
  ///
  /// `.drawn(accent)` and `.drawn(default)` name the group whose colour replaces those of the view, through its alpha
  /// channel or, for an image that the author chose, through its luminance. Source: `widgetAccentable(_:)`,
  /// `WidgetAccentedRenderingMode`.
  func accented(isAccentable: Bool = false) -> ViewArchive {
    var isAccentable = isAccentable
    var mode: String?
    var view = self
    view.modifiers = []
    // Outermost first: its group applies to the views within.
    for var modifier in modifiers.reversed() where !Self.colors.contains(modifier.name) {
      if modifier.name == "widgetAccentable", modifier.arguments["accentable"] != .bool(false) { isAccentable = true }
      if modifier.name == "widgetAccentedRenderingMode" { mode = modifier.arguments["mode"]?.string }
      modifier.views = modifier.views.map { $0.accented(isAccentable: isAccentable) }
      view.modifiers.insert(modifier, at: 0)
    }
    view.children = children.map { $0.accented(isAccentable: isAccentable) }
    if children.isEmpty, !Self.invisible.contains(name) {
      view.modifiers.append(Modifier("drawn", ["style": .string(drawing(mode, isAccentable))]))
    }
    return view
  }

  /// - Parameter mode: of an image, the name of its `WidgetAccentedRenderingMode`.
  private func drawing(_ mode: String?, _ isAccentable: Bool) -> String {
    let group = isAccentable ? "accent" : "default"
    guard name == "Image" else { return group }
    return switch mode {
    case "fullColor": "fullColor"
    case "accented": "accent"
    case "accentedDesaturated": "accent by luminance"
    case "desaturated": "default by luminance"
    default: group
    }
  }
}
