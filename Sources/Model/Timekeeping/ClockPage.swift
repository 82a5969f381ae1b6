// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Foundation
import Glibc

/// A file that publishes the clock's setting to the device's other processes. They map it and read the time as quickly
/// as the machine's. The clock keeps running after the host exits.
package final class ClockPage: Sendable {
  /// The file cannot be created or mapped.
  package struct Failure: Error, CustomStringConvertible {
    let path: String
    let code: Int32
    package var description: String {
      "\(path) cannot be created or mapped: \(String(cString: strerror(code))); the host's user needs write permission"
    }
  }

  // Only one thread at a time writes (`show`), and readers use atomic loads.
  private nonisolated(unsafe) let page: UnsafeMutableRawPointer

  /// Creates the file if it does not exist, with mode 0600. An existing file keeps the setting of the previous host
  /// until `show`.
  package init(path: String) throws(Failure) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(path: path, code: errno) }
    defer { close(file) }
    guard ftruncate(file, off_t(clock_page_size)) == 0,
      let page = mmap(nil, Int(clock_page_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), page != MAP_FAILED
    else { throw Failure(path: path, code: errno) }
    self.page = page
  }

  deinit { munmap(page, Int(clock_page_size)) }

  /// Publishes a setting to all readers. Calls must not overlap.
  package func show(_ setting: ClockSetting) {
    clock_page_set(
      page, setting.origin.nanoseconds, setting.since.nanoseconds, setting.isHeld ? 0 : setting.rate)
  }
}

extension Date {
  /// Nanoseconds since 1970. A reader gets the same date to the last bit: the machine's clock has nanoseconds, and a
  /// `Date` in this century has steps of about a hundred.
  var nanoseconds: Int64 {
    // Nanoseconds of 64 bits reach to the year 2262.
    let seconds = min(max(timeIntervalSinceReferenceDate, -8e9), 8e9)
    let whole = seconds.rounded(.down)
    let rest = ((seconds - whole) * 1e9).rounded()
    let between = Int64(exactly: Date.timeIntervalBetween1970AndReferenceDate) ?? 0
    return ((Int64(exactly: whole) ?? 0) + between) * 1_000_000_000 + (Int64(exactly: rest) ?? 0)
  }
}
