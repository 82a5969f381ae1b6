// SPDX-License-Identifier: Apache-2.0

/// What a test reads in the SVG document of `widgetlab screen --picture`.
struct ScreenDrawing {
  /// Width and height in points.
  let size: [String]
  /// The names of the widgets with their places.
  let widgets: [String]
  /// The texts in drawing order.
  let texts: [String]

  init(_ text: String) {
    size = text.firstMatch(of: /viewBox="0 0 ([0-9.]+) ([0-9.]+)"/).map { [String($0.1), String($0.2)] } ?? []
    widgets = text.matches(of: /aria-label="([^"]*)" transform="translate\(([0-9. ]+)\)"/).map { "\($0.1) at \($0.2)" }
    texts = text.matches(of: /role="img" aria-label="([^"]*)"/).map { String($0.1) }
  }

  /// The name, the commands of the first outline and the colour of each custom symbol without own margins.
  static func customSymbols(_ text: String) -> [String] {
    text.matches(of: /aria-label="([^"]*)">\n<g transform[^>]*>\n<path d="([^"]*)" fill="([^"]*)"/).map { match in
      "\(match.1) \(match.2.filter("MLCQZ".contains)) \(match.3)"
    }
  }
}
