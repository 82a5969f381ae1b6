// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import MessageBus
import Messages
import Pictures

/// One run of `widgetlab snapshot` with `--output` or `--verify`.
struct SnapshotRun {
  /// A drawn picture.
  struct Made {
    let name: SnapshotName
    let file: String
    let data: Data
    /// Points.
    let width: Double
    let height: Double
  }

  /// What is not drawn as requested, and why.
  struct Problem: Encodable, Equatable {
    let picture: String
    let reason: String
  }

  let files: PictureFiles
  let device: ClusterConfiguration.Device
  let format: PictureFormat
  /// Pixels for each point of a PNG file.
  let scale: Double
  /// Whether progress and summary are not printed.
  let isQuiet: Bool
  private(set) var made: [Made] = []
  private(set) var leftOut: [Problem] = []
  private(set) var failed: [Problem] = []
  /// Sentences about what is not drawn, with the number of pictures.
  private var notices: [String: Int] = [:]
  /// What the summary names besides the pictures.
  private var places: [String] = []
  private let began = ContinuousClock.now

  init(files: PictureFiles, device: ClusterConfiguration.Device, format: PictureFormat, scale: Double, isQuiet: Bool) {
    self.files = files
    self.device = device
    self.format = format
    self.scale = scale
    self.isQuiet = isQuiet
  }

  // MARK: Drawing

  /// Requests the views of each widget, and draws them.
  mutating func draw(_ plan: SnapshotPlan, _ session: OperatorSession, within limit: Duration) async throws {
    let requests = plan.requests
    for (index, (kind, request)) in requests.enumerated() {
      let name = [
        kind.isShared ? kind.bundle : nil, request.widgetKind, request.family.rawValue, request.renderingMode?.rawValue,
        request.textSize?.rawValue,
        request.locale,
      ].compactMap(\.self).joined(separator: " ")
      let count = made.count
      do {
        try draw(try await session.ask(request, within: limit), of: request, kind, schemes: plan.schemes)
        progress("[\(index + 1)/\(requests.count)] \(name): \(made.count - count) \(Self.pictures(made.count - count))")
      } catch let error as BusError {
        let problem = Problem(picture: name, reason: Self.reason(error))
        if error.code == .notPlaceable { leftOut.append(problem) } else { failed.append(problem) }
        let result = error.code == .notPlaceable ? "left out" : "failed"
        progress("[\(index + 1)/\(requests.count)] \(name): \(result): \(problem.reason)")
      }
    }
  }

  /// Views and images are in one reply, which has a limit.
  private static func reason(_ error: BusError) -> String {
    guard error.code == .tooLarge else { return error.message }
    return "\(error.message): its views and images are too long for one reply; --entries first has one entry, and "
      + "`widgetlab screen --picture` draws a placed widget with images of any length"
  }

  private func progress(_ line: String) { if !isQuiet { Output.print(line) } }

  private static func pictures(_ count: Int) -> String { count == 1 ? "picture" : "pictures" }

  /// Draws the entries of one widget in the colour schemes.
  mutating func draw(
    _ reply: ArchiveWidget.Reply, of request: ArchiveWidget, _ kind: SnapshotPlan.Kind, schemes: [ColorSchemeName]
  ) throws {
    for (index, entry) in reply.entries.enumerated() {
      for scheme in schemes {
        let tile = (scheme == .dark ? entry.dark : nil) ?? entry.light
        guard let size = tile.size else { continue }
        var shown = ShowScreen.Reply(
          state: DeviceScreen(colorScheme: scheme), location: tile.placement.location, tint: reply.tint, tiles: [tile])
        shown.settings = reply.settings
        // Live texts have the value that they have when the entry appears.
        var print = ScreenPrint(reply: shown, now: tile.date ?? Date(timeIntervalSince1970: 0))
        print.images = reply.images
        let picture = ScreenPicture(screen: print, device: device).picture(of: tile, size, with: files.font)
        let (data, notices) = try files.contents(of: picture, as: format, scale: scale)
        for notice in Set(notices) { self.notices["\(request.widgetKind): \(notice)", default: 0] += 1 }
        let name = SnapshotName(
          kind: kind.kind, bundle: kind.isShared ? kind.bundle : nil, family: request.family, mode: tile.renderingMode,
          scheme: scheme,
          textSize: reply.settings.textSize, locale: request.locale, entry: request.entries == .all ? index + 1 : nil)
        made.append(
          Made(
            name: name, file: name.file(format, scale: scale), data: data, width: size.width, height: size.height))
      }
    }
  }

