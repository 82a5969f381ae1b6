import ArgumentParser
import Conversations
import Foundation

/// `widgetlab token`.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Shows the device tokens that the push server knows, and changes them as time does in life.",
    discussion: """
      A device token belongs to a device, an app and a use: `widgets` for WidgetPushHandler, `app` for \
      registerForRemoteNotifications(). One of each is active; the others are answered with 410, as APNs does when it has \
      found out, and without its delay.

      EXAMPLES
        widgetlab token list
        widgetlab token rotate                another one; the old one is Unregistered
        widgetlab token expire --use app      ExpiredToken, until it registers again
        widgetlab token unregister            Unregistered, until it asks again
      """,
    subcommands: [
      TokenListCommand.self, TokenRotateCommand.self, TokenExpireCommand.self, TokenUnregisterCommand.self,
    ], defaultSubcommand: TokenListCommand.self)
}

/// `widgetlab token list`.
struct TokenListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Shows all device tokens, the oldest first, in full.")

  @OptionGroup var options: InstanceOptions

  @Flag(help: "One JSON object: {\"tokens\":[…]}; since is seconds since 1970.")
  var json = false

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(options) { try await $0.askPushServer(ListTokens()) }
      if json { return Output.say(String(decoding: try BodyCoding.data(reply), as: UTF8.self)) }
      guard !reply.tokens.isEmpty else {
        return Output.say("no device has asked for a token: place a widget with pushHandler(_:), or register the app")
      }
      for token in reply.tokens { for line in token.lines { Output.say(line) } }
    }
  }
}

/// `widgetlab token rotate`.
struct TokenRotateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Another token takes the place of the active one, which is Unregistered from now on.",
    discussion: "As after a restored backup. The device is told, and with it WidgetPushHandler or the app's delegate.")

  @OptionGroup var options: InstanceOptions
  @OptionGroup var subject: PushSubjectOptions
  @Flag(help: "One JSON object: {\"tokens\":[…]}, the former and the new one.")
  var json = false

  func run() async throws { try await TokenChange(options, subject, json).perform(.rotate) }
}

/// `widgetlab token expire`.
struct TokenExpireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "The active token is an ExpiredToken, until the device asks for another one.")

  @OptionGroup var options: InstanceOptions
  @OptionGroup var subject: PushSubjectOptions
  @Flag(help: "One JSON object: {\"tokens\":[…]}.")
  var json = false

  func run() async throws { try await TokenChange(options, subject, json).perform(.expire) }
}

/// `widgetlab token unregister`.
struct TokenUnregisterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unregister", abstract: "The active token is Unregistered, until the device asks for another one.")

  @OptionGroup var options: InstanceOptions
  @OptionGroup var subject: PushSubjectOptions
  @Flag(help: "One JSON object: {\"tokens\":[…]}.")
  var json = false

  func run() async throws { try await TokenChange(options, subject, json).perform(.unregister) }
}

/// Has the push server change a token, and shows what came of it.
private struct TokenChange {
  let options: InstanceOptions
  let subject: PushSubjectOptions
  let json: Bool

  init(_ options: InstanceOptions, _ subject: PushSubjectOptions, _ json: Bool) {
    self.options = options
    self.subject = subject
    self.json = json
  }

  func perform(_ change: ChangeToken.Change) async throws {
    try await reporting {
      let cluster = try options.cluster()
      let subject = try subject.subject(in: cluster)
      let reply = try await OperatorSession.with(cluster) { session in
        try await session.askPushServer(ChangeToken(subject: subject, change: change))
      }
      if json { return Output.say(String(decoding: try BodyCoding.data(reply), as: UTF8.self)) }
      for token in reply.tokens { for line in token.lines { Output.say(line) } }
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
