// SPDX-License-Identifier: Apache-2.0

import Archive

extension LayoutNode {
  /// A part of a control: a shape in one style.
  fileprivate final func part(
    _ shape: ShapeView, in rect: Rect, paint: ArchivedValue, arguments: ArchivedArguments = [:],
    trimmed: (from: Double, to: Double)? = nil, turned degrees: Double = 0, stroke: Double? = nil
  ) -> PlacedView {
    var view = PlacedView(kind: .view(.shape(shape)), arguments: arguments, frame: rect, style: style)
    if let trimmed {
      view.operations.append(.init(.shape(.trim), [.from: .number(trimmed.from), .to: .number(trimmed.to)]))
    }
    if degrees != 0 { view.operations.append(.init(.shape(.rotation), [.degrees: .number(degrees)])) }
    if let stroke {
      view.operations.append(
        .init(.shape(.stroke), [.style: paint, .lineWidth: .number(stroke), .lineCap: "round"]))
    } else {
      view.operations.append(.init(.shape(.fill), [.style: paint]))
    }
    return view
  }

  /// The tint of a meter: the author's, or the system's, which is the colour of texts in an accessory
  /// family.
  fileprivate final var meterTint: ArchivedValue {
    style.tint ?? (context.family?.isAccessory == true ? "primary" : "tint")
  }

  /// The tint along a meter: a gradient has its colours from the least value to the greatest.
  ///
  /// - Parameters:
  ///   - name: the label of the gradient.
  ///   - geometry: its other arguments.
  fileprivate final func meterPaint(_ name: ArgumentLabel, _ geometry: ArchivedArguments) -> ArchivedValue {
    var colors = meterTint
    if case .record(let parts) = colors, let list = parts[.gradient] { colors = list }
    guard case .list = colors else { return meterTint }
    return .record(geometry.merging([name: colors]))
  }
}

/// The bar of a gauge or a progress view. It takes the width.
final class BarNode: LayoutNode {
  struct Bar {
    /// From 0 to 1; `nil`: progress without a value.
    var value: Double?
    /// A marker at the value in place of a filled part.
    var hasMarker: Bool
    /// In points.
    var height: Double
  }

  private let bar: Bar
  /// Without a proposal, in points.
  private static let usual = 100.0

  init(_ bar: Bar, style: ViewStyle, context: LayoutContext) {
    self.bar = bar
    super.init("Bar", style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    Size(width: proposal.width ?? Self.usual, height: bar.height)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let rect = Rect(origin: origin, size: size(proposal))
    guard rect.size.width.isFinite else { return [] }
    let (width, height) = (rect.size.width, bar.height)
    let ends: [ArchivedValue] = context.isRightToLeft ? ["trailing", "leading"] : ["leading", "trailing"]
    let paint = meterPaint(.linearGradient, [.from: ends[0], .to: ends[1]])
    guard let value = bar.value else {
      // A still sign, since nothing moves in a widget.
      let segment = [(from: width / 3, to: width * 2 / 3)]
      return [
        part(.capsule, in: rect, paint: "fill"),
        part(.path, in: rect, paint: paint, arguments: outline(segment, width: width, height: height)),
      ]
    }
    if bar.hasMarker {
      let place = height / 2 + (max(width, height) - height) * value
      let parts: [(from: Double, to: Double)] = [
        (0, place - height), (place - height / 2, place + height / 2), (place + height, width),
      ]
      return [
        part(
          .path, in: rect, paint: paint,
          arguments: outline(parts.filter { $0.to - $0.from > 0.1 }, width: width, height: height))
      ]
    }
    var views = [part(.capsule, in: rect, paint: "fill")]
    if value > 0 {
      let filled = [(from: 0.0, to: min(width, max(height, width * value)))]
      views.append(part(.path, in: rect, paint: paint, arguments: outline(filled, width: width, height: height)))
    }
    return views
  }

  /// Capsules between places on the bar, as a path in the frame of the whole bar.
  private func outline(
    _ parts: [(from: Double, to: Double)], width: Double, height: Double
  ) -> ArchivedArguments {
    let rects = parts.map { part -> ArchivedValue in
      let start = context.isRightToLeft ? width - part.to : part.from
      let radius = ArchivedValue.number(min(height, part.to - part.from) / 2)
      return .list([
        "roundedRect", .number(start), 0, .number(part.to - part.from), .number(height), radius, radius, "circular",
      ])
    }
    return [.path: .list(rects)]
  }
}

/// The ring of a gauge or a progress view: a square with a view in its middle.
final class RingNode: LayoutNode {
  struct Ring {
    /// From 0 to 1.
    var value: Double
    /// Whether a quarter of the ring is left out at the bottom.
    var isOpen: Bool
    /// A marker at the value in place of a filled part.
    var hasMarker: Bool
    /// The side without a proposal, in points.
    var ideal: Double
    /// The largest side in points.
    var most: Double
    /// Of the line, as a part of the side.
    var thickness: Double
  }

  private let ring: Ring
  private let centre: LayoutNode?
  private let below: [LayoutNode]

  /// The side of the ring of a gauge in points. Ours: Apple publishes none.
  static let usual = 58.0

