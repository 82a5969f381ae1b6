// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import MessageBus
import Messages
import Pictures

/// `widgetlab snapshot`.
struct SnapshotCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Shows the snapshot of a widget's provider (getSnapshot), or draws widgets into files.",
    discussion: """
      The extension is launched for it, and is suspended when it takes longer than a timeline request may take. Nothing \
      is stored, and no budget pays for it.

      With --output, each widget is drawn in each combination of the given families, modes, schemes, text sizes and \
      locales, into one file each, and index.html shows all of them. Without kinds, all widgets of the device are drawn, \
      and controls with --families control. Where several extensions have a kind, the names of its files begin with the \
      bundle identifier. \
      A combination that the device does not show is left out, with the reason. Exit code 1 when a widget cannot be \
      drawn, and when nothing is drawn because all was left out: a check must not pass without a picture.

      With --verify, the same pictures are compared with the files of an earlier run. SVG files have to be equal. PNG \
      files have to be as near as --precision and --perceptual-precision state, which have the meaning of \
      swift-snapshot-testing. Exit code 1, and the reference, the new picture and the difference in the folder --output \
      (by default DIR-failed), when one differs or has no reference.

      The entries are the provider's: `snapshot` that of getSnapshot, `first` the first one of getTimeline, `all` all of \
      them. Views find the locale in their environment; Locale.current of the process stays that of the device \
      (`widgetlab setting locale`).

      EXAMPLES
        widgetlab snapshot CaffeineTracker
        widgetlab snapshot --output pictures
        widgetlab snapshot --schemes light,dark --text-sizes large --output pictures
        widgetlab snapshot --modes accented,vibrant --format png --output pictures
        widgetlab snapshot --verify pictures
        widgetlab snapshot --format png --verify pictures --precision 0.99
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget kind, as in StaticConfiguration(kind:); with --output or --verify any number of them.")
  var kinds: [String] = []

  @Option(help: "The extension's bundle identifier, when several have the kind.")
  var bundle: String?

  @Option(help: ArgumentHelp("Draw the widgets into files in a folder.", valueName: "DIR"))
  var output: String?

  @Option(help: ArgumentHelp("Compare the widgets with the files in a folder.", valueName: "DIR"))
  var verify: String?

  @Option(help: "Families, separated by commas (default: all that the widget supports).")
  var families: NameList<WidgetFamilyName>?

  @Option(help: "Rendering modes (default: vibrant for accessory families, fullColor for the others).")
  var modes: NameList<RenderingModeName>?

  @Option(help: "Colour schemes (default: light).")
  var schemes: NameList<ColorSchemeName>?

  @Option(help: "Text sizes, such as large,accessibility3 (default: the device's).")
  var textSizes: NameList<TextSizeName>?

  @Option(help: "Locales of the views, such as en_US,de_DE (default: the device's).")
  var locales: LocaleList?

  @Option(help: "Which entries: snapshot, first or all (default: snapshot).")
  var entries: ArchiveWidget.Entries?

  @Option(help: "The format of the files: svg, or png, which needs libcairo2 (default: svg).")
  var format: PictureFormat?

  @Option(help: "Pixels for each point of a PNG file (default: 2).")
  var scale: Double?

  @Option(help: "The share that has to match, from 0 to 1 (default: 1).")
  var precision: Double?

  @Option(help: "How near a pixel has to be to match, from 0 to 1; 0.98 is about what the eye sees (default: 1).")
  var perceptualPrecision: Double?

  @Option(help: ArgumentHelp("Draw characters that Inter does not have in the fonts of a folder.", valueName: "DIR"))
  var fonts: String?

  @Option(help: "Seconds to wait for the host's reply, for each widget.")
  var timeout = 60.0

  @Flag(help: "Print one JSON object: text, an array of lines; or the pictures, what was left out and what failed.")
  var json = false

  func validate() throws {
    guard output != nil || verify != nil else {
      guard kinds.count == 1 else { throw ValidationError("Give one widget kind, or --output DIR, or --verify DIR.") }
      let givenOptions: [(Bool, String)] = [
        (families != nil, "families"), (modes != nil, "modes"), (schemes != nil, "schemes"),
        (textSizes != nil, "text-sizes"), (locales != nil, "locales"), (entries != nil, "entries"),
        (format != nil, "format"), (scale != nil, "scale"), (fonts != nil, "fonts"),
      ]
      if let name = givenOptions.first(where: \.0)?.1 {
        throw ValidationError("--\(name) belongs to --output or --verify.")
      }
      return try validatePrecision()
    }
    if let scale, !(scale >= 0.5 && scale <= 10) { throw ValidationError("--scale is a number from 0.5 to 10.") }
    if scale != nil, format != .png { throw ValidationError("--scale belongs to --format png.") }
    try validatePrecision()
  }

  private func validatePrecision() throws {
    for (name, value) in [("precision", precision), ("perceptual-precision", perceptualPrecision)] {
      guard let value else { continue }
      guard verify != nil, format == .png else {
        throw ValidationError("--\(name) belongs to --verify with --format png: SVG files are compared exactly.")
      }
      guard value >= 0, value <= 1 else { throw ValidationError("--\(name) is a number from 0 to 1.") }
    }
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        guard output != nil || verify != nil else { return try await show(session) }
        var run = try SnapshotRun(
          files: PictureFiles(fonts: fonts), device: session.cluster.configuration.device,
          format: format ?? .svg, scale: scale ?? 2, isQuiet: json)
        try await run.draw(try await plan(session), session, within: .saturating(seconds: timeout))
        if let verify {
          try run.verify(
            against: verify, failures: output ?? "\(verify)-failed",
            PixelPrecision(share: precision ?? 1, perceptual: perceptualPrecision ?? 1))
        } else if let output {
          try run.write(to: output)
        }
        try run.report(isJSON: json)
      }
    }
  }

  private func show(_ session: OperatorSession) async throws {
    let request = TakeSnapshot(widgetKind: kinds[0], bundle: bundle)
    let reply = try await session.ask(request, within: .saturating(seconds: timeout))
    if json { try Output.json(reply) } else { for line in reply.text { Output.print(line) } }
  }

  /// What is drawn. Extensions whose widgets are not known yet are launched.
  private func plan(_ session: OperatorSession) async throws -> SnapshotPlan {
    let gallery = try await session.ask(ListGallery(location: nil), within: .seconds(30))
    if let failures = gallery.failures { throw CommandError(notLaunched: failures.map(\.error), in: session.folder) }
    var plan = SnapshotPlan(families: SnapshotPlan.families(in: gallery.items))
    if let bundle { plan.families = plan.families.filter { $0.key.bundle == bundle } }
    if let unknown = kinds.first(where: { kind in !plan.families.keys.contains { $0.kind == kind } }) {
      let place = bundle ?? "no extension"
      throw CommandError(
        Exit.no, "\(place) has \(bundle == nil ? "a" : "no") widget of the kind \(unknown)", at: session.folder,
        advice: "`widgetlab gallery` lists the kinds")
    }
    if !kinds.isEmpty {
      plan.families = plan.families.filter { kinds.contains($0.key.kind) }
    } else if families == nil {
      plan.families = plan.families.filter { $0.value != [.control] }
    }
    if let families { plan.choose(families.names) }
    plan.modes = modes?.names ?? plan.modes
    plan.schemes = schemes?.names ?? plan.schemes
    plan.textSizes = textSizes?.names ?? plan.textSizes
    plan.locales = locales?.names ?? plan.locales
    plan.entries = entries ?? plan.entries
    return plan
  }
}

extension PictureFormat: ExpressibleByArgument {}
extension ArchiveWidget.Entries: ExpressibleByArgument {}

/// Names of a list, separated by commas.
struct NameList<Name: RawRepresentable & CaseIterable & Sendable>: ExpressibleByArgument, Sendable
where Name.RawValue == String {
  let names: [Name]

  static var allValueStrings: [String] { Name.allCases.map(\.rawValue) }

  init?(argument: String) {
    let parts = argument.split(separator: ",").map { Name(rawValue: String($0)) }
    names = parts.compactMap(\.self)
    guard !names.isEmpty, names.count == parts.count else { return nil }
  }
}

/// Locales, separated by commas.
struct LocaleList: ExpressibleByArgument, Sendable {
  let names: [String]

  init?(argument: String) {
    var names: [String] = []
    for part in argument.split(separator: ",") {
      var settings = DeviceSettings()
      guard (try? settings.set(.locale, to: String(part))) != nil else { return nil }
      names.append(settings.locale)
    }
    guard !names.isEmpty else { return nil }
    self.names = names
  }
}
