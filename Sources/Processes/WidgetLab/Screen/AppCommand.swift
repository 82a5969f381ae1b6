// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import MessageBus
import Messages

/// `widgetlab app`.
struct AppCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app", abstract: "User actions on the containing app.",
    subcommands: [OpenCommand.self, BackgroundCommand.self, ActivityCommand.self])

  struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "open",
      abstract: "Opens the containing app: launches it, or brings it to the foreground.",
      discussion: """
        Only one app is in the foreground: the former one goes to the background. No app opens on a locked device.

        EXAMPLES
          widgetlab app open                                the only app
          widgetlab app open com.example.CaffeineTracker    one of several
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "The app's bundle identifier; optional when there is only one app.")
    var bundle: String?

    func run() async throws {
      try await reporting {
        let bundle = try options.cluster().bundle(ofApp: bundle)
        try await OperatorSession.with(options) { session in
          try await session.openApp(bundle)
          Output.print("\(bundle) is open")
        }
      }
    }
  }

  struct BackgroundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "background",
      abstract: "Sends the app to the background: it is notified, and suspended when it is idle.",
      discussion: """
        EXAMPLES
          widgetlab app background                                the only app
          widgetlab app background com.example.CaffeineTracker    one of several
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "The app's bundle identifier; optional when there is only one app.")
    var bundle: String?

    func run() async throws {
      try await reporting {
        let bundle = try options.cluster().bundle(ofApp: bundle)
        try await OperatorSession.with(options) { session in
          _ = try await session.ask(ChangeScreen(.background(app: bundle)))
          Output.print("\(bundle) is in the background")
        }
      }
    }
  }

  struct ActivityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "activity",
      abstract: "Sets whether the app has an audio or navigation session, or uses the location service.",
      discussion: """
        WidgetLab does not simulate audio, navigation or location, so the activity is set by hand. While it is set, \
        the app is not suspended in the background, and reloads of its widgets cost no budget. It ends when the app's \
        process exits, but survives a host restart.

        EXAMPLES
          widgetlab app activity audio                                    the only app
          widgetlab app activity navigation com.example.CaffeineTracker   one of several
          widgetlab app activity none
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "audio, navigation, location or none.")
    var activity: Activity

    @Argument(help: "The app's bundle identifier; optional when there is only one app.")
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
