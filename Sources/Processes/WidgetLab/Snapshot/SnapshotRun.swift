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
      let verdict = SnapshotVerdict(reference: reference, picture, format, precision)
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
