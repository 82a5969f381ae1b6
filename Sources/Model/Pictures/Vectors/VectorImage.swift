// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout

/// The drawings of an SVG document, and what is not drawn of it.
struct VectorImage {
  var drawings: [Drawing]
  var missing: [String]

  /// An image in a rectangle, to which it is stretched.
  ///
  /// - Throws: `ImageFault`.
  init(_ data: Data, in frame: Rect) throws(ImageFault) {
    let file = try VectorFile(checking: data)
    let document = try VectorDocument(data)
    let factors = (frame.size.width / file.width, frame.size.height / file.height)
    let factor = min(factors.0, factors.1)
    guard factor > 0, factor.isFinite, factors.0.isFinite, factors.1.isFinite else {
      (drawings, missing) = ([], [])
      return
    }
    let size = Size(width: file.width, height: file.height)
    let (box, isSliced) = Self.view(document.root, in: size)
    var drawer = VectorDrawer(document, viewport: box?.viewport ?? size)
    let place = Transform.move(frame.minX, frame.minY).after(.scale(factor, factor))
    let style = VectorStyle(box.map { place.after($0.transform) } ?? place)
    let ownFrame = Rect(origin: frame.origin, size: Size(width: size.width * factor, height: size.height * factor))
    do throws(VectorDrawer.Failure) {
      drawings = try drawer.draw(document.root, style)
    } catch {
      throw .vector(error.description)
    }
    missing = drawer.missing
    // What is outside of an image is not seen.
    if isSliced || !drawings.allSatisfy({ $0.lies(in: ownFrame) }) {
      var group = Drawing.Group()
      group.clip = Path(ownFrame)
      drawings = [.group(group, drawings)]
    }
    // Lines are stretched, too.
    if abs(factors.0 - factors.1) > factor * 1e-6 {
      var group = Drawing.Group()
      group.scale = Drawing.Scaling(x: factors.0 / factor, y: factors.1 / factor, about: frame.origin)
      drawings = [.group(group, drawings)]
    }
  }

  /// The map of the root's view box to its size; `nil`: it has none. Source: SVG 1.1, chapters 7.7 and 7.8.
  private static func view(
    _ root: VectorElement, in size: Size
  ) -> (box: (viewport: Size, transform: Transform)?, isSliced: Bool) {
    guard let numbers = root.attributes["viewBox"].flatMap({ VectorNumbers.list($0) }), numbers.count == 4,
      numbers[2] > 0, numbers[3] > 0
    else { return (nil, false) }
    let words = (root.attributes["preserveAspectRatio"] ?? "").split(separator: " ").map(String.init)
    let box = Size(width: numbers[2], height: numbers[3])
    var (x, y) = (size.width / box.width, size.height / box.height)
    let isSliced = words.contains("slice")
    if !words.contains("none") {
      let factor = isSliced ? max(x, y) : min(x, y)
      (x, y) = (factor, factor)
    }
    func part(_ axis: String) -> Double {
      words.contains { $0.contains("\(axis)Min") } ? 0 : words.contains { $0.contains("\(axis)Max") } ? 1 : 0.5
    }
    let transform = Transform.move(
      (size.width - box.width * x) * part("x"), (size.height - box.height * y) * part("Y")
    ).after(.scale(x, y)).after(.move(-numbers[0], -numbers[1]))
    return ((box, transform), isSliced)
  }

  /// A custom symbol in the middle of a rectangle.
  ///
  /// - Parameters:
  ///   - variant: the size that the symbol has by itself.
  ///   - paints: of the levels of its hierarchy, at least one.
  /// - Throws: `ImageFault`.
  init(
    symbol data: Data, _ variant: SymbolVariant, in frame: Rect, _ paints: [Paint]
  ) throws(ImageFault) {
    let template = try SymbolTemplate(data)
    let document = try VectorDocument(data)
    guard let lines = template.lines[variant.variant.scale],
      let (element, outer) = document.root.find(variant.variant.id, Transform())
    else { throw .vector("it has no group \(variant.variant.id)") }
    // A resizable symbol is as large as its frame permits.
    let factor = min(frame.size.width / variant.size.width, frame.size.height / variant.size.height)
    guard factor > 0, factor.isFinite else {
      (drawings, missing) = ([], [])
      return
    }
    let unit = factor * variant.capHeight / lines.capHeight
    let margins = template.margins[variant.variant]
    let left = frame.midX - variant.size.width * factor / 2
    let place = Transform.move(margins == nil ? 0 : left, frame.midY + variant.capHeight * factor / 2)
      .after(.scale(unit, unit)).after(.move(-(margins?.lowerBound ?? 0), -lines.base)).after(outer)
    var drawer = VectorDrawer(document, viewport: Size(width: 0, height: 0))
    drawer.paints = paints
    do throws(VectorDrawer.Failure) {
      drawings = try drawer.draw(element, VectorStyle(place))
    } catch {
      throw .vector(error.description)
    }
    missing = drawer.missing
    // A variant without own margins is in the middle.
    let bounds = drawings.compactMap(\.bounds)
    if margins == nil, let low = bounds.map(\.minX).min(), let high = bounds.map(\.maxX).max() {
      var group = Drawing.Group()
      group.offset = Point(x: frame.midX - (low + high) / 2, y: 0)
      drawings = [.group(group, drawings)]
    }
  }
}

extension VectorElement {
  /// The element with an id, and the map of the coordinates around it.
  fileprivate func find(_ id: String, _ outer: Transform) -> (VectorElement, Transform)? {
    if attributes["id"] == id { return (self, outer) }
    let own = attributes["transform"].flatMap(Transform.init(svg:)).map { outer.after($0) } ?? outer
    for child in children {
      if let found = child.find(id, own) { return found }
    }
    return nil
  }
}

extension Drawing {
  /// The bounds of an outline, with those of its line; `nil` for another operation.
  fileprivate var bounds: Rect? {
    switch self {
    case .fill(let path, _, _): path.extent
    case .stroke(let path, _, let stroke): path.extent?.inset(Insets(-stroke.width / 2))
    case .text, .image, .group: nil
    }
  }

  fileprivate func lies(in rect: Rect) -> Bool {
    if case .group(let group, let drawings) = self {
      return group.clip?.extent.map(rect.holds) ?? drawings.allSatisfy { $0.lies(in: rect) }
    }
    return bounds.map(rect.holds) ?? true
  }
}

extension Rect {
  /// Whether it contains another one, except for a rounding.
  fileprivate func holds(_ other: Rect) -> Bool {
    let margin = 0.01
    return other.minX >= minX - margin && other.minY >= minY - margin && other.maxX <= maxX + margin
      && other.maxY <= maxY + margin
  }
}
