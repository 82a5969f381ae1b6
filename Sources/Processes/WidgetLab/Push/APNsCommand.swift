// SPDX-License-Identifier: Apache-2.0

import APNs
import ArgumentParser
import Foundation
import Messages

/// `widgetlab apns`.
struct APNsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns",
    abstract: "Makes the push server reply to providers with APNs errors, with a delay, or not at all.",
    discussion: """
      For rare responses that a provider's code has to handle.

      EXAMPLES
        widgetlab apns reasons
        widgetlab apns answer 503 ServiceUnavailable --times 3
        widgetlab apns answer 200 --latency 5
      """,
    subcommands: [AnswerCommand.self, ReasonsCommand.self])
}

/// `widgetlab apns reasons`.
struct ReasonsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reasons", abstract: "Lists every reason with its status; Documentation/apns.md explains each."
  )

  @Flag(help: "Print one JSON object per line: status, reason.")
  var json = false

  private struct Line: Encodable {
    let status: Int
    let reason: String
  }

  func run() throws {
    for reason in APNsReason.allCases.sorted(by: { ($0.status, $0.rawValue) < ($1.status, $1.rawValue) }) {
      if json {
        try Output.json(Line(status: reason.status, reason: reason.rawValue))
      } else {
        Output.print("\(reason.status) \(reason.rawValue)")
      }
    }
  }
}

/// `widgetlab apns answer`.
struct AnswerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer",
    abstract: "Overrides the responses to the next requests of providers.",
    discussion: """
      A notification with an overridden response is not delivered, and is refused in the delivery log. 200 means the \
      normal response, and is useful with --latency, --close-stream or --goaway: the provider then does not learn that \
      its notification was accepted. Overrides apply in the order in which they were set; `--times 0` removes them. \
      They are lost when the push server restarts.

      EXAMPLES
        widgetlab apns answer 503 ServiceUnavailable
        widgetlab apns answer 429 TooManyRequests --times 5 --token 00ff…
        widgetlab apns answer 410                      fails: it has two reasons
        widgetlab apns answer 200 --latency 30         delayed
        widgetlab apns answer 500 --close-stream       no response: RST_STREAM
        widgetlab apns answer 503 Shutdown --goaway    GOAWAY, no response
        widgetlab apns answer 200 --times 0            normal responses again
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The status: 400 to 599, or 200 for the normal response.")
  var status: Int

  @Argument(help: "The reason; required when the status has several, see `widgetlab apns reasons`.")
  var reason: String?

  @Option(help: "The number of requests; 0 removes the overrides.")
  var times = 1

  @Option(help: "Only requests to this device token.")
  var token: String?

  @Option(help: "Seconds until the response.")
  var latency = 0.0

  @Flag(help: "No response: the stream is reset.")
  var closeStream = false

  @Flag(help: "No response: the connection is closed by a GOAWAY with the reason.")
  var goaway = false

  func validate() throws { _ = try order() }

  func run() async throws {
    try await reporting {
      let order = try order()
      _ = try await OperatorSession.with(options) { try await $0.askPushServer(order) }
      Output.print(order.line)
    }
  }

  private func order() throws -> OverrideResponses {
    guard !(closeStream && goaway) else { throw ValidationError("give --close-stream or --goaway, not both") }
    guard (0...1_000_000).contains(times) else { throw ValidationError("--times must be 0 to 1000000") }
    guard (0...3_600).contains(latency) else { throw ValidationError("--latency must be 0 to 3600 seconds") }
    return OverrideResponses(
      status: status, reason: try knownReason(),
      manner: closeStream ? .closesStream : goaway ? .goesAway : .response, times: times, token: token?.lowercased(),
      latency: latency)
  }

  /// Returns the reason, which must be one of the status. Defaults to the status's only reason.
  private func knownReason() throws -> String? {
    guard status != 200 else {
      guard reason == nil else { throw ValidationError("200 has no reason") }
      return nil
    }
    let knownReasons = APNsReason.allCases.filter { $0.status == status }.map(\.rawValue)
    guard !knownReasons.isEmpty else {
      throw ValidationError("APNs has no status \(status); see `widgetlab apns reasons`")
    }
    guard let reason = reason ?? (knownReasons.count == 1 ? knownReasons[0] : nil) else {
      throw ValidationError("\(status) has several reasons; use one of: \(knownReasons.joined(separator: ", "))")
    }
    guard knownReasons.contains(reason) else {
      throw ValidationError(
        "'\(reason)' is not a reason of \(status); use one of: \(knownReasons.joined(separator: ", "))")
    }
    return reason
  }
}

extension OverrideResponses {
  /// The message for the user.
  var line: String {
    let who = token.map { " to \($0.tokenExcerpt)" } ?? ""
    guard times > 0 else { return "requests\(who) get normal responses" }
    let what = [String(status), reason].compactMap(\.self).joined(separator: " ")
    let how =
      switch manner {
      case .response: "answered \(what)"
      case .closesStream: "no response: the stream is reset"
      case .goesAway: "no response: GOAWAY\(reason.map { " with \($0)" } ?? "")"
      }
    let late = latency > 0 ? ", after \(latency) s" : ""
    return "the next \(times == 1 ? "request" : "\(times) requests")\(who): \(how)\(late)"
  }
}
