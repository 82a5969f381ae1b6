// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

/// The shapes of the marks of a chart in its plot.
struct ChartMarkShapes {
  /// A drawn part of the chart.
  struct Drawn {
    var view: PlacedView
    var zIndex: Double
  }

  let model: ChartModel
  /// The author's styles of categories.
  let styles: [String: ArchivedValue]
  let plot: Rect
  let style: ViewStyle
  let isMirrored: Bool

  /// The colours of categories, in order. Source: documented as the standard colours of charts; ours (the order after
  /// the first ones).
  static let palette: [ArchivedValue] = ["blue", "green", "orange", "purple", "red", "cyan", "yellow"]

  /// All marks in drawing order: as the author wrote them, and higher ones later.
  var views: [PlacedView] {
    var drawn: [Drawn] = []
    var isDone: Set<SeriesKey> = []
    for (index, mark) in model.marks.enumerated() {
      let zIndex = mark.modifier(.layout(.zIndex), .value)?.finite ?? 0
      let views: [PlacedView]
      switch mark.kind {
      case .bar: views = bar(index).map { [$0] } ?? []
      case .point: views = symbol(mark, usual: "circle")
      case .rule: views = rule(mark).map { [$0] } ?? []
      case .sector: views = sector(index).map { [$0] } ?? []
      case .line, .area:
        let key = SeriesKey(mark)
        let isFirst = isDone.insert(key).inserted
        let members = isFirst ? model.marks.indices.filter { SeriesKey(model.marks[$0]) == key } : []
        let own = mark.kind == .line ? line(members) : area(members)
        views = (own.map { [$0] } ?? []) + (mark.kind == .line ? symbol(mark, usual: nil) : [])
      }
      drawn += views.map { Drawn(view: $0, zIndex: zIndex) }
    }
    let ordered = drawn.enumerated().sorted { one, other in
      (one.element.zIndex, one.offset) < (other.element.zIndex, other.offset)
    }
    return ordered.map(\.element.view)
  }

  private struct SeriesKey: Hashable {
    var kind: MarkView
    var series: ChartValue?

    init(_ mark: ChartMark) { (kind, series) = (mark.kind, mark.series) }
  }

  // MARK: Places

  /// Where a part of the length of an axis is, in points. Numbers ascend from the bottom, and categories are in order from
  /// the top.
  func distance(_ part: Double, _ dimension: ChartModel.Dimension) -> Double {
    if dimension == .x { return plot.minX + part * plot.size.width }
    if case .bands = model.scales[.y] { return plot.minY + part * plot.size.height }
    return plot.maxY - part * plot.size.height
  }

  func place(_ value: PlottedValue?, _ dimension: ChartModel.Dimension) -> Double? {
    value.flatMap { model.place($0.place, dimension) }.map { distance($0, dimension) }
  }

  /// Where the mark is; a missing value is the middle of the plot.
  private func point(_ mark: ChartMark) -> Point? {
    guard let x = mark.values[.x].map({ place($0, .x) }) ?? plot.midX,
      let y = mark.values[.y].map({ place($0, .y) }) ?? plot.midY
    else { return nil }
    return Point(x: x, y: y)
  }

  /// The rectangle beside which the annotation of a mark is.
  func anchor(_ index: Int) -> Rect? {
    let mark = model.marks[index]
    switch mark.kind {
    case .bar: return barRect(index)
    case .sector: return sectorOutline(index).flatMap(\.bounds)
    case .rule: return ruleEnds(mark).map { Rect(spanning: $0.0, $0.1) }
    case .area, .line, .point:
      var place = point(mark)
      if mark.kind == .area { place = areaEnds(index).map(\.end) }
      return place.map { Rect(x: $0.x, y: $0.y, width: 0, height: 0) }
    }
  }

  // MARK: Styles

  /// The paint of a mark, with its opacity.
  func paint(_ mark: ChartMark) -> ArchivedValue {
    var paint = mark.modifier(.style(.foregroundStyle), .style) ?? "blue"
    if let category = mark.styleCategory { paint = self.paint(of: category) }
    let opacities = mark.modifiers.compactMap { $0.name == .effect(.opacity) ? $0.arguments[.opacity]?.finite : nil }
    let opacity = opacities.reduce(1) { $0 * $1.clamped(0, 1) }
    return opacity == 1 ? paint : .record([.color: paint, .opacity: .number(opacity)])
  }

