// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import MessageBus
import Messages

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

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The app's bundle identifier; optional when there is only one app.")
  var bundle: String?

  func run() async throws {
    try await reporting {
      let bundle = try options.cluster().bundle(ofApp: bundle)
      try await OperatorSession.with(options) { session in
        _ = try await session.ask(ForceQuitApp(bundle: bundle), within: .seconds(30))
        Output.print(
          """
          force-quit \(bundle); not launched until the user opens it (`widgetlab app open`), or touches a button, \
          toggle or control whose intent it performs
          """)
      }
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

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The app's bundle identifier; optional when there is only one app.")
  var bundle: String?

  func run() async throws {
    try await reporting {
      let bundle = try options.cluster().bundle(ofApp: bundle)
      try await OperatorSession.with(options) { session in
        _ = try await session.ask(UpdateApp(bundle: bundle), within: .seconds(60))
        Output.print("updated \(bundle): its containers have a new path")
      }
    }
  }
}
