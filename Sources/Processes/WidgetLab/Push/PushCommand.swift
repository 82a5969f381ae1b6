// SPDX-License-Identifier: Apache-2.0

import APNs
import ArgumentParser
import Cluster
import Foundation
import MessageBus
import Messages

/// `widgetlab push`.
struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Sends notifications, like Apple's Push Notifications Console, and shows their delivery.",
    discussion: """
      EXAMPLES
        widgetlab push                      to the only app
        widgetlab push com.example.CaffeineTracker --type alert --payload hello.json
        widgetlab push log                  recent notifications, with every step
        widgetlab push log --follow
      """,
    subcommands: [PushSendCommand.self, PushLogCommand.self], defaultSubcommand: PushSendCommand.self)
}

/// `widgetlab push send`.
struct PushSendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Sends a notification to an app of the device, without a provider key.",
    discussion: """
      The push server checks it like a provider's request, except for the authorization, and explains a refusal. Exit \
      code 0: status 200. 1: refused.

      The default payload is {"aps":{"content-changed":true}} for widgets and controls, an alert, or \
      {"aps":{"content-available":1}} for background. The default priority of a background push is 5.

      EXAMPLES
        widgetlab push                                       to the only app
        widgetlab push --type alert --collapse-id drink
        widgetlab push --type controls --control 3           to the control with the placement number 3
        widgetlab push --payload - < payload.json
        widgetlab push --type liveactivity --activity 1 --payload update.json
        widgetlab push --type liveactivity --starts RideAttributes --payload start.json
        widgetlab push --priority 5 --expiration 0           one attempt
        widgetlab push --token 00ff… --topic com.example.Other.push-type.widgets
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The containing app's bundle identifier (default: the only app).")
  var app: String?

  @Option(help: "apns-push-type: \(PushType.allCases.map(\.rawValue).joined(separator: ", ")).")
  var type = PushType.widgets

  @Option(help: "For --type controls: the control's placement number (default: the only control with a token).")
  var control: Int?

  @Option(help: "For --type liveactivity: the number of the Live Activity (default: the only one with a token).")
  var activity: Int?

  @Option(help: "For --type liveactivity: the type of attributes of which the push starts an activity.")
  var starts: String?

  @Option(help: "A file with the payload; - for standard input.", completion: .file())
  var payload: String?

  @Option(help: "apns-topic (default: the bundle identifier with the type's suffix).")
  var topic: String?

  @Option(help: "apns-collapse-id.")
  var collapseID: String?

  @Option(help: "apns-priority: 10, 5 or 1.")
  var priority: String?

  @Option(help: "apns-expiration: seconds since 1970; 0 for one attempt.")
  var expiration: String?

  @Option(help: "A device token to use instead of the app's active one.")
  var token: String?

  @Flag(help: "Print one JSON object: status, reason, explanation, apnsID, uniqueID.")
  var json = false

  func validate() throws {
    guard control == nil || type == .controls else { throw ValidationError("--control needs --type controls") }
    guard activity == nil && starts == nil || type == .liveactivity else {
      throw ValidationError("--activity and --starts need --type liveactivity")
    }
    guard activity == nil || starts == nil else { throw ValidationError("give --activity or --starts, not both") }
    guard type != .liveactivity || payload != nil else { throw ValidationError("--type liveactivity needs --payload") }
  }

  func run() async throws {
    try await reporting {
      let reply = try await OperatorSession.with(try options.cluster()) { session in
        try await session.askPushServer(try await request(session))
      }
      if json {
        try Output.json(reply)
      } else {
        for line in reply.lines { Output.print(line) }
      }
      guard reply.status == 200 else { throw Exit.no }
    }
  }

  private func request(_ session: OperatorSession) async throws -> SendPush {
    let cluster = session.cluster
    let bundle = try await bundle(session)
    var headers = ["apns-push-type": type.rawValue, "apns-topic": topic ?? bundle + type.topicSuffix]
    headers["apns-collapse-id"] = collapseID
    headers["apns-priority"] = priority ?? (type == .background ? "5" : nil)
    headers["apns-expiration"] = expiration
    let use = token == nil ? try await use(of: bundle, session) : nil
    let subject = use.map { PushSubject(device: cluster.device, bundle: bundle, use: $0) }
    return SendPush(token: token, subject: subject, headers: headers, payload: try text())
  }

  /// The app that receives the push. The token names it, also a token of a fleet.
  private func bundle(_ session: OperatorSession) async throws -> String {
    if let token, app == nil, topic == nil,
      let known = try await session.tokens().first(where: { $0.token == token.lowercased() })
    {
      return known.subject.bundle
    }
    return try session.cluster.bundle(ofApp: app)
  }

  /// Whose token receives the push.
  private func use(of bundle: String, _ session: OperatorSession) async throws -> PushTokenUse {
    switch type {
    case .widgets: return .widgets
    case .controls:
      if let control { return .control(control) }
      let active = try await session.tokens(activeOn: session.cluster.device).filter { $0.subject.bundle == bundle }
      let controls = active.map(\.subject.use).filter { if case .control = $0 { true } else { false } }
      guard controls.count == 1 else {
        throw CommandError(
          Exit.usage, "\(controls.count) controls of \(bundle) have a device token",
          at: session.cluster.configurationPath,
          advice: controls.isEmpty
            ? "place a control whose configuration has pushHandler(_:)"
            : "choose one with --control; see `widgetlab token`")
      }
      return controls[0]
    case .liveactivity:
      if let activity { return .liveActivity(activity) }
      if let starts { return .liveActivityStarts(starts) }
      let active = try await session.tokens(activeOn: session.cluster.device).filter { $0.subject.bundle == bundle }
      let numbers = active.map(\.subject.use).filter { if case .liveActivity = $0 { true } else { false } }
      guard numbers.count == 1 else {
        throw CommandError(
          Exit.usage, "\(numbers.count) Live Activities of \(bundle) have a device token",
          at: session.cluster.configurationPath, advice: "choose one with --activity, or a type with --starts")
      }
      return numbers[0]
    case .alert, .background, .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: return .app
    }
  }

  private func text() throws -> String {
    guard let payload else {
      switch type {
      case .widgets, .controls: return #"{"aps":{"content-changed":true}}"#
      case .background: return #"{"aps":{"content-available":1}}"#
      default: return #"{"aps":{"alert":"Hello from widgetlab"}}"#
      }
    }
    do {
      let data =
        try payload == "-"
        ? FileHandle.standardInput.readToEnd() ?? Data() : Data(contentsOf: URL(fileURLWithPath: payload))
      return String(decoding: data, as: UTF8.self)
    } catch {
      throw CommandError(Exit.usage, "the payload cannot be read: \(error.localizedDescription)", at: payload)
    }
  }
}

extension SendPush.Reply {
  var lines: [String] {
    let id = uniqueID.text
    let first = [String(status), reason].compactMap(\.self).joined(separator: " ")
    let next =
      status == 200 ? "unique id \(id): `widgetlab push log \(id)` shows its delivery" : "unique id \(id)"
    return [first] + (explanation.map { ["  why: \($0)"] } ?? []) + ["  \(next)"]
  }
}

extension OperatorSession {
  /// Sends a request to the push server. Waits while it is being restarted.
  ///
  /// - Throws: a command error when the cluster has no push server; `BusError`.
  func askPushServer<R: Request>(
    _ request: R, within limit: Duration = .seconds(10)
  ) async throws -> R.Reply {
    guard cluster.configuration.pushServer != nil else {
      throw CommandError(
        Exit.configuration, "this cluster has no push server", at: cluster.configurationPath,
        advice: "add `pushServer: {}`, or the entitlement aps-environment to a product; then run `widgetlab up`"
      )
    }
    return try await connection.request(request, to: .pushServer, within: limit, whenUnreachable: .wait)
  }

  /// The device tokens of the push server, oldest first.
  ///
  /// - Parameter device: only its active tokens; `nil` for all tokens.
  func tokens(activeOn device: String? = nil) async throws -> [DeviceToken] {
    var tokens: [DeviceToken] = []
    while true {
      let page = try await askPushServer(ListTokens(device: device, after: tokens.last)).tokens
      guard let last = page.last, last != tokens.last else { return tokens }
      tokens += page
    }
  }
}

/// The owner of a token.
struct PushSubjectOptions: ParsableArguments {
  @Option(help: "The containing app's bundle identifier (default: the only app).")
  var app: String?

  @Option(
    help: """
      widgets (the token of WidgetPushHandler), app (that of registerForRemoteNotifications()) or control-3 (that of \
      the control with the placement number 3).
      """)
  var use = PushTokenUse.widgets

  func subject(in cluster: ClusterFacts) throws -> PushSubject {
    PushSubject(device: cluster.device, bundle: try cluster.bundle(ofApp: app), use: use)
  }
}

extension PushTokenUse: ExpressibleByArgument {}
extension PushType: ExpressibleByArgument {}

extension String {
  /// The device token, shortened to fit in a table.
  var tokenExcerpt: String { count > 20 ? "\(prefix(16))…" : self }
}
