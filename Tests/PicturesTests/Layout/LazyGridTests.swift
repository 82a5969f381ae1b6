// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Lazy grids` {
  private func item(
    _ size: (ArgumentLabel, ArchivedValue), spacing: Double? = nil, alignment: String? = nil
  ) -> ArchivedValue {
    var parts: ArchivedArguments = [size.0: size.1]
    if let spacing { parts[.spacing] = .number(spacing) }
    if let alignment { parts[.alignment] = .string(alignment) }
    return .record(parts)
  }

  private func fixed(_ length: Double) -> (ArgumentLabel, ArchivedValue) { (.fixed, .number(length)) }
  private func flexible(_ least: Double = 10, _ most: Double = .infinity) -> (ArgumentLabel, ArchivedValue) {
    (.flexible, .list([.number(least), .number(most)]))
  }
  private func adaptive(_ least: Double, _ most: Double = .infinity) -> (ArgumentLabel, ArchivedValue) {
    (.adaptive, .list([.number(least), .number(most)]))
  }

  private func grid(
    _ items: [ArchivedValue], children: [ViewArchive], arguments: ArchivedArguments = [:],
    name: ContainerView = .lazyVGrid
  ) -> ViewArchive {
    var arguments = arguments
    arguments[name == .lazyVGrid ? .columns : .rows] = .list(items)
    return ViewArchive(.container(name), arguments, children: children)
  }

  private func numbers(_ view: ViewArchive, width: Double, height: Double, name: String = "Color") -> [[Double]] {
    view.frames(of: name, in: width, height).map(\.numbers)
  }

  private func colors(_ count: Int) -> [ViewArchive] { Array(repeating: .color(), count: count) }

  @Test(.rule("LAYOUT-43")) func `flexible columns share what fixed columns and gaps leave`() {
    let view = grid([item(fixed(50)), item(flexible()), item(flexible())], children: colors(3))
    #expect(numbers(view, width: 200, height: 10) == [[0, 0, 50, 10], [50 + 8, 0, 67, 10], [133, 0, 67, 10]])
    let spaced = grid([item(flexible(), spacing: 20), item(flexible())], children: colors(2))
    #expect(numbers(spaced, width: 100, height: 10).map { $0[0] } == [0, 60])
  }

  @Test(.rule("LAYOUT-43")) func `limits apply in the order of the columns`() {
    #expect(
      numbers(grid([item(flexible(10, 30)), item(flexible())], children: colors(2)), width: 108, height: 10).map {
        $0[2]
      } == [30, 70])
    // The second pass begins with 88 points: 40 for each.
    #expect(
      numbers(grid([item(flexible()), item(flexible(10, 30))], children: colors(2)), width: 108, height: 10).map {
        $0[2]
      } == [40, 30])
  }

  @Test(.rule("LAYOUT-43")) func `an adaptive item has as many columns as fit`() {
    let view = grid([item(adaptive(40))], children: colors(5))
    #expect(numbers(view, width: 200, height: 28).map { $0[0] } == [0, 52, 104, 156, 0])
    #expect(numbers(view, width: 200, height: 28).map { $0[2] } == [44, 44, 44, 44, 44])
    #expect(numbers(view, width: 200, height: 28).map { $0[1] } == [0, 0, 0, 0, 18])
    #expect(
      numbers(grid([item(adaptive(40, 42))], children: colors(4)), width: 200, height: 10).map { $0[2] } == [
        42, 42, 42, 42,
      ])
    #expect(numbers(grid([item(adaptive(400))], children: colors(1)), width: 200, height: 10).map { $0[2] } == [400])
  }

  @Test(.rule("LAYOUT-43")) func `a second pass begins with the width that the first one found`() {
    let view = grid([item(flexible()), item(flexible(140))], children: colors(2))
    #expect(numbers(view, width: 200, height: 10, name: "LazyVGrid") == [[-22, 0, 244, 10]])
    #expect(numbers(view, width: 200, height: 10).map { $0[2] } == [118, 140])
    #expect(numbers(view, width: 200, height: 10).map { $0[0] } == [-33, 93])
    let leading = grid(
      [item(flexible()), item(flexible(140))], children: colors(2), arguments: [.alignment: "leading"])
    #expect(numbers(leading, width: 200, height: 10).map { $0[0] } == [-22, 104])
  }

  @Test(.rule("LAYOUT-43")) func `without a proposal the columns have their least widths`() {
    let view = grid([item(flexible(30)), item(adaptive(20)), item(fixed(10))], children: colors(3)).modified(
      .layout(.fixedSize))
    #expect(numbers(view, width: 100, height: 10).map { $0[2] } == [30, 20, 10])
  }

  @Test(.rule("LAYOUT-43")) func `a line is as high as its highest cell, and aligns the cells by their items`() {
    let high = ViewArchive.color().framed(10, 30)
    let view = grid(
      [item(fixed(20), alignment: "topLeading"), item(fixed(20), alignment: "bottom"), item(fixed(20))],
      children: [.color().framed(10, 10), .color().framed(10, 10), high, high], arguments: [.spacing: 4])
    #expect(
      numbers(view, width: 76, height: 64) == [[0, 0, 10, 10], [33, 20, 10, 10], [61, 0, 10, 30], [0, 34, 10, 30]])
  }

  @Test(.rule("LAYOUT-43")) func `a LazyHGrid has the same rules for its rows`() {
    let view = grid(
      [item(fixed(20)), item(flexible())], children: colors(3), arguments: [.spacing: 5], name: .lazyHGrid)
    #expect(numbers(view, width: 25, height: 100) == [[0, 0, 10, 20], [0, 28, 10, 72], [15, 0, 10, 20]])
  }

  @Test(.rule("LAYOUT-23"), arguments: [Double.nan, -Double.infinity, -5, 1e300])
  func `numbers that no lazy grid can have are ignored`(number: Double) {
    for size in [fixed(number), flexible(number, number), adaptive(number, number), adaptive(0, 0)] {
      let view = grid(
        [item(size, spacing: number), item(size)], children: colors(9), arguments: [.spacing: .number(number)])
      for placed in view.layout(100, 100).views { placed.walk { #expect($0.frame.isFinite) } }
      for placed in view.modified(.layout(.fixedSize)).layout(100, 100).views {
        placed.walk { #expect($0.frame.isFinite) }
      }
    }
    #expect(!grid([item(fixed(.nan))], children: colors(1)).layout(100, 100).notices.isEmpty)
    #expect(grid([], children: colors(3)).frames(of: "LazyVGrid", in: 100, 100).map(\.size) == [.zero])
    #expect(ViewArchive(.container(.lazyVGrid), children: colors(1)).layout(100, 100).all("Color").isEmpty)
  }
}
