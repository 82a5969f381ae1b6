// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The guides of a custom symbol: an SVG document with a group for each weight and scale, such as `Regular-M`, between
/// the lines `Baseline-M` and `Capline-M` and the margins `left-margin-Regular-M` and `right-margin-Regular-M`. Source:
/// "Creating custom symbol images for your app", and templates that the SF Symbols app exports.
package struct SymbolTemplate: Hashable, Sendable {
  /// A weight and a scale.
  package struct Variant: Hashable, Sendable {
    /// Such as `Regular`.
    package let weight: String
    /// `S`, `M` or `L`.
    package let scale: String

    /// The variant with the id of a group.
    package init?(id: String) {
      let parts = id.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, Self.weights.contains(parts[0]), Self.scales.contains(parts[1]) else { return nil }
      (weight, scale) = (parts[0], parts[1])
    }

    /// The id of the group.
    package var id: String { "\(weight)-\(scale)" }

    /// From the thinnest one on, as Apple's templates write them.
    package static let weights = [
      "Ultralight", "Thin", "Light", "Regular", "Medium", "Semibold", "Bold", "Heavy", "Black",
    ]
    package static let scales = ["S", "M", "L"]
  }

  /// The horizontal guides of a scale, in the coordinates of the document.
  package struct Lines: Hashable, Sendable {
    package let base: Double
    package let cap: Double
    package var capHeight: Double { base - cap }
  }

  /// By scale.
  package let lines: [String: Lines]
  /// The places of the margins, in the coordinates of the document.
  package let margins: [Variant: ClosedRange<Double>]
  /// The variants that have a group and the lines of its scale.
  package let variants: Set<Variant>

  /// Reads the whole document.
  ///
  /// - Throws: `ImageFault`.
  package init(_ data: Data) throws(ImageFault) {
    do throws(XMLFault) {
      var reader = try GuideReader(data)
      try reader.read()
      var lines: [String: Lines] = [:]
      for scale in Variant.scales {
        guard let base = reader.guides["Baseline-\(scale)"]?.y, let cap = reader.guides["Capline-\(scale)"]?.y,
          base - cap > 0.01
        else { continue }
        lines[scale] = Lines(base: base, cap: cap)
      }
      var margins: [Variant: ClosedRange<Double>] = [:]
      for variant in Variant.weights.flatMap({ weight in Variant.scales.map { "\(weight)-\($0)" } })
        .compactMap(Variant.init)
      {
        // The first templates have one pair of margins, for the regular variant.
        let isFirst = variant.id == "Regular-M"
        let left = reader.guides["left-margin-\(variant.id)"] ?? (isFirst ? reader.guides["left-margin"] : nil)
        let right = reader.guides["right-margin-\(variant.id)"] ?? (isFirst ? reader.guides["right-margin"] : nil)
        guard let left = left?.x, let right, left < right.end else { continue }
        margins[variant] = left...right.end
      }
      let variants = reader.groups.filter { lines[$0.scale] != nil }
      guard !variants.isEmpty else {
        throw XMLFault(description: "it has no group such as Regular-M with its lines Baseline-M and Capline-M")
      }
      guard !margins.isEmpty else {
        throw XMLFault(description: "it has no guides such as left-margin-Regular-M and right-margin-Regular-M")
      }
      (self.lines, self.margins, self.variants) = (lines, margins, variants)
    } catch {
      throw .vector(error.description)
    }
  }

  /// The distance of the margins of a variant, in heights of its capital letters; `nil` for another variant. Without
  /// own margins it has those of the nearest weight.
  package func width(of variant: Variant) -> Double? {
    guard let lines = lines[variant.scale], variants.contains(variant) else { return nil }
    if let own = margins[variant] { return (own.upperBound - own.lowerBound) / lines.capHeight }
    let index = Variant.weights.firstIndex(of: variant.weight) ?? 0
    func distance(_ other: Variant) -> Int {
      let scales = other.scale == variant.scale ? 0 : 100
      return scales + abs((Variant.weights.firstIndex(of: other.weight) ?? 0) - index)
    }
    let nearest = margins.min { (distance($0.key), $0.key.id) < (distance($1.key), $1.key.id) }
    return nearest.map { ($0.value.upperBound - $0.value.lowerBound) / lines.capHeight }
  }
}

