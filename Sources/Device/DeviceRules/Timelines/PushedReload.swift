// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
import Messages

/// The state of a widget push at one placement, stored with the placement: a push that was taken once is never taken
/// again, whichever process exits.
package struct PushedReload: Codable, Sendable, Equatable {
  /// `apns-unique-id`.
  package let push: UUID
  /// The number in the ledger of the reload that serves it.
  package internal(set) var reload: Int
  package internal(set) var state: ReloadOutcome

  /// The report that Pushes receives about the push.
  func report(at placement: Int) -> PlacementReloadReport {
    PlacementReloadReport(push: push, placement: placement, outcome: state)
  }

  /// Whether a result is still pending.
  var isOpen: Bool {
    switch state {
    case .pending, .delayed, .failed: true
    case .refused, .stored, .gaveUp, .superseded: false
    }
  }
}

extension PlacementState {
  /// How many pushes are remembered; Pushes has the results of older ones.
  private static let remembered = 8

  func knows(push: UUID?) -> Bool { push != nil && pushes.contains { $0.push == push } }

  /// A new reload replaces a pending one; it may belong to a push.
  mutating func assign(_ reload: Int, insteadOf former: Int?, push: UUID?) {
    if let former { replace(former, by: reload, isPush: push != nil) }
    guard let push else { return }
    pushes.append(PushedReload(push: push, reload: reload, state: .pending))
    pushes = pushes.suffix(PlacementState.remembered)
  }

  mutating func noted(_ reload: Int, _ state: ReloadOutcome) {
    pushes = pushes.map { pushed in
      guard pushed.reload == reload, pushed.isOpen else { return pushed }
      var changed = pushed
      changed.state = state
      return changed
    }
  }

  /// The reload failed. `later`: the reload that is pending now.
  mutating func failed(_ reload: Int, _ reason: String, later: PendingReload?) {
    if let later, later.reload != reload {
      replace(reload, by: later.reload, isPush: later.reloadCause == .push)
    } else {
      noted(reload, later == nil ? .gaveUp(reason) : .failed(reason))
    }
  }

  private mutating func replace(_ former: Int, by reload: Int, isPush: Bool) {
    pushes = pushes.map { pushed in
      guard pushed.reload == former, pushed.isOpen else { return pushed }
      var changed = pushed
      if isPush { changed.state = .superseded } else { changed.reload = reload }
      return changed
    }
  }
}

extension TimelineStateMachine {
  /// The results of all remembered pushes.
  package var reports: [PlacementReloadReport] {
    placements.all.sorted { $0.key < $1.key }.flatMap { id, placed in placed.pushes.map { $0.report(at: id) } }
  }

  /// The states of pushes that have changed.
  ///
  /// - Parameter former: the changed placements, as they were before.
  func pushActions(since former: [Int: PlacementState?]) -> [Action] {
    former.keys.sorted().flatMap { id -> [Action] in
      let (now, before) = (placements[id]?.pushes ?? [], former[id]??.pushes ?? [])
      guard now != before else { return [] }
      return now.filter { pushed in !before.contains { $0.push == pushed.push && $0.state == pushed.state } }
        .map { .report($0.report(at: id)) }
    }
  }
}
