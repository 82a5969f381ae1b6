import Conversations

/// What is known of one mistake before anybody has made it: its name, and what is said of it.
struct DiagnosisDescription: Sendable, Equatable {
  enum Severity: String, Sendable, CaseIterable, Comparable, Codable {
    /// Worth knowing.
    case note
    /// It costs budget, time or a reload.
    case warning
    /// Something does not happen that the author meant to happen.
    case error

    static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// Stays the same in every version: `completion-never-called`.
  let code: String
  let severity: Severity
  /// The mistake, in a few words.
  let title: String
  /// What holds, and what follows from the mistake.
  let rule: String
  /// By whose word: documented, observed or ours, and where.
  let source: String
  let advice: String
}

/// An envelope that shows a mistake.
struct Evidence: Sendable, Equatable, Codable {
  let sequence: UInt64
  let text: String

  init(_ envelope: Envelope) {
    let header = envelope.header
    sequence = header.sequence
    text = "\(header.source.tailName) \(header.kind.name) \(EnvelopeNote(envelope).text)".trimmingTrailingSpaces
  }
}

/// A mistake as a rule sees it once.
struct Sighting: Sendable, Equatable {
  /// Whose code it is.
  let owner: Address
  /// The author's type, the kind of widget or the session.
  let subject: String
  let what: String
  let evidence: [Evidence]
}

/// A mistake that an author's code has made, however often.
struct Diagnosis: Sendable, Equatable {
  let description: DiagnosisDescription
  /// As it was seen first.
  let sighting: Sighting
  var times = 1

  /// The process without its device: `extension/com.example.Widget`.
  var place: String { sighting.owner.short }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    var text = self
    while text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
