// SPDX-License-Identifier: Apache-2.0

import Archive
package import Layout

extension Path {
  /// A rounded rectangle, clockwise from the start of its top edge.
  ///
  /// - Parameters:
  ///   - radii: of the corners: top leading, top trailing, bottom trailing, bottom leading; each is limited to half a side.
  ///   - isContinuous: whether the curvature ascends continuously. Source of the numbers: LinBowen9656/ChainableUIKit,
  ///     `UIBezierPath+ContinuousCorner.swift`.
  package init(roundedRect rect: Rect, radii: [Double], isContinuous: Bool) {
    let side = min(rect.size.width, rect.size.height)
    let corners = [
      (Point(x: rect.minX, y: rect.minY), Point(x: 1, y: 0), Point(x: 0, y: 1)),
      (Point(x: rect.maxX, y: rect.minY), Point(x: 0, y: 1), Point(x: -1, y: 0)),
      (Point(x: rect.maxX, y: rect.maxY), Point(x: -1, y: 0), Point(x: 0, y: -1)),
      (Point(x: rect.minX, y: rect.maxY), Point(x: 0, y: -1), Point(x: 1, y: 0)),
    ]
    for (index, (corner, out, into)) in corners.enumerated() {
      let reach = isContinuous ? 1.528665 : 1
      let radius = max(0, min(radii[index], side / 2 / reach))
      /// A point of the corner, by its distances along the edge that ends in it and along the edge that begins in it.
      func point(_ before: Double, _ after: Double) -> Point {
        Point(
          x: corner.x + (into.x * before + out.x * after) * radius,
          y: corner.y + (into.y * before + out.y * after) * radius)
      }
      func add(_ end: Point, _ one: Point, _ two: Point) {
        elements.append(.curve(end, control1: one, control2: two))
      }
      elements.append(index == 0 ? .move(point(reach, 0)) : .line(point(reach, 0)))
      if radius == 0 { continue }
      if isContinuous {
        add(point(0.631494, 0.074911), point(1.088493, 0), point(0.868407, 0))
        add(point(0.074911, 0.631494), point(0.372824, 0.169060), point(0.169060, 0.372824))
        add(point(0, 1.528665), point(0, 0.868407), point(0, 1.088493))
      } else {
        add(point(0, 1), point(1 - 0.552285, 0), point(0, 1 - 0.552285))
      }
    }
    elements.append(.close)
  }

  /// The outline of one of SwiftUI's shapes in a rectangle; `nil` for another view.
  ///
  /// - Parameter container: the radius of the corners of the widget.
  init?(_ view: PlacedView, container: (rect: Rect, radius: Double)) {
    guard case .view(.shape(let name)) = view.kind else { return nil }
    let inset = view.arguments["inset"]?.number ?? 0
    let rect = view.frame.inset(Insets(inset))
    let isContinuous = view.arguments["style"] != "circular"
    let side = min(rect.size.width, rect.size.height)
    switch name {
    case .rectangle: self.init(rect)
    case .circle:
      self.init(ellipseIn: Rect(x: rect.midX - side / 2, y: rect.midY - side / 2, width: side, height: side))
    case .ellipse: self.init(ellipseIn: rect)
    // A corner that is as large as the side is round in both styles.
    case .capsule:
      self.init(roundedRect: rect, radii: Array(repeating: side / 2, count: 4), isContinuous: false)
    case .roundedRectangle:
      let radius: Double
      if case .record(let size) = view.arguments["cornerRadius"] {
        radius = min(size["width"]?.number ?? 0, size["height"]?.number ?? 0)
      } else {
        radius = view.arguments["cornerRadius"]?.number ?? 0
      }
      self.init(
        roundedRect: rect, radii: Array(repeating: max(0, radius - inset), count: 4), isContinuous: isContinuous)
    case .unevenRoundedRectangle:
      var radii = [0.0, 0, 0, 0]
      if case .record(let record) = view.arguments["cornerRadii"] {
        radii = ["topLeading", "topTrailing", "bottomTrailing", "bottomLeading"].map {
          max(0, (record[$0]?.number ?? 0) - inset)
        }
      }
      self.init(roundedRect: rect, radii: radii, isContinuous: isContinuous)
    case .containerRelativeShape:
      let outer = container.rect
      let distance =
        [
          rect.minX - outer.minX, rect.minY - outer.minY, outer.maxX - rect.maxX, outer.maxY - rect.maxY,
        ].min() ?? 0
      self.init(
        roundedRect: rect, radii: Array(repeating: max(0, container.radius - max(0, distance)), count: 4),
        isContinuous: true)
    case .path:
      guard case .list(let elements) = view.arguments["path"] else { return nil }
      self.init(archived: elements)
      self = mapped { Point(x: $0.x + view.frame.minX, y: $0.y + view.frame.minY) }
    }
  }

