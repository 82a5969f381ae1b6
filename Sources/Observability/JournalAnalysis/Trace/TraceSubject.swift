// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The subject of a trace: one session, or the envelopes that are related to one envelope.
package struct TraceSubject: Equatable, Sendable {
  /// The correlation id that the envelopes share.
  package var correlation: UUID?
  /// The identifier of the session.
  package var session: String?
  /// The process that opened the session.
  package var owner: Address?
  /// The given envelope, when it has no correlation id.
  package var envelope: UUID?

  /// Finds a subject by the identifier of a session or a unique part of it, or by the first digits of a correlation id
  /// or of an envelope's id.
  ///
  /// - Throws: an error with the possible subjects.
  package init(_ text: String, in envelopes: [Envelope]) throws(TraceSubjectError) {
    let sessions = Self.sessions(in: envelopes)
    let named = sessions.filter { $0.session == text }
    if !named.isEmpty {
      self = try Self.only(named, text)
      return
    }
    if text.count > 3, sessions.contains(where: { $0.session?.contains(text) == true }), !text.allSatisfy(\.isHexDigit)
    {
      self = try Self.only(sessions.filter { $0.session?.contains(text) == true }, text)
      return
    }
    let digits = text.lowercased().filter { $0 != "-" }
    guard digits.count >= 3, digits.allSatisfy(\.isHexDigit) else {
      throw TraceSubjectError(.unknown, text: text, candidates: sessions)
    }
    let correlations = Set(envelopes.compactMap(\.header.correlation)).filter { $0.digits.hasPrefix(digits) }
    if !correlations.isEmpty {
      self = try Self.only(
        correlations.map { id in sessions.first { $0.correlation == id } ?? TraceSubject(correlation: id) }, text)
      return
    }
    let ids = Dictionary(envelopes.map { ($0.header.id, $0.header.correlation) }) { first, _ in first }
      .filter { $0.key.digits.hasPrefix(digits) }
    guard !ids.isEmpty else { throw TraceSubjectError(.unknown, text: text, candidates: sessions) }
    self = try Self.only(
      ids.map { id, correlation in
        guard let correlation else { return TraceSubject(envelope: id) }
        return sessions.first { $0.correlation == correlation } ?? TraceSubject(correlation: correlation)
      }, text)
  }

  /// The operation with a correlation id.
  package init(correlation: UUID? = nil, session: String? = nil, owner: Address? = nil, envelope: UUID? = nil) {
    self.correlation = correlation
    self.session = session
    self.owner = owner
    self.envelope = envelope
  }

  /// Every background session in the journal, in order.
  package static func sessions(in envelopes: [Envelope]) -> [TraceSubject] {
    var seen: Set<UUID> = []
    return envelopes.compactMap { envelope in
      let owner: Address
      let name: String
      if let open = envelope.reading(OpenSession.self) {
        (owner, name) = (envelope.header.source, open.identifier)
      } else if let events = envelope.reading(SessionEvents.self) {
        (owner, name) = (envelope.header.destination, events.session)
      } else if let progress = envelope.reading(TransferProgress.self) {
        (owner, name) = (progress.owner, progress.session)
      } else if let acknowledged = envelope.reading(SessionAcknowledged.self) {
        (owner, name) = (acknowledged.owner, acknowledged.session)
      } else {
        return nil
      }
      let correlation = MessageContext.correlation(ofSession: name, of: owner)
      guard seen.insert(correlation).inserted else { return nil }
      return TraceSubject(correlation: correlation, session: name, owner: owner)
    }
  }

  private static func only(_ subjects: [TraceSubject], _ text: String) throws(TraceSubjectError) -> TraceSubject {
    guard let first = subjects.first, subjects.count == 1 else {
      throw TraceSubjectError(.ambiguous, text: text, candidates: subjects)
    }
    return first
  }
}

extension TraceSubject: CustomStringConvertible {
  /// The first digits of its id; of a session also the identifier and the owner.
  package var description: String {
    let digits = (correlation ?? envelope).map { String($0.digits.prefix(8)) } ?? ""
    guard let session, let owner else { return digits }
    return "\(digits)  \(session) of \(owner.tailName)"
  }
}

/// A text that selects no subject, or several.
package struct TraceSubjectError: Error, Equatable, Sendable {
  /// Why there is no subject.
  package enum Code: Equatable, Sendable {
    /// The journal has no such subject.
    case unknown
    /// Several subjects match.
    case ambiguous
  }

  /// Why there is no subject.
  package let code: Code
  /// The text.
  package let text: String
  /// The subjects that match; for `unknown` all sessions of the journal.
  package let candidates: [TraceSubject]

  init(_ code: Code, text: String, candidates: [TraceSubject]) {
    self.code = code
    self.text = text
    self.candidates = candidates
  }
}
