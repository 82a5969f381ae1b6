// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Grids` {
  private func row(_ cells: ViewArchive..., alignment: String? = nil) -> ViewArchive {
    ViewArchive(.container(.gridRow), alignment.map { [.alignment: .string($0)] } ?? [:], children: cells)
  }

  private func grid(
    _ rows: [ViewArchive], columns: Double? = 0, lines: Double? = 0, alignment: String = "center"
  ) -> ViewArchive {
    var arguments: ArchivedArguments = [.alignment: .string(alignment)]
    if let columns { arguments[.horizontalSpacing] = .number(columns) }
    if let lines { arguments[.verticalSpacing] = .number(lines) }
    return ViewArchive(.container(.grid), arguments, children: rows)
  }

  private func numbers(_ view: ViewArchive, width: Double, height: Double, name: String = "Color") -> [[Double]] {
    view.frames(of: name, in: width, height).map(\.numbers)
  }

  private func widths(_ cells: [ViewArchive], in width: Double) -> [Double] {
    numbers(grid([ViewArchive(.container(.gridRow), children: cells)]), width: width, height: 20).map { $0[2] }
  }

  @Test(.rule("LAYOUT-40")) func `a column is as wide as its widest cell, and flexible columns share the rest`() {
    let view = grid([row(.color().framed(30, 10), .color()), row(.color().framed(50, 10), .color())], columns: 10)
    #expect(
      numbers(view, width: 200, height: 100) == [
        [10, 20, 30, 10], [60, 0, 140, 50], [0, 70, 50, 10], [60, 50, 140, 50],
      ])
    #expect(widths([.color(), .color(), .color()], in: 90) == [30, 30, 30])
  }

  @Test(.rule("LAYOUT-40")) func `fixed columns are first, then those with a high priority, then narrow ones`() {
    let important = ViewArchive.color().modified(.layout(.layoutPriority), [.value: 1])
    #expect(widths([.color().framed(80, 10), important], in: 100) == [80, 20])
    #expect(widths([.color().modified(.layout(.frame), [.minWidth: 20]), important], in: 100) == [20, 80])
    func most(_ width: Double) -> ViewArchive { .color().modified(.layout(.frame), [.maxWidth: .number(width)]) }
    #expect(widths([.color(), most(60), most(20)], in: 120) == [50, 50, 20])
    #expect(widths([.color(), .color().modified(.layout(.frame), [.minWidth: 80])], in: 100) == [20, 80])
  }

  @Test(.rule("LAYOUT-40")) func `without a proposal columns and rows have the ideal lengths of their cells`() {
    let view = grid([row(.color(), .color().framed(30, 5)), row(.color().framed(5, 20), .color())])
    #expect(numbers(view.modified(.layout(.fixedSize)), width: 100, height: 100, name: "Grid") == [[30, 35, 40, 30]])
  }

  @Test(.rule("LAYOUT-40")) func `without a spacing the cells have the distances of stacks`() {
    let colors = grid([row(.color(), .color()), row(.color(), .color())], columns: nil, lines: nil)
    #expect(numbers(colors, width: 100, height: 100).map { $0[0] } == [0, 54, 0, 54])
    #expect(numbers(colors, width: 100, height: 100).map { $0[1] } == [0, 0, 54, 54])
    let texts = grid([row(.text("a")), row(.text("b"))], lines: nil)
    #expect(texts.frames(of: "Grid", in: 100, 100).map(\.size.height) == [2 * line])
  }

  @Test(.rule("LAYOUT-41")) func `what a wide cell needs is shared by its columns`() {
    let wide = ViewArchive.color().framed(100, 10).modified(.layout(.gridCellColumns), [.count: 2])
    let view = grid([row(.color().framed(20, 10), .color().framed(20, 10)), row(wide)])
    #expect(numbers(view, width: 100, height: 20).map { $0[0] } == [15, 65, 0])
    let narrow = ViewArchive.color().modified(.layout(.gridCellColumns), [.count: 2])
    let other = grid([row(.color().framed(20, 10), .color().framed(20, 10)), row(narrow)], columns: 4)
    #expect(numbers(other.modified(.layout(.fixedSize)), width: 100, height: 100).last.map { $0[2] } == 44)
  }

  @Test(.rule("LAYOUT-41")) func `a view outside of a row takes all columns`() {
    let cells = row(.color().framed(20, 10), .color().framed(20, 10))
    let divided = grid([cells, ViewArchive(.leaf(.divider)), cells])
    #expect(numbers(divided, width: 200, height: 100, name: "Divider").map { $0[2] } == [200])
    #expect(numbers(divided, width: 200, height: 100).map { $0[0] } == [40, 140, 40, 140])
    let unsized = ViewArchive(.leaf(.divider)).modified(.layout(.gridCellUnsizedAxes), [.axes: "horizontal"])
    #expect(numbers(grid([cells, unsized, cells]), width: 200, height: 100, name: "Divider").map { $0[2] } == [40])
    #expect(numbers(grid([.color().framed(30, 10)]), width: 100, height: 100, name: "Grid") == [[35, 45, 30, 10]])
  }

  @Test(.rule("LAYOUT-41")) func `a row with fewer cells has empty ones at its end`() {
    let small = ViewArchive.color().framed(10, 10)
    let view = grid([row(small, small), row(small)], columns: 5, lines: 5)
    #expect(numbers(view, width: 25, height: 25) == [[0, 0, 10, 10], [15, 0, 10, 10], [0, 15, 10, 10]])
  }

  @Test(.rule("LAYOUT-42")) func `cells are aligned by the grid, the row, the column and the anchor`() {
    let (large, small) = (ViewArchive.color("red").framed(40, 40), ViewArchive.color().framed(10, 10))
    func place(_ cell: ViewArchive, _ alignment: String = "center", row ownRow: String? = nil) -> [Double]? {
      numbers(grid([row(cell, large, alignment: ownRow), row(large)], alignment: alignment), width: 80, height: 80)
        .first
    }
    #expect(place(small) == [15, 15, 10, 10])
    #expect(place(small, "bottomTrailing") == [30, 30, 10, 10])
    #expect(place(small, "leading", row: "top") == [0, 0, 10, 10])
    #expect(place(small.modified(.layout(.gridColumnAlignment), [.alignment: "trailing"])) == [30, 15, 10, 10])
    #expect(place(small.modified(.layout(.gridCellAnchor), [.anchor: "topTrailing"]), "bottom") == [30, 0, 10, 10])
    #expect(place(small.modified(.layout(.gridCellAnchor), [.anchor: "(0.1, 0.5)"])) == [3, 15, 10, 10])
  }

  @Test(.rule("LAYOUT-42")) func `a row aligns the baselines of its texts, and is as high as they need`() throws {
    let title = ViewArchive.text("a").modified(.style(.font), [.font: "largeTitle"])
    let result = grid([row(title, .text("b"), alignment: "firstTextBaseline")]).layout(100, 100)
    let baselines = result.all("Text").map { $0.frame.minY + ($0.text?.lines.first?.baseline ?? 0) }
    try #require(baselines.count == 2)
    #expect(abs(baselines[0] - baselines[1]) < 0.01)
    let size = try #require(result.all("Grid").first?.frame.size)
    #expect(abs(size.height - (34 * 1.193359 * 3).rounded(.up) / 3) < 0.01)
  }

  @Test(.rule("LAYOUT-42")) func `a cell of several columns has the alignment of the first one`() {
    func small(_ alignment: String) -> ViewArchive {
      ViewArchive.color().framed(10, 10).modified(.layout(.gridColumnAlignment), [.alignment: .string(alignment)])
    }
    let wide = ViewArchive.color().framed(20, 10).modified(.layout(.gridCellColumns), [.count: 2])
    let column = ViewArchive.color().framed(40, 10)
    for (first, second, x) in [("leading", "trailing", 0.0), ("trailing", "leading", 60)] {
      let view = grid([row(small(first), small(second)), row(column, column), row(wide)])
      #expect(numbers(view, width: 80, height: 30).last.map { $0[0] } == x, "\(first)")
    }
  }

  @Test(.rule("LAYOUT-42")) func `an axis that is not sized has no influence on the column or the row`() {
    let placeholder = ViewArchive.color().modified(.layout(.gridCellUnsizedAxes), [.axes: "horizontal vertical"])
    let view = grid([row(placeholder, .color().framed(20, 10)), row(.color().framed(30, 10), .color().framed(20, 10))])
    #expect(numbers(view, width: 100, height: 100).first == [25, 40, 30, 10])
  }

  @Test(.rule("LAYOUT-42")) func `modifiers of a row apply to each cell, and outside of a grid a row is a group`() {
    let cells = row(.color().framed(10, 10), .color().framed(10, 10))
    #expect(
      numbers(grid([cells.modified(.layout(.padding), [.length: 5])]), width: 40, height: 20).map { $0[0] } == [5, 25])
    let stack = ViewArchive.stack(.vStack, spacing: 0, [cells])
    #expect(numbers(stack, width: 10, height: 20).map { $0[1] } == [0, 10])
    let styled = grid([
      ViewArchive(.container(.group), children: [row(.text("a"))]).modified(.style(.font), [.font: "caption"])
    ])
    #expect(styled.layout(50, 50).all("Text").first?.style.resolvedFont.size == 12)
  }

  @Test(.rule("LAYOUT-23")) func `numbers that no grid can have are named`() {
    func notices(_ view: ViewArchive) -> [String] { view.layout(100, 100).notices.map(\.description) }
    let wide = ViewArchive.color().modified(.layout(.gridCellColumns), [.count: 1_000_000])
    #expect(notices(grid([row(wide)])) == [".gridCellColumns with the count 1000000 has no effect"])
    let none = ViewArchive.color().modified(.layout(.gridCellColumns), [.count: .number(.nan)])
    #expect(notices(grid([row(none)])).count == 1)
    let many = ViewArchive(.container(.gridRow), children: Array(repeating: .color().framed(1, 1), count: 1100))
    #expect(notices(grid([many])) == ["a grid cell after column 1000 is not drawn"])
    let anchor = ViewArchive.color().modified(.layout(.gridCellAnchor), [.anchor: "(nan, 1)"])
    #expect(notices(grid([row(anchor)])).count == 1)
    #expect(grid([]).frames(of: "Grid", in: 100, 100).map(\.size) == [.zero])
    #expect(grid([row()]).frames(of: "Grid", in: 100, 100).map(\.size) == [.zero])
  }

  @Test(.rule("LAYOUT-23"), arguments: ["center", "firstTextBaseline"])
  func `nested grids are laid out, or have a notice`(alignment: String) {
    var view = ViewArchive.text("a")
    for _ in 0..<30 {
      view = grid(
        [row(.text("b"), view, alignment: alignment), row(.color(), alignment: alignment)], alignment: "leading")
    }
    let result = view.layout(300, 300)
    #expect(result.notices.allSatisfy { $0.reason == .tooManyMeasurements })
  }

  @Test(arguments: 1...40) func `cells are within their grid, and columns do not overlap`(seed: Int) {
    var state = UInt64(seed)
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    func cell() -> ViewArchive {
      switch random(5) {
      case 0: .color()
      case 1: .color().framed(Double(random(40)), Double(random(20)))
      case 2: .color().modified(.layout(.frame), [.maxWidth: .number(Double(random(60)))])
      case 3: ViewArchive(.shape(.circle))
      default: .text((0...random(4)).map { _ in "word" }.joined(separator: " "))
      }
    }
    let rows = (0...random(3)).map { _ in
      ViewArchive(.container(.gridRow), children: (0...random(3)).map { _ in cell() })
    }
    for (width, height) in [(300.0, 300.0), (90, 60), (0, 0)] {
      let result = grid(rows, columns: Double(random(9)), lines: Double(random(9))).layout(width, height)
      for grid in result.all("Grid") {
        for child in grid.children {
          #expect(child.frame.isFinite)
          #expect(child.frame.minX >= grid.frame.minX - 0.01 && child.frame.maxX <= grid.frame.maxX + 0.01)
        }
        for (child, next) in zip(grid.children, grid.children.dropFirst()) where next.frame.minX > child.frame.minX {
          #expect(next.frame.minX >= child.frame.maxX - 0.01 || next.frame.minY >= child.frame.maxY - 0.01)
        }
      }
    }
  }
}
