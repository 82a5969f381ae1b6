import APNs
import ArgumentParser
import Conversations
import Foundation

/// `widgetlab apns`.
struct APNsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns",
    abstract: "Has the push server answer providers with any refusal of APNs, late, or not at all.",
    discussion: """
      For what a provider meets once in a year, and its code has to be ready for.

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
    commandName: "reasons", abstract: "Lists every reason with its status; Documentation/apns.md says when each is due."
  )

  @Flag(help: "One JSON object a line: status, reason.")
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
        Output.say("\(reason.status) \(reason.rawValue)")
      }
    }
  }
}

/// `widgetlab apns answer`.
struct AnswerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer",
    abstract: "Has the next requests of providers answered so, whatever is due.",
    discussion: """
      What is answered so is not delivered, and stands in the delivery log as refused. 200 is the answer that is due, and is \
      worth asking for with --latency, --close-stream or --goaway: the provider then does not know that its notification was \
      accepted. Requests that were asked for earlier come first; `--times 0` takes them back. A push server that is started \
      again has forgotten them.

      EXAMPLES
        widgetlab apns answer 503 ServiceUnavailable
        widgetlab apns answer 429 TooManyRequests --times 5 --token 00ff…
        widgetlab apns answer 410                      Unregistered and ExpiredToken: it asks which
        widgetlab apns answer 200 --latency 30         late
        widgetlab apns answer 500 --close-stream       no answer: RST_STREAM
        widgetlab apns answer 503 Shutdown --goaway    no answer: GOAWAY with the reason
        widgetlab apns answer 200 --times 0            all as it is due
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The status: 400 to 599, or 200 for what is due.")
  var status: Int

  @Argument(help: "The reason; needed where the status has several, see `widgetlab apns reasons`.")
  var reason: String?

  @Option(help: "How many requests; 0 takes back what was asked for.")
  var times = 1

  @Option(help: "Only requests to this device token.")
  var token: String?

  @Option(help: "Seconds until the answer.")
  var latency = 0.0

  @Flag(help: "No answer: the stream is reset.")
  var closeStream = false

  @Flag(help: "No answer: the connection ends with a GOAWAY that has the reason.")
  var goaway = false

  func validate() throws { _ = try order() }

  func run() async throws {
    try await reporting {
      let order = try order()
      _ = try await OperatorSession.with(options) { try await $0.askPushServer(order) }
      Output.say(order.line)
    }
  }

  private func order() throws -> AnswerPushes {
    guard !(closeStream && goaway) else { throw ValidationError("say --close-stream or --goaway, and not both") }
    guard (0...1_000_000).contains(times) else { throw ValidationError("--times is 0 to 1000000") }
    guard (0...3_600).contains(latency) else { throw ValidationError("--latency is 0 to 3600 seconds") }
    return AnswerPushes(
      status: status, reason: try knownReason(),
      manner: closeStream ? .closesStream : goaway ? .goesAway : .response, times: times, token: token?.lowercased(),
      latency: latency)
  }

  /// The reason, which must be one of the status; that of the status when it has only one.
  private func knownReason() throws -> String? {
    guard status != 200 else {
      guard reason == nil else { throw ValidationError("200 has no reason") }
      return nil
    }
    let known = APNsReason.allCases.filter { $0.status == status }.map(\.rawValue)
    guard !known.isEmpty else {
      throw ValidationError("APNs does not answer \(status); `widgetlab apns reasons` lists what it answers")
    }
    guard let reason = reason ?? (known.count == 1 ? known[0] : nil) else {
      throw ValidationError("\(status) has several reasons, name one: \(known.joined(separator: ", "))")
    }
    guard known.contains(reason) else {
      throw ValidationError("'\(reason)' is no reason of \(status): \(known.joined(separator: ", "))")
    }
    return reason
  }
}

extension AnswerPushes {
  /// What a person is told.
  var line: String {
    let who = token.map { " to \($0.tokenExcerpt)" } ?? ""
    guard times > 0 else { return "requests\(who) are answered as it is due" }
    let what = [String(status), reason].compactMap(\.self).joined(separator: " ")
    let how =
      switch manner {
      case .response: "answered \(what)"
      case .closesStream: "not answered: the stream is reset"
      case .goesAway: "not answered: GOAWAY\(reason.map { " with \($0)" } ?? "")"
      }
    let late = latency > 0 ? ", after \(latency) s" : ""
    return "the next \(times == 1 ? "request" : "\(times) requests")\(who): \(how)\(late)"
  }
}