  /// The paint of a category: that of the author, or the next one of the system.
  func paint(of category: String) -> ArchivedValue {
    let index = model.categories.firstIndex(of: category) ?? 0
    return styles[category] ?? Self.palette[index % Self.palette.count]
  }

  private func shape(_ outline: OutlineMaker, fill paint: ArchivedValue) -> PlacedView? {
    placed(outline, ViewArchive.Modifier(.shape(.fill), [.style: paint]))
  }

  private func shape(_ outline: OutlineMaker, stroke paint: ArchivedValue, _ mark: ChartMark) -> PlacedView? {
    var line: ArchivedArguments = [.lineWidth: mark.kind == .line ? 2 : 1]
    if mark.kind == .line { line.merge([.lineCap: "round", .lineJoin: "round"]) }
    if case .record(let own) = mark.modifier(.chart(.lineStyle), .style) { line = own }
    line[.style] = paint
    return placed(outline, ViewArchive.Modifier(.shape(.stroke), line))
  }

  private func placed(_ outline: OutlineMaker, _ operation: ViewArchive.Modifier) -> PlacedView? {
    guard let frame = outline.bounds else { return nil }
    var view = PlacedView(
      kind: .view(.shape(.path)), arguments: [.path: outline.archived(in: frame, isMirrored: isMirrored)],
      frame: frame, style: style)
    view.operations = [operation]
    return view
  }

  // MARK: Bars

  private func bar(_ index: Int) -> PlacedView? {
    guard let rect = barRect(index) else { return nil }
    let mark = model.marks[index]
    var arguments: ArchivedArguments = [:]
    let radius = mark.modifier(.effect(.cornerRadius), .radius)?.finite ?? 0
    if radius > 0 {
      arguments[.cornerRadius] = .number(radius)
      if let style = mark.modifier(.effect(.cornerRadius), .style) { arguments[.style] = style }
    }
    var view = PlacedView(
      kind: .view(.shape(radius > 0 ? .roundedRectangle : .rectangle)), arguments: arguments, frame: rect, style: style)
    view.operations = [ViewArchive.Modifier(.shape(.fill), [.style: paint(mark)])]
    return view
  }

  private func barRect(_ index: Int) -> Rect? {
    let mark = model.marks[index]
    let (place, extent): (ChartModel.Dimension, ChartModel.Dimension) = mark.isVertical ? (.x, .y) : (.y, .x)
    guard let (start, end) = extents(index, extent), let (lower, upper) = thickness(mark, place) else { return nil }
    return mark.isVertical
      ? Rect(spanning: Point(x: lower, y: start), Point(x: upper, y: end))
      : Rect(spanning: Point(x: start, y: lower), Point(x: end, y: upper))
  }

  /// The start and the end of a bar or an area along its extent, in points.
  private func extents(_ index: Int, _ dimension: ChartModel.Dimension) -> (Double, Double)? {
    let mark = model.marks[index]
    let channels: (ChartMark.Channel, ChartMark.Channel) = dimension == .x ? (.xStart, .xEnd) : (.yStart, .yEnd)
    if let start = place(mark.values[channels.0], dimension), let end = place(mark.values[channels.1], dimension) {
      return (start, end)
    }
    if let extent = model.extents[index] {
      guard let start = model.place(.number(extent.start), dimension),
        let end = model.place(.number(extent.end), dimension)
      else { return nil }
      return (distance(start, dimension), distance(end, dimension))
    }
    // A length that is not a number begins at the edge of the plot.
    return place(mark.values[mark.extentChannel], dimension).map { (distance(0, dimension), $0) }
  }

  /// The edges of a bar across its extent, in points.
  private func thickness(_ mark: ChartMark, _ dimension: ChartModel.Dimension) -> (Double, Double)? {
    let size = mark.arguments[dimension == .x ? .width : .height]
    guard let value = mark.values[mark.placeChannel] else {
      return (distance(0, dimension), distance(1, dimension))
    }
    guard let scale = model.scales[dimension], let centre = place(value, dimension) else { return nil }
    var (lower, upper, usual) = (centre, centre, 0.7)
    if let band = scale.band(value) {
      (lower, upper) = (distance(band.start, dimension), distance(band.end, dimension))
      if lower > upper { swap(&lower, &upper) }
      if value.bin != nil { usual = 0.8 }
    } else {
      let step = (model.barSteps[dimension] ?? 0.1) * (dimension == .x ? plot.size.width : plot.size.height)
      (lower, upper) = (centre - step / 2, centre + step / 2)
    }
    let step = upper - lower
    let length = size.map { Self.length($0, of: step) } ?? step * usual
    var (first, last) = (centre - max(0, length) / 2, centre + max(0, length) / 2)
    if let category = mark.positionCategory, let place = model.positions.firstIndex(of: category) {
      let part = (last - first) / Double(model.positions.count)
      (first, last) = (first + Double(place) * part, first + Double(place + 1) * part)
    }
    return (first, last)
  }

