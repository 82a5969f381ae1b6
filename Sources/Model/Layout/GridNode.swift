// SPDX-License-Identifier: Apache-2.0

import Archive

/// `Grid`: cells in columns and rows. Sources: `SwiftUI.Grid` and its modifiers; QuickLayout for the order in which columns
/// get their widths.
final class GridNode: CellsNode {
  private struct Cell {
    let node: LayoutNode
    let traits: GridTraits
    let row: Int
    /// The first one.
    let column: Int
    var span: Int
    let isWhole: Bool

    func isSized(_ axis: Axis) -> Bool { traits.unsizedAxes?.contains(axis) != true }
  }

  /// A column or a row while a length is divided.
  private struct Track {
    var priority: Double
    var least: Double
    var most: Double
  }

  /// Lengths in points.
  private struct Arrangement {
    var widths: [Double]
    var heights: [Double]
  }

  /// A grid has no more columns; the others have a notice.
  static let mostColumns = 1000

  private let alignment: Alignment
  private var rows: [[Cell]] = []
  private var rowAlignments: [AlignmentGuide] = []
  private var columnAlignments: [AlignmentGuide] = []
  /// Between a column and the next, and between a row and the next, in points.
  private var columnGaps: [Double] = []
  private var rowGaps: [Double] = []
  private var last: (proposal: Proposal, arrangement: Arrangement)?

  /// - Parameter distances: between columns and between rows, in points; `nil`: what the cells prefer.
  init(
    _ nodes: [LayoutNode], _ alignment: Alignment, distances: (columns: Double?, rows: Double?), _ style: ViewStyle,
    _ context: LayoutContext
  ) {
    self.alignment = alignment
    super.init(.container(.grid), style, context)
    fill(nodes)
    findGaps(distances.columns, distances.rows)
  }

  // MARK: Cells

  private func fill(_ nodes: [LayoutNode]) {
    var current: GridRowIdentity?
    for node in nodes {
      let traits = node.gridTraits
      if traits.row == nil || traits.row !== current {
        current = traits.row
        rows.append([])
        rowAlignments.append(traits.row?.alignment ?? alignment.vertical)
      }
      let row = rows.count - 1
      let column = rows[row].last.map { $0.column + $0.span } ?? 0
      let span = traits.columns ?? 1
      guard column + span <= Self.mostColumns else {
        context.note(.viewNotLaidOut, "a grid cell after column \(Self.mostColumns)")
        continue
      }
      rows[row].append(
        Cell(node: node, traits: traits, row: row, column: column, span: span, isWhole: traits.row == nil))
    }
    let ends = rows.joined().filter { !$0.isWhole }.map { $0.column + $0.span }
    let count = ends.max() ?? (rows.isEmpty ? 0 : 1)
    columnAlignments = Array(repeating: alignment.horizontal, count: count)
    for row in rows.indices {
      for index in rows[row].indices {
        if rows[row][index].isWhole { rows[row][index].span = count }
        if let own = rows[row][index].traits.columnAlignment { columnAlignments[rows[row][index].column] = own }
      }
    }
  }

  /// The columns and rows have the distances that stacks of their cells have.
  private func findGaps(_ columnGap: Double?, _ rowGap: Double?) {
    var found = Array(repeating: -Double.infinity, count: max(0, columnAlignments.count - 1))
    for row in rows {
      for (cell, next) in zip(row, row.dropFirst()) {
        let distance = Spacing.distance(from: cell.node.spacing, to: next.node.spacing, along: .horizontal)
        found[next.column - 1] = max(found[next.column - 1], distance)
      }
    }
    columnGaps = found.map { columnGap ?? ($0.isFinite ? $0 : Spacing.standard) }
    let spacings = rows.map { row in
      row.dropFirst().reduce(into: row.first?.node.spacing ?? .zero) { $0.formUnion($1.node.spacing) }
    }
    rowGaps = zip(spacings, spacings.dropFirst()).map { upper, lower in
      rowGap ?? Spacing.distance(from: upper, to: lower, along: .vertical)
    }
  }

