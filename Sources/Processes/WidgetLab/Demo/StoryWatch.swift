import Conversations
import Foundation

/// One thing that must be seen in the journal.
struct StoryStep: Sendable {
  /// The name that other steps refer to.
  let name: String
  /// What a person reads when it was seen, and when it is missing.
  let title: String
  /// Steps that must have been seen before.
  let after: [String]
  /// Whether an envelope is it: what to print beside the title, or `nil`.
  let matches: @Sendable (Envelope, StoryFacts) -> String?

  init(
    _ name: String, _ title: String, after: [String] = [],
    matches: @escaping @Sendable (Envelope, StoryFacts) -> String?
  ) {
    self.name = name
    self.title = title
    self.after = after
    self.matches = matches
  }
}

/// Something that must never be seen.
struct ForbiddenSight: Sendable {
  let title: String
  /// What was wrong with an envelope, or `nil`.
  let matches: @Sendable (Envelope, StoryFacts, Set<UUID>) -> String?
}

/// Holds the journal against the table of one victim: a value, so that a recorded journal tests it.
struct StoryWatch: Sendable {
  /// What one envelope brought.
  struct Sight: Sendable {
    var steps: [(title: String, note: String)] = []
    var forbidden: [String] = []
  }

  let steps: [StoryStep]
  let forbidden: [ForbiddenSight]
  private(set) var facts: StoryFacts
  private(set) var seen: Set<String> = []
  private(set) var violations: [String] = []
  /// Envelopes to or from the app since the story began.
  private(set) var envelopesOfApp = 0
  /// Deliveries that the host said it has forgotten.
  private var forgotten: Set<UUID> = []
  private var contradictionsTold = 0

  init(cast: Cast, steps: [StoryStep], forbidden: [ForbiddenSight]) {
    self.facts = StoryFacts(cast: cast)
    self.steps = steps
    self.forbidden = forbidden
  }

  /// Titles of the steps that were not seen, in the table's order.
  var missing: [String] { steps.filter { !seen.contains($0.name) }.map(\.title) }
  var isComplete: Bool { seen.count == steps.count }
  func hasSeen(_ name: String) -> Bool { seen.contains(name) }

  /// Says which life is about to be killed.
  mutating func willKill(_ life: Life) { facts.willKill(life) }

  /// Takes in the next envelope.
  ///
  /// - Parameter isStory: `false` for what was in the journal before the demo began: facts are learned, nothing is judged.
  mutating func see(_ envelope: Envelope, isStory: Bool) -> Sight {
    facts.learn(envelope, isStory: isStory)
    guard isStory else {
      contradictionsTold = facts.contradictions.count
      return Sight()
    }
    var sight = Sight()
    let header = envelope.header
    if header.source == facts.cast.app || header.destination == facts.cast.app { envelopesOfApp += 1 }
    sight.forbidden = forbidden.compactMap { rule in
      rule.matches(envelope, facts, forgotten).map { "\(rule.title): \($0) (sequence \(header.sequence))" }
    }
    sight.forbidden += facts.contradictions.dropFirst(contradictionsTold)
    contradictionsTold = facts.contradictions.count
    violations += sight.forbidden
    if let acknowledged = envelope.reading(SessionAcknowledged.self) { forgotten.insert(acknowledged.delivery) }
    // A step that becomes possible by the one before it may be the same envelope: in the table's order, once each.
    for step in steps where !seen.contains(step.name) && seen.isSuperset(of: step.after) {
      guard let note = step.matches(envelope, facts) else { continue }
      seen.insert(step.name)
      sight.steps.append((step.title, note))
    }
    return sight
  }

  /// Something seen elsewhere than in the journal that contradicts it: a pid that is no such process.
  mutating func contradict(_ what: String) { violations.append(what) }
}
