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

    @OptionGroup var app: AppOptions

    func run() async throws {
      try await app.perform { session, bundle in
        try await session.openApp(bundle)
        return "\(bundle) is open"
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

    @OptionGroup var app: AppOptions

    func run() async throws {
      try await app.perform { session, bundle in
        _ = try await session.ask(ChangeScreen(.background(app: bundle)))
        return "\(bundle) is in the background"
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

/// `widgetlab force-quit`.
struct ForceQuitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "force-quit",
    abstract: "Force-quits the app, as a user does in the app switcher.",
    discussion: """
      Its background transfers are cancelled (-999, reason 0: user force quit), it is killed by SIGKILL, and the \
      system does not launch it until the user opens it, or touches a button, toggle or control whose intent it \
      performs: then its delegate receives the errors. Its extensions and their transfers continue. To kill only the \
      process, like a crash, use `widgetlab kill app`.

      EXAMPLES
        widgetlab force-quit                              the only app
        widgetlab force-quit com.example.CaffeineTracker  one of several
        widgetlab app open                                runs it again
      """)

  @OptionGroup var app: AppOptions

  func run() async throws {
    try await app.perform { session, bundle in
      _ = try await session.ask(ForceQuitApp(bundle: bundle), within: .seconds(30))
      return """
        force-quit \(bundle); not launched until the user opens it (`widgetlab app open`), or touches a button, \
        toggle or control whose intent it performs
        """
    }
  }
}

/// `widgetlab update`.
struct UpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Replaces the app and its extensions, like an update from the App Store.",
    discussion: """
      The processes of the app and of its extensions are killed, and their containers move to another path: absolute \
      paths that an author stored become invalid, and redelivered events contain new file paths. The contents of the \
      containers move along; background transfers continue. The current executables are used: build yours first.

      EXAMPLES
        widgetlab update                                  the only app
        widgetlab update com.example.CaffeineTracker      one of several
      """)

  @OptionGroup var app: AppOptions

  func run() async throws {
    try await app.perform { session, bundle in
      _ = try await session.ask(UpdateApp(bundle: bundle), within: .seconds(60))
      return "updated \(bundle): its containers have a new path"
    }
  }
}

/// The app that a command is about.
struct AppOptions: ParsableArguments {
  @OptionGroup var options: InstanceOptions

  @Argument(help: "The app's bundle identifier; optional when there is only one app.")
  var bundle: String?

  /// Performs an action with the app, and prints the text that it returns.
  func perform(_ action: (OperatorSession, String) async throws -> String) async throws {
    try await reporting {
      let bundle = try options.cluster().bundle(ofApp: bundle)
      try await OperatorSession.with(options) { session in Output.print(try await action(session, bundle)) }
    }
  }
}
