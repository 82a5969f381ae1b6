// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import JournalAnalysis
import Messages

/// `widgetlab turn`.
struct TurnCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "turn",
    abstract: "Turns a stack until this widget is on top, as a user does by swiping.",
    discussion: """
      Only the top widget is visible; the others have the budget of invisible widgets. A stack also turns on its own \
      to the widget whose entry has the highest relevance (Smart Rotate), but at most once per smartRotatePause, 1800 \
      s, unless developerMode is on. `widgetlab add KIND --stack NUMBER` puts a widget on another.

      EXAMPLE
        widgetlab turn 2
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget's number, as shown by `widgetlab screen`.")
  var number: Int

  @Flag(help: "Print one JSON object: members, in stack order.")
  var json = false

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options) { session in
        try await session.ask(TurnStack(placement: number))
      }
      if json { try Output.json(reply) } else { Output.print("\(number) is on top of the stack of \(reply.text)") }
    }
  }
}
