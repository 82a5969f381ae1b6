// SPDX-License-Identifier: Apache-2.0

import Archive
import ChartRules

/// The grid lines, the ticks and the labels of an axis.
struct ChartAxisParts {
  let shapes: ChartMarkShapes
  let plot: Rect
  /// Of the whole chart.
  let bounds: Rect
  let context: LayoutContext

  // MARK: Values

  /// The axis with every second or third value, and so on, if the system chose the values and their labels would overlap.
  /// The extension chose them for the widget's size, and the plot may be smaller.
  func thinned(_ axis: ChartNode.AxisMarks) -> ChartNode.AxisMarks {
    guard axis.isAutomatic, axis.marks.count > 2 else { return axis }
    let direction = axis.dimension == .x ? Axis.horizontal : .vertical
    let places = axis.marks.compactMap { shapes.model.place($0.value, axis.dimension) }
      .map { shapes.distance($0, axis.dimension) }
    guard let first = places.first, let last = places.last else { return axis }
    let distance = abs(last - first) / Double(places.count - 1)
    let space = max(axis.most(direction) + 4, direction == .vertical ? Self.leastHeight : 0)
    guard distance > 0, space > distance else { return axis }
    // Steps of 1, 2 or 5 times a power of ten, so that the values are still round.
    let every = Self.steps.first { Double($0) * distance >= space } ?? axis.marks.count
    // Zero is kept.
    let zero = axis.marks.firstIndex { $0.value == .number(0) } ?? 0
    var axis = axis
    axis.marks = axis.marks.enumerated().filter { ($0.offset - zero).isMultiple(of: every) }.map(\.element)
    return axis
  }

  private static let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

  /// Between two values of a vertical axis, in points. Ours: Apple publishes no number.
  private static let leastHeight = 20.0

  // MARK: Lines

  /// The grid lines, which are below the marks, or the ticks.
  func lines(of axis: ChartNode.AxisMarks, areTicks: Bool) -> [PlacedView] {
    axis.marks.enumerated().compactMap { index, mark in
      guard let arguments = areTicks ? mark.tick : mark.gridLine,
        let place = place(index, axis, isCentered: arguments["centered"] == true), (-0.001...1.001).contains(place)
      else { return nil }
      return line(at: shapes.distance(place, axis.dimension), axis, arguments, isTick: areTicks)
    }
  }

  private func line(
    at distance: Double, _ axis: ChartNode.AxisMarks, _ arguments: [String: ArchivedValue], isTick: Bool
  ) -> PlacedView? {
    let length = max(0, arguments["length"]?.finite ?? ChartNode.Distance.tick)
    var (start, end) = axis.dimension == .x ? (plot.minY, plot.maxY) : (plot.minX, plot.maxX)
    if isTick { (start, end) = axis.isAtStart ? (start - length, start) : (end, end + length) }
    var outline = OutlineMaker()
    outline.move(to: axis.dimension == .x ? Point(x: distance, y: start) : Point(x: start, y: distance))
    outline.line(to: axis.dimension == .x ? Point(x: distance, y: end) : Point(x: end, y: distance))
    guard let frame = outline.bounds else { return nil }
    // Ours: Apple publishes no width.
    var stroke: [String: ArchivedValue] = ["lineWidth": 0.5]
    if case .record(let own) = arguments["stroke"] { stroke = own }
    stroke["style"] = arguments["style"] ?? "separator"
    var view = PlacedView(
      kind: .view(.shape(.path)), arguments: ["path": outline.archived(in: frame, isMirrored: context.isRightToLeft)],
      frame: frame, style: shapes.style)
    view.operations = [ViewArchive.Modifier(.shape(.stroke), stroke)]
    return view
  }

  // MARK: Labels

  /// The labels that do not overlap others and fit into the chart.
  func labels(of axis: ChartNode.AxisMarks) -> [PlacedView] {
    let direction = axis.dimension == .x ? Axis.horizontal : .vertical
    let (least, most) =
      direction == .horizontal ? (bounds.minX, bounds.maxX) : (bounds.minY, bounds.maxY)
    var candidates: [(start: Double, size: Size, node: LayoutNode)] = []
    for (index, mark) in axis.marks.enumerated() {
      guard let node = mark.label else { continue }
      let isDate = if case .date = mark.value { true } else { false }
      guard let place = place(index, axis, isCentered: mark.isLabelCentered ?? false), (-0.001...1.001).contains(place)
      else { continue }
      let (size, distance) = (node.size(.ideal), shapes.distance(place, axis.dimension))
      // A date begins at its line, unless the author centres it in its unit.
      let isLeading = isDate && axis.dimension == .x && mark.isLabelCentered == nil
      var start = isLeading ? distance : distance - size[direction] / 2
      if isLeading, start + size[direction] > most + 1, !candidates.isEmpty { continue }
      start = max(least, min(start, most - size[direction]))
      candidates.append((start, size, node))
    }
    var views: [PlacedView] = []
    var taken: [ClosedRange<Double>] = []
    for (start, size, node) in candidates {
      // A little space between two labels.
      let range = (start - 1)...(start + size[direction] + 1)
      if taken.contains(where: { $0.overlaps(range) }) { continue }
      taken.append(range)
      views += node.place(at: origin(start, size, axis), .ideal)
    }
    return views
  }

  private func origin(_ start: Double, _ size: Size, _ axis: ChartNode.AxisMarks) -> Point {
    let gap = ChartNode.Distance.label
    if axis.dimension == .x {
      return Point(x: start, y: axis.isAtStart ? plot.minY - gap - size.height : plot.maxY + gap)
    }
    return Point(x: axis.isAtStart ? plot.minX - gap - size.width : plot.maxX + gap, y: start)
  }

  /// The place of a value, or the middle between it and the next one.
  private func place(_ index: Int, _ axis: ChartNode.AxisMarks, isCentered: Bool) -> Double? {
    guard let place = shapes.model.place(axis.marks[index].value, axis.dimension) else { return nil }
    guard isCentered, axis.marks[index].value.category == nil else { return place }
    let next = axis.marks.indices.contains(index + 1) ? axis.marks[index + 1].value : nil
    return (place + (next.flatMap { shapes.model.place($0, axis.dimension) } ?? 1)) / 2
  }
}
