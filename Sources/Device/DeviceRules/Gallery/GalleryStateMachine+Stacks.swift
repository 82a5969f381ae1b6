// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import Messages

// Stacks and Smart Rotate. Source: Human Interface Guidelines, "Widgets": up to ten widgets of one size, of which the
// system shows the most relevant. Entries state their relevance (`TimelineEntryRelevance`).

extension GalleryStateMachine {
  /// Widgets of one family at one location, of which one is visible.
  package struct Stack: Codable, Sendable, Hashable {
    /// At least two, in the order in which the user turns them.
    package internal(set) var members: [Int]
    package internal(set) var top: Int
    /// When another widget last came to the top.
    package internal(set) var turned: Date

    /// The hidden widgets, in the order in which they come to the top when the stack is turned.
    package var covered: [Int] {
      guard let index = members.firstIndex(of: top) else { return members }
      return Array(members[(index + 1)...] + members[..<index])
    }
  }

  /// The relevance of a widget.
  package struct Relevance: Sendable, Hashable {
    package let score: Double
    /// When the relevance ends; `nil`: no end.
    package let until: Date?
    package init(score: Double, until: Date? = nil) {
      self.score = score
      self.until = until
    }

    func score(at now: Date) -> Double { until.map { now < $0 } ?? true ? score : 0 }
  }

  /// Source: Human Interface Guidelines.
  static let stackLimit = 10

  package func stack(of number: Int) -> Stack? { state.stacks.first { $0.members.contains(number) } }

  /// Whether a widget is in no stack, or on top of its stack.
  package func isOnTop(_ number: Int) -> Bool { stack(of: number).map { $0.top == number } ?? true }

  /// The widgets that are hidden in the stack of a widget.
  package func covered(by number: Int) -> [ShowScreen.Covered] {
    (stack(of: number)?.covered ?? []).compactMap { other in
      state.placements.first { $0.id == other }.map { ShowScreen.Covered(placement: other, widgetKind: $0.kind) }
    }
  }

  /// Checks that a widget is visible, for example before a tap.
  ///
  /// - Throws: `not-now`, definite; the message states what to do first.
  package func requireOnTop(_ number: Int) throws(BusError) {
    guard let stack = stack(of: number), stack.top != number else { return }
    throw BusError(.notNow, "\(number) is under \(stack.top) in its stack: run `widgetlab turn \(number)` first")
  }

  // MARK: User actions

  /// Completes a request to put a widget on another widget, or on the stack of that widget.
  ///
  /// - Throws: `no-such-placement`, `not-placeable`, definite.
  func stacking(_ request: AddPlacement) throws(BusError) -> AddPlacement {
    guard let number = request.stack else { return request }
    let base = try placement(number)
    if base.location == .lockScreen { throw notStackable(request, "a Lock Screen has no stacks") }
    if let family = request.family, family != base.family {
      throw notStackable(request, "all widgets of a stack have the same size, here \(base.family.rawValue)")
    }
    guard stack(of: number)?.members.count ?? 1 < Self.stackLimit else {
      throw notStackable(request, "a stack has at most \(Self.stackLimit) widgets")
    }
    return AddPlacement(
      bundle: request.bundle, widgetKind: request.widgetKind, family: base.family, location: base.location,
      configuration: request.configuration, stack: number)
  }

  private func notStackable(_ request: AddPlacement, _ reason: String) -> BusError {
    BusError(.notPlaceable, "\(request.widgetKind) cannot be put on \(request.stack ?? 0): \(reason)")
  }

  /// The added widget is on top.
  mutating func put(_ number: Int, on base: Int, now: Date) {
    if let index = state.stacks.firstIndex(where: { $0.members.contains(base) }) {
      state.stacks[index].members.append(number)
      state.stacks[index].top = number
      state.stacks[index].turned = now
    } else {
      state.stacks.append(Stack(members: [base, number], top: number, turned: now))
    }
  }

  /// Removes a widget from its stack. If it was on top, the next one replaces it. A single widget is not a stack.
  mutating func takeOffStack(_ number: Int, now: Date) {
    guard let index = state.stacks.firstIndex(where: { $0.members.contains(number) }) else { return }
    var stack = state.stacks[index]
    if stack.top == number, let next = stack.covered.first {
      stack.top = next
      stack.turned = now
    }
    stack.members.removeAll { $0 == number }
    if stack.members.count > 1 { state.stacks[index] = stack } else { state.stacks.remove(at: index) }
  }

  /// Brings a widget to the top of its stack, as the user does.
  ///
  /// - Throws: `no-such-placement`; `not-now` for a widget that is in no stack. Both are definite.
  package mutating func turn(to number: Int, now: Date) throws(BusError) -> TurnStack.Reply {
    _ = try placement(number)
    guard let index = state.stacks.firstIndex(where: { $0.members.contains(number) }) else {
      throw BusError(.notNow, "\(number) is in no stack: `widgetlab add KIND --stack \(number)` adds a widget to it")
    }
    if state.stacks[index].top != number {
      state.stacks[index].top = number
      state.stacks[index].turned = now
    }
    return TurnStack.Reply(members: state.stacks[index].members)
  }

  /// The stacks whose top widget has changed.
  package static func turned(
    from before: State, to now: State, because cause: StackTurned.Cause
  ) -> [StackTurned] {
    let tops = Set(before.stacks.map(\.top))
    return now.stacks.filter { !tops.contains($0.top) }
      .map { StackTurned(members: $0.members, top: $0.top, because: cause, date: $0.turned) }
  }

  // MARK: Smart Rotate

  /// Turns each stack to its most relevant widget, at most once per `smartRotatePause`. If several are equally
  /// relevant, the top one stays; otherwise the first in the stack's order is selected.
  ///
  /// - Parameters:
  ///   - relevance: by number; a widget that is missing is not relevant.
  ///   - mayTurn: `false` right after the user turned a stack, which is not undone before something else happens.
  /// - Returns: what turned, and when to check again.
  package mutating func smartRotate(
    _ relevance: [Int: Relevance], mayTurn: Bool = true, now: Date
  ) -> (turned: [StackTurned], next: Date?) {
    var turned: [StackTurned] = []
    var next: Date?
    func lookAgain(at instant: Date) { next = min(next ?? instant, instant) }
    for index in state.stacks.indices {
      let stack = state.stacks[index]
      for number in stack.members {
        if let end = relevance[number]?.until, end > now { lookAgain(at: end) }
      }
      let scores = stack.members.map { (number: $0, score: relevance[$0]?.score(at: now) ?? 0) }
      let former = scores.first { $0.number == stack.top }?.score ?? 0
      guard let best = scores.map(\.score).max(), best > former,
        let found = scores.first(where: { $0.score == best })
      else { continue }
      let earliest = stack.turned.addingTimeInterval(device.options.smartRotatePause)
      if earliest > now { lookAgain(at: earliest) }
      guard mayTurn, earliest <= now else { continue }
      state.stacks[index].top = found.number
      state.stacks[index].turned = now
      turned.append(
        StackTurned(
          members: stack.members, top: found.number, because: .relevance, date: now, score: best, formerScore: former))
    }
    return (turned, next)
  }
}
