// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Journal
package import Messages

/// One envelope in the journal of a test's cluster.
public struct LabEnvelope: Sendable, CustomStringConvertible {
  /// The whole envelope, for tests of this package.
  package let envelope: Envelope

  /// The broker's sequence number: 1, 2, 3 … without a gap.
  public var sequence: UInt64 { envelope.header.sequence }
  /// The message type, such as `session.events`, or `session.events/ack` for a reply.
  public var kind: String { envelope.header.kind.name }
  /// The sender's address.
  public var source: String { envelope.header.source.text }
  /// The receiver's address.
  public var destination: String { envelope.header.destination.text }
  /// The generation of the source that sent it.
  public var sourceGeneration: UInt32 { envelope.header.sourceGeneration }
  /// The generation of the destination it was forwarded to.
  public var destinationGeneration: UInt32 { envelope.header.destinationGeneration }
  /// The message id, the same in every redelivery.
  public var id: UUID { envelope.header.id }
  /// The causation id: the envelope that this one replies to or follows from.
  public var cause: UUID? { envelope.header.cause }
  /// The correlation id: every envelope of one background session has the same.
  public var correlation: UUID? { envelope.header.correlation }
  /// The JSON of the body.
  public var body: Data { Data(envelope.body) }

  /// One line with the beginning of the body.
  public var description: String {
    "#\(sequence) \(source)(\(sourceGeneration)) > \(destination) \(kind) \(String(decoding: envelope.body.prefix(300), as: UTF8.self))"
  }

  /// The decoded body; `nil` for another message type or an undecodable body.
  package func reading<C: Message>(_ type: C.Type) -> C? {
    envelope.header.kind == C.kind ? try? BodyCoding.decode(C.self, from: envelope.body) : nil
  }
}

/// Follows the journal of a test's cluster.
public actor LabJournal {
  private var cursor: JournalCursor
  private var entries: [LabEnvelope] = []

  init(folder: String) { cursor = JournalReader(folder: URL(fileURLWithPath: folder)).cursor() }

  /// All envelopes in the journal, in order.
  ///
  /// - Throws: when the journal has a gap or is damaged.
  public func all() throws -> [LabEnvelope] {
    while let envelope = try cursor.next() { entries.append(LabEnvelope(envelope: envelope)) }
    return entries
  }

  /// Waits for the first envelope for which `matches` is true.
  ///
  /// - Parameters:
  ///   - what: a description of the envelope, for the error.
  ///   - sequence: only envelopes with a greater number count.
  ///   - limit: the time limit.
  /// - Throws: `LabError` with that description and the last lines of the journal.
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
