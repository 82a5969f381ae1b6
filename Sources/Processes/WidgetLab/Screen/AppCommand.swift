import ArgumentParser
import Conversations
import Foundation
import MessageBus

/// `widgetlab app`.
struct AppCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app", abstract: "What a person does with the containing app.",
    subcommands: [OpenCommand.self, BackgroundCommand.self])

  struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "open",
      abstract: "Opens the containing app: launches it, or brings it to the front.",
      discussion: """
        One app is in front at a time: another one goes to the background. On a locked device no app opens.

        EXAMPLES
          widgetlab app open                                the only app
          widgetlab app open com.example.CaffeineTracker    one of several
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "The app's bundle identifier; may be left out when there is one app.")
    var bundle: String?

    func run() async throws {
      try await reporting {
        let bundle = try options.cluster().bundle(ofApp: bundle)
        try await OperatorSession.with(options) { session in
          try await session.openApp(bundle)
          Output.say("\(bundle) is open")
        }
      }
    }
  }

  struct BackgroundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "background",
      abstract: "Leaves the app for the Home Screen: it is told, and suspended when it has nothing to do.",
      discussion: """
        EXAMPLES
          widgetlab app background                                the only app
          widgetlab app background com.example.CaffeineTracker    one of several
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "The app's bundle identifier; may be left out when there is one app.")
    var bundle: String?

    func run() async throws {
      try await reporting {
        let bundle = try options.cluster().bundle(ofApp: bundle)
        try await OperatorSession.with(options) { session in
          _ = try await session.ask(ChangeScreen(.background(app: bundle)))
          Output.say("\(bundle) is in the background")
        }
      }
    }
  }
}
