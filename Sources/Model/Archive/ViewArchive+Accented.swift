// SPDX-License-Identifier: Apache-2.0

extension ViewArchive {
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
    for var modifier in modifiers.reversed() {
      switch modifier.name {
      case .style(let name) where name.isColor: continue
      case .effect(.widgetAccentable):
        if modifier.arguments["accentable"] != .bool(false) { isAccentable = true }
      case .effect(.widgetAccentedRenderingMode): mode = modifier.arguments["mode"]?.string
      case .style, .shape, .layout, .layer, .effect, .color, .chart, .accessibility, .silent, .undrawn, .unknown: break
      }
      modifier.views = modifier.views.map { $0.accented(isAccentable: isAccentable) }
      view.modifiers.insert(modifier, at: 0)
    }
    view.children = children.map { $0.accented(isAccentable: isAccentable) }
    if children.isEmpty, !name.isBlank {
      view.modifiers.append(Modifier(.effect(.drawn), ["style": .string(drawing(mode, isAccentable))]))
    }
    return view
  }

  /// - Parameter mode: of an image, the name of its `WidgetAccentedRenderingMode`.
  private func drawing(_ mode: String?, _ isAccentable: Bool) -> String {
    let group = isAccentable ? "accent" : "default"
    guard name == .leaf(.image) else { return group }
    return switch mode {
    case "fullColor": "fullColor"
    case "accented": "accent"
    case "accentedDesaturated": "accent by luminance"
    case "desaturated": "default by luminance"
    default: group
    }
  }
}
