import ArgumentParser
import Conversations
import Foundation

/// `widgetlab turn`.
struct TurnCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "turn",
    abstract: "Turns a stack of widgets until this one is on top, as a person does with a finger.",
    discussion: """
      The one on top is seen; the others have the budget of what is out of sight. By itself a stack turns to the widget whose \
      entry says the highest relevance (Smart Rotate), and not again within the setting smartRotatePause, 1800 s, unless \
      developerMode is on. `widgetlab add KIND --stack NUMBER` puts a widget on another.

      EXAMPLE
        widgetlab turn 2
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget's number: `widgetlab screen` shows it.")
  var number: Int

  @Flag(help: "One JSON object: members, in the order in which they are turned.")
  var json = false

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options) { session in
        try await session.ask(TurnStack(placement: number))
      }
      if json { try Output.json(reply) } else { Output.say("\(number) is on top of the stack of \(reply.text)") }
    }
  }
}
