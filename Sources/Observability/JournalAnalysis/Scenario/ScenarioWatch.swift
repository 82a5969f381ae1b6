// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// A step that must be seen in the journal.
package struct ScenarioStep: Sendable {
  /// The name that other steps refer to.
  package let name: String
  /// The text that is printed when the step was seen, and when it is missing.
  let title: String
  /// Steps that must have been seen earlier.
  let after: [String]
  /// Returns the text to print after the title when an envelope is this step, or `nil`.
  let matches: @Sendable (Envelope, ScenarioFacts) -> String?

  /// Creates a step.
  init(
    _ name: String, _ title: String, after: [String] = [],
    matches: @escaping @Sendable (Envelope, ScenarioFacts) -> String?
  ) {
    self.name = name
    self.title = title
    self.after = after
    self.matches = matches
  }
}

/// Something that must never occur.
package struct ForbiddenSight: Sendable {
  /// The violation, in a few words.
  let title: String
  /// Describes the violation in an envelope, or returns `nil`.
  let matches: @Sendable (Envelope, ScenarioFacts, Set<UUID>) -> String?
}

/// Checks the journal against the table of one victim. A value, so that it can be tested with a recorded journal.
package struct ScenarioWatch: Sendable {
  /// The result of one envelope.
  package struct Sight: Sendable {
    /// The steps that it completes.
    package var steps: [(title: String, note: String)] = []
    /// The violations, as text.
    package var forbidden: [String] = []
  }

  /// The expected steps.
  package let steps: [ScenarioStep]
  /// The violations to detect.
  package let forbidden: [ForbiddenSight]
  /// What the journal states about the participants.
  package private(set) var facts: ScenarioFacts
  /// The names of the steps that were seen.
  package private(set) var seen: Set<String> = []
  /// The violations that were seen, as text.
  package private(set) var violations: [String] = []
  /// Envelopes to or from the app since the demo began.
  package private(set) var envelopesOfApp = 0
  /// Deliveries that the host has deleted.
  private var forgotten: Set<UUID> = []
  private var contradictionsReported = 0

  /// Creates a watch for one victim.
  package init(cast: Cast, steps: [ScenarioStep], forbidden: [ForbiddenSight]) {
    self.facts = ScenarioFacts(cast: cast)
    self.steps = steps
    self.forbidden = forbidden
  }

  /// Titles of the steps that were not seen, in table order.
  package var missing: [String] { steps.filter { !seen.contains($0.name) }.map(\.title) }
  /// Whether every step was seen.
  package var isComplete: Bool { seen.count == steps.count }
  /// Whether a step was seen.
  package func hasSeen(_ name: String) -> Bool { seen.contains(name) }

  /// Records the instance that is about to be killed.
  package mutating func willKill(_ instance: ObservedInstance) { facts.willKill(instance) }

  /// Processes the next envelope.
  ///
  /// - Parameter isScenario: `false` for envelopes before the demo began: facts are recorded, steps and violations are
  ///   not.
  package mutating func see(_ envelope: Envelope, isScenario: Bool) -> Sight {
    facts.learn(envelope, isScenario: isScenario)
    guard isScenario else {
      contradictionsReported = facts.contradictions.count
      return Sight()
    }
    var sight = Sight()
    let header = envelope.header
    if header.source == facts.cast.app || header.destination == facts.cast.app { envelopesOfApp += 1 }
    sight.forbidden = forbidden.compactMap { rule in
      rule.matches(envelope, facts, forgotten).map { "\(rule.title): \($0) (sequence \(header.sequence))" }
    }
    sight.forbidden += facts.contradictions.dropFirst(contradictionsReported)
    contradictionsReported = facts.contradictions.count
    violations += sight.forbidden
    if let acknowledged = envelope.reading(SessionAcknowledged.self) { forgotten.insert(acknowledged.delivery) }
    // A step and its successor may be the same envelope: check in table order, each step once.
    for step in steps where !seen.contains(step.name) && seen.isSuperset(of: step.after) {
      guard let note = step.matches(envelope, facts) else { continue }
      seen.insert(step.name)
      sight.steps.append((step.title, note))
    }
    return sight
  }

  /// Records a contradiction outside the journal, such as a pid of another process.
  package mutating func contradict(_ what: String) { violations.append(what) }
}
