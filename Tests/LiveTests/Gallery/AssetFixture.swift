// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An asset catalog, image files and their folder, for the widgets of `FixtureViews`.
/// Deleted with the value.
final class AssetFixture: Sendable {
  /// A red disc of 60 pixels.
  static let light = image(
    "iVBORw0KGgoAAAANSUhEUgAAADwAAAA8CAYAAAA6/NlyAAAAvElEQVR42u3byw1CIRAFUMqxCPuvwl5058YYUXm8+ZxJKOCwIsy9"
      + "Y2yY2/Vynzkj68wCU1/AKmR4/NHQMPDd0FPhZ2O3oaNAt8CjYg9BR8cuRWfBLkFnw/6Fzor9Gd0KnB37FboKdhrdClwN+xHdClwV"
      + "+xYNXBlcHfuCBgYuBO6CfaKBgYGBgYGBgb22vKWBgf16+NPqDLZ5sF+yPbQjlgKQ8ZDkkdWSxpO3lKjtk5tWAVDyUONR1CpfxXsA"
      + "ga7RXd03rssAAAAASUVORK5CYII=")

  /// A blue disc of 60 pixels.
  static let dark = image(
    "iVBORw0KGgoAAAANSUhEUgAAADwAAAA8CAYAAAA6/NlyAAAAuklEQVR42u3byw1CIRAFUAqzMMu2A925MUZUHm8+ZxIKOKwIc+8Y"
      + "G+Zyvd1nzsg6s8DUF7AKGR5/NDQMfDf0VPjZ2G3oKNAt8KjYQ9DRsUvRWbBL0Nmwf6GzYn9GtwJnx36FroKdRrcCV8N+RLcCV8W+"
      + "RQNXBlfHvqCBgQuBu2CfaGBgYGBgYGBgry1vaWBgvx7+tDqDbR7sl2wP7YilAGQ8JHlktaTx5C0lavvkplUAlDzUeBS1ylfxHg99"
      + "IlhvSqNhAAAAAElFTkSuQmCC")

  /// A black disc of 30 pixels.
  static let tea = image(
    "iVBORw0KGgoAAAANSUhEUgAAAB4AAAAeCAYAAAA7MK6iAAAAVUlEQVR42u3XwQ0AIAhDUfZfug7gQSXg1wBJz++EFrOz0SKhI2cQ"
      + "1I0rOAi6hSs5b8G6FASd8FqwoDTccMN/73Lhtxr7Fms2ELTsofUWLfT4CZN2tA2IH8lTVqEBwgAAAABJRU5ErkJggg==")

  /// An SVG image of 12 by 12 points.
  static let badge = Data(
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="12" height="12" viewBox="0 0 24 24">
    <defs><linearGradient id="g"><stop stop-color="#0a0b0c"/><stop offset="1" stop-color="#fafbfc"/></linearGradient></defs>
    <circle cx="12" cy="12" r="12" fill="url(#g)"/><text>12</text></svg>
    """.utf8)

  /// The template of a symbol with a regular and a bold variant.
  static let mark = Data(
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
    <svg version="1.1" xmlns="http://www.w3.org/2000/svg" width="3300" height="2200">
    <g id="Notes"><text id="template-version">Template v.3.0</text></g>
    <g id="Guides"><line id="Baseline-M" x1="263" x2="3036" y1="1126" y2="1126"/>
    <line id="Capline-M" x1="263" x2="3036" y1="1055.54" y2="1055.54"/>
    <line id="left-margin-Regular-M" x1="1390" x2="1390" y1="1030" y2="1150"/>
    <line id="right-margin-Regular-M" x1="1490" x2="1490" y1="1030" y2="1150"/></g>
    <g id="Symbols"><g id="Regular-M" transform="matrix(1 0 0 1 1390 1126)"><path d="M10 0V-70H90V0Z"/></g>
    <g id="Bold-M" transform="matrix(1 0 0 1 2690 1126)"><path d="M10 0L50 -70.46L90 0Z"/></g></g></svg>
    """.utf8)

  let folder = FileManager.default.temporaryDirectory.appending(path: "assets-\(UUID().uuidString)")

  /// A line of the extension in `widgetlab.yaml`.
  var resources: String {
    "resources: [\"\(folder.path)/Assets.xcassets\", \"\(folder.path)/loose@3x.png\"]"
  }

  init() throws {
    let dark = #"{"appearance": "luminosity", "value": "dark"}"#
    let high = #"{"appearance": "contrast", "value": "high"}"#
    try write(
      set: "Cup.imageset",
      #"""
      {"images": [{"idiom": "universal", "filename": "cup.png", "scale": "1x"},
        {"idiom": "universal", "filename": "cup@3x.png", "scale": "3x"},
        {"idiom": "universal", "filename": "dark@3x.png", "scale": "3x", "appearances": [\#(dark)]}]}
      """#, ["cup.png": Self.tea, "cup@3x.png": Self.light, "dark@3x.png": Self.dark])
    try write(set: "Food", #"{"properties": {"provides-namespace": true}}"#)
    try write(
      set: "Food/Tea.imageset",
      #"{"images": [{"filename": "tea.png"}], "properties": {"template-rendering-intent": "template"}}"#,
      ["tea.png": Self.tea])
    try write(
      set: "Broken.imageset", #"{"images": [{"filename": "a.png"}]}"#, ["a.png": Self.light.dropLast(40)])
    try write(
      set: "Badge.imageset",
      #"{"images": [{"filename": "a.svg"}], "properties": {"preserves-vector-representation": true}}"#,
      ["a.svg": Self.badge])
    try write(
      set: "Mark.symbolset", #"{"symbols": [{"filename": "mark.svg", "idiom": "universal"}]}"#,
      ["mark.svg": Self.mark])
    // The header of 1536 by 2039 pixels.
    var huge = Self.light
    huge.replaceSubrange(16..<24, with: [0, 0, 6, 0, 0, 0, 7, 0xF7])
    try write(set: "Huge.imageset", #"{"images": [{"filename": "a.png"}]}"#, ["a.png": huge])
    func color(_ red: Int, _ green: Int, _ blue: Int, _ appearance: String? = nil) -> String {
      let appearances = appearance.map { #""appearances": [\#($0)], "# } ?? ""
      let parts = #"{"red": "\#(red)", "green": "\#(green)", "blue": "\#(blue)", "alpha": "1.000"}"#
      return #"{\#(appearances)"idiom": "universal", "color": {"color-space": "srgb", "components": \#(parts)}}"#
    }
    let brand = [color(1, 2, 3), color(4, 5, 6, dark), color(7, 8, 9, high), color(10, 11, 12, dark + "," + high)]
    try write(set: "Brand.colorset", "{\"colors\": [\(brand.joined(separator: ","))]}")
    try write(set: "Paper.colorset", "{\"colors\": [\(color(240, 230, 220)), \(color(20, 25, 30, dark))]}")
    try Self.tea.write(to: folder.appending(path: "loose@3x.png"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func write(set: String, _ contents: String, _ files: [String: Data] = [:]) throws {
    let set = folder.appending(path: "Assets.xcassets/\(set)")
    try FileManager.default.createDirectory(at: set, withIntermediateDirectories: true)
    try Data(contents.utf8).write(to: set.appending(path: "Contents.json"))
    for (name, data) in files { try data.write(to: set.appending(path: name)) }
  }

  private static func image(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }
}
