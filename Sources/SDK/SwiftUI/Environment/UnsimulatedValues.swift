// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Environment values that the author's views have read and that never change here.
package enum UnsimulatedValues {
  private static let luminance = Atomic(false)

  /// Whether a view has read `isLuminanceReduced`: views are archived once, for a display with full light.
  package static var isLuminanceRead: Bool { luminance.load(ordering: .relaxed) }

  static func luminanceIsRead() { luminance.store(true, ordering: .relaxed) }
}
