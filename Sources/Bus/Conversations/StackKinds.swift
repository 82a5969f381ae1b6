package import Foundation

// Stacks: widgets of one size in one place, of which one is on top.

/// A person turns a stack until a widget of it is on top. Answered when that is on disk.
package struct TurnStack: Request {
  package static let kind: Kind = "stack.turn"
  package let placement: Int
  package init(placement: Int) { self.placement = placement }

  package struct Reply: Codable, Hashable, Sendable {
    /// The stack's widgets, in the order in which they are turned.
    package let members: [Int]
    package init(members: [Int]) { self.members = members }
  }
}

/// Journal: another widget of a stack is on top from now on.
package struct StackTurned: Notice, Hashable {
  package static let kind: Kind = "stack.turned"
  package enum Cause: String, Codable, Hashable, Sendable {
    case person
    /// A widget was put on it.
    case added
    /// The one on top was removed.
    case removed
    /// Smart Rotate: it is the most relevant now.
    case relevance
  }
  package let members: [Int]
  package let top: Int
  package let because: Cause
  /// By the device's clock.
  package let date: Date
  /// How relevant the top is, and the one before it; of `relevance`.
  package let score: Double?
  package let formerScore: Double?
  package init(
    members: [Int], top: Int, because: Cause, date: Date, score: Double? = nil, formerScore: Double? = nil
  ) {
    self.members = members
    self.top = top
    self.because = because
    self.date = date
    self.score = score
    self.formerScore = formerScore
  }
}

extension ShowScreen {
  /// A widget of a stack that is not on top of it.
  package struct Covered: Codable, Hashable, Sendable {
    package let placement: Int
    package let widgetKind: String
    package init(placement: Int, widgetKind: String) {
      self.placement = placement
      self.widgetKind = widgetKind
    }
  }
}
