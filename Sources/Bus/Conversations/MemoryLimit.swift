/// How much memory a process may have, and how often that is looked at.
///
/// Memory is the kernel's `RssAnon`: the anonymous pages that are in the machine's memory, and no file's. The kernel keeps
/// it to within some hundred KiB.
package struct MemoryLimit: Codable, Hashable, Sendable {
  /// More than this is too much.
  package let bytes: Int
  /// Seconds from one look to the next, more than 0. What is gone by the next look was never seen.
  package let interval: Double

  package init(bytes: Int, interval: Double) {
    self.bytes = bytes
    self.interval = interval
  }

  /// `30` or `41.3`: tenths, rounded up, so that what is over a limit reads so.
  package static func mebibytes(_ bytes: Int) -> String {
    let tenths = (bytes * 10 + (1 << 20) - 1) >> 20
    return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }
}
