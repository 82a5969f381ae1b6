// SPDX-License-Identifier: Apache-2.0

/// The device and the appearance for which a variant of an asset is chosen.
package struct AssetTraits: Hashable, Sendable {
  package var isPad: Bool
  /// Pixels per point.
  package var scale: Double
  package var isDark: Bool
  package var hasIncreasedContrast: Bool
  package var isRightToLeft: Bool

  package init(
    isPad: Bool = false, scale: Double = 3, isDark: Bool = false, hasIncreasedContrast: Bool = false,
    isRightToLeft: Bool = false
  ) {
    self.isPad = isPad
    self.scale = scale
    self.isDark = isDark
    self.hasIncreasedContrast = hasIncreasedContrast
    self.isRightToLeft = isRightToLeft
  }
}

/// What one entry of a `Contents.json` is made for. Source: "Asset Catalog Format Reference", Image Set Type.
struct AssetSlot: Hashable, Sendable {
  var idiom = "universal"
  /// Pixels per point; `nil`: one file for all scales.
  var scale: Double?
  /// `luminosity`: `light`, `dark` or `tinted`; `nil` for any.
  var luminosity: String?
  var isHighContrast = false
  /// `left-to-right` or `right-to-left`; `nil` for both.
  var direction: String?
  var isWideGamut = false

  /// How well the slot suits a device, higher values first; `nil` if it is for another device or appearance.
  ///
  /// The order is ours, since Apple's compiler decides it: the idiom, then the appearance with the scheme before the
  /// contrast, then the direction, then the gamut of the picture.
  func rank(for traits: AssetTraits) -> [Int]? {
    guard idiom == "universal" || idiom == (traits.isPad ? "ipad" : "iphone") else { return nil }
    if let luminosity, luminosity != (traits.isDark ? "dark" : "light") { return nil }
    if isHighContrast, !traits.hasIncreasedContrast { return nil }
    if let direction, direction != (traits.isRightToLeft ? "right-to-left" : "left-to-right") { return nil }
    return [idiom == "universal" ? 0 : 1, luminosity == nil ? 0 : 1, isHighContrast ? 1 : 0, direction == nil ? 0 : 1]
      + [isWideGamut ? 0 : 1]
  }

  /// How well the scale suits a device, higher values first: the device's own, then the next larger one, then the
  /// largest.
  func scaleRank(for traits: AssetTraits) -> Double {
    guard let scale else { return 0 }
    return scale >= traits.scale ? 1000 - (scale - traits.scale) : scale
  }
}

extension Sequence {
  /// The element whose slot suits a device best; of equal ones the first.
  func best(for traits: AssetTraits, _ slot: (Element) -> AssetSlot) -> Element? {
    var best: (element: Element, rank: [Int], scale: Double)?
    for element in self {
      let own = slot(element)
      guard let rank = own.rank(for: traits) else { continue }
      let scale = own.scaleRank(for: traits)
      if let best, !best.rank.lexicographicallyPrecedes(rank), best.rank != rank || best.scale >= scale { continue }
      best = (element, rank, scale)
    }
    return best?.element
  }
}
