// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The downloads, uploads and pushes of the journal. A session that is used again after its events were acknowledged
/// begins another entry.
package struct TraceList: Sendable {
  /// One download, upload or push.
  package struct Entry: Encodable, Sendable, Equatable {
    /// The correlation id's digits and the number of the first message.
    package let id: String
    /// `session` or `push`.
    package let type: String
    package let title: String
    package let owner: String
    package var state: String
    package let start: Double
    /// When it was acknowledged or reached its last step; nil while it is in progress.
    package var end: Double?
    /// The messages with its correlation id.
    package var steps = 0
    /// Of the owner.
    package var generations: [UInt32] = []
    /// Of the owner.
    package var exits = 0
    package let first: UInt64
    package var last: UInt64
    /// The number before which its causes are.
    package var correlation: UUID
    fileprivate var isAcknowledged = false
    /// The owner opened the session again after the acknowledgement.
    fileprivate var reopened: (sequence: UInt64, time: Double)?
    fileprivate let address: Address?

    private enum CodingKeys: String, CodingKey {
      case id, type, title, owner, state, start, end, steps, generations, exits, first, last
    }

    package static func == (left: Entry, right: Entry) -> Bool {
      left.id == right.id && left.state == right.state && left.last == right.last && left.steps == right.steps
    }
  }

  private static let limit = 2000

  private var entries: [String: Entry] = [:]
  /// The ids, oldest first.
  private var order: [String] = []
  /// The newest entry of each correlation id.
  private var current: [UUID: String] = [:]
  /// The unfinished entries of each owner.
  private var open: [Address: Set<String>] = [:]

  init() {}

  /// Newest first.
  package func newest(_ limit: Int) -> [Entry] { order.suffix(limit).reversed().compactMap { entries[$0] } }

  /// An entry by its id.
  package subscript(id: String) -> Entry? { entries[id] }

  /// The newest entry with a correlation id.
  package func entry(ofCorrelation correlation: UUID) -> Entry? { current[correlation].flatMap { entries[$0] } }

  /// The entry of a message.
  package func entry(of header: EnvelopeHeader) -> Entry? {
    guard let correlation = header.correlation, let newest = current[correlation].flatMap({ entries[$0] }) else {
      return nil
    }
    if header.sequence >= newest.first { return newest }
    let prefix = correlation.digits
    return order.last { $0.hasPrefix(prefix) && (entries[$0]?.first ?? .max) <= header.sequence }
      .flatMap { entries[$0] }
  }

  // MARK: Reading

  mutating func handle(_ envelope: Envelope) {
    if let exited = envelope.reading(ProcessExited.self) {
      for id in open[exited.address] ?? [] { entries[id]?.exits += 1 }
      return
    }
    let correlation =
      envelope.header.correlation
      ?? sessionOf(envelope).map {
        MessageContext.correlation(ofSession: $0.name, of: $0.owner)
      }
    guard let correlation else { return }
    if current[correlation] == nil { begin(correlation, envelope) }
    guard let id = current[correlation], entries[id] != nil else { return }
    if entries[id]?.isAcknowledged == true, envelope.header.kind == CreateTransfer.kind {
      begin(correlation, envelope)
    } else if entries[id]?.isAcknowledged == true, envelope.header.kind == OpenSession.kind {
      entries[id]?.reopened = (envelope.header.sequence, Self.time(envelope))
    }
    if let id = current[correlation] { count(id, envelope) }
  }

  private static func time(_ envelope: Envelope) -> Double { Double(envelope.header.sentAt.microseconds) / 1e6 }

  private func sessionOf(_ envelope: Envelope) -> (name: String, owner: Address)? {
    if let open = envelope.reading(OpenSession.self) { return (open.identifier, envelope.header.source) }
    if let created = envelope.reading(CreateTransfer.self) { return (created.session, envelope.header.source) }
    if let events = envelope.reading(SessionEvents.self) { return (events.session, envelope.header.destination) }
    if let progress = envelope.reading(TransferProgress.self) { return (progress.session, progress.owner) }
    if let acknowledged = envelope.reading(SessionAcknowledged.self) {
      return (acknowledged.session, acknowledged.owner)
    }
    return nil
  }

  private mutating func begin(_ correlation: UUID, _ envelope: Envelope) {
    let earlier = current[correlation].flatMap { entries[$0] }
    let begun = earlier?.reopened ?? (envelope.header.sequence, Self.time(envelope))
    let id = "\(correlation.digits)-\(begun.sequence)"
    let entry: Entry
    if let earlier, let owner = earlier.address {
      entry = Entry(
        id: id, type: earlier.type, title: earlier.title, owner: earlier.owner, state: "in progress", start: begun.time,
        first: begun.sequence, last: begun.sequence, correlation: correlation, address: owner)
    } else if let session = sessionOf(envelope) {
      entry = Entry(
        id: id, type: "session", title: session.name, owner: session.owner.short, state: "in progress",
        start: begun.time, first: begun.sequence, last: begun.sequence, correlation: correlation,
        address: session.owner)
    } else if let logged = envelope.reading(PushLogged.self) {
      let owner = logged.subject.map { "\($0.bundle) (\($0.use.rawValue))" } ?? "unknown"
      entry = Entry(
        id: id, type: "push", title: "\(logged.type ?? "no type") push", owner: owner, state: logged.step.name.rawValue,
        start: begun.time, first: begun.sequence, last: begun.sequence, correlation: correlation, address: nil)
    } else {
      return
    }
    add(entry)
  }

  private mutating func add(_ entry: Entry) {
    entries[entry.id] = entry
    order.append(entry.id)
    current[entry.correlation] = entry.id
    if let address = entry.address { open[address, default: []].insert(entry.id) }
    guard order.count > Self.limit else { return }
    let oldest = order.removeFirst()
    guard let removed = entries.removeValue(forKey: oldest) else { return }
    if current[removed.correlation] == oldest { current[removed.correlation] = nil }
    if let address = removed.address { open[address]?.remove(oldest) }
  }

  private mutating func count(_ id: String, _ envelope: Envelope) {
    guard var entry = entries[id] else { return }
    entry.steps += 1
    entry.last = envelope.header.sequence
    let generation = envelope.header.sourceGeneration
    if envelope.header.source == entry.address, generation > 0, !entry.generations.contains(generation) {
      entry.generations = (entry.generations + [generation]).suffix(100)
    }
    if let logged = envelope.reading(PushLogged.self) {
      entry.state = logged.step.name.rawValue
      entry.end = logged.step.name.isLast ? Self.time(envelope) : nil
    } else if envelope.header.kind == SessionAcknowledged.kind {
      (entry.state, entry.end, entry.isAcknowledged) = ("acknowledged", Self.time(envelope), true)
      if let address = entry.address { open[address]?.remove(id) }
    }
    entries[id] = entry
  }
}

extension PushStep.Name {
  /// Whether nothing follows it.
  fileprivate var isLast: Bool {
    switch self {
    case .refused, .superseded, .collapsed, .expired, .notStored, .tokenUnregistered, .noContentChanged, .noWidget,
      .reloaded, .reloadFailed, .supersededOnDevice, .handled, .discarded:
      true
    case .accepted, .storedOffline, .storedPower, .sent, .delivered, .reloading, .budget: false
    }
  }
}