  /// A dimension of a mark in points.
  private static func length(_ dimension: ArchivedValue, of whole: Double) -> Double {
    guard case .record(let parts) = dimension else { return whole }
    if let fixed = parts[.fixed]?.finite { return fixed }
    if let inset = parts[.inset]?.finite { return whole - 2 * inset }
    return whole * (parts[.ratio]?.finite ?? 1)
  }

  // MARK: Lines and areas

  private func curve(_ mark: ChartMark, _ points: [Point]) -> [ChartCurve.Part] {
    ChartCurve.parts(
      through: points.map { ChartCurve.Place($0.x, $0.y) },
      method: mark.modifier(.chart(.interpolationMethod), .method)?.string ?? "linear",
      tension: mark.modifier(.chart(.interpolationMethod), .tension)?.finite ?? 0,
      alpha: mark.modifier(.chart(.interpolationMethod), .alpha)?.finite ?? 0.5)
  }

  private func line(_ members: [Int]) -> PlacedView? {
    let points = members.compactMap { point(model.marks[$0]) }
    guard let first = points.first, let mark = members.first.map({ model.marks[$0] }), points.count > 1 else {
      return nil
    }
    var outline = OutlineMaker()
    outline.move(to: first)
    for part in curve(mark, points) { outline.add(part) }
    return shape(outline, stroke: paint(mark), mark)
  }

  private func areaEnds(_ index: Int) -> (start: Point, end: Point)? {
    let mark = model.marks[index]
    let (place, extent): (ChartModel.Dimension, ChartModel.Dimension) = mark.isVertical ? (.x, .y) : (.y, .x)
    guard let across = self.place(mark.values[mark.placeChannel], place), let ends = extents(index, extent) else {
      return nil
    }
    return mark.isVertical
      ? (Point(x: across, y: ends.0), Point(x: across, y: ends.1))
      : (Point(x: ends.0, y: across), Point(x: ends.1, y: across))
  }

  private func area(_ members: [Int]) -> PlacedView? {
    let ends = members.compactMap { areaEnds($0) }
    guard let first = ends.first, let last = ends.last, let mark = members.first.map({ model.marks[$0] }),
      ends.count > 1
    else { return nil }
    var outline = OutlineMaker()
    outline.move(to: first.end)
    for part in curve(mark, ends.map(\.end)) { outline.add(part) }
    outline.line(to: last.start)
    // The same curve backwards: its points in the order of the line, so that the curve is the same.
    let lower = curve(mark, ends.map(\.start))
    var starts = [ChartCurve.Place(first.start.x, first.start.y)] + lower.map(\.end)
    for part in lower.reversed() {
      starts.removeLast()
      guard let start = starts.last else { break }
      switch part {
      case .line: outline.add(.line(start))
      case .curve(let one, let other, _): outline.add(.curve(other, one, start))
      }
    }
    outline.close()
    return shape(outline, fill: paint(mark))
  }

  // MARK: Rules

  private func ruleEnds(_ mark: ChartMark) -> (Point, Point)? {
    if mark.values[.x] != nil, mark.values[.xStart] == nil {
      guard let x = place(mark.values[.x], .x) else { return nil }
      let start = mark.values[.yStart].map { place($0, .y) } ?? plot.maxY
      let end = mark.values[.yEnd].map { place($0, .y) } ?? plot.minY
      guard let start, let end else { return nil }
      return (Point(x: x, y: start), Point(x: x, y: end))
    }
    guard let y = place(mark.values[.y], .y) else { return nil }
    let start = mark.values[.xStart].map { place($0, .x) } ?? plot.minX
    let end = mark.values[.xEnd].map { place($0, .x) } ?? plot.maxX
    guard let start, let end else { return nil }
    return (Point(x: start, y: y), Point(x: end, y: y))
  }

