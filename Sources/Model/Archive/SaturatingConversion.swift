// SPDX-License-Identifier: Apache-2.0

// A number from outside (an author, a message, a file, a database) may be infinite, not a number or too large, and the
// conversions of the standard library trap on it. `NumberConversionTests` looks for them in the compiled code.

extension FixedWidthInteger {
  /// The number, rounded toward zero, or the nearest one that this type has; 0 for what is not a number.
  @inlinable package init(saturating value: Double) {
    self = Self(exactly: value.rounded(.towardZero)) ?? (value.isNaN ? 0 : value < 0 ? .min : .max)
  }
}

extension Duration {
  /// Seconds, at most thirty years in each direction; none for what is not a number.
  package static func saturating(seconds: Double) -> Duration {
    .seconds(seconds.isNaN ? 0 : min(max(seconds, -1e9), 1e9))
  }
}
