import Conversations
package import Foundation

/// What became of a widget push at one placement, kept with the placement: a push that was taken once is never taken again,
/// whoever dies meanwhile.
package struct PushedReload: Codable, Sendable, Equatable {
  package enum State: Codable, Sendable, Equatable {
    /// Paid, or being decided: the extension is to be asked.
    case owed
    /// The budget lets it wait.
    case delayed(rule: String, until: Date?)
    /// It will not come.
    case refused(rule: String)
    /// A timeline that was asked for after the push is on disk.
    case stored
    /// The reload came to nothing, and is tried again.
    case failed(String)
    /// The reload came to nothing, and is not tried again.
    case gaveUp(String)
    /// A newer push stands for it.
    case superseded
  }

  /// `apns-unique-id`.
  package let push: UUID
  /// The reload that stands for it, in the ledger.
  package internal(set) var reload: Int
  package internal(set) var state: State

  /// Whether something still is to come of it.
  var isOpen: Bool {
    switch state {
    case .owed, .delayed, .failed: true
    case .refused, .stored, .gaveUp, .superseded: false
    }
  }
}

extension Placed {
  /// So many are remembered: of older ones Pushes knows by then.
  private static let remembered = 8

  func knows(push: UUID?) -> Bool { push != nil && pushes?.contains { $0.push == push } ?? false }

  /// A reload stands from now on for one that was owed before; it may be a push's own.
  mutating func owes(_ reload: Int, insteadOf former: Int?, push: UUID?) {
    if let former { replace(former, by: reload, isPush: push != nil) }
    guard let push else { return }
    pushes = Array(
      ((pushes ?? []) + [PushedReload(push: push, reload: reload, state: .owed)]).suffix(Placed.remembered))
  }

  mutating func noted(_ reload: Int, _ state: PushedReload.State) {
    pushes = pushes?.map { pushed in
      guard pushed.reload == reload, pushed.isOpen else { return pushed }
      var changed = pushed
      changed.state = state
      return changed
    }
  }

  /// The reload came to nothing. `later`: the one that is owed meanwhile.
  mutating func failed(_ reload: Int, _ reason: String, later: Owed?) {
    if let later, later.reload != reload {
      replace(reload, by: later.reload, isPush: later.because == .push)
    } else {
      noted(reload, later == nil ? .gaveUp(reason) : .failed(reason))
    }
  }

  private mutating func replace(_ former: Int, by reload: Int, isPush: Bool) {
    pushes = pushes?.map { pushed in
      guard pushed.reload == former, pushed.isOpen else { return pushed }
      var changed = pushed
      if isPush { changed.state = .superseded } else { changed.reload = reload }
      return changed
    }
  }
}

extension TimelineDecision {
  /// All pushes that are remembered, by placement.
  package var pushes: [Int: [PushedReload]] { placements.compactMapValues(\.pushes) }

  /// What changed of pushes since then.
  func pushAnswers(since before: [Int: Placed]) -> [Answer] {
    placements.keys.sorted().flatMap { id -> [Answer] in
      guard let now = placements[id]?.pushes, now != before[id]?.pushes else { return [] }
      let former = before[id]?.pushes ?? []
      return now.filter { pushed in !former.contains { $0.push == pushed.push && $0.state == pushed.state } }
        .map { .intent(.pushed(placement: id, $0)) }
    }
  }
}