  private func rule(_ mark: ChartMark) -> PlacedView? {
    guard let (start, end) = ruleEnds(mark) else { return nil }
    var outline = OutlineMaker()
    outline.move(to: start)
    outline.line(to: end)
    return shape(outline, stroke: paint(mark), mark)
  }

  // MARK: Points

  private func symbol(_ mark: ChartMark, usual: String?) -> [PlacedView] {
    guard let name = mark.modifier(.chart(.symbol), .symbol)?.string ?? usual, let centre = point(mark) else {
      return []
    }
    // Ours: Apple publishes no size.
    var size = Size(width: 6, height: 6)
    if let area = mark.modifier(.chart(.symbolSize), .area)?.finite, area > 0 {
      // The area of a circle.
      let side = 2 * (area / .pi).squareRoot()
      size = Size(width: side, height: side)
    }
    if case .record(let parts) = mark.modifier(.chart(.symbolSize), .size) {
      size = Size(width: max(0, parts[.width]?.finite ?? 0), height: max(0, parts[.height]?.finite ?? 0))
    }
    return ChartSymbol(name: name, centre: centre, size: size).outlines.compactMap { outline in
      if ["plus", "cross", "asterisk"].contains(name) {
        return placed(
          outline, ViewArchive.Modifier(.shape(.stroke), [.style: paint(mark), .lineWidth: .number(size.width / 4)]))
      }
      return shape(outline, fill: paint(mark))
    }
  }

  // MARK: Sectors

  private func sector(_ index: Int) -> PlacedView? {
    sectorOutline(index).flatMap { shape($0, fill: paint(model.marks[index])) }
  }

  /// The middle of a sector, between its radii and its angles.
  func middle(_ index: Int) -> Point? {
    guard let sector = chartSector(index) else { return nil }
    let (angle, radius) = ((sector.start + sector.end) / 2, (sector.inner + sector.outer) / 2)
    return Point(x: plot.midX + sin(angle) * radius, y: plot.midY - cos(angle) * radius)
  }

  private func sectorOutline(_ index: Int) -> OutlineMaker? { chartSector(index)?.outline }

  private func chartSector(_ index: Int) -> ChartSector? {
    let mark = model.marks[index]
    guard let extent = model.extents[index], extent.end > extent.start else { return nil }
    let whole = min(plot.size.width, plot.size.height) / 2
    func radius(_ label: ArgumentLabel, _ usual: Double) -> Double {
      guard case .record(let parts) = mark.arguments[label] else { return usual }
      if let inset = parts[.inset]?.finite { return (whole - inset).clamped(0, whole) }
      return (parts[.fixed]?.finite ?? whole * (parts[.ratio]?.finite ?? 1)).clamped(0, whole)
    }
    return ChartSector(
      centre: Point(x: plot.midX, y: plot.midY), inner: radius(.innerRadius, 0), outer: radius(.outerRadius, whole),
      start: extent.start * 2 * .pi, end: extent.end * 2 * .pi,
      inset: max(0, mark.arguments[.angularInset]?.finite ?? 0),
      corner: max(0, mark.modifier(.effect(.cornerRadius), .radius)?.finite ?? 0))
  }
}

extension Rect {
  /// The rectangle with two opposite corners.
  init(spanning one: Point, _ other: Point) {
    self.init(
      x: min(one.x, other.x), y: min(one.y, other.y), width: abs(other.x - one.x), height: abs(other.y - one.y))
  }
}

/// A sector of a pie, or of a ring.
struct ChartSector {
  var centre: Point
  /// In points.
  var inner: Double
  var outer: Double
  /// In radians, clockwise from the top.
  var start: Double
  var end: Double
  /// The distance from each straight edge to the true one, in points.
  var inset: Double
  /// The radius of the corners in points.
  var corner: Double

