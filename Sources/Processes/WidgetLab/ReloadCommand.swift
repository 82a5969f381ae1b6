// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import MessageBus
import Messages

/// `widgetlab reload`.
struct ReloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Requests new timelines, like WidgetCenter.reloadTimelines(ofKind:) does.",
    discussion: """
      The host replies once it has persisted the reload. The command then waits for the launch of the extension, if \
      one is in progress: exit code 78 and the cause when the extension cannot be started, and 1 when no extension has \
      a widget or a control of that kind. The tail shows the result of the reload: `timeline.stored`, or \
      `timeline.failed` with the reason.

      EXAMPLES
        widgetlab reload CaffeineTracker    the widgets of one kind
        widgetlab reload --all              all of them
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The widget kind, as in StaticConfiguration(kind:).")
  var kind: String?

  @Flag(help: "Reload all kinds of all extensions.")
  var all = false

  @Option(help: "Seconds to wait for the host's reply, and then for the launch of the extension.")
  var timeout = 10.0

  func validate() throws {
    guard (kind != nil) != all else { throw ValidationError("Give one widget kind, or --all.") }
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        try await session.reload(kind, within: .saturating(seconds: timeout))
        try await session.awaitLaunch(within: timeout) { AwaitLaunch(widgetKind: kind, limit: $0) }
        if let kind { try await expect(kind, session) }
        Output.print("the host will reload \(kind ?? "all timelines"); follow with `widgetlab tail`")
      }
    }
  }

  /// A phone ignores a reload of a kind that no extension has. Here it is a mistake of the caller.
  private func expect(_ kind: String, _ session: OperatorSession) async throws {
    let gallery = try await session.ask(ListGallery(location: nil), within: .seconds(30))
    let kinds = Set(gallery.items.map(\.widgetKind))
    guard !kinds.isEmpty, !kinds.contains(kind) else { return }
    throw CommandError(
      Exit.no, "no widget is of kind \(kind); there are: \(kinds.sorted().joined(separator: ", "))",
      at: session.folder, advice: "`widgetlab gallery` lists the widgets and controls")
  }
}

/// `widgetlab ping`.
struct PingCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ping",
    abstract: "Checks over the bus whether a process replies and is ready.",
    discussion: """
      Exit code 0: it replied and is ready. 1: it did not reply in time (exited, stopped, or not connected), or is not \
      ready. It uses the key of health checks, which is valid for nothing else.

      EXAMPLES
        widgetlab ping host
        widgetlab ping agent/1 --timeout 1
        widgetlab ping message-bus
        widgetlab ping extension/com.example.CaffeineTracker.Widget
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "host, agent/1, message-bus, provider, push-server, app/BUNDLE, extension/BUNDLE, or a full address.")
  var address: String

  @Option(help: "Seconds to wait for the reply.")
  var timeout = 5.0

  @Flag(help: "Print the reply as one JSON object.")
  var json = false

  func run() async throws {
    try await reporting {
      let address = try options.cluster(reading: true).address(address)
      try await OperatorSession.with(options, reading: true, as: .watcher, within: .saturating(seconds: timeout)) {
        session in
        let reply: Ping.Reply
        do {
          reply = try await session.connection.request(Ping(), to: address, within: .saturating(seconds: timeout))
        } catch {
          throw CommandError(
            Exit.no, "\(address) does not reply: \(error)", at: session.folder,
            advice: "see `widgetlab ps`, and its log in \(session.folder)/logs")
        }
        if json {
          try Output.json(reply)
        } else {
          let state = reply.isReady ? "ready" : "not ready, waiting for \(reply.waitingFor.joined(separator: ", "))"
          Output.print("\(address): pid \(reply.pid), \(state)")
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
    abstract: "Prints Documentation/protocol.md: the layout of an envelope, and the permitted messages.",
    discussion: """
      EXAMPLE
        widgetlab protocol > Documentation/protocol.md
      """)

  func run() { Output.printText(String(ProtocolPage.text.dropLast())) }
}
