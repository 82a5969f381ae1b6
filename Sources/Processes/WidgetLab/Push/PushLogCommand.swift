import ArgumentParser
import Conversations
import Foundation
import MessageBus

/// `widgetlab push log`.
struct PushLogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Shows the delivery log: every station of a notification, and why one was refused.",
    discussion: """
      STATIONS
        accepted, refused                           what the provider was answered
        storedOffline, storedPower                  waits for the device
        superseded, collapsed, expired, notStored,
        tokenUnregistered                           never delivered, and why
        sent, delivered                             on its way; on the device's disk
        reloading, budget, reloaded, reloadFailed,
        noContentChanged, noWidget,
        supersededOnDevice                          a widget push, on the device
        handled, discarded                          a push to the app, on the device

      EXAMPLES
        widgetlab push log                     the last 20
        widgetlab push log --limit 100
        widgetlab push log 3f6a0c1e-…          one, by its apns-unique-id
        widgetlab push log --follow            each station as it comes, until Ctrl-C
        widgetlab push log --json              one object a line
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "An apns-unique-id: only that one.")
  var id: String?

  @Option(help: "How many, the newest.")
  var limit = 20

  @Flag(help: "Go on with each station as it comes.")
  var follow = false

  @Flag(help: "One JSON object a line: a request with its stations; with --follow one station with its request.")
  var json = false

  func validate() throws {
    guard (1...100_000).contains(limit) else { throw ValidationError("--limit is 1 to 100000") }
    guard id.map({ UUID(uuidString: $0) != nil }) ?? true else {
      throw ValidationError("'\(id ?? "")' is no apns-unique-id: it is a UUID")
    }
    guard id == nil || !follow else { throw ValidationError("--follow goes on with all of them") }
  }

  func run() async throws {
    try await reporting {
      try await OperatorSession.with(options) { session in
        let log = PushLog(session: session)
        if follow { return try await log.follow(limit, json: json) }
        let records = try await log.records(id.flatMap { UUID(uuidString: $0) }, limit)
        for record in records { try say(record) }
        guard id == nil || !records.isEmpty else {
          throw Complaint(
            Exit.no, "the delivery log has no notification \(id ?? "")", at: session.folder,
            advice: "it keeps 7 days; `widgetlab push log` shows the last ones")
        }
      }
    }
  }

  private func say(_ record: PushRecord) throws {
    if json { return Output.say(String(decoding: try BodyCoding.data(record), as: UTF8.self)) }
    Output.say(record.headline)
    for station in record.stations { Output.say("  \(Amount.text(station.at))  \(station.line)") }
  }
}

/// The delivery log as it is read.
struct PushLog {
  let session: OperatorSession
  private static let page = 50

  /// One, or the newest, the oldest first.
  func records(_ id: UUID?, _ limit: Int) async throws -> [PushRecord] {
    if let id { return try await session.askPushServer(ListPushes(uniqueID: id)).pushes }
    let last = try await session.askPushServer(ListPushes(limit: 1)).pushes.last?.number ?? 0
    let before = last - Int64(limit)
    // After 0 would be the newest of all.
    return try await records(after: before == 0 ? -1 : before, upTo: limit)
  }

  private func records(after number: Int64, upTo limit: Int) async throws -> [PushRecord] {
    var found: [PushRecord] = []
    while found.count < limit {
      let after = found.last?.number ?? number
      let wanted = min(Self.page, limit - found.count)
      let page = try await session.askPushServer(ListPushes(after: after, limit: wanted)).pushes
      found += page
      if page.count < wanted { break }
    }
    return found
  }

  /// A station with whose it is.
  private struct Line: Encodable {
    let number: Int64
    let uniqueID: UUID
    let subject: PushSubject?
    let type: String?
    let status: Int
    let reason: String?
    let station: PushStation
  }

  /// Says each station as it comes, of the last `limit` requests and of all that follow.
  func follow(_ limit: Int, json: Bool) async throws {
    var said: [Int64: Int] = [:]
    while true {
      // The device says later what became of a notification: the last ones are looked at again.
      let records = try await records(nil, max(limit, 100))
      let first = said.isEmpty ? records.suffix(limit) : records[...]
      for record in first {
        for station in record.stations.dropFirst(said[record.number] ?? 0) {
          try say(record, station, json)
        }
        said[record.number] = record.stations.count
      }
      for record in records where said[record.number] == nil { said[record.number] = record.stations.count }
      let oldest = records.first?.number ?? 0
      said = said.filter { $0.key >= oldest }
      try await Task.sleep(for: .milliseconds(250))
    }
  }

  private func say(_ record: PushRecord, _ station: PushStation, _ json: Bool) throws {
    guard json else {
      return Output.say("\(Amount.text(station.at))  \(record.name)  \(station.line)")
    }
    let line = Line(
      number: record.number, uniqueID: record.uniqueID, subject: record.subject, type: record.type,
      status: record.status, reason: record.reason, station: station)
    Output.say(String(decoding: try BodyCoding.data(line), as: UTF8.self))
  }
}

extension PushRecord {
  /// Who it is for, on a line of its own.
  var headline: String {
    let answer = [String(status), reason].compactMap(\.self).joined(separator: " ")
    return "\(uniqueID.uuidString.lowercased())  \(name)  \(answer)"
  }

  var name: String {
    let whose = subject.map { "\($0.bundle) (\($0.use.rawValue))" } ?? (token.isEmpty ? "no token" : token.tokenExcerpt)
    return "#\(number) \(type ?? "no type") for \(whose)"
  }
}

extension PushStation {
  var line: String { [name.rawValue, detail].compactMap(\.self).joined(separator: ": ") }
}
