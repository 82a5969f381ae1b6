// SPDX-License-Identifier: Apache-2.0

import Messages

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

/// The description of a diagnosis, as `diagnose --list --json` prints it.
package struct DescriptionReport: Encodable {
  let code: String
  let severity: DiagnosisDescription.Severity
  let title: String
  let rule: String
  let source: String
  let advice: String

  /// Creates the report of a description.
  package init(_ description: DiagnosisDescription) {
    code = description.code
    severity = description.severity
    title = description.title
    rule = description.rule
    source = description.source
    advice = description.advice
  }
}