  /// `nil` for a sector that has no area.
  var outline: OutlineMaker? {
    let isWhole = end - start >= 2 * .pi - 1e-9
    let inset = isWhole ? 0 : inset
    guard outer > inner, outer > inset else { return nil }
    var outline = OutlineMaker()
    if isWhole {
      outline.arc(centre, radius: outer, from: start, to: end)
      outline.close()
      if inner > 0 {
        outline.move(to: point(start, inner))
        outline.arc(centre, radius: inner, from: end, to: start)
        outline.close()
      }
      return outline
    }
    func shift(_ radius: Double) -> Double { asin(min(1, inset / radius)) }
    let (first, last) = (start + shift(outer), end - shift(outer))
    guard last > first else { return nil }
    // Where the two straight edges meet, or the inner arc where they do not.
    let apex = inset / max(sin(min(end - start, .pi) / 2), 1e-6)
    let (innerFirst, innerLast) = inner > inset ? (start + shift(inner), end - shift(inner)) : (0, 0)
    let hasHole = inner > apex && innerLast > innerFirst
    let corner = min(self.corner, (outer - (hasHole ? inner : apex)) / 2, (last - first) * outer / 2)
    let innerCorner = hasHole ? min(corner, (innerLast - innerFirst) * inner / 2) : 0
    if corner > 0.01 {
      outline.move(to: edge(start, radius: outer - corner, distance: inset))
      outline.quad(to: point(first + corner / outer, outer), control: point(first, outer))
      outline.arc(centre, radius: outer, from: first + corner / outer, to: last - corner / outer)
      outline.quad(to: edge(end, radius: outer - corner, distance: -inset), control: point(last, outer))
    } else {
      outline.arc(centre, radius: outer, from: first, to: last)
    }
    if !hasHole {
      outline.line(to: point((start + end) / 2, min(apex, outer)))
    } else if innerCorner > 0.01 {
      outline.line(to: edge(end, radius: inner + innerCorner, distance: -inset))
      outline.quad(to: point(innerLast - innerCorner / inner, inner), control: point(innerLast, inner))
      outline.arc(centre, radius: inner, from: innerLast - innerCorner / inner, to: innerFirst + innerCorner / inner)
      outline.quad(to: edge(start, radius: inner + innerCorner, distance: inset), control: point(innerFirst, inner))
    } else {
      outline.arc(centre, radius: inner, from: innerLast, to: innerFirst)
    }
    outline.close()
    return outline
  }

  private func point(_ angle: Double, _ radius: Double) -> Point {
    Point(x: centre.x + sin(angle) * radius, y: centre.y - cos(angle) * radius)
  }

  /// A point on a straight edge, which is beside the line at an angle by a distance, clockwise.
  private func edge(_ angle: Double, radius: Double, distance: Double) -> Point {
    point(angle + asin(max(-1, min(1, distance / max(radius, abs(distance), 1e-6)))), radius)
  }
}

/// The symbol of a point. Source of the names: `Charts.BasicChartSymbolShape`.
struct ChartSymbol {
  var name: String
  var centre: Point
  /// In points.
  var size: Size

  /// The outlines; those of `plus`, `cross` and `asterisk` are lines.
  var outlines: [OutlineMaker] {
    switch name {
    case "square": [polygon([45, 135, 225, 315], 2.0.squareRoot())]
    case "diamond": [polygon([0, 90, 180, 270])]
    case "triangle": [polygon([0, 120, 240])]
    case "pentagon": [polygon([0, 72, 144, 216, 288])]
    case "plus": lines([0, 90])
    case "cross": lines([45, 135])
    case "asterisk": lines([0, 60, 120])
    default: [circle]
    }
  }

  private var circle: OutlineMaker {
    var outline = OutlineMaker()
    let (x, y) = (size.width / 2, size.height / 2)
    let factor = 0.552285
    func place(_ dx: Double, _ dy: Double) -> ChartCurve.Place {
      ChartCurve.Place(centre.x + dx * x, centre.y + dy * y)
    }
    outline.move(to: Point(x: centre.x + x, y: centre.y))
    outline.add(.curve(place(1, factor), place(factor, 1), place(0, 1)))
    outline.add(.curve(place(-factor, 1), place(-1, factor), place(-1, 0)))
    outline.add(.curve(place(-1, -factor), place(-factor, -1), place(0, -1)))
    outline.add(.curve(place(factor, -1), place(1, -factor), place(1, 0)))
    outline.close()
    return outline
  }

  private func point(_ degrees: Double, _ factor: Double) -> Point {
    let angle = degrees * .pi / 180
    return Point(
      x: centre.x + sin(angle) * factor * size.width / 2, y: centre.y - cos(angle) * factor * size.height / 2)
  }

