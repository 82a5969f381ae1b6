// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Journal
import JournalAnalysis
import Messages

/// `widgetlab why`.
struct WhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explains one reload: its cause, the budget's decisions, and the result.",
    discussion: """
      `widgetlab budget PLACEMENT` and the notes of `budget.decided` in the tail show the numbers of reloads.

      EXAMPLES
        widgetlab why 12
        widgetlab why 12 --json     because, asker, lines, outcome
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation

  @Argument(help: "The reload's number.")
  var reload: Int

  @Flag(help: "Print one JSON object on one line; times are seconds since 1970.")
  var json = false

  func run() async throws {
    try await reporting {
      let envelopes = try place.reader(options).read(from: .beginning)
      guard let history = ReloadHistory(reload, in: envelopes) else {
        throw CommandError(
          Exit.no, "the journal does not contain reload \(reload)", at: try place.folder(options),
          advice: "`widgetlab budget PLACEMENT` lists the reloads of a placed widget")
      }
      if json { return Output.json(data: try BodyCoding.data(history)) }
      for line in history.text { Output.print(line) }
    }
  }
}