  // MARK: Sizes

  override func calculateSize(_ proposal: Proposal) -> Size {
    let found = arranged(proposal)
    return Size(
      width: found.widths.reduce(columnGaps.reduce(0, +), +), height: found.heights.reduce(rowGaps.reduce(0, +), +))
  }

  private func arranged(_ proposal: Proposal) -> Arrangement {
    if let last, last.proposal == proposal { return last.arrangement }
    let widths = widths(proposal)
    let arrangement = Arrangement(widths: widths, heights: heights(proposal, widths))
    last = (proposal, arrangement)
    return arrangement
  }

  /// First the columns by the cells with one column. Then the wider cells: what they lack, their columns share.
  private func widths(_ proposal: Proposal) -> [Double] {
    var columns = Array(repeating: [Cell](), count: columnAlignments.count)
    var wide: [Cell] = []
    for cell in rows.joined() where cell.isSized(.horizontal) {
      if cell.span == 1 { columns[cell.column].append(cell) } else { wide.append(cell) }
    }
    var widths = lengths(proposal.width, columnGaps, columns) { column, width in
      columns[column].reduce(0) { max($0, $1.node.size(Proposal(width: width, height: proposal.height)).width) }
    }
    for cell in wide.sorted(by: { $0.span == $1.span ? $0.row < $1.row : $0.span < $1.span }) {
      let own = length(of: cell, widths)
      var offer: Double?
      if let width = proposal.width {
        let left = width - widths.reduce(columnGaps.reduce(0, +), +)
        offer = own + (left > 0 ? left : 0)
      }
      let lacking = (cell.node.size(Proposal(width: offer, height: proposal.height)).width - own) / Double(cell.span)
      if lacking > 0 { for column in cell.column..<(cell.column + cell.span) { widths[column] += lacking } }
    }
    return widths
  }

  private func heights(_ proposal: Proposal, _ widths: [Double]) -> [Double] {
    let sized = rows.map { row in row.filter { $0.isSized(.vertical) } }
    return lengths(proposal.height, rowGaps, sized) { row, height in
      var (above, below, most) = (0.0, 0.0, 0.0)
      for cell in sized[row] {
        let proposal = Proposal(width: length(of: cell, widths), height: height)
        let own = cell.node.size(proposal).height
        most = max(most, own)
        guard rowAlignments[row].isBaseline, cell.traits.anchor == nil else { continue }
        let guide = cell.node.guide(rowAlignments[row], .vertical, proposal)
        if guide.isFinite { (above, below) = (max(above, guide), max(below, own - guide)) }
      }
      return max(most, above + below)
    }
  }

  /// The width of a cell's columns.
  private func length(of cell: Cell, _ widths: [Double]) -> Double {
    let gaps = columnGaps[cell.column..<(cell.column + cell.span - 1)].reduce(0, +)
    return max(0, widths[cell.column..<(cell.column + cell.span)].reduce(gaps, +))
  }

  /// The lengths of columns or rows.
  ///
  /// - Parameters:
  ///   - length: what is proposed; `nil`: each has its ideal length.
  ///   - measure: the length of a column or row for a proposal to its cells.
  private func lengths(
    _ length: Double?, _ gaps: [Double], _ tracks: [[Cell]], _ measure: (Int, Double?) -> Double
  ) -> [Double] {
    guard let length else { return tracks.indices.map { measure($0, nil) } }
    let rest = length - gaps.reduce(0, +)
    if tracks.count == 1 { return [measure(0, max(0, rest))] }
    let described = tracks.indices.map { index in
      Track(
        priority: tracks[index].map(\.node.priority).max() ?? 0, least: measure(index, 0),
        most: measure(index, .infinity))
    }
    return divided(rest, described, measure)
  }

