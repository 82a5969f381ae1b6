import ArgumentParser
import Cluster
import Conversations
import Foundation
import MessageBus

/// `widgetlab reload`.
struct ReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Asks for new timelines, as WidgetCenter.reloadTimelines(ofKind:) does.",
    discussion: """
      The host answers once it has written the reload down, and the command waits for the launch of the extension, if one \
      is under way: exit code 78 and the cause when the extension cannot be started. What becomes of the reload shows in \
      the tail: `timeline.stored`, or `timeline.failed` with the reason.

      EXAMPLES
        widgetlab reload CaffeineTracker    the widgets of one kind
        widgetlab reload --all              all of them
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget kind, as in StaticConfiguration(kind:).")
  var kind: String?

  @Flag(help: "All kinds of all extensions.")
  var all = false

  @Option(help: "Seconds to wait for the host's answer, and then for the launch of the extension.")
  var timeout = 10.0

  func validate() throws {
    guard (kind != nil) != all else { throw ValidationError("Name one widget kind, or say --all.") }
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        try await session.reload(kind, within: .seconds(timeout))
        try await session.awaitLaunch(within: timeout) { AwaitLaunch(widgetKind: kind, limit: $0) }
        Output.say("the host will reload \(kind ?? "all timelines"); follow it with `widgetlab tail`")
      }
    }
  }
}

/// `widgetlab snapshot`.
struct SnapshotCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Shows what a widget's provider gives in getSnapshot, as the gallery does.",
    discussion: """
      The extension is launched for it, and has the time that a timeline may take: who takes longer is halted half-way. \
      Nothing is stored.

      EXAMPLE
        widgetlab snapshot CaffeineTracker
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget kind, as in StaticConfiguration(kind:).")
  var kind: String

  @Option(help: "Seconds to wait for the host's answer.")
  var timeout = 60.0

  @Flag(help: "One JSON object: text, line by line.")
  var json = false

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        let reply = try await session.ask(TakeSnapshot(widgetKind: kind), within: .seconds(timeout))
        if json { try Output.json(reply) } else { Output.say(reply.text.joined(separator: "\n")) }
      }
    }
  }
}

/// `widgetlab ping`.
struct PingCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ping",
    abstract: "Asks a process over the bus whether it answers and is ready.",
    discussion: """
      Exit code 0: it answered and is ready. 1: it did not answer in time (dead, stopped, or not connected), or is not ready. \
      A health check needs nothing else, and its key can do nothing else.

      EXAMPLES
        widgetlab ping host
        widgetlab ping agent/1 --timeout 1
        widgetlab ping message-bus
        widgetlab ping extension/com.example.CaffeineTracker.Widget
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "host, agent/1, message-bus, provider, push-server, app/BUNDLE, extension/BUNDLE, or a full address.")
  var address: String

  @Option(help: "Seconds to wait for the answer.")
  var timeout = 5.0

  @Flag(help: "Print the answer as one JSON object.")
  var json = false

  func run() async throws {
    try await reporting {
      let address = try options.cluster().address(address)
      try await OperatorSession.with(options, as: .watcher, within: .seconds(timeout)) { session in
        let reply: Ping.Reply
        do {
          reply = try await session.connection.request(Ping(), to: address, within: .seconds(timeout))
        } catch {
          throw Complaint(
            Exit.no, "\(address) does not answer: \(error)", at: session.folder,
            advice: "see what it is doing with `widgetlab ps`, and what it said last in \(session.folder)/logs")
        }
        if json {
          try Output.json(reply)
        } else {
          let state = reply.isReady ? "ready" : "not ready, waits for \(reply.waitingFor.joined(separator: ", "))"
          Output.say("\(address): pid \(reply.pid), \(state)")
        }
        if !reply.isReady { throw Exit.no }
      }
    }
  }
}

/// `widgetlab protocol`.
struct ProtocolCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "protocol",
    abstract: "Prints Documentation/protocol.md: the layout of an envelope and who may say what to whom.",
    discussion: """
      EXAMPLE
        widgetlab protocol > Documentation/protocol.md
      """)

  func run() { Output.say(String(ProtocolPage.text.dropLast())) }
}
