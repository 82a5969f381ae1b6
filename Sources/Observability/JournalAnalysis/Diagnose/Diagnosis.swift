// SPDX-License-Identifier: Apache-2.0

package import Messages

/// The description of a kind of mistake.
package struct DiagnosisDescription: Sendable, Equatable {
  /// How severe a mistake is.
  package enum Severity: String, Sendable, CaseIterable, Comparable, Codable {
    /// For information.
    case note
    /// It costs budget, time or a reload.
    case warning
    /// Something that the author intended does not happen.
    case error

    /// Whether the first severity is the lower one.
    package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// Stable across versions: `completion-never-called`.
  package let code: String
  /// How severe it is.
  package let severity: Severity
  /// The mistake, in a few words.
  package let title: String
  /// The rule, and the consequence of the mistake.
  package let rule: String
  /// The source of the rule: documented, observed or ours, and where.
  package let source: String
  /// What to do.
  package let advice: String
}

/// An envelope that shows a mistake.
package struct Evidence: Sendable, Equatable, Codable {
  /// Its sequence number.
  package let sequence: UInt64
  /// The sender, the message type and the note.
  package let text: String

  /// Creates evidence from its parts.
  init(sequence: UInt64, text: String) {
    self.sequence = sequence
    self.text = text
  }

  /// Creates the evidence of an envelope.
  init(_ envelope: Envelope) {
    let header = envelope.header
    sequence = header.sequence
    text = "\(header.source.tailName) \(header.kind.name) \(EnvelopeNote(envelope).text)".trimmingTrailingSpaces
  }
}

/// One occurrence of a mistake.
package struct Sighting: Sendable, Equatable {
  /// The process whose code made the mistake.
  package let owner: Address
  /// The author's type, the kind of widget or the session.
  package let subject: String
  /// What happened.
  package let what: String
  /// The envelopes that show it.
  package let evidence: [Evidence]
}

/// A mistake in an author's code, with all its occurrences.
package struct Diagnosis: Sendable, Equatable {
  /// The kind of mistake.
  package let description: DiagnosisDescription
  /// The first occurrence.
  package let sighting: Sighting
  /// The number of occurrences.
  package var times = 1

  /// The process without its device: `extension/com.example.Widget`.
  package var place: String { sighting.owner.short }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    var text = self
    while text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
