import Conversations

/// A diagnosis as JSON. Its shape is told in the command's help; fields may be added, and none goes.
struct DiagnosisReport: Encodable {
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

  init(_ diagnosis: Diagnosis) {
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

/// What is known of a mistake, as `diagnose --list --json` prints it.
struct DescriptionReport: Encodable {
  let code: String
  let severity: DiagnosisDescription.Severity
  let title: String
  let rule: String
  let source: String
  let advice: String

  init(_ description: DiagnosisDescription) {
    code = description.code
    severity = description.severity
    title = description.title
    rule = description.rule
    source = description.source
    advice = description.advice
  }
}