  /// - Parameter below: one view in the gap of an open ring, or two at its ends.
  init(_ ring: Ring, centre: LayoutNode?, below: [LayoutNode] = [], style: ViewStyle, context: LayoutContext) {
    self.ring = ring
    self.centre = centre
    self.below = below
    super.init("Ring", style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let side = min(proposal.width ?? ring.ideal, proposal.height ?? ring.ideal, ring.most)
    return Size(width: side, height: side)
  }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let side = size(proposal).width
    guard side.isFinite, side > 0 else { return [] }
    let line = side * ring.thickness
    let rect = Rect(x: origin.x, y: origin.y, width: side, height: side)
    var views = lines(rect.inset(Insets(line / 2)), line)
    let hole = side - 2 * line
    if let centre {
      views += place(centre, at: Point(x: rect.midX, y: rect.midY), Size(width: hole * 0.84, height: hole * 0.66))
    }
    let space = Size(width: side * (below.count > 1 ? 0.28 : 0.46), height: side * 0.2)
    // The ring is the same from right to left, and so are its ends.
    let ordered = context.isRightToLeft ? below.prefix(2).reversed() : Array(below.prefix(2))
    for (index, view) in ordered.enumerated() {
      let x = below.count == 1 ? rect.midX : rect.midX + side * (index == 0 ? -0.19 : 0.19)
      views += place(view, at: Point(x: x, y: rect.maxY - space.height / 2), space)
    }
    return views
  }

  private func place(_ node: LayoutNode, at centre: Point, _ space: Size) -> [PlacedView] {
    let size = node.size(Proposal(space))
    return node.place(at: Point(x: centre.x - size.width / 2, y: centre.y - size.height / 2), Proposal(space))
  }

  /// The line of the ring: its whole with a marker, or the filled part above a faded one.
  private func lines(_ rect: Rect, _ line: Double) -> [PlacedView] {
    let (start, share) = ring.isOpen ? (135.0, 0.75) : (-90.0, 1.0)
    // By how much the round end of a line exceeds it, in turns.
    let cap = line / 2 / max(.pi * rect.size.width, 0.01)
    let first = start - (ring.isOpen ? 0 : cap * 360)
    let paint = meterPaint(
      .angularGradient, [.center: "center", .from: .number(first), .to: .number(first + share * 360)])
    func arc(from: Double, to: Double, paint: ArchivedValue) -> PlacedView {
      part(.circle, in: rect, paint: paint, trimmed: (from * share, to * share), turned: start, stroke: line)
    }
    guard ring.hasMarker else {
      let track = arc(from: 0, to: 1, paint: .record([.color: paint, .opacity: 0.25]))
      return [track] + (ring.value > 0 ? [arc(from: 0, to: ring.value, paint: paint)] : [])
    }
    // Half of a line between the marker and the ends of the lines.
    let gap = cap * 3 / share
    let marker = arc(from: max(0, ring.value - 0.0005), to: min(1, ring.value + 0.0005), paint: paint)
    return (ring.value - gap > 0 ? [arc(from: 0, to: ring.value - gap, paint: paint)] : [])
      + (ring.value + gap < 1 ? [arc(from: ring.value + gap, to: 1, paint: paint)] : []) + [marker]
  }
}

/// The switch of a toggle. Source of the size: `UISwitch` before iOS 26, as developers measured it.
final class SwitchNode: LayoutNode {
  private let isOn: Bool

  init(isOn: Bool, _ style: ViewStyle, _ context: LayoutContext) {
    self.isOn = isOn
    super.init("Switch", style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size { Size(width: 51, height: 31) }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let rect = Rect(origin: origin, size: size(proposal))
    let off = ArchivedValue.record([.color: "fill", .opacity: 0.8])
    let arguments: ArchivedArguments = isOn ? [.isFilledControl: true] : [:]
    let track = part(.capsule, in: rect, paint: isOn ? style.tint ?? "green" : off, arguments: arguments)
    let knob = Rect(x: isOn ? rect.maxX - 29 : rect.minX + 2, y: rect.minY + 2, width: 27, height: 27)
    var shadow = PlacedView(
      kind: .effect(.shadow),
      arguments: [.radius: 3, .y: 2, .color: .record([.color: "black", .opacity: 0.2])], frame: knob, style: style)
    shadow.children = [part(.circle, in: knob, paint: "white")]
    return [track, shadow]
  }
}

/// A still sign for progress without a value: eight spokes.
final class SpinnerNode: LayoutNode {
  private let side: Double

  /// - Parameter side: in points.
  init(side: Double, _ style: ViewStyle, _ context: LayoutContext) {
    self.side = side
    super.init("Spinner", style: style, context: context)
  }

  override func calculateSize(_ proposal: Proposal) -> Size { Size(width: side, height: side) }

  override func place(at origin: Point, _ proposal: Proposal) -> [PlacedView] {
    let rect = Rect(origin: origin, size: size(proposal))
    let spoke = Rect(x: rect.midX - side * 0.05, y: rect.minY, width: side * 0.1, height: side * 0.28)
    return (0..<8).map { index in
      var turn = PlacedView(
        kind: .effect(.rotationEffect), arguments: [.degrees: .number(Double(index) * 45)], frame: rect, style: style)
      let opacity = 1 - Double(index) * 0.1
      let color = ArchivedValue.record([.color: style.tint ?? "secondary", .opacity: .number(opacity)])
      turn.children = [part(.capsule, in: spoke, paint: color)]
      return turn
    }
  }
}

/// A view centred in a square around it.
final class SquareNode: WrappingNode {
  init(_ content: LayoutNode, _ style: ViewStyle) { super.init("Square", content: content, style: style) }

  override func calculateSize(_ proposal: Proposal) -> Size {
    let size = content.size(proposal)
    let side = max(size.width, size.height)
    return Size(width: side, height: side)
  }

  override func offset(_ proposal: Proposal) -> Point { aligned(.center, size: size(proposal), proposal: proposal) }
}
