// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import JournalAnalysis
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

/// The output of `sessions`.
struct SessionsReport: Encodable, Sendable {
  let network: NetworkState
  let clock: ClockState
  let sessions: [SessionReport]
  let tasks: [TaskReport]

  /// The maximum number of listed tasks of a session, unless all are requested.
  static let limit = 20

  /// The text for a terminal.
  func lines(all: Bool) -> [String] {
    let blocks = sessions.map { session in
      let own = tasks.filter { $0.owner == session.owner && $0.session == session.session }
      return [""]
        + block(
          session, tasks: own.sorted { ($0.rank, $0.task.taskIdentifier) < ($1.rank, $1.task.taskIdentifier) }, all: all
        )
    }
    return [head] + (blocks.isEmpty ? ["", "no background session"] : blocks.flatMap(\.self))
  }

  private var head: String {
    var limited: [String] = []
    for session in sessions {
      guard let until = session.limitedUntil, until > clock.now else { continue }
      let text = "\(session.owner.tailName) \(left(until))"
      if !limited.contains(text) { limited.append(text) }
    }
    return
      (["network: \(network.text)", "clock: \(clock.text)"]
      + (limited.isEmpty ? [] : ["limiter: \(limited.joined(separator: ", "))"])).joined(separator: "   ")
  }

  private func block(_ session: SessionReport, tasks: [TaskReport], all: Bool) -> [String] {
    let facts = [
      session.openIn.map { "open in generation \($0)" } ?? "open in no process", "\(session.running) running",
      "\(session.undelivered) undelivered",
    ]
    var title = "\(session.session) of \(session.owner.tailName): \(facts.joined(separator: ", "))"
    if let waitsFor = session.waitsFor { title += "; delivery waits for \(waitsFor)" }
    guard !tasks.isEmpty else { return [title] }
    let listed = all || tasks.count <= Self.limit ? tasks : Array(tasks.prefix(Self.limit))
    var table = TextTable(headings: ["  TASK", "STATE", "PROGRESS", "BYTES", "TRIES", "NEXT", "WHY", "REQUEST"])
    table.rows = listed.map(row)
    return [title] + table.lines + rest(Array(tasks.dropFirst(listed.count)))
  }

  private func row(_ report: TaskReport) -> [String] {
    let progress = report.progress
    let bar = progress.share.map { share in
      let full = Int(saturating: (min(max(share, 0), 1) * 12).rounded(.down))
      return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: 12 - full) + "] "
        + "\(Int(saturating: share * 100))%".aligned(4)
    }
    return [
      "  " + "\(report.task.taskIdentifier)".aligned(4), report.state.rawValue, bar ?? "-",
      Amount.text(bytes: progress.bytes) + (progress.whole.map { " of \(Amount.text(bytes: $0))" } ?? ""),
      "\(report.attempts)", report.nextTry.map(left) ?? "-", report.why,
      (report.task.type == .upload ? "upload " : "") + report.task.request.url,
    ]
  }

  /// Counts the tasks that are not listed, by state.
  private func rest(_ tasks: [TaskReport]) -> [String] {
    guard !tasks.isEmpty else { return [] }
    var order: [String] = []
    var counts: [String: Int] = [:]
    for report in tasks {
      let text = report.state.rawValue + (report.why == "-" ? "" : " (\(report.why))")
      if counts[text] == nil { order.append(text) }
      counts[text, default: 0] += 1
    }
    let parts = order.map { "\(counts[$0] ?? 0) \($0)" }
    return ["  and \(tasks.count) more (--all lists them): \(parts.joined(separator: ", "))"]
  }

  /// The time from now, by the device's clock.
  private func left(_ instant: Date) -> String {
    let seconds = instant.timeIntervalSince(clock.now)
    return seconds > 0 ? "in \(Amount.text(seconds: seconds))" : "now"
  }
}

extension TaskReport {
  /// The sort order: active tasks first.
  var rank: Int {
    switch state {
    case .loading: 0
    case .waiting: 1
    case .suspended: 2
    case .ended: 3
    }
  }

  /// The reason for its state: what it waits for, or how it ended.
  var why: String {
    if let failure { return "\(failure.code) \(failure.message)" }
    if state == .ended { return response.map { "HTTP \($0.status)" } ?? "-" }
    return waitsFor ?? "-"
  }

  /// Transferred bytes, the total, and the share. For an upload, the bytes sent.
  var progress: (bytes: Int64, whole: Int64?, share: Double?) {
    let isUpload = task.type == .upload
    let bytes = isUpload ? task.bytesSent : task.bytesReceived
    let expected = isUpload ? task.bytesExpectedToSend : task.bytesExpected
    guard expected > 0 else { return (bytes, nil, state == .ended && failure == nil ? 1 : nil) }
    return (bytes, expected, min(1, Double(bytes) / Double(expected)))
  }
}
