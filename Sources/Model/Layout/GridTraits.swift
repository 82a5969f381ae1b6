// SPDX-License-Identifier: Apache-2.0

import Archive

/// A `GridRow`. Each has its own identity, so that two rows with the same alignment differ.
final class GridRowIdentity {
  /// Of the cells in the row; `nil`: that of the grid.
  let alignment: AlignmentGuide?

  init(alignment: AlignmentGuide?) { self.alignment = alignment }
}

/// What a view sets for its cell in a grid.
struct GridTraits {
  /// `nil`: the view is in no row, and takes all columns.
  var row: GridRowIdentity?
  /// The columns that the cell takes.
  var columns: Int?
  /// The place of the view in its cell, from 0 to 1 on each axis.
  var anchor: Point?
  /// The axes on which the view has no influence on its column and its row.
  var unsizedAxes: Set<Axis>?
  /// Of the column in which the cell begins.
  var columnAlignment: AlignmentGuide?

  /// The traits with those of a modifier around the view, which replace them.
  func replaced(by outer: GridTraits) -> GridTraits {
    GridTraits(
      row: outer.row ?? row, columns: outer.columns ?? columns, anchor: outer.anchor ?? anchor,
      unsizedAxes: outer.unsizedAxes ?? unsizedAxes, columnAlignment: outer.columnAlignment ?? columnAlignment)
  }
}

/// `gridCellColumns` and similar modifiers, and the row that contains a view. Outside of a grid they have no effect.
final class GridCellNode: WrappingNode {
  private let own: GridTraits

  init(_ name: String, _ content: LayoutNode, _ traits: GridTraits, _ style: ViewStyle) {
    own = traits
    super.init(name, content, style)
  }

  override var gridTraits: GridTraits { content.gridTraits.replaced(by: own) }
}

extension Arguments {
  /// The unit point with this label, such as `topLeading` or `(0.3, 0.7)`. Source: `SwiftUI.UnitPoint`.
  func unitPoint(_ label: String) -> Point? {
    guard let name = string(label) else { return nil }
    if name.hasPrefix("(") {
      let numbers = name.split { "(), ".contains($0) }.compactMap { Double($0) }
      guard numbers.count == 2, numbers.allSatisfy(\.isFinite) else { return nil }
      return Point(x: numbers[0].clamped(-1000, 1000), y: numbers[1].clamped(-1000, 1000))
    }
    guard let alignment = Alignment(named: name) else { return nil }
    return Point(x: alignment.horizontal.standard(in: 1), y: alignment.vertical.standard(in: 1))
  }
}

extension LayoutBuilder {
  /// `Grid`.
  func grid(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> LayoutNode {
    let arguments = Arguments(of: view, context)
    return GridNode(
      nodes(of: view.children, style, axis: nil, depth: depth), arguments.alignment,
      distances: (arguments.number("horizontalSpacing"), arguments.number("verticalSpacing")), style, context)
  }

  /// The cells of a `GridRow`, which is a group outside of a grid.
  func gridRow(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var alignment: AlignmentGuide?
    if view.arguments["alignment"] != nil { alignment = Arguments(of: view, context).alignment.vertical }
    let row = GridRowIdentity(alignment: alignment)
    return nodes(of: view.children, style, axis: nil, depth: depth)
      .map { GridCellNode(view.name.rawValue, $0, GridTraits(row: row), style) }
  }

  /// The columns of a cell; `nil`, with a notice, for a count that a grid does not have.
  func gridColumns(_ arguments: Arguments) -> GridTraits? {
    guard let count = arguments.length("count") else { return nil }
    guard (1...Double(GridNode.mostColumns)).contains(count) else {
      context.note(.modifierNotLaidOut, ".gridCellColumns with the count \(Int(saturating: count))")
      return nil
    }
    return GridTraits(columns: Int(saturating: count))
  }

  /// The place of a view in its cell; `nil`, with a notice, for one that is not read.
  func gridAnchor(_ arguments: Arguments) -> GridTraits? {
    guard let anchor = arguments.unitPoint("anchor") else {
      context.note(.invalidNumber, ".gridCellAnchor")
      return nil
    }
    return GridTraits(anchor: anchor)
  }
}
