// SPDX-License-Identifier: Apache-2.0

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
    let head = heading(description, isColored) + ": \(description.title)"
    let rows =
      [("where", "\(diagnosis.place), \(sighting.subject)\(times)"), ("what", sighting.what)]
      + sighting.evidence.map { ("#\($0.sequence)", $0.text) }
      + [("rule", description.rule), ("source", description.source), ("do", description.advice)]
    return [head] + rows.map { "  \($0.0.padded(8)) \($0.1)" }
  }

  /// The description of a diagnosis.
  package static func lines(_ description: DiagnosisDescription, isColored: Bool) -> [String] {
    let rows = [("rule", description.rule), ("source", description.source), ("do", description.advice)]
    return ["\(heading(description, isColored)): \(description.title)"] + rows.map { "  \($0.0.padded(8)) \($0.1)" }
  }

  /// One line, for `tail`.
  package static func line(_ diagnosis: Diagnosis, isColored: Bool) -> String {
    let numbers = diagnosis.sighting.evidence.map { "#\($0.sequence)" }.joined(separator: " ")
    let text =
      "          ? \(diagnosis.description.severity.rawValue) \(diagnosis.description.code): \(diagnosis.place), "
      + "\(diagnosis.sighting.subject): \(diagnosis.sighting.what) (\(numbers); see `widgetlab diagnose`)"
    return color(diagnosis.description.severity)(text, isColored)
  }

  private static func heading(_ description: DiagnosisDescription, _ isColored: Bool) -> String {
    color(description.severity)("\(description.severity.rawValue) \(description.code)", isColored)
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
