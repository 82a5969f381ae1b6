package import Conversations
public import Foundation
import Journal

/// One envelope as it stands in the journal of a test's cluster.
public struct LabEnvelope: Sendable, CustomStringConvertible {
  /// All of it, for tests of this package.
  package let envelope: Envelope

  /// The broker's number: 1, 2, 3 … without a gap.
  public var sequence: UInt64 { envelope.header.sequence }
  /// Such as `session.events`, or `session.events/ack` for an answer.
  public var kind: String { envelope.header.kind.name }
  /// The sender's address.
  public var source: String { envelope.header.source.text }
  /// The receiver's address.
  public var destination: String { envelope.header.destination.text }
  /// Which life of the source sent it.
  public var sourceGeneration: UInt32 { envelope.header.sourceGeneration }
  /// Which life of the destination it was forwarded to.
  public var destinationGeneration: UInt32 { envelope.header.destinationGeneration }
  /// The same in every redelivery.
  public var id: UUID { envelope.header.id }
  /// The envelope that this one answers or follows from.
  public var cause: UUID? { envelope.header.cause }
  /// The story that it belongs to; every envelope of one background session has the same.
  public var correlation: UUID? { envelope.header.correlation }
  /// The JSON of the body.
  public var body: Data { Data(envelope.body) }

  /// One line with the beginning of the body.
  public var description: String {
    "#\(sequence) \(source)(\(sourceGeneration)) > \(destination) \(kind) \(String(decoding: envelope.body.prefix(300), as: UTF8.self))"
  }

  /// The body, when the envelope is of this kind and can be read.
  package func reading<C: Conversation>(_ type: C.Type) -> C? {
    envelope.header.kind == C.kind ? try? BodyCoding.decode(C.self, from: envelope.body) : nil
  }
}

/// Follows the journal of a test's cluster.
public actor LabJournal {
  private var cursor: JournalCursor
  private var entries: [LabEnvelope] = []

  init(folder: String) { cursor = JournalReader(folder: URL(fileURLWithPath: folder)).cursor() }

  /// All that is in the journal now, in order.
  ///
  /// - Throws: when the journal has a gap or is damaged.
  public func all() throws -> [LabEnvelope] {
    while let envelope = try cursor.next() { entries.append(LabEnvelope(envelope: envelope)) }
    return entries
  }

  /// Waits for the first envelope for which `matches` is true.
  ///
  /// - Parameters:
  ///   - what: what is waited for, in words: they stand in the error.
  ///   - sequence: only envelopes with a greater number count.
  ///   - limit: how long it is waited for.
  /// - Throws: `LabError` that names what was missing, with the last lines of the journal.
  @discardableResult
  public func waitFor(
    _ what: String, after sequence: UInt64 = 0, within limit: Duration = LabTimeout.usual,
    where matches: @Sendable (LabEnvelope) -> Bool
  ) async throws -> LabEnvelope {
    let deadline = ContinuousClock.now + limit
    var looked = entries.firstIndex { $0.sequence > sequence } ?? entries.count
    while true {
      _ = try all()
      while looked < entries.count {
        defer { looked += 1 }
        if entries[looked].sequence > sequence, matches(entries[looked]) { return entries[looked] }
      }
      guard ContinuousClock.now < deadline else {
        let last = entries.suffix(25).map { "    \($0)" }.joined(separator: "\n")
        throw LabError("not seen within \(limit): \(what). The journal's last lines:\n\(last)")
      }
      try await Task.sleep(for: LabTimeout.pollInterval)
    }
  }
}
