// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// The placements by number. The table records what an event changes, and finds placements without reading all of them:
/// the work for an event depends on what it changes, and not on how much is placed.
package struct PlacementTable: Sendable {
  package private(set) var all: [Int: PlacementState] = [:]
  /// The placements that have been set since `takeFormer`, as they were before; `nil`: not placed.
  private var former: [Int: PlacementState?] = [:]
  /// By bundle identifier.
  private var extensions: [String: OfExtension] = [:]
  /// The placements that are visible.
  private(set) var seen: Set<Int> = []

  /// The numbers of the placements of one extension.
  private struct OfExtension: Sendable {
    var all = SortedSet<Int>()
    /// The extension is to be asked for them at once.
    var due = SortedSet<Int>()
    /// They have a pending reload. By kind.
    var pending: [String: Set<Int>] = [:]
  }

  /// What a placement is found by.
  private struct Facts: Equatable {
    let bundle: String
    let kind: String
    let isPending: Bool
    let isDue: Bool
    let isSeen: Bool

    init(_ placed: PlacementState) {
      bundle = placed.placement.bundle
      kind = placed.placement.kind
      isPending = placed.pendingReload != nil
      isDue = placed.pendingReload?.isDue == true
      isSeen = placed.account.isSeen
    }
  }

  package subscript(id: Int) -> PlacementState? {
    get { all[id] }
    _modify {
      let before = all[id]
      if !former.keys.contains(id) { former.updateValue(before, forKey: id) }
      defer { move(id, from: before.map { Facts($0) }, to: all[id].map { Facts($0) }) }
      yield &all[id]
    }
  }

  package var keys: Dictionary<Int, PlacementState>.Keys { all.keys }
  package var values: Dictionary<Int, PlacementState>.Values { all.values }
  package var isEmpty: Bool { all.isEmpty }

  /// The placements that have been set since the last call, as they were before; `nil`: not placed.
  mutating func takeFormer() -> [Int: PlacementState?] {
    defer { former = [:] }
    return former
  }

  // MARK: Placements of an extension, by number

  func ids(of bundle: String) -> [Int] { extensions[bundle]?.all.elements ?? [] }

  /// Those that the extension is to be asked for at once.
  func due(of bundle: String) -> [Int] { extensions[bundle]?.due.elements ?? [] }

  /// Those with a pending reload whose kind is not one of these.
  func pending<Value>(of bundle: String, notOf kinds: [String: Value]) -> [Int] {
    (extensions[bundle]?.pending ?? [:]).filter { kinds[$0.key] == nil }.flatMap(\.value).sorted()
  }

  private mutating func move(_ id: Int, from before: Facts?, to now: Facts?) {
    guard before != now else { return }
    if let before {
      extensions[before.bundle]?.all.remove(id)
      extensions[before.bundle]?.due.remove(id)
      extensions[before.bundle]?.pending[before.kind]?.remove(id)
      if extensions[before.bundle]?.pending[before.kind]?.isEmpty == true {
        extensions[before.bundle]?.pending[before.kind] = nil
      }
      seen.remove(id)
    }
    guard let now else { return }
    extensions[now.bundle, default: OfExtension()].all.insert(id)
    if now.isDue { extensions[now.bundle]?.due.insert(id) }
    if now.isPending { extensions[now.bundle]?.pending[now.kind, default: []].insert(id) }
    if now.isSeen { seen.insert(id) }
  }
}

/// When each placement is due next. Placements that are not due at any date are left out.
struct DueDates: Sendable {
  private struct Due: Comparable, Sendable {
    let date: Date
    let id: Int

    static func < (left: Due, right: Due) -> Bool { (left.date, left.id) < (right.date, right.id) }
  }

  private var dates: [Int: Date] = [:]
  private var queue = SortedSet<Due>()

  var first: Date? { queue.elements.first?.date }

  subscript(id: Int) -> Date? {
    get { dates[id] }
    set {
      guard dates[id] != newValue else { return }
      if let former = dates[id] { queue.remove(Due(date: former, id: id)) }
      if let newValue { queue.insert(Due(date: newValue, id: id)) }
      dates[id] = newValue
    }
  }

  /// The placements that are due now, in no order.
  func ids(at now: Date) -> [Int] { queue.elements.prefix { $0.date <= now }.map(\.id) }
}

/// A set in ascending order. A change moves the elements behind it, which is fast for some thousands.
struct SortedSet<Element: Comparable & Sendable>: Sendable {
  private(set) var elements: [Element] = []

  mutating func insert(_ element: Element) {
    let index = position(of: element)
    if index == elements.count || elements[index] != element { elements.insert(element, at: index) }
  }

  mutating func remove(_ element: Element) {
    let index = position(of: element)
    if index < elements.count, elements[index] == element { elements.remove(at: index) }
  }

  /// The index of the first element that is not smaller.
  private func position(of element: Element) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
