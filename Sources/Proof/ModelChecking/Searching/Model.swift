// SPDX-License-Identifier: Apache-2.0

/// What a search visits: states, and the actions that lead from one to the next. The vocabulary is that of stateright
/// and TLC: `init_states`, of which each model has one, `actions`, `next_state`, `properties`, `representative`.
package protocol Model: Sendable {
  associatedtype State: Hashable & Sendable
  associatedtype Action: Hashable & Sendable & CustomStringConvertible

  /// The name for `scripts/prove`.
  var name: String { get }
  /// What is searched, in one sentence, with its bounds.
  var about: String { get }
  var initialState: State { get }
  var properties: [Property<State>] { get }

  /// What may happen in a state, in a fixed order.
  func actions(in state: State) -> [Action]

  /// Whether the action happens by itself, sooner or later: a message arrives, a timer fires. The others are faults,
  /// and wishes of a user, of which a search has a bounded number. *Eventually* uses only the former.
  func isProgress(_ action: Action) -> Bool

  /// The state after an action.
  ///
  /// - Parameter log: what was decided, a line each, for a counterexample; empty in a search.
  func next(_ state: State, _ action: Action, _ log: inout Log) -> State

  /// One of the states that differ only by symmetry: equal for all of them. What no decision depends on, such as texts,
  /// is left out.
  func representative(of state: State) -> State

  /// Whether the states after this one are visited. What is beyond is assumed to be right.
  func isWithinBoundary(_ state: State) -> Bool
}

extension Model {
  package func representative(of state: State) -> State { state }

  package func isWithinBoundary(_ state: State) -> Bool { true }
}

/// The lines that explain one action of a counterexample.
package struct Log: Sendable {
  package private(set) var lines: [String] = []
  package let isKept: Bool

  package init(isKept: Bool = false) { self.isKept = isKept }

  package mutating func add(_ line: @autoclosure () -> String) {
    if isKept { lines.append(line()) }
  }
}

/// What must hold of the states.
package struct Property<State: Sendable>: Sendable {
  package enum Kind: String, Sendable {
    /// In every state.
    case always
    /// From every state, actions that happen by themselves lead to a state in which it holds.
    case eventually
    /// In at least one state. Otherwise the search has not met what it is for, and its result is *unknown*.
    case sometimes
  }

  package let kind: Kind
  package let name: String
  let holds: @Sendable (State) -> Bool

  package static func always(_ name: String, _ holds: @escaping @Sendable (State) -> Bool) -> Property {
    Property(kind: .always, name: name, holds: holds)
  }

  package static func eventually(_ name: String, _ holds: @escaping @Sendable (State) -> Bool) -> Property {
    Property(kind: .eventually, name: name, holds: holds)
  }

  package static func sometimes(_ name: String, _ holds: @escaping @Sendable (State) -> Bool) -> Property {
    Property(kind: .sometimes, name: name, holds: holds)
  }
}

/// The limits of a search.
package struct Bounds: Sendable {
  package var states: Int
  package var depth: Int

  package init(states: Int = 4_000_000, depth: Int = 10_000) {
    self.states = states
    self.depth = depth
  }
}

/// The result for one property.
package enum Verdict: Sendable, Equatable {
  /// It holds, and no state within the model is left.
  case holds
  /// It holds of all states that were visited; there are more.
  case bounded
  /// `sometimes` is satisfied by a state at this depth.
  case reached(depth: Int)
  case violated(Counterexample)
  /// The state that it asks for was not met.
  case unknown
}

/// The shortest sequence of actions that violates a property.
package struct Counterexample: Sendable, Equatable {
  package struct Step: Sendable, Equatable {
    package let action: String
    package let lines: [String]
  }

  package let property: String
  package let steps: [Step]
}