  /// Divides a length: first those with only one length, then by priority, then the narrow ones. Each is offered an equal
  /// share of what is left after the least lengths of those with a lower priority.
  private func divided(_ length: Double, _ tracks: [Track], _ measure: (Int, Double?) -> Double) -> [Double] {
    var result = Array(repeating: 0.0, count: tracks.count)
    var rest = length
    let fixed = tracks.indices.filter { tracks[$0].most <= tracks[$0].least }
    for index in fixed {
      result[index] = tracks[index].least
      rest -= result[index]
    }
    let flexible = tracks.indices.filter { tracks[$0].most > tracks[$0].least }.sorted { first, second in
      let (one, other) = (tracks[first], tracks[second])
      if one.priority != other.priority { return one.priority > other.priority }
      if one.most != other.most { return one.most < other.most }
      return one.least == other.least ? first < second : one.least > other.least
    }
    var position = 0
    while position < flexible.count {
      let priority = tracks[flexible[position]].priority
      let end = flexible[position...].firstIndex { tracks[$0].priority != priority } ?? flexible.count
      let reserved = flexible[end...].reduce(0) { $0 + tracks[$1].least }
      rest -= reserved
      for (number, index) in flexible[position..<end].enumerated() {
        result[index] = measure(index, max(rest / Double(end - position - number), 0))
        let left = rest - result[index]
        if !left.isNaN { rest = left }
      }
      rest += reserved
      position = end
    }
    return result
  }

  // MARK: Places

  /// The cells with their places from the grid's corner, and the proposals that gave them their sizes.
  override func cells(_ proposal: Proposal) -> [PlacedCell] {
    let found = arranged(proposal)
    let (columns, lines) = (Self.starts(found.widths, columnGaps), Self.starts(found.heights, rowGaps))
    var places: [PlacedCell] = []
    for (index, row) in rows.enumerated() {
      let height = found.heights[index]
      let proposals = row.map { Proposal(width: length(of: $0, found.widths), height: height) }
      let guide = rowAlignments[index]
      let baselines = zip(row, proposals).filter { $0.0.traits.anchor == nil && $0.0.isSized(.vertical) }
        .map { $0.0.node.guide(guide, .vertical, $0.1) }
      let common = guide.isBaseline ? baselines.max() ?? 0 : guide.standard(in: height)
      for (cell, proposal) in zip(row, proposals) {
        let (size, width) = (cell.node.size(proposal), proposal.width ?? 0)
        var place = Point(x: columns[cell.column], y: lines[index])
        if let anchor = cell.traits.anchor {
          place.x += (width - size.width) * anchor.x
          place.y += (height - size.height) * anchor.y
        } else {
          let own = cell.isWhole ? alignment.horizontal : columnAlignments[cell.column]
          place.x += own.standard(in: width) - cell.node.guide(own, .horizontal, proposal)
          place.y += common - cell.node.guide(guide, .vertical, proposal)
        }
        if !place.x.isFinite { place.x = 0 }
        if !place.y.isFinite { place.y = 0 }
        places.append((cell.node, place, proposal))
      }
    }
    return places
  }

  /// Where columns or rows begin.
  private static func starts(_ lengths: [Double], _ gaps: [Double]) -> [Double] {
    var (starts, place) = ([Double](), 0.0)
    for (index, length) in lengths.enumerated() {
      starts.append(place)
      place += length + (index < gaps.count ? gaps[index] : 0)
    }
    return starts
  }

  override func preferredSpacing() -> Spacing {
    guard let first = rows.first, let last = rows.last else { return .zero }
    var spacing = Spacing(top: .init(), leading: .init(), bottom: .init(), trailing: .init())
    for cell in rows.joined() {
      spacing.leading.formUnion(cell.node.spacing.leading)
      spacing.trailing.formUnion(cell.node.spacing.trailing)
    }
    for cell in first { spacing.top.formUnion(cell.node.spacing.top) }
    for cell in last { spacing.bottom.formUnion(cell.node.spacing.bottom) }
    return spacing
  }
}
