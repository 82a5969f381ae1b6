// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import MessageBus
import Messages

/// `widgetlab sessions`.
struct SessionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "Shows every background session and its tasks: their progress, and what they wait for.",
    discussion: """
      The first line is about the device: its network, its clock, and until when the resume rate limiter holds tasks \
      that a process creates in the background. All times are the device's. Of a session with more than \
      \(SessionsReport.limit) tasks only the first are listed, active ones before waiting ones, and the others are \
      counted.

      EXAMPLES
        widgetlab sessions
        widgetlab sessions com.example.Widget.figures --all
        widgetlab sessions --follow            again at every change
        widgetlab sessions --json              network, clock, sessions, all tasks
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "Show only the session with this identifier.")
  var session: String?

  @Flag(help: "List every task.")
  var all = false

  @Flag(name: [.short, .long], help: "Print again at every change, until Ctrl-C.")
  var follow = false

  @Flag(help: "Print one JSON object on one line; times are seconds since 1970.")
  var json = false

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options, reading: true) { operation in
        var last: [String] = []
        repeat {
          let report = try await SessionsReport(operation, session)
          if let session, report.sessions.isEmpty {
            throw CommandError(
              Exit.no, "the device has no background session '\(session)'", at: operation.folder,
              advice: "`widgetlab sessions` lists its sessions")
          }
          let lines = json ? [try report.json] : report.lines(all: all)
          if lines != last { show(lines, again: !last.isEmpty) }
          last = lines
          if follow { try await Task.sleep(for: .seconds(1)) }
        } while follow
      }
    }
  }

  /// Replaces the former output, on a terminal.
  private func show(_ lines: [String], again: Bool) {
    if !json, follow, Output.isColored { Output.clearTerminal() } else if !json, again { Output.print("") }
    for line in lines { Output.print(line) }
  }
}

extension SessionsReport {
  /// Requests all pages from the host.
  init(_ operation: OperatorSession, _ session: String?) async throws {
    var sessions: [SessionReport] = []
    var tasks: [TaskReport] = []
    while true {
      let question = ListSessions(session: session, offset: tasks.count, sessionOffset: sessions.count)
      let page = try await operation.ask(question)
      sessions += page.sessions
      tasks += page.tasks
      let isAll = sessions.count >= page.sessionCount && tasks.count >= page.taskCount
      guard isAll || page.sessions.isEmpty && page.tasks.isEmpty else { continue }
      self.init(network: page.network, clock: page.clock, sessions: sessions, tasks: tasks)
      return
    }
  }

  var json: String { get throws { String(decoding: try BodyCoding.data(self), as: UTF8.self) } }
}