/// Finds the guides and the groups of the variants in a document.
private struct GuideReader {
  /// The upper left corner of a guide, and its right end.
  struct Guide {
    var x: Double
    var y: Double
    var end: Double
  }

  /// A map without a turn, as guides have it.
  private struct Placement {
    var (x, y, width, height) = (0.0, 0.0, 1.0, 1.0)
  }

  private var scanner: XMLScanner
  private(set) var guides: [String: Guide] = [:]
  private(set) var groups: Set<SymbolTemplate.Variant> = []

  init(_ data: Data) throws(XMLFault) { scanner = try XMLScanner(data) }

  mutating func read() throws(XMLFault) {
    var placements = [Placement()]
    var hasRoot = false
    while let token = try scanner.next() {
      switch token {
      case .characters: continue
      case .end: placements.removeLast()
      case .start(let tag):
        guard hasRoot || tag.name == "svg" else { throw XMLFault(description: "its root element is not svg") }
        hasRoot = true
        let placement = moved(placements[placements.count - 1], by: text(tag, "transform"))
        placements.append(placement)
        guard let id = text(tag, "id") else { continue }
        if id.contains("margin") || id.contains("line-"), guides.count < 200 {
          guides[id] = guide(tag).map { guide in
            Guide(
              x: placement.x + guide.x * placement.width, y: placement.y + guide.y * placement.height,
              end: placement.x + guide.end * placement.width)
          }
        } else if let variant = SymbolTemplate.Variant(id: id) {
          groups.insert(variant)
        }
      }
    }
  }

  private func text(_ tag: XMLScanner.Tag, _ name: String) -> String? {
    tag.attributes.first { $0.name == name }.map { scanner.text($0.value) }
  }

  private func guide(_ tag: XMLScanner.Tag) -> Guide? {
    func number(_ name: String) -> Double? { text(tag, name).flatMap { VectorNumbers.number($0) } }
    switch tag.name {
    case "line": return number("x1").flatMap { x in number("y1").map { Guide(x: x, y: $0, end: x) } }
    case "rect":
      guard let x = number("x"), let y = number("y"), let width = number("width") else { return nil }
      return Guide(x: x, y: y, end: x + width)
    case "path", "polyline", "polygon":
      // A guide is straight: its first point is on it.
      let text = text(tag, tag.name == "path" ? "d" : "points") ?? ""
      let start = text.drop { $0 == "M" || $0 == "m" || $0.isWhitespace }
      let numbers = VectorNumbers.list(start.prefix(60).prefix { !$0.isLetter || $0 == "e" })
      guard let numbers, numbers.count >= 2 else { return nil }
      return Guide(x: numbers[0], y: numbers[1], end: numbers[0])
    default: return nil
    }
  }

  private func moved(_ outer: Placement, by transform: String?) -> Placement {
    var result = outer
    for (name, numbers) in transform.flatMap({ VectorNumbers.functions($0) }) ?? [] {
      var ownPlacement = Placement()
      switch (name, numbers.count) {
      case ("translate", 1...2): (ownPlacement.x, ownPlacement.y) = (numbers[0], numbers.count > 1 ? numbers[1] : 0)
      case ("scale", 1...2): (ownPlacement.width, ownPlacement.height) = (numbers[0], numbers[numbers.count - 1])
      case ("matrix", 6):
        (ownPlacement.width, ownPlacement.height, ownPlacement.x, ownPlacement.y) = (
          numbers[0], numbers[3], numbers[4], numbers[5]
        )
      default: continue
      }
      result.x += ownPlacement.x * result.width
      result.y += ownPlacement.y * result.height
      result.width *= ownPlacement.width
      result.height *= ownPlacement.height
    }
    return result
  }
}