  /// A path as `SwiftUI.Path` is archived: each element is a keyword and its numbers.
  private init(archived elements: [ArchivedValue]) {
    for element in elements {
      guard case .list(let parts) = element, let word = parts.first?.string else { continue }
      let numbers = parts.dropFirst().map { $0.number ?? 0 }.map { $0.isFinite ? $0 : 0 }
      func point(_ index: Int) -> Point {
        numbers.count > index * 2 + 1 ? Point(x: numbers[index * 2], y: numbers[index * 2 + 1]) : Point(x: 0, y: 0)
      }
      func rect() -> Rect { Rect(origin: point(0), size: Size(width: point(1).x, height: point(1).y)) }
      switch word {
      case "move": self.elements.append(.move(point(0)))
      case "line": self.elements.append(.line(point(0)))
      case "quad": self.elements.append(.quad(point(0), control: point(1)))
      case "curve": self.elements.append(.curve(point(0), control1: point(1), control2: point(2)))
      case "close": self.elements.append(.close)
      case "rect": self.elements += Path(rect()).elements
      case "ellipse": self.elements += Path(ellipseIn: rect()).elements
      case "roundedRect":
        let radii = Array(repeating: min(point(2).x, point(2).y), count: 4)
        let isContinuous = parts.last != "circular"
        self.elements += Path(roundedRect: rect(), radii: radii, isContinuous: isContinuous).elements
      case "arc": addArc(numbers, clockwise: parts.last == .bool(true))
      case "stroked":
        guard parts.count == 3, case .list(let inner) = parts[1], case .record(let style) = parts[2] else { continue }
        self.elements += Path(archived: inner).outlined(Stroke(style)).elements
      default: break
      }
    }
  }

  /// An arc from its centre, its radius, and its angles in degrees. `clockwise` is in SwiftUI's flipped coordinates:
  /// it is seen counterclockwise.
  private mutating func addArc(_ numbers: [Double], clockwise: Bool) {
    guard numbers.count >= 5 else { return }
    let (centre, radius) = (Point(x: numbers[0], y: numbers[1]), numbers[2])
    var sweep = (numbers[4] - numbers[3]).truncatingRemainder(dividingBy: 360)
    if abs(numbers[4] - numbers[3]) >= 360 { sweep = 360 } else if sweep < 0 { sweep += 360 }
    if clockwise { sweep -= 360 }
    let circle = Path(
      ellipseIn: Rect(x: centre.x - radius, y: centre.y - radius, width: 2 * radius, height: 2 * radius))
    var arc = circle.trimmed(from: 0, to: abs(sweep) / 360)
    if sweep < 0 { arc = arc.mapped { Point(x: $0.x, y: 2 * centre.y - $0.y) } }
    arc = arc.rotated(degrees: numbers[3], about: centre)
    for (index, element) in arc.elements.enumerated() {
      if index == 0, case .move(let start) = element, !elements.isEmpty {
        elements.append(.line(start))
      } else {
        elements.append(element)
      }
    }
  }
}
