// SPDX-License-Identifier: Apache-2.0

/// The memory limit of a process, and how often it is checked.
///
/// Memory is the kernel's `RssAnon`: resident anonymous pages, without file pages. The kernel's value is accurate to a
/// few hundred KiB.
package struct MemoryLimit: Codable, Hashable, Sendable {
  /// The largest permitted value.
  package let bytes: Int
  /// Seconds between two checks, more than 0. A peak between two checks is not detected.
  package let interval: Double

  package init(bytes: Int, interval: Double) {
    self.bytes = bytes
    self.interval = interval
  }

  /// `30` or `41.3`: tenths, rounded up, so that a value over a limit also reads as over it.
  package static func mebibytes(_ bytes: Int) -> String {
    let tenths = (bytes * 10 + (1 << 20) - 1) >> 20
    return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
