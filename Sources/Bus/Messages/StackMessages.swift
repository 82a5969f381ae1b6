// SPDX-License-Identifier: Apache-2.0

package import Foundation

// Stacks: widgets of one size at one location, of which one is on top.

/// The user rotates a stack until one of its widgets is on top. The reply is sent when the change is on disk.
package struct TurnStack: Request {
  package static let kind: Kind = "stack.turn"
  package let placement: Int
  package init(placement: Int) { self.placement = placement }

  package struct Reply: Codable, Hashable, Sendable {
    /// The stack's widgets, in rotation order.
    package let members: [Int]
    package init(members: [Int]) { self.members = members }
  }
}

/// Journal: another widget of a stack is on top.
package struct StackTurned: Notice, Hashable {
  package static let kind: Kind = "stack.turned"
  package enum Cause: String, Codable, Hashable, Sendable {
    case person
    /// A widget was added to the stack.
    case added
    /// The top widget was removed.
    case removed
    /// Smart Rotate: the widget is now the most relevant one.
    case relevance
  }
  package let members: [Int]
  package let top: Int
  package let because: Cause
  /// By the device's clock.
  package let date: Date
  /// The relevance score of the new top and of the previous one; for `relevance`.
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
  /// A widget of a stack that is not on top.
  package struct Covered: Codable, Hashable, Sendable {
    package let placement: Int
    package let widgetKind: String
    package init(placement: Int, widgetKind: String) {
      self.placement = placement
      self.widgetKind = widgetKind
    }
  }
}
