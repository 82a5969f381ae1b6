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
    _ nodes: [LayoutNode], alignment: Alignment, distances: (columns: Double?, rows: Double?), style: ViewStyle,
    context: LayoutContext
  ) {
    self.alignment = alignment
    super.init(.container(.grid), style: style, context: context)
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
    var foundGuides = Array(repeating: -Double.infinity, count: max(0, columnAlignments.count - 1))
    for row in rows {
      for (cell, next) in zip(row, row.dropFirst()) {
        let distance = Spacing.distance(from: cell.node.spacing, to: next.node.spacing, along: .horizontal)
        foundGuides[next.column - 1] = max(foundGuides[next.column - 1], distance)
      }
    }
    columnGaps = foundGuides.map { columnGap ?? ($0.isFinite ? $0 : Spacing.standard) }
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
    var widths = lengths(proposal.width, gaps: columnGaps, tracks: columns) { column, width in
      columns[column].reduce(0) { max($0, $1.node.size(Proposal(width: width, height: proposal.height)).width) }
    }
    for cell in wide.sorted(by: { $0.span == $1.span ? $0.row < $1.row : $0.span < $1.span }) {
      let ownLength = length(of: cell, widths)
      var offer: Double?
      if let width = proposal.width {
        let left = width - widths.reduce(columnGaps.reduce(0, +), +)
        offer = ownLength + (left > 0 ? left : 0)
      }
      let lacking =
        (cell.node.size(Proposal(width: offer, height: proposal.height)).width - ownLength) / Double(cell.span)
      if lacking > 0 { for column in cell.column..<(cell.column + cell.span) { widths[column] += lacking } }
    }
    return widths
  }

  private func heights(_ proposal: Proposal, _ widths: [Double]) -> [Double] {
    let sized = rows.map { row in row.filter { $0.isSized(.vertical) } }
    return lengths(proposal.height, gaps: rowGaps, tracks: sized) { row, height in
      var (above, below, most) = (0.0, 0.0, 0.0)
      for cell in sized[row] {
        let proposal = Proposal(width: length(of: cell, widths), height: height)
        let own = cell.node.size(proposal).height
        most = max(most, own)
        guard rowAlignments[row].isBaseline, cell.traits.anchor == nil else { continue }
        let guide = cell.node.guide(rowAlignments[row], axis: .vertical, proposal: proposal)
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
    _ length: Double?, gaps: [Double], tracks: [[Cell]], measure: (Int, Double?) -> Double
  ) -> [Double] {
    guard let length else { return tracks.indices.map { measure($0, nil) } }
    let rest = length - gaps.reduce(0, +)
    if tracks.count == 1 { return [measure(0, max(0, rest))] }
    let described = tracks.indices.map { index in
      Track(
        priority: tracks[index].map(\.node.priority).max() ?? 0, least: measure(index, 0),
        most: measure(index, .infinity))
    }
    return divided(rest, tracks: described, measure: measure)
  }

  /// Divides a length: first those with only one length, then by priority, then the narrow ones. Each is offered an equal
  /// share of what is left after the least lengths of those with a lower priority.
  private func divided(_ length: Double, tracks: [Track], measure: (Int, Double?) -> Double) -> [Double] {
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
    let foundArrangement = arranged(proposal)
    let (columns, lines) = (
      Self.starts(foundArrangement.widths, columnGaps), Self.starts(foundArrangement.heights, rowGaps)
    )
    var places: [PlacedCell] = []
    for (index, row) in rows.enumerated() {
      let height = foundArrangement.heights[index]
      let proposals = row.map { Proposal(width: length(of: $0, foundArrangement.widths), height: height) }
      let guide = rowAlignments[index]
      let baselines = zip(row, proposals).filter { $0.0.traits.anchor == nil && $0.0.isSized(.vertical) }
        .map { $0.0.node.guide(guide, axis: .vertical, proposal: $0.1) }
      let common = guide.isBaseline ? baselines.max() ?? 0 : guide.standard(in: height)
      for (cell, proposal) in zip(row, proposals) {
        let (size, width) = (cell.node.size(proposal), proposal.width ?? 0)
        var place = Point(x: columns[cell.column], y: lines[index])
        if let anchor = cell.traits.anchor {
          place.x += (width - size.width) * anchor.x
          place.y += (height - size.height) * anchor.y
        } else {
          let own = cell.isWhole ? alignment.horizontal : columnAlignments[cell.column]
          place.x += own.standard(in: width) - cell.node.guide(own, axis: .horizontal, proposal: proposal)
          place.y += common - cell.node.guide(guide, axis: .vertical, proposal: proposal)
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
  private let ownTraits: GridTraits

  init(_ name: String, content: LayoutNode, traits: GridTraits, style: ViewStyle) {
    ownTraits = traits
    super.init(name, content: content, style: style)
  }

  override var gridTraits: GridTraits { content.gridTraits.replaced(by: ownTraits) }
}

extension Arguments {
  /// The unit point with this label, such as `topLeading` or `(0.3, 0.7)`. Source: `SwiftUI.UnitPoint`.
  func unitPoint(_ label: ArgumentLabel) -> Point? {
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
      nodes(of: view.children, style, axis: nil, depth: depth), alignment: arguments.alignment,
      distances: (arguments.number(.horizontalSpacing), arguments.number(.verticalSpacing)), style: style,
      context: context)
  }

  /// The cells of a `GridRow`, which is a group outside of a grid.
  func gridRow(_ view: ViewArchive, _ style: ViewStyle, depth: Int) -> [LayoutNode] {
    var alignment: AlignmentGuide?
    if view.arguments[.alignment] != nil { alignment = Arguments(of: view, context).alignment.vertical }
    let row = GridRowIdentity(alignment: alignment)
    return nodes(of: view.children, style, axis: nil, depth: depth)
      .map { GridCellNode(view.name.rawValue, content: $0, traits: GridTraits(row: row), style: style) }
  }

  /// The columns of a cell; `nil`, with a notice, for a count that a grid does not have.
  func gridColumns(_ arguments: Arguments) -> GridTraits? {
    guard let count = arguments.length(.count) else { return nil }
    guard (1...Double(GridNode.mostColumns)).contains(count) else {
      context.note(.modifierNotLaidOut, ".gridCellColumns with the count \(Int(saturating: count))")
      return nil
    }
    return GridTraits(columns: Int(saturating: count))
  }

  /// The place of a view in its cell; `nil`, with a notice, for one that is not read.
  func gridAnchor(_ arguments: Arguments) -> GridTraits? {
    guard let anchor = arguments.unitPoint(.anchor) else {
      context.note(.invalidNumber, ".gridCellAnchor")
      return nil
    }
    return GridTraits(anchor: anchor)
  }
}

/// A grid, which places its children as cells. A subclass finds the places.
class CellsNode: ViewNode {
  /// A child, its place from the grid's top leading corner in points, and the proposal that gave it its size.
  typealias PlacedCell = (node: LayoutNode, place: Point, proposal: Proposal)

  private struct BaselineQuestion: Hashable {
    var guide: AlignmentGuide
    var proposal: Proposal
  }

  /// Each baseline is found once, so that nested grids do not repeat the search.
  private var baselines: [BaselineQuestion: Double?] = [:]

  func cells(_ proposal: Proposal) -> [PlacedCell] { [] }

  override final func baseline(_ guide: AlignmentGuide, _ proposal: Proposal) -> Double? {
    let question = BaselineQuestion(guide: guide, proposal: proposal)
    if let known = baselines[question] { return known }
    var foundGuide: Double?
    if context.mayMeasure(name) {
      foundGuide = guide.combined(
        cells(proposal).compactMap { cell in cell.node.baseline(guide, cell.proposal).map { $0 + cell.place.y } })
    }
    baselines.updateValue(foundGuide, forKey: question)
    return foundGuide
  }

  override final func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    var view = placed([:], at: origin, size(proposal))
    view.children = inDrawingOrder(cells(proposal), \.node.zIndex).flatMap { cell in
      cell.node.place(at: Point(x: origin.x + cell.place.x, y: origin.y + cell.place.y), cell.proposal)
    }
    return [view]
  }
}

/// A `GridItem`: one column or several columns of a `LazyVGrid`, one row or several rows of a `LazyHGrid`. Lengths in points.
struct LazyGridTrack {
  enum Length {
    case fixed(Double)
    case flexible(Double, Double)
    case adaptive(Double, Double)
  }

  var length = Length.flexible(10, .infinity)
  /// To the next item, and between the columns of an adaptive one.
  var spacing = Spacing.standard
  var alignment = Alignment.center

  var isFixed: Bool { if case .fixed = length { true } else { false } }

  init(_ value: ArchivedValue, name: String, context: LayoutContext) {
    guard case .record(let parts) = value else { return }
    /// A length that SwiftUI accepts.
    func accepted(_ value: ArchivedValue?, _ usual: Double) -> Double {
      guard let number = value?.number else { return usual }
      if number == .infinity, usual == .infinity { return number }
      guard number.isFinite, number >= 0 else {
        context.note(.invalidNumber, "\(name)(GridItem)")
        return usual
      }
      return min(number, 1_000_000)
    }
    /// Two limits; the lower one wins.
    func limits(_ value: ArchivedValue) -> (Double, Double) {
      guard case .list(let numbers) = value, numbers.count == 2 else { return (10, .infinity) }
      let least = accepted(numbers[0], 10)
      return (least, max(least, accepted(numbers[1], .infinity)))
    }
    if let fixed = parts[.fixed] {
      length = .fixed(accepted(fixed, 0))
    } else if let range = parts[.flexible].map(limits) {
      length = .flexible(range.0, range.1)
    } else if let range = parts[.adaptive].map(limits) {
      length = .adaptive(range.0, range.1)
    }
    if parts[.spacing] != nil { spacing = accepted(parts[.spacing], Spacing.standard) }
    if let name = parts[.alignment]?.string {
      if let own = Alignment(named: name) {
        alignment = own
      } else {
        context.note(.modifierNotLaidOut, "the alignment \(name)")
      }
    }
  }
}

/// `LazyVGrid` and `LazyHGrid`. A widget creates all of their views. Source: objc.io, "How SwiftUI lays out grids".
final class LazyGridNode: CellsNode {
  /// A column of a `LazyVGrid`, a row of a `LazyHGrid`.
  private struct Lane {
    var start: Double
    var length: Double
    var alignment: Alignment
  }

  private struct Arrangement {
    var lanes: [Lane]
    /// The lengths of the lines: of the rows of a `LazyVGrid`.
    var lines: [Double]
    /// Of all lanes with their gaps.
    var across = 0.0
    var along = 0.0
  }

  /// A grid has no more lanes.
  static let mostLanes = 1000

  /// The axis in which lines follow each other: vertical for a `LazyVGrid`.
  private let axis: Axis
  private let tracks: [LazyGridTrack]
  private let alignment: AlignmentGuide
  private let gap: Double
  private let children: [LayoutNode]
  private var last: (proposal: Proposal, arrangement: Arrangement)?

  /// - Parameters:
  ///   - alignment: of the lanes in the width of the grid.
  ///   - distance: between the lines, in points.
  init(
    _ view: ViewName, along axis: Axis, tracks: [LazyGridTrack], alignment: AlignmentGuide, distance: Double?,
    children: [LayoutNode], style: ViewStyle, context: LayoutContext
  ) {
    self.axis = axis
    self.tracks = tracks
    self.alignment = alignment
    self.children = children
    gap = distance ?? Spacing.standard
    super.init(view, style: style, context: context)
  }

  // MARK: Sizes

  override func calculateSize(_ proposal: Proposal) -> Size {
    let found = arranged(proposal)
    var size = Size.zero
    size[axis.other] = found.across
    size[axis] = found.along
    return size
  }

  private func arranged(_ proposal: Proposal) -> Arrangement {
    if let last, last.proposal == proposal { return last.arrangement }
    let arrangement = arrangement(across: proposal[axis.other])
    last = (proposal, arrangement)
    return arrangement
  }

  private func arrangement(across length: Double?) -> Arrangement {
    var foundArrangement = Arrangement(lanes: lanes(in: length), lines: [])
    foundArrangement.across = foundArrangement.lanes.last.map { $0.start + $0.length } ?? 0
    guard !foundArrangement.lanes.isEmpty else { return foundArrangement }
    for first in stride(from: 0, to: children.count, by: foundArrangement.lanes.count) {
      let cells = zip(children[first...], foundArrangement.lanes)
      foundArrangement.lines.append(
        cells.reduce(0) { most, cell in
          max(most, cell.0.size(Proposal(nil, along: axis, across: cell.1.length))[axis])
        })
    }
    foundArrangement.along = foundArrangement.lines.reduce(gap * Double(max(0, foundArrangement.lines.count - 1)), +)
    return foundArrangement
  }

  /// The proposal less the gaps and the fixed lengths is divided among the other items, in their order: each gets an equal
  /// share of what is left, within its limits. An adaptive item has as many lanes in its share as fit.
  ///
  /// - Parameter proposed: `nil`: each item has its least length.
  private func lanes(in proposed: Double?) -> [Lane] {
    var rest = proposed ?? 0
    for (index, track) in tracks.enumerated() {
      if case .fixed(let length) = track.length { rest -= length }
      if index < tracks.count - 1 { rest -= track.spacing }
    }
    var sharing = tracks.count { !$0.isFixed }
    var (lanes, place) = ([Lane](), 0.0)
    func share(_ least: Double, _ most: Double) -> Double {
      let own = proposed == nil ? least : max(0, rest / Double(sharing)).clamped(least, most)
      sharing -= 1
      if own.isFinite { rest -= own }
      return own
    }
    for track in tracks where lanes.count < Self.mostLanes {
      var (number, length) = (1, 0.0)
      switch track.length {
      case .fixed(let own): length = own
      case .flexible(let least, let most): length = share(least, most)
      case .adaptive(let least, let most):
        let whole = share(least, .infinity)
        number = min(count(of: least, track.spacing, in: whole), Self.mostLanes - lanes.count)
        length = ((whole - Double(number - 1) * track.spacing) / Double(number)).clamped(least, most)
      }
      for _ in 0..<number {
        lanes.append(Lane(start: place, length: length, alignment: track.alignment))
        place += length + track.spacing
      }
    }
    return lanes
  }

  /// How many lanes of a least length fit, with gaps between them.
  private func count(of least: Double, _ spacing: Double, in length: Double) -> Int {
    guard length.isFinite else { return max(1, min(children.count, Self.mostLanes)) }
    let count = ((length + spacing + 0.001) / max(least + spacing, 0.001)).rounded(.down)
    return Int(saturating: count.clamped(1, Double(Self.mostLanes)))
  }

  // MARK: Places

  /// The cells for the size that the grid has: a second pass begins with the width that the first one found.
  override func cells(_ proposal: Proposal) -> [PlacedCell] {
    let across = size(proposal)[axis.other]
    let foundArrangement = arrangement(across: across)
    guard !foundArrangement.lanes.isEmpty else { return [] }
    let inset = alignment.standard(in: across) - alignment.standard(in: foundArrangement.across)
    var (cells, line) = ([PlacedCell](), 0.0)
    for (row, first) in stride(from: 0, to: children.count, by: foundArrangement.lanes.count).enumerated() {
      for (child, lane) in zip(children[first...], foundArrangement.lanes) {
        let proposal = Proposal(nil, along: axis, across: lane.length)
        func offset(_ ownAxis: Axis, _ length: Double) -> Double {
          lane.alignment[ownAxis].standard(in: length)
            - child.guide(lane.alignment[ownAxis], axis: ownAxis, proposal: proposal)
        }
        var place = Point(x: 0, y: 0)
        place[axis.other] = inset + lane.start + offset(axis.other, lane.length)
        place[axis] = line + offset(axis, foundArrangement.lines[row])
        if !place.x.isFinite { place.x = 0 }
        if !place.y.isFinite { place.y = 0 }
        cells.append((child, place, proposal))
      }
      line += foundArrangement.lines[row] + gap
    }
    return cells
  }
}

extension LayoutBuilder {
  /// `LazyVGrid` and `LazyHGrid`.
  func lazyGrid(_ view: ViewArchive, along axis: Axis, _ style: ViewStyle, depth: Int) -> LayoutNode {
    let arguments = Arguments(of: view, context)
    var tracks: [LazyGridTrack] = []
    if case .list(let values) = view.arguments[axis == .vertical ? .columns : .rows] {
      tracks = values.prefix(LazyGridNode.mostLanes).map {
        LazyGridTrack($0, name: view.name.rawValue, context: context)
      }
    }
    return LazyGridNode(
      view.name, along: axis, tracks: tracks, alignment: arguments.alignment[axis.other],
      distance: arguments.number(.spacing),
      children: nodes(of: view.children, style, axis: nil, depth: depth), style: style, context: context)
  }
}
