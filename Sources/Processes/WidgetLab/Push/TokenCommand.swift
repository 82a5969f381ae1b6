// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import JournalAnalysis
import Messages

/// `widgetlab token`.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Shows the device tokens of the push server, and rotates, expires or unregisters them.",
    discussion: """
      A device token belongs to a device, an app and a use: `widgets` for WidgetPushHandler, `app` for \
      registerForRemoteNotifications(), for ControlPushHandler `control-` with the control's placement number, and \
      `liveactivity-` with the number of a Live Activity, or `liveactivity-start-` with a type of attributes. One \
      of each is active. The others get status 410, like the response of APNs, \
      but without its delay.

      EXAMPLES
        widgetlab token list
        widgetlab token rotate                a new one; the old one is Unregistered
        widgetlab token expire --use app      ExpiredToken, until it registers again
        widgetlab token unregister            unregistered until it gets a new one
      """,
    subcommands: [
      TokenListCommand.self, TokenRotateCommand.self, TokenExpireCommand.self, TokenUnregisterCommand.self,
    ], defaultSubcommand: TokenListCommand.self)
}

/// `widgetlab token list`.
struct TokenListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Shows all device tokens in full, oldest first.")

  @OptionGroup var options: InstanceOptions

  @Flag(help: "Print one JSON object: {\"tokens\":[…]}; since is seconds since 1970.")
  var json = false

  func run() async throws {
    try await reporting {
      let tokens = try await OperatorSession.with(options, reading: true) { try await $0.tokens() }
      if json {
        return Output.json(data: try BodyCoding.data(ListTokens.Reply(tokens: tokens)))
      }
      guard !tokens.isEmpty else {
        return Output.print(
          "no device has requested a token: place a widget or control with pushHandler(_:), or register the app")
      }
      for token in tokens { for line in token.lines { Output.print(line) } }
    }
  }
}

/// `widgetlab token rotate`.
struct TokenRotateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Replaces the active token, which becomes Unregistered.",
    discussion: "As after restoring a backup. The push handlers or the app's delegate receive the new token.")

  @OptionGroup var token: TokenOptions

  func run() async throws { try await token.change(.rotate) }
}

/// `widgetlab token expire`.
struct TokenExpireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "Makes the active token an ExpiredToken, until the device requests a new one.")

  @OptionGroup var token: TokenOptions

  func run() async throws { try await token.change(.expire) }
}

/// `widgetlab token unregister`.
struct TokenUnregisterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unregister", abstract: "Makes the active token Unregistered, until the device requests a new one.")

  @OptionGroup var token: TokenOptions

  func run() async throws { try await token.change(.unregister) }
}

/// The token that a command changes.
struct TokenOptions: ParsableArguments {
  @OptionGroup var options: InstanceOptions
  @OptionGroup var subject: PushSubjectOptions
  @Flag(help: "Print one JSON object: {\"tokens\":[…]}; rotate has both tokens.")
  var json = false

  /// Changes the token on the push server, and prints the result.
  func change(_ change: ChangeToken.Change) async throws {
    try await reporting {
      let cluster = try options.cluster()
      let subject = try subject.subject(in: cluster)
      let reply = try await OperatorSession.with(cluster) { session in
        try await session.askPushServer(ChangeToken(subject: subject, change: change))
      }
      if json { return Output.json(data: try BodyCoding.data(reply)) }
      for token in reply.tokens { for line in token.lines { Output.print(line) } }
    }
  }
}

extension DeviceToken {
  var lines: [String] {
    [
      "\(state.rawValue) since \(Amount.text(since)): \(subject.use.rawValue) of \(subject.bundle) on \(subject.device), "
        + environment.rawValue,
      "  \(token)",
    ]
  }
}
