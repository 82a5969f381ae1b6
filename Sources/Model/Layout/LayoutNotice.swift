// SPDX-License-Identifier: Apache-2.0

/// What a layout does not show as a device would, by name.
package struct LayoutNotice: Hashable, Sendable, CustomStringConvertible {
  package enum Reason: String, Hashable, Sendable {
    /// The view is not laid out: it has no size and no content.
    case viewNotLaidOut
    /// The modifier has no effect.
    case modifierNotLaidOut
    /// The size of an image is not in the archive.
    case unknownImageSize
    /// The extension made the content for another size than the layout found.
    case madeForAnotherSize
    /// Only Apple's system font is measured; another font is measured as that.
    case fontNotAvailable
    /// A number of the author is negative, infinite or not a number where SwiftUI accepts none.
    case invalidNumber
    /// The views are nested deeper than the limit; the rest is omitted.
    case tooDeep
    /// The text is longer than the limit; the rest is omitted.
    case textTooLong
    /// The layout needs more measurements than the limit; the rest has no size.
    case tooManyMeasurements
  }

  package let reason: Reason
  /// The view or modifier by SwiftUI's name, with what identifies it.
  package let subject: String

  init(_ reason: Reason, _ subject: String) {
    self.reason = reason
    self.subject = subject
  }

  /// A sentence for a person.
  package var description: String {
    switch reason {
    case .viewNotLaidOut: "\(subject) is not drawn"
    case .modifierNotLaidOut: "\(subject) has no effect"
    case .unknownImageSize: "\(subject): the size of the image is not known"
    case .madeForAnotherSize: "\(subject)"
    case .fontNotAvailable: "the font \(subject) is not available"
    case .invalidNumber: "\(subject): the number is negative, infinite or not a number, and is ignored"
    case .tooDeep: "the views are nested too deep, from \(subject) on"
    case .textTooLong: "the text \(subject) is too long, and is cut"
    case .tooManyMeasurements: "the layout is too complex, from \(subject) on"
    }
  }
}

/// What bounds the time and the memory of a layout.
package struct LayoutLimits: Hashable, Sendable {
  /// Nested views and modifiers.
  package var depth: Int
  /// Sizes that are calculated, over all views.
  package var measurements: Int
  /// Characters of one text.
  package var characters: Int

  package init(depth: Int = 300, measurements: Int = 200_000, characters: Int = 10_000) {
    self.depth = depth
    self.measurements = measurements
    self.characters = characters
  }
}
