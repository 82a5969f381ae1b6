import Foundation
import Messages

/// The subject of a trace: one session, or the envelopes that are related to one envelope.
struct TraceSubject: Equatable, Sendable {
  var correlation: UUID?
  var session: String?
  /// The process that opened the session.
  var owner: Address?
  /// The given envelope, when it has no correlation id.
  var envelope: UUID?

  /// Finds a subject by the identifier of a session or a unique part of it, or by the first digits of a correlation id
  /// or of an envelope's id.
  ///
  /// - Throws: a command error that lists the possible subjects.
  init(_ text: String, in envelopes: [Envelope]) throws {
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
    guard digits.count >= 3, digits.allSatisfy(\.isHexDigit) else { throw Self.unknown(text, sessions) }
    let correlations = Set(envelopes.compactMap(\.header.correlation)).filter { $0.digits.hasPrefix(digits) }
    if !correlations.isEmpty {
      self = try Self.only(
        correlations.map { id in sessions.first { $0.correlation == id } ?? TraceSubject(correlation: id) }, text)
      return
    }
    let ids = Dictionary(envelopes.map { ($0.header.id, $0.header.correlation) }) { first, _ in first }
      .filter { $0.key.digits.hasPrefix(digits) }
    guard !ids.isEmpty else { throw Self.unknown(text, sessions) }
    self = try Self.only(
      ids.map { id, correlation in
        guard let correlation else { return TraceSubject(envelope: id) }
        return sessions.first { $0.correlation == correlation } ?? TraceSubject(correlation: correlation)
      }, text)
  }

  private init(correlation: UUID? = nil, session: String? = nil, owner: Address? = nil, envelope: UUID? = nil) {
    self.correlation = correlation
    self.session = session
    self.owner = owner
    self.envelope = envelope
  }

  /// Every background session in the journal, in order.
  static func sessions(in envelopes: [Envelope]) -> [TraceSubject] {
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

  private static func only(_ found: [TraceSubject], _ text: String) throws -> TraceSubject {
    guard let first = found.first, found.count == 1 else {
      throw CommandError(
        Exit.usage, "'\(text)' matches \(found.count) sessions", advice: "use the first digits of one:\n\(list(found))")
    }
    return first
  }

  private static func unknown(_ text: String, _ sessions: [TraceSubject]) -> CommandError {
    let advice =
      sessions.isEmpty
      ? "the journal contains no session; start one with `widgetlab reload --all`"
      : "use a session or the first digits of its correlation id:\n\(list(sessions))"
    return CommandError(Exit.no, "the journal has no session, correlation or envelope '\(text)'", advice: advice)
  }

  private static func list(_ subjects: [TraceSubject]) -> String {
    subjects.prefix(20).map { "         \($0)" }.sorted().joined(separator: "\n")
  }
}

extension TraceSubject: CustomStringConvertible {
  var description: String {
    let digits = (correlation ?? envelope).map { String($0.digits.prefix(8)) } ?? ""
    guard let session, let owner else { return digits }
    return "\(digits)  \(session) of \(owner.tailName)"
  }
}
