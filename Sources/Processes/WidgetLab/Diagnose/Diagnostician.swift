import Conversations

/// Names what authors get wrong, from the journal and nothing else: the same journal gives the same diagnoses.
struct Diagnostician: Sendable {
  /// By what two sightings are the same mistake.
  private struct Cause: Hashable {
    let code: String
    let owner: Address
    let subject: String
  }

  private var record = DeviceRecord()
  private var rules: [any DiagnosticRule]
  private var places: [Cause: Int] = [:]
  /// One for each cause, in the order in which they became true.
  private(set) var diagnoses: [Diagnosis] = []
  /// How many envelopes it was shown.
  private(set) var envelopes = 0

  /// - Parameter codes: the only ones that are looked for; all when `nil`.
  init(_ thresholds: DiagnosticThresholds = DiagnosticThresholds(), codes: Set<String>? = nil) {
    rules = DiagnosticTable.rules(thresholds).filter { codes?.contains($0.description.code) ?? true }
  }

  /// Takes the next envelope of the journal.
  ///
  /// - Parameter counts: `false` for what is read for its consequences alone: what it shows is remembered, and no diagnosis.
  /// - Returns: the diagnoses that became true by it; of a cause that has one already, none.
  mutating func take(_ envelope: Envelope, counts: Bool = true) -> [Diagnosis] {
    envelopes += 1
    var new: [Diagnosis] = []
    for index in rules.indices {
      let sightings = rules[index].see(envelope, record)
      guard counts else { continue }
      for sighting in sightings {
        let description = rules[index].description
        let cause = Cause(code: description.code, owner: sighting.owner, subject: sighting.subject)
        if let place = places[cause] {
          diagnoses[place].times += 1
        } else {
          places[cause] = diagnoses.count
          diagnoses.append(Diagnosis(description: description, sighting: sighting))
          new.append(Diagnosis(description: description, sighting: sighting))
        }
      }
    }
    record.take(envelope)
    return new
  }
}
