// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TimelineSamples.widget
private let origin = TimelineSamples.origin

@Suite struct `Table of placements` {
  private static let bundle = widget.bundleIdentifier ?? ""

  private static func state(
    _ id: Int, _ kind: String = "Coffee", bundle: String = bundle, isPending: Bool = false, isDue: Bool = false
  ) -> PlacementState {
    let placement = Placement(id: id, bundle: bundle, kind: kind, family: .systemSmall, location: .homeScreen)
    var state = PlacementState(placement: placement, account: BudgetAccount(BudgetPolicy(), now: origin))
    guard isPending || isDue else { return state }
    state.pendingReload = PendingReload(
      reload: id, reloadCause: .operator, causationID: nil, correlation: nil, isInside: false, isPaid: isDue)
    return state
  }

  /// A table with the given placements, of which none counts as changed.
  private static func table(_ states: PlacementState...) -> PlacementTable {
    var table = PlacementTable()
    for state in states { table[state.placement.id] = state }
    _ = table.takeFormer()
    return table
  }

  @Test func `the placements of an extension are found by number, and those that are due`() {
    var table = Self.table(
      Self.state(3, isDue: true), Self.state(2, isPending: true), Self.state(10, isDue: true), Self.state(1),
      Self.state(4, bundle: "org.other.Widget", isDue: true))
    #expect(table.ids(of: Self.bundle) == [1, 2, 3, 10] && table.due(of: Self.bundle) == [3, 10])
    table[3]?.pendingReload?.notBefore = origin
    table[2]?.pendingReload?.isPaid = true
    table[10] = nil
    #expect(table.ids(of: Self.bundle) == [1, 2, 3] && table.due(of: Self.bundle) == [2])
    #expect(table.due(of: "org.other.Widget") == [4] && table.due(of: "org.none").isEmpty)
  }

  @Test func `pending reloads are found whose kind is missing`() {
    var table = Self.table(
      Self.state(1, "Coffee", isPending: true), Self.state(2, "Tea"), Self.state(3, "Tea", isPending: true),
      Self.state(4, "Milk", isDue: true))
    #expect(table.pending(of: Self.bundle, notOf: ["Coffee": 1]) == [3, 4])
    table[3]?.pendingReload = nil
    table[4] = Self.state(4, "Coffee", isDue: true)
    #expect(table.pending(of: Self.bundle, notOf: ["Coffee": 1]).isEmpty)
    #expect(table.pending(of: Self.bundle, notOf: [String: Int]()) == [1, 4])
  }

  @Test func `a placement that moves to another extension is found there`() {
    var table = Self.table(Self.state(1, isDue: true))
    table[1] = Self.state(1, bundle: "org.other.Widget", isDue: true)
    #expect(table.ids(of: Self.bundle).isEmpty && table.due(of: Self.bundle).isEmpty)
    #expect(table.ids(of: "org.other.Widget") == [1] && table.due(of: "org.other.Widget") == [1])
  }

  @Test func `the visible placements are known`() {
    var table = Self.table(Self.state(1), Self.state(2))
    let policy = BudgetPolicy()
    table[1]?.account.see(isSeen: true, policy: policy, now: origin)
    table[2]?.account.see(isSeen: false, policy: policy, now: origin)
    #expect(table.seen == [1])
    table[1] = nil
    #expect(table.seen.isEmpty)
  }

  @Test func `the former value of each placement that was set is returned once`() {
    var table = Self.table(Self.state(1), Self.state(2))
    table[1]?.failures = 1
    table[1]?.failures = 2
    table[2] = nil
    table[3] = Self.state(3)
    let former = table.takeFormer()
    #expect(former.keys.sorted() == [1, 2, 3])
    #expect(former[1] == .some(Self.state(1)) && former[2] == .some(Self.state(2)))
    #expect(former[3].map { $0 == nil } == true)
    #expect(table.takeFormer().isEmpty)
  }

  @Test func `dates are kept in order and replaced`() {
    var dates = DueDates()
    for (id, seconds) in [(1, 30.0), (2, 10), (3, 20), (4, 10)] { dates[id] = origin + seconds }
    #expect(dates.first == origin + 10)
    #expect(dates.ids(at: origin + 20).sorted() == [2, 3, 4])
    dates[2] = nil
    dates[4] = origin + 40
    #expect(dates.first == origin + 20 && dates.ids(at: origin + 30).sorted() == [1, 3])
    #expect(dates.ids(at: origin + 19).isEmpty)
  }

  @Test func `a sorted set has each element once`() {
    var set = SortedSet<Int>()
    for element in [5, 1, 3, 1, 5, 2] { set.insert(element) }
    for element in [3, 4] { set.remove(element) }
    #expect(set.elements == [1, 2, 5])
  }
}