  // MARK: Files

  /// Writes the pictures and the sheet. Files of an earlier run with other names stay.
  mutating func write(to folder: String) throws {
    for picture in made { try Self.write(picture.data, picture.file, to: folder) }
    let sheet = ContactSheet(pictures: made, notices: sentences)
    try Self.write(Data(sheet.html.utf8), "index.html", to: folder)
    places.append("\(folder)/index.html shows them")
  }

  private static func write(_ data: Data, _ name: String, to folder: String) throws(CommandError) {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try data.write(to: URL(filePath: folder).appending(path: name), options: .atomic)
    } catch {
      throw CommandError(
        Exit.no, "a picture cannot be written: \(error.localizedDescription)", at: "\(folder)/\(name)")
    }
  }

  /// Compares the pictures with those of a folder, and writes what differs into another one.
  mutating func verify(against folder: String, failures: String, _ precision: PixelPrecision) throws {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let references = Set(names.filter { $0.hasSuffix(".\(format.rawValue)") })
    guard !references.isEmpty else {
      throw CommandError(
        Exit.no, "there is no reference: the folder has no .\(format.rawValue) file", at: folder,
        advice: "make the references: the same command with --output instead of --verify")
    }
    for picture in made {
      let url = URL(filePath: folder).appending(path: picture.file)
      let reference = references.contains(picture.file) ? try? Data(contentsOf: url) : nil
      let verdict = SnapshotVerdict(reference: reference, picture: picture, format: format, precision: precision)
      guard let reason = verdict.reason else { continue }
      failed.append(Problem(picture: picture.file, reason: reason))
      progress("\(picture.file): \(reason)")
      for (name, data) in verdict.files { try Self.write(data, name, to: failures) }
    }
    if !failed.isEmpty { places.append("\(failures) has what differs") }
    let left = references.subtracting(made.map(\.file)).count
    if left > 0 { places.append("\(left) \(left == 1 ? "reference was" : "references were") not compared") }
  }

  // MARK: Summary

  private var sentences: [String] {
    notices.sorted { $0.key < $1.key }.map { $0.value > 1 ? "\($0.key) (\($0.value) pictures)" : $0.key }
  }

  /// Prints the summary.
  ///
  /// - Throws: exit code 1 if a picture failed, or none was drawn.
  func report(isJSON: Bool) throws {
    if isJSON {
      struct Facts: Encodable {
        let pictures: [String]
        let leftOut: [Problem]
        let failed: [Problem]
        let notices: [String]
      }
      try Output.json(Facts(pictures: made.map(\.file), leftOut: leftOut, failed: failed, notices: sentences))
    } else {
      for sentence in sentences { Output.printError("widgetlab: \(sentence)") }
      let seconds = (ContinuousClock.now - began).formatted(
        .units(allowed: [.seconds], fractionalPart: .show(length: 1)))
      let parts = [
        "\(made.count) \(Self.pictures(made.count))", "\(leftOut.count) left out", "\(failed.count) failed", seconds,
      ]
      Output.print(parts.joined(separator: ", ") + places.map { "; \($0)" }.joined())
    }
    if !failed.isEmpty || made.isEmpty { throw Exit.no }
  }
}

/// A new picture beside its reference.
struct SnapshotVerdict {
  /// Why it does not match; `nil`: it does.
  let reason: String?
  /// The reference, the new picture and the difference, with their names; empty if it matches.
  let files: [(name: String, data: Data)]

