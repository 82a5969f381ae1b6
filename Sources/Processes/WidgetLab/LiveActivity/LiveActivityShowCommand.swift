// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation
import MessageBus
import Messages
import Pictures

/// `widgetlab activity show`.
struct LiveActivityShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the presentations of a Live Activity, wherever the device shows it.",
    discussion: """
      `widgetlab screen` shows an activity in its place: on the Lock Screen, or compact or minimal in the Dynamic \
      Island. This command shows all presentations, also the expanded one, which a person sees after a long touch. \
      --picture draws one of them, near to a phone's and not exact.

      EXAMPLES
        widgetlab activity show 1
        widgetlab activity show 1 --presentation expanded --picture island.png
      """)

  @OptionGroup var options: InstanceOptions
  @Argument(help: "The number or the id of the activity (default: the only one).") var activity: String?

  @Option(help: "lockScreen, compact, minimal or expanded (default: all; for a picture lockScreen).")
  var presentation: Presentation?

  @Option(help: ArgumentHelp("Draw the presentation into an SVG or a PNG file.", valueName: "FILE"))
  var picture: String?

  @Flag(help: "Print one JSON object: number, id, phase, state, and the texts of each part.")
  var json = false

  enum Presentation: String, ExpressibleByArgument, CaseIterable {
    case lockScreen, compact, minimal, expanded
    var value: ActivityPresentation { ActivityPresentation(rawValue: rawValue) ?? .lockScreen }
  }

  func validate() throws {
    guard let picture, PictureFormat(path: picture) == nil else { return }
    throw ValidationError("A picture is an SVG or a PNG file, and not '\(picture)'.")
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options, reading: true) { session in
        let reply = try await session.ask(ShowScreen())
        let shown = try chosen(reply.activities ?? [], session)
        let clock = try await session.ask(SetClock(change: .ask))
        var print = ScreenPrint(
          reply: reply, now: clock.now,
          hidesSensitiveContent: session.cluster.configuration.settings.gallery.hidesSensitiveContent)
        let text = ActivityPrint(shown, print.appearance)
        if let picture {
          print.images = try await session.images(of: reply)
          try draw(shown, print, session, to: picture)
        }
        if json {
          try Output.json(text.facts)
        } else if picture == nil {
          let all = presentation.map { [$0.value] } ?? ActivityPresentation.allCases
          for line in text.lines(of: all) { Output.print(line) }
        }
      }
    }
  }

  private func chosen(
    _ all: [ShowScreen.LiveActivity], _ session: OperatorSession
  ) throws -> ShowScreen.LiveActivity {
    let found = all.filter { activity == nil || activity == $0.activity.id || activity == "\($0.activity.number)" }
    guard found.count == 1 else {
      throw CommandError(
        Exit.usage, "\(found.count) of \(all.count) Live Activities are meant", at: session.folder,
        advice: "`widgetlab activity list` shows their numbers")
    }
    return found[0]
  }

  private func draw(
    _ shown: ShowScreen.LiveActivity, _ screen: ScreenPrint, _ session: OperatorSession, to path: String
  ) throws {
    guard shown.views != nil else {
      throw CommandError(
        Exit.no, shown.note ?? "its extension has provided nothing yet", at: session.folder,
        advice: "`widgetlab activity show` shows what is known")
    }
    let files = try PictureFiles()
    let device = session.cluster.configuration.device
    let drawn = ActivityPicture(shown, screen, device).picture(of: presentation?.value ?? .lockScreen, with: files.font)
    let (data, notices) = try files.contents(
      of: drawn, as: PictureFormat(path: path) ?? .svg, scale: device.screen.scale)
    do {
      try data.write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw CommandError(Exit.no, "the picture cannot be written: \(error.localizedDescription)", at: path)
    }
    for notice in notices { Output.printError("widgetlab: \(notice)") }
    if !json { Output.print("\(path): \((presentation?.value ?? .lockScreen).title)") }
  }
}
