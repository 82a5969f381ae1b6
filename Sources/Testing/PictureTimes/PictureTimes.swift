// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout
import Messages
import Pictures

/// Measures how long pictures take, for `scripts/bench`.
///
/// Usage: PictureTimes FILE ROUNDS COUNT. The file has the replies to `widget.archive` as a JSON list; the first is that of a
/// small widget. Prints one line of JSON: a list of samples for each figure.
@main struct PictureTimes {
  /// What is printed. Milliseconds of real time, unless a name says otherwise.
  private struct Times: Encodable {
    /// Loading the fonts, and the first picture.
    var first: [Double] = []
    /// The layout of 100 views.
    var layout: [Double] = []
    /// A small widget as SVG.
    var vector: [Double] = []
    /// The same as PNG with two pixels for each point.
    var pixels: [Double] = []
    /// Seconds for `count` pictures of all widgets as PNG, on two threads.
    var many: [Double] = []
  }

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4, let rounds = Int(words[2]), let count = Int(words[3]) else {
      fatalError("usage: PictureTimes FILE ROUNDS COUNT")
    }
    let data = try Data(contentsOf: URL(filePath: words[1]))
    let replies = try BodyCoding.decode([ArchiveWidget.Reply].self, from: Array(data))
    let widgets = replies.flatMap { reply in reply.entries.flatMap { Widget.both(of: $0, reply) } }
    guard let small = widgets.first else { fatalError("\(words[1]) has no widget") }
    var times = Times()
    for _ in 0..<rounds {
      times.first.append(try milliseconds { small.vector(with: try InterFont()) })
    }
    let font = try InterFont()
    let tree = hundredViews
    let canvas = LayoutCanvas(size: Size(width: 338, height: 354))
    for _ in 0..<rounds * 10 {
      times.layout.append(milliseconds { _ = tree.laidOut(in: canvas, measuring: font) })
      times.vector.append(milliseconds { small.vector(with: font) })
      times.pixels.append(try milliseconds { try small.pixels(with: font) })
    }
    for _ in 0..<max(1, rounds / 5) { times.many.append(try await seconds(for: count, of: widgets)) }
    print(String(decoding: try JSONEncoder().encode(times), as: UTF8.self))
  }

  private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    try ContinuousClock().measure(body) / .milliseconds(1)
  }

  /// The seconds for pictures of the widgets in turn, on two threads with a font each.
  private static func seconds(for count: Int, of widgets: [Widget]) async throws -> Double {
    let began = ContinuousClock.now
    try await withThrowingTaskGroup { group in
      for part in 0..<2 {
        group.addTask {
          let font = try InterFont()
          for index in stride(from: part, to: count, by: 2) {
            try widgets[index % widgets.count].pixels(with: font)
          }
        }
      }
      try await group.waitForAll()
    }
    return (ContinuousClock.now - began) / .seconds(1)
  }

  /// Ten rows of nine views: 101 with the rows and the column around.
  private static var hundredViews: ViewArchive {
    let row = ViewArchive(
      .container(.hStack),
      children: [
        ViewArchive(.leaf(.image), [.systemName: "star"]), .text("Coffee at the corner"), ViewArchive(.leaf(.spacer)),
        .text("142 mg"), ViewArchive(.shape(.circle)), .text("10:12"), ViewArchive(.leaf(.divider)),
        ViewArchive(.fill(.color)), .text("today"),
      ])
    return ViewArchive(.container(.vStack), children: Array(repeating: row, count: 10))
  }
}

/// A widget as it is drawn.
private struct Widget: Sendable {
  let view: ViewArchive
  let canvas: LayoutCanvas
  let style: PictureStyle
  let images: [String: Data]

  /// The pictures of an entry in both colour schemes.
  static func both(of entry: ArchiveWidget.Entry, _ reply: ArchiveWidget.Reply) -> [Widget] {
    [(entry.light, ColorSchemeName.light), (entry.dark ?? entry.light, .dark)].compactMap { tile, scheme in
      tile.size.map { size in
        Widget(
          view: tile.view.shown(ScreenAppearance(now: tile.date ?? Date(timeIntervalSince1970: 0))),
          canvas: LayoutCanvas(size: Size(width: size.width, height: size.height), family: tile.placement.family),
          style: PictureStyle(colorScheme: scheme, settings: reply.settings, mode: tile.renderingMode),
          images: reply.images)
      }
    }
  }

  private func picture(with font: InterFont) -> Picture { view.picture(in: canvas, style, with: font, images: images) }

  func vector(with font: InterFont) { _ = picture(with: font).svg(outlines: font) }
  func pixels(with font: InterFont) throws { _ = try picture(with: font).pixels(outlines: font, scale: 2).pixels.png() }
}