  /// SVG documents have to be equal: they are exact everywhere.
  ///
  /// - Parameter reference: `nil`: the folder has no such file.
  init(reference: Data?, picture: SnapshotRun.Made, format: PictureFormat, precision: PixelPrecision) {
    guard let reference else {
      self.init("it has no reference", picture: picture, format: format, files: [("new", picture.data)])
      return
    }
    if reference == picture.data {
      self.init(nil, picture: picture, format: format, files: [])
      return
    }
    let both = [("reference", reference), ("new", picture.data)]
    switch format {
    case .svg:
      let difference = Self.difference(reference, picture)
      self.init(
        Self.line(reference, picture.data), picture: picture, format: format, files: both + [("difference", difference)]
      )
    case .png:
      do {
        let old = try Pixels(png: Array(reference))
        let comparison = PixelComparison(old, other: try Pixels(png: Array(picture.data)), precision: precision)
        guard let foundDifference = comparison.difference else {
          self.init(nil, picture: picture, format: format, files: [])
          return
        }
        let image = try comparison.image?.png()
        self.init(
          foundDifference, picture: picture, format: format,
          files: both + (image.map { [("difference", Data($0))] } ?? []))
      } catch {
        self.init("the reference cannot be read: \(error)", picture: picture, format: format, files: both)
      }
    }
  }

  private init(
    _ reason: String?, picture: SnapshotRun.Made, format: PictureFormat, files: [(part: String, data: Data)]
  ) {
    self.reason = reason
    let name = picture.file.dropLast(format.rawValue.count + 1)
    self.files = files.map { ("\(name).\($0.part).\(format.rawValue)", $0.data) }
  }

  /// Names the first line that differs.
  private static func line(_ reference: Data, _ new: Data) -> String {
    func lines(_ data: Data) -> [Substring] {
      String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }
    let (old, new) = (lines(reference), lines(new))
    let number = zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
    func text(_ lines: [Substring]) -> String {
      lines.indices.contains(number) ? "\"\(lines[number].prefix(120))\"" : "no such line"
    }
    return "line \(number + 1) is \(text(new)), and in the reference \(text(old))"
  }

  /// An SVG document in which equal pixels of both documents are black.
  private static func difference(_ reference: Data, _ picture: SnapshotRun.Made) -> Data {
    let size = "width=\"\(picture.width)\" height=\"\(picture.height)\""
    func image(_ data: Data, _ style: String) -> String {
      "<image \(size)\(style) href=\"data:image/svg+xml;base64,\(data.base64EncodedString())\"/>\n"
    }
    return Data(
      ("<svg xmlns=\"http://www.w3.org/2000/svg\" \(size)>\n" + image(reference, "")
        + image(picture.data, " style=\"mix-blend-mode:difference\"") + "</svg>\n").utf8)
  }
}

/// A page that shows the pictures of a run. It has no script.
struct ContactSheet {
  let pictures: [SnapshotRun.Made]
  /// What is not drawn.
  let notices: [String]

  var html: String {
    var text = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <title>Widgets</title>
      <style>
      body { font: 14px system-ui, sans-serif; margin: 24px; background: #fff; color: #222 }
      section { display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start }
      figure { margin: 0; padding: 16px; background: #ccd6e6; border-radius: 8px }
      figure.dark, figure.tinted { background: #3d424f; color: #eee }
      figcaption { margin-top: 12px; font-size: 12px }
      img { display: block }
      </style>
      <h1>Widgets</h1>

      """
    for (kind, pictures) in Dictionary(grouping: pictures, by: \.name.kind).sorted(by: { $0.key < $1.key }) {
      text += "<h2>\(Self.escaped(kind))</h2>\n<section>\n"
      for picture in pictures {
        // Accented and vibrant widgets are white on what is behind them.
        let look = picture.name.mode == .fullColor ? picture.name.scheme.rawValue : "tinted"
        let path = picture.file.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? picture.file
        text += "<figure class=\"\(look)\"><img src=\"./\(Self.escaped(path))\" width=\"\(Self.text(picture.width))\""
        text += " height=\"\(Self.text(picture.height))\" alt=\"\(Self.escaped("\(kind) \(picture.name.caption)"))\">"
        text += "<figcaption>\(Self.escaped(picture.name.caption))</figcaption></figure>\n"
      }
      text += "</section>\n"
    }
    if !notices.isEmpty {
      text += "<h2>Not drawn as on a device</h2>\n<ul>\n"
      text += notices.map { "<li>\(Self.escaped($0))</li>\n" }.joined() + "</ul>\n"
    }
    return text + "</html>\n"
  }

  private static func text(_ points: Double) -> String {
    points == points.rounded() ? "\(Int(saturating: points))" : "\(points)"
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }
}
