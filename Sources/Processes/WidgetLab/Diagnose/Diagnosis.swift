import Messages

/// The description of a kind of mistake.
struct DiagnosisDescription: Sendable, Equatable {
  enum Severity: String, Sendable, CaseIterable, Comparable, Codable {
    /// For information.
    case note
    /// It costs budget, time or a reload.
    case warning
    /// Something that the author intended does not happen.
    case error

    static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// Stable across versions: `completion-never-called`.
  let code: String
  let severity: Severity
  /// The mistake, in a few words.
  let title: String
  /// The rule, and the consequence of the mistake.
  let rule: String
  /// The source of the rule: documented, observed or ours, and where.
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

/// One occurrence of a mistake.
struct Sighting: Sendable, Equatable {
  /// The process whose code made the mistake.
  let owner: Address
  /// The author's type, the kind of widget or the session.
  let subject: String
  let what: String
  let evidence: [Evidence]
}

/// A mistake in an author's code, with all its occurrences.
struct Diagnosis: Sendable, Equatable {
  let description: DiagnosisDescription
  /// The first occurrence.
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
