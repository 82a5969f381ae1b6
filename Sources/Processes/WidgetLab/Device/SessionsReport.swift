// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import JournalAnalysis
import Messages

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
        + block(session, own.sorted { ($0.rank, $0.task.taskIdentifier) < ($1.rank, $1.task.taskIdentifier) }, all)
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

  private func block(_ session: SessionReport, _ tasks: [TaskReport], _ all: Bool) -> [String] {
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
