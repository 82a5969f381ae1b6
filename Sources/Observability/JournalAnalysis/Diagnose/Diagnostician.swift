// SPDX-License-Identifier: Apache-2.0

package import Messages

/// Detects authors' mistakes. The result depends only on the journal.
package struct Diagnostician: Sendable {
  /// Two occurrences with the same cause are one diagnosis.
  private struct Cause: Hashable {
    let code: String
    let owner: Address
    let subject: String
  }

  private var record = DeviceRecord()
  private var rules: [any DiagnosticRule]
  private var places: [Cause: Int] = [:]
  /// One diagnosis per cause, in the order of their first occurrences.
  package private(set) var diagnoses: [Diagnosis] = []
  /// The number of envelopes received.
  package private(set) var envelopes = 0

  /// Creates an instance that has received no envelope.
  ///
  /// - Parameter codes: the diagnoses to detect; all when `nil`.
  package init(_ thresholds: DiagnosticThresholds = DiagnosticThresholds(), codes: Set<String>? = nil) {
    rules = DiagnosticTable.rules(thresholds).filter { codes?.contains($0.description.code) ?? true }
  }

  /// Processes the next envelope of the journal.
  ///
  /// - Parameter counts: `false` for envelopes that only provide context: they update the state, but yield no
  ///   diagnoses.
  /// - Returns: the new diagnoses. A cause that has a diagnosis already yields no second one.
  package mutating func handle(_ envelope: Envelope, counts: Bool = true) -> [Diagnosis] {
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
    record.handle(envelope)
    return new
  }
}
