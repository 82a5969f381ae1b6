// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import JournalAnalysis
import Messages

/// `widgetlab screen`.
struct ScreenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "screen",
    abstract: "Shows the widgets on a screen of the device, with their views as indented text.",
    discussion: """
      The default location is the visible screen. Live Activities are listed before the widgets, on the Lock Screen and \
      in the Dynamic Island. ▒▒▒ marks hidden content: placeholders, and on a locked device \
      privacySensitive() content. Exit code 78, and the cause, while an extension cannot be started.

      --picture draws the widgets as a browser shows them, in the order in which they were placed. The picture is near \
      to a phone's, and not exact: the font is Inter, symbols are icons that are like Apple's. Standard \
      error lists, by name, what is not drawn. It needs libharfbuzz0b. A file that ends with .png has the pixels of the \
      device's screen, drawn by Cairo: it needs libcairo2. Inter has Latin, Greek and Cyrillic letters. With \
      --fonts, other characters are drawn in the fonts of a folder: the upright ones first, then the nearest weight, then \
      the first file name. Without it the same views have the same picture on each machine.

      LOCATIONS
        \(ScreenLocation.list)

      EXAMPLES
        widgetlab screen
        widgetlab screen lockScreen
        widgetlab screen --json
        widgetlab screen --picture home.svg
        widgetlab screen --picture home.png
        widgetlab look dark; widgetlab screen --picture dark.svg
        widgetlab screen --picture home.svg --fonts /usr/share/fonts/opentype/noto
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The location (default: the visible one).")
  var location: ScreenLocation?

  @Flag(
    help: "Print one JSON object: state, settings, location, tint, widgets and activities, with numbers and contents.")
  var json = false

  @Option(help: ArgumentHelp("Also draw the widgets, into an SVG or a PNG file.", valueName: "FILE"))
  var picture: String?

  @Option(help: ArgumentHelp("Draw characters that Inter does not have in the fonts of a folder.", valueName: "DIR"))
  var fonts: String?

  func validate() throws {
    if fonts != nil, picture == nil { throw ValidationError("--fonts belongs to --picture FILE.") }
    guard let picture, PictureFormat(path: picture) == nil else { return }
    throw ValidationError(
      "A picture is an SVG or a PNG file: give a name that ends with .svg or .png, and not '\(picture)'.")
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options, reading: true) { session in
        try location?.check(session.cluster)
        let reply = try await session.ask(ShowScreen(location: location?.name))
        let clock = try await session.ask(SetClock(change: .ask))
        var print = ScreenPrint(
          reply: reply, now: clock.now,
          hidesSensitiveContent: session.cluster.configuration.settings.gallery.hidesSensitiveContent)
        if picture != nil { print.images = try await session.images(of: reply) }
        if let picture { try draw(print, session.cluster.configuration.device, to: picture, fonts: fonts) }
        if json {
          try Output.json(print.facts)
        } else if picture == nil {
          for line in print.lines { Output.print(line) }
        }
        if let failures = reply.failures { throw CommandError(notLaunched: failures.map(\.error), in: session.folder) }
      }
    }
  }
}

/// A screen as text.
struct ScreenPrint {
  let reply: ShowScreen.Reply
  /// The bytes of the images of its views by their SHA-256, for a picture.
  var images: [String: Data] = [:]
  let appearance: ScreenAppearance

  /// - Parameter now: the device's time.
  init(reply: ShowScreen.Reply, now: Date, hidesSensitiveContent: Bool = true) {
    self.reply = reply
    appearance = ScreenAppearance(
      now: now, locale: Locale(identifier: reply.settings.locale),
      timeZone: TimeZone(identifier: reply.settings.timeZone) ?? .current,
      hidesPrivate: reply.state.isLocked && hidesSensitiveContent)
  }

  var lines: [String] {
    let tint = reply.tint.map { ", tinted \($0.rawValue)" } ?? ""
    let head = ["\(reply.location.rawValue), \(reply.state.text)\(tint)"] + settings
    guard !reply.tiles.isEmpty else {
      return head + activityLines + [
        "no widgets; `widgetlab add KIND --location \(reply.location.rawValue)` places a widget"
      ]
    }
    return head + activityLines + reply.tiles.flatMap { [""] + lines($0) }
  }

  /// The Live Activities that have a place on the screen.
  private var activityLines: [String] {
    (reply.activities ?? []).filter { $0.place != nil }.flatMap { [""] + ActivityPrint($0, appearance).lines }
  }

  /// What the user changed, and the direction of the layout if it is not the usual one.
  private var settings: [String] {
    let changed = reply.changedSettings.map { "\($0.rawValue) \(reply.settings[$0])" }
    let direction = reply.settings.isRightToLeft ? ["the layout is from right to left"] : []
    return changed.isEmpty && direction.isEmpty ? [] : [(changed + direction).joined(separator: ", ")]
  }

  private func lines(_ tile: ShowScreen.Tile) -> [String] {
    let placement = tile.placement
    var lines = ["\(placement.id)  \(placement.kind)  \(placement.family.rawValue)  \(text(tile))"]
    if !placement.configuration.isEmpty {
      let choices = placement.configuration.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value.text)" }
      lines.append("   " + choices.joined(separator: ", "))
    }
    if tile.content == .skeleton {
      lines.append("   its extension has provided nothing yet")
    } else {
      lines += views(tile).map { "   " + $0 }
    }
    if !tile.covers.isEmpty {
      lines.append("   on top of " + tile.covers.map { "\($0.placement) \($0.widgetKind)" }.joined(separator: ", "))
    }
    if let note = tile.note { lines.append("   ! \(note)") }
    return lines
  }

  private func text(_ tile: ShowScreen.Tile) -> String {
    let content =
      switch tile.content {
      case .entry: "entry\(tile.date.map { " of \(Amount.text($0))" } ?? "")"
      case .placeholder: "placeholder"
      case .skeleton: "skeleton"
      }
    return "\(content), \(tile.renderingMode.rawValue), background \(tile.background.rawValue)"
  }

  /// How the screen shows a widget.
  func appearance(of tile: ShowScreen.Tile) -> ScreenAppearance {
    var appearance = appearance
    appearance.isPlaceholder = tile.content == .placeholder
    appearance.showsBackground = tile.background != .removed
    appearance.isAccented = tile.renderingMode == .accented
    return appearance
  }

  private func views(_ tile: ShowScreen.Tile) -> [String] {
    tile.view.indented(appearance(of: tile)).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  // MARK: JSON

  struct Facts: Encodable {
    struct Widget: Encodable {
      let number: Int
      let bundle: String
      let kind: String
      let family: String
      let configuration: [String: ArchivedValue]
      let content: String
      let background: String
      let renderingMode: String
      /// Seconds since 1970.
      let date: Double?
      let views: [String]
      let note: String?
      /// The numbers of the widgets below it in its stack.
      let covers: [Int]
    }
    let state: DeviceScreen
    let settings: DeviceSettings
    let location: String
    /// `red`, or `nil`.
    let tint: String?
    let widgets: [Widget]
    /// The Live Activities of the device; `place` is missing where the screen does not show one.
    let activities: [ActivityPrint.Facts]
  }

  var facts: Facts {
    Facts(
      state: reply.state, settings: reply.settings, location: reply.location.rawValue, tint: reply.tint?.rawValue,
      widgets: reply.tiles.map { tile in
        Facts.Widget(
          number: tile.placement.id, bundle: tile.placement.bundle, kind: tile.placement.kind,
          family: tile.placement.family.rawValue, configuration: tile.placement.configuration,
          content: tile.content.rawValue, background: tile.background.rawValue,
          renderingMode: tile.renderingMode.rawValue, date: tile.date?.timeIntervalSince1970, views: views(tile),
          note: tile.note, covers: tile.covers.map(\.placement))
      }, activities: (reply.activities ?? []).map { ActivityPrint($0, appearance).facts })
  }
}
