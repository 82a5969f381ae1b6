// SPDX-License-Identifier: Apache-2.0

package import Archive

/// The variant of a custom symbol for a font and a scale, and its size.
package struct SymbolVariant: Hashable, Sendable {
  package let variant: SymbolTemplate.Variant
  /// The height of capital letters in the variant, in points.
  package let capHeight: Double
  /// In points: as wide as the template says, and as high as a symbol of the system.
  package let size: Size

  /// The variant with the scale and the nearest weight, of two the one that is nearer to regular. A scale that the symbol does not have is that of another one,
  /// made larger or smaller.
  ///
  /// - Parameter symbol: the widths of the variants in heights of the capital letters, by their ids; `nil`, or without a
  ///   variant that can be drawn: the result is `nil`.
  package init?(_ symbol: ArchivedValue?, _ style: ViewStyle) {
    guard case .record(let parts) = symbol else { return nil }
    let font = style.resolvedFont
    let wanted = ["small": "S", "large": "L"][style.imageScale] ?? "M"
    let scales = [wanted] + ["M", "L", "S"].filter { $0 != wanted }
    let known = parts.compactMap { id, width in
      SymbolTemplate.Variant(id: id).flatMap { variant in width.finite.map { (variant, $0.clamped(0, 1000)) } }
    }
    func distance(_ variant: SymbolTemplate.Variant) -> (Int, Int, Int) {
      let weight = (SymbolTemplate.Variant.weights.firstIndex(of: variant.weight) ?? 3) * 100 + 100
      return (scales.firstIndex(of: variant.scale) ?? 3, abs(weight - font.weight.rawValue), abs(weight - 400))
    }
    guard let nearest = known.min(by: { distance($0.0) < distance($1.0) }) else { return nil }
    variant = nearest.0
    // The lines of a template are equally far apart in each scale. Only what is between them grows.
    let factors = ["S": ImageNode.factor(of: "small"), "M": 1, "L": ImageNode.factor(of: "large")]
    let metrics = LineMetrics.system(size: font.size)
    capHeight = metrics.capHeight * (factors[wanted] ?? 1) / (factors[variant.scale] ?? 1)
    size = Size(width: nearest.1 * capHeight, height: ImageNode.symbolSide(metrics, style.imageScale))
  }
}
