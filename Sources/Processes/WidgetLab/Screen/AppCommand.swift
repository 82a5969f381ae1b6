import ArgumentParser
import Conversations
import Foundation
import MessageBus

/// `widgetlab app`.
struct AppCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app", abstract: "What a person does with the containing app.",
    subcommands: [OpenCommand.self, BackgroundCommand.self, ActivityCommand.self])

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

  struct ActivityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "activity",
      abstract: "Says that the app has an audio or navigation session, uses the location service, or none of it.",
      discussion: """
        Here an app has no sound, no route and no place of its own, so a person says it. While it lasts, the app is not \
        suspended behind the front, and reloads of its widgets cost no budget. It is over when the app's process ends, and \
        not when the host's does.

        EXAMPLES
          widgetlab app activity audio                                       the only app
          widgetlab app activity navigation com.example.CaffeineTracker      one of several
          widgetlab app activity none
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "audio, navigation, location or none.")
    var activity: Activity

    @Argument(help: "The app's bundle identifier; may be left out when there is one app.")
    var bundle: String?

    enum Activity: ExpressibleByArgument, Sendable, Equatable {
      case none
      case some(AppActivity)

      static var allValueStrings: [String] { AppActivity.allCases.map(\.rawValue) + ["none"] }

      init?(argument: String) {
        if argument == "none" {
          self = .none
        } else if let activity = AppActivity(rawValue: argument) {
          self = .some(activity)
        } else {
          return nil
        }
      }

      var value: AppActivity? { if case .some(let activity) = self { activity } else { nil } }
    }

    func run() async throws {
      try await changeScreen(options, json: false) { cluster in
        .activity(app: try cluster.bundle(ofApp: bundle), activity.value)
      }
    }
  }
}
