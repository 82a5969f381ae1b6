// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab push log`.
struct PushLogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Shows the delivery log: every step of a notification, and why one was refused.",
    discussion: """
      STEPS
        accepted, refused                           the response to the provider
        storedOffline, storedPower                  waiting for the device
        superseded, collapsed, expired, notStored,
        tokenUnregistered                           never delivered, and why
        sent, delivered                             in flight; persisted on the device
        reloading, budget, reloaded, reloadFailed,
        noContentChanged, noWidget,
        supersededOnDevice                          a push to widgets or a control, on the device
        handled, discarded                          a push to the app, on the device

      EXAMPLES
        widgetlab push log                     the last 20
        widgetlab push log --limit 100
        widgetlab push log 3f6a0c1e-…          one, by its apns-unique-id
        widgetlab push log --follow            live, until Ctrl-C
        widgetlab push log --json              one object per line
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "Show only the notification with this apns-unique-id.")
  var id: String?

  @Option(help: "The number of newest notifications to print.")
  var limit = 20

  @Flag(help: "Print each new step, until Ctrl-C.")
  var follow = false

  @Flag(help: "One JSON object per line: a request with its steps; with --follow one step with its request.")
  var json = false

  func validate() throws {
    guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be 1 to 100000") }
    guard id.map({ UUID(uuidString: $0) != nil }) ?? true else {
      throw ValidationError("'\(id ?? "")' is not an apns-unique-id, which is a UUID")
    }
    guard id == nil || !follow else { throw ValidationError("--follow cannot be combined with an apns-unique-id") }
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options, reading: true) { session in
        let log = PushLog(session: session)
        if follow { return try await log.follow(limit, json: json) }
        let records = try await log.records(id.flatMap { UUID(uuidString: $0) }, limit)
        for record in records { try printRecord(record) }
        guard id == nil || !records.isEmpty else {
          throw CommandError(
            Exit.no, "the delivery log does not contain the notification \(id ?? "")", at: session.folder,
            advice: "it is kept for 7 days; `widgetlab push log` shows recent notifications")
        }
      }
    }
  }

  private func printRecord(_ record: PushRecord) throws {
    if json { return Output.json(data: try BodyCoding.data(record)) }
    Output.print(record.headline)
    for (index, step) in record.steps.enumerated() {
      if index == 1, let omitted = record.omittedSteps { Output.print("  … \(omitted) steps are left out") }
      Output.print("  \(Amount.text(step.at))  \(step.line)")
    }
  }
}

/// Reads the delivery log.
struct PushLog {
  let session: OperatorSession
  private static let page = 50

  /// Returns one notification, or the newest ones, oldest first.
  func records(_ id: UUID?, _ limit: Int) async throws -> [PushRecord] {
    if let id { return try await session.askPushServer(ListPushes(uniqueID: id)).pushes }
    let last = try await session.askPushServer(ListPushes(limit: 1)).pushes.last?.number ?? 0
    // Replicas leave gaps between the numbers, so the range with enough of them is found by its count.
    var span = Int64(limit)
    while true {
      // "After 0" would return the newest ones.
      let before = last <= span ? -1 : last - span
      let count = try await session.askPushServer(ListPushes(after: before, limit: 1)).count
      if count >= limit || before == -1 { return try await records(after: before, upTo: count).suffix(limit) }
      span *= 2
    }
  }

  private func records(after number: Int64, upTo limit: Int) async throws -> [PushRecord] {
    var foundRecords: [PushRecord] = []
    while foundRecords.count < limit {
      let after = foundRecords.last?.number ?? number
      let wanted = min(Self.page, limit - foundRecords.count)
      let page = try await session.askPushServer(ListPushes(after: after, limit: wanted))
      foundRecords += page.pushes
      if page.pushes.isEmpty || page.pushes.count >= page.count { break }
    }
    return foundRecords
  }

  /// A step with its notification.
  private struct Line: Encodable {
    let number: Int64
    let uniqueID: UUID
    let subject: PushSubject?
    let type: String?
    let status: Int
    let reason: String?
    let step: PushStep
  }

  /// Prints each step of the last `limit` requests and of all later ones.
  func follow(_ limit: Int, json: Bool) async throws {
    var output: [Int64: Int] = [:]
    while true {
      // The device reports its steps later, so the last requests are read again.
      let records = try await records(nil, max(limit, 100))
      let first = output.isEmpty ? records.suffix(limit) : records[...]
      for record in first {
        for step in record.steps.suffix(max(0, record.stepCount - (output[record.number] ?? 0))) {
          try printRecord(record, step: step, json: json)
        }
        output[record.number] = record.stepCount
      }
      for record in records where output[record.number] == nil { output[record.number] = record.stepCount }
      let oldest = records.first?.number ?? 0
      output = output.filter { $0.key >= oldest }
      try await Task.sleep(for: .milliseconds(250))
    }
  }

  private func printRecord(_ record: PushRecord, step: PushStep, json: Bool) throws {
    guard json else {
      return Output.print("\(Amount.text(step.at))  \(record.name)  \(step.line)")
    }
    let line = Line(
      number: record.number, uniqueID: record.uniqueID, subject: record.subject, type: record.type,
      status: record.status, reason: record.reason, step: step)
    Output.json(data: try BodyCoding.data(line))
  }
}

extension PushRecord {
  /// A headline with the recipient.
  var headline: String {
    let answer = [String(status), reason].compactMap(\.self).joined(separator: " ")
    return "\(uniqueID.text)  \(name)  \(answer)"
  }

  /// The number of its steps, with those that are left out.
  var stepCount: Int { steps.count + (omittedSteps ?? 0) }

  var name: String {
    let whose = subject.map { "\($0.bundle) (\($0.use.rawValue))" } ?? (token.isEmpty ? "no token" : token.tokenExcerpt)
    return "#\(number) \(type ?? "no type") for \(whose)"
  }
}

extension PushStep {
  var line: String { [name.rawValue, detail].compactMap(\.self).joined(separator: ": ") }
}
