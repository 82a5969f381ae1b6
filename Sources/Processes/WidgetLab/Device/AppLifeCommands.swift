import ArgumentParser
import Conversations
import Foundation
import MessageBus

/// `widgetlab force-quit`.
struct ForceQuitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "force-quit",
    abstract: "Ends the app as a person does in the app switcher.",
    discussion: """
      Its background transfers are cancelled (-999, reason 0: user force quit), it dies by SIGKILL, and the system does not \
      wake it for anything until it is opened: then its delegate is told. Its extensions and their transfers go on. For the \
      death alone, as by a crash, there is `widgetlab kill app`.

      EXAMPLES
        widgetlab force-quit                              the only app
        widgetlab force-quit com.example.CaffeineTracker  one of several
        widgetlab app open                                it lives again
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The app's bundle identifier; may be left out when there is one app.")
  var bundle: String?

  func run() async throws {
    try await reporting {
      let bundle = try options.cluster().bundle(ofApp: bundle)
      try await OperatorSession.with(options) { session in
        _ = try await session.ask(ForceQuitApp(bundle: bundle), within: .seconds(30))
        Output.say("\(bundle) is ended; `widgetlab app open` starts it again, and nothing else does")
      }
    }
  }
}

/// `widgetlab update`.
struct UpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Replaces the app and its extensions, as an update from the store does.",
    discussion: """
      The processes of the app and of its extensions end, and their containers get another path: what an author stored as \
      an absolute path names nothing any longer, and events that are delivered again name new files. What is in the \
      containers moves along; background transfers go on. The executables are what they are now: build yours first.

      EXAMPLES
        widgetlab update                                  the only app
        widgetlab update com.example.CaffeineTracker      one of several
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The app's bundle identifier; may be left out when there is one app.")
  var bundle: String?

  func run() async throws {
    try await reporting {
      let bundle = try options.cluster().bundle(ofApp: bundle)
      try await OperatorSession.with(options) { session in
        _ = try await session.ask(UpdateApp(bundle: bundle), within: .seconds(60))
        Output.say("\(bundle) is updated: its containers have another path")
      }
    }
  }
}