  private func polygon(_ degrees: [Double], _ factor: Double = 1) -> OutlineMaker {
    var outline = OutlineMaker()
    for (index, angle) in degrees.enumerated() {
      if index == 0 { outline.move(to: point(angle, factor)) } else { outline.line(to: point(angle, factor)) }
    }
    outline.close()
    return outline
  }

  private func lines(_ degrees: [Double]) -> [OutlineMaker] {
    degrees.map { angle in
      var outline = OutlineMaker()
      outline.move(to: point(angle, 1))
      outline.line(to: point(angle + 180, 1))
      return outline
    }
  }
}

/// An outline of a mark, in the coordinates of the layout, which becomes a placed shape.
struct OutlineMaker {
  private enum Element {
    case move(Point)
    case line(Point)
    case curve(Point, Point, Point)
    case close
  }

  private var elements: [Element] = []

  /// Whether nothing is drawn.
  var isEmpty: Bool { elements.isEmpty }

  mutating func move(to point: Point) { elements.append(.move(point)) }
  mutating func line(to point: Point) { elements.append(.line(point)) }
  mutating func close() { elements.append(.close) }

  /// Adds a part of a line through points.
  mutating func add(_ part: ChartCurve.Part) {
    func point(_ place: ChartCurve.Place) -> Point { Point(x: place.x, y: place.y) }
    switch part {
    case .line(let end): elements.append(.line(point(end)))
    case .curve(let one, let other, let end): elements.append(.curve(point(one), point(other), point(end)))
    }
  }

  /// Adds a quadratic curve from the current point.
  mutating func quad(to end: Point, control: Point) {
    guard let start = current else { return }
    func between(_ point: Point) -> Point {
      Point(x: point.x + (control.x - point.x) * 2 / 3, y: point.y + (control.y - point.y) * 2 / 3)
    }
    elements.append(.curve(between(start), between(end), end))
  }

  /// Adds an arc; the angles are in radians, clockwise from the top. The first point is joined by a line.
  mutating func arc(_ centre: Point, radius: Double, from start: Double, to end: Double) {
    func point(_ angle: Double, _ radius: Double) -> Point {
      Point(x: centre.x + sin(angle) * radius, y: centre.y - cos(angle) * radius)
    }
    let first = point(start, radius)
    elements.append(elements.isEmpty ? .move(first) : .line(first))
    let count = min(max(1, Int(saturating: (abs(end - start) / (.pi / 4)).rounded(.up))), 1000)
    let step = (end - start) / Double(count)
    let handle = 4 / 3 * tan(step / 4) * radius
    for index in 0..<count {
      let (one, other) = (start + Double(index) * step, start + Double(index + 1) * step)
      let (from, to) = (point(one, radius), point(other, radius))
      elements.append(
        .curve(
          Point(x: from.x + cos(one) * handle, y: from.y + sin(one) * handle),
          Point(x: to.x - cos(other) * handle, y: to.y - sin(other) * handle), to))
    }
  }

  private var current: Point? {
    switch elements.last {
    case .move(let point), .line(let point), .curve(_, _, let point): point
    default: nil
    }
  }

  private var points: [Point] {
    elements.flatMap { element -> [Point] in
      switch element {
      case .move(let point), .line(let point): [point]
      case .curve(let one, let other, let end): [one, other, end]
      case .close: []
      }
    }
  }

  /// The rectangle around all points; `nil` without points.
  var bounds: Rect? {
    guard let x = points.map(\.x).range, let y = points.map(\.y).range else { return nil }
    return Rect(
      x: x.lowerBound, y: y.lowerBound, width: x.upperBound - x.lowerBound, height: y.upperBound - y.lowerBound)
  }

  /// The path in the coordinates of a frame, as the archive of a path has it.
  ///
  /// - Parameter isMirrored: whether left and right are exchanged.
  func archived(in frame: Rect, isMirrored: Bool) -> ArchivedValue {
    func numbers(_ point: Point) -> [ArchivedValue] {
      let x = point.x - frame.minX
      return [.number(isMirrored ? frame.size.width - x : x), .number(point.y - frame.minY)]
    }
    return .list(
      elements.map { element in
        switch element {
        case .move(let point): .list(["move"] + numbers(point))
        case .line(let point): .list(["line"] + numbers(point))
        case .curve(let one, let other, let end): .list(["curve"] + numbers(end) + numbers(one) + numbers(other))
        case .close: .list(["close"])
        }
      })
  }
}
