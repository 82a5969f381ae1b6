// SPDX-License-Identifier: Apache-2.0

package import Messages

/// The description of a kind of mistake, which `diagnose --list --json` prints.
package struct DiagnosisDescription: Sendable, Equatable, Encodable {
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

/// A diagnosis as JSON. The command's help documents its shape. Fields may be added, but are never removed.
package struct DiagnosisReport: Encodable {
  let code: String
  let severity: DiagnosisDescription.Severity
  let title: String
  let process: String
  let bundle: String?
  let device: String?
  let subject: String
  let what: String
  let evidence: [Evidence]
  let rule: String
  let source: String
  let advice: String
  let times: Int

  /// Creates the report of a diagnosis.
  package init(_ diagnosis: Diagnosis) {
    let (description, sighting) = (diagnosis.description, diagnosis.sighting)
    code = description.code
    severity = description.severity
    title = description.title
    process = diagnosis.place
    bundle = sighting.owner.bundleIdentifier
    device = sighting.owner.device
    subject = sighting.subject
    what = sighting.what
    evidence = sighting.evidence
    rule = description.rule
    source = description.source
    advice = description.advice
    times = diagnosis.times
  }
}

/// Formats diagnoses for the terminal.
package enum DiagnosisText {
  /// All diagnoses of a journal, with a summary.
  package static func lines(of diagnosed: Diagnostician, isColored: Bool) -> [String] {
    let blocks = diagnosed.diagnoses.sorted { $0.description.severity > $1.description.severity }
      .flatMap { lines($0, isColored: isColored) + [""] }
    return blocks + [sum(diagnosed)]
  }

  /// One diagnosis.
  package static func lines(_ diagnosis: Diagnosis, isColored: Bool) -> [String] {
    let (description, sighting) = (diagnosis.description, diagnosis.sighting)
    let times = diagnosis.times > 1 ? "  (\(diagnosis.times) times; first occurrence:)" : ""
    let head = heading(description, isColored: isColored) + ": \(description.title)"
    let rows =
      [("where", "\(diagnosis.place), \(sighting.subject)\(times)"), ("what", sighting.what)]
      + sighting.evidence.map { ("#\($0.sequence)", $0.text) }
      + [("rule", description.rule), ("source", description.source), ("do", description.advice)]
    return [head] + rows.map { "  \($0.0.padded(8)) \($0.1)" }
  }

  /// The description of a diagnosis.
  package static func lines(_ description: DiagnosisDescription, isColored: Bool) -> [String] {
    let rows = [("rule", description.rule), ("source", description.source), ("do", description.advice)]
    return ["\(heading(description, isColored: isColored)): \(description.title)"]
      + rows.map { "  \($0.0.padded(8)) \($0.1)" }
  }

  /// One line, for `tail`.
  package static func line(_ diagnosis: Diagnosis, isColored: Bool) -> String {
    let numbers = diagnosis.sighting.evidence.map { "#\($0.sequence)" }.joined(separator: " ")
    let text =
      "          ? \(diagnosis.description.severity.rawValue) \(diagnosis.description.code): \(diagnosis.place), "
      + "\(diagnosis.sighting.subject): \(diagnosis.sighting.what) (\(numbers); see `widgetlab diagnose`)"
    return color(diagnosis.description.severity)(text, if: isColored)
  }

  private static func heading(_ description: DiagnosisDescription, isColored: Bool) -> String {
    color(description.severity)("\(description.severity.rawValue) \(description.code)", if: isColored)
  }

  private static func color(_ severity: DiagnosisDescription.Severity) -> TerminalColor {
    switch severity {
    case .error: .red
    case .warning: .yellow
    case .note: .cyan
    }
  }

  private static func sum(_ diagnosed: Diagnostician) -> String {
    let severities = diagnosed.diagnoses.map(\.description.severity)
    guard !severities.isEmpty else { return "no mistakes found in \(diagnosed.envelopes) envelopes" }
    let counts = DiagnosisDescription.Severity.allCases.reversed().compactMap { severity -> String? in
      let count = severities.count { $0 == severity }
      return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
    }
    return "\(counts.joined(separator: ", ")) in \(diagnosed.envelopes) envelopes; "
      + "`widgetlab tail --around N` shows the context of #N"
  }
}
