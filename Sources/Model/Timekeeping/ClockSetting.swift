// SPDX-License-Identifier: Apache-2.0

import CPlatform
package import Foundation
import Glibc

/// The state of a device's clock: it runs from an origin at a rate, or is held at the origin.
package struct ClockSetting: Codable, Hashable, Sendable {
  /// The device's time at `since`, or the time at which it is held.
  package let origin: Date
  /// The machine's time at which the clock had the time `origin`.
  package let since: Date
  /// Device seconds per machine second, while the clock is not held.
  package let rate: Double
  package let isHeld: Bool

  /// Rounds the origin of a held clock to a date that survives encoding. Otherwise an extension's "now" would come back
  /// later than the clock's time and never be due.
  private init(origin: Date, since: Date, rate: Double, isHeld: Bool) {
    self.origin = isHeld ? origin.rounded : origin
    self.since = since
    self.rate = rate
    self.isHeld = isHeld
  }

  private func at(_ origin: Date) -> Self { Self(origin: origin, since: since, rate: rate, isHeld: isHeld) }

  /// A clock that runs at the machine's rate, `ahead` seconds ahead of it.
  package static func running(ahead: Double) -> ClockSetting {
    ClockSetting(origin: zero.addingTimeInterval(ahead), since: zero, rate: 1, isHeld: false)
  }

  /// A held clock. When continued, it runs at the machine's rate.
  package static func held(_ date: Date) -> ClockSetting {
    ClockSetting(origin: date, since: zero, rate: 1, isHeld: true)
  }

  /// The constant number of seconds ahead of the machine's clock; `nil` when it is not constant.
  var ahead: Double? { !isHeld && rate == 1 ? origin.timeIntervalSince(since) : nil }

  private static let zero = Date(timeIntervalSinceReferenceDate: 0)

  /// The rates that a clock can have.
  package static let rates = 1e-3...1e5
  /// The dates to which a clock can be set: 2001-09-09 to 2199. Code that waits for a time of day in an author's
  /// process takes an earlier date to belong to another clock.
  package static let instants = Date(timeIntervalSince1970: 1e9)...Date(timeIntervalSince1970: 7_258_118_399)

  /// Returns the device's time at a machine time.
  func date(_ machine: Date) -> Date {
    guard !isHeld else { return origin }
    return min(origin.addingTimeInterval(machine.timeIntervalSince(since) * rate), ClockSetting.instants.upperBound)
  }

  /// Returns the machine seconds until `instant`; `nil` when the clock is held.
  func machineSeconds(until instant: Date, _ machine: Date) -> Double? {
    isHeld ? nil : instant.timeIntervalSince(date(machine)) / rate
  }

  func held(_ machine: Date) -> Self { Self(origin: date(machine), since: machine, rate: rate, isHeld: true) }

  /// Returns the setting that continues from the current time, at the clock's rate.
  func running(_ machine: Date) -> Self {
    rate == 1
      ? .running(ahead: date(machine).timeIntervalSince(machine))
      : Self(origin: date(machine), since: machine, rate: rate, isHeld: false)
  }

  func set(_ date: Date, _ machine: Date) -> Self {
    let there = Self(origin: date, since: machine, rate: rate, isHeld: true)
    return isHeld ? there : there.running(machine)
  }

  func rate(_ rate: Double, _ machine: Date) -> Self {
    let there = Self(origin: date(machine), since: machine, rate: rate, isHeld: true)
    return isHeld ? there : there.running(machine)
  }

  func advanced(by seconds: Double) -> Self { at(origin + seconds) }

  /// Advances to `instant`, or to `end` when `instant` is `nil` or later. Never goes backwards.
  func advanced(to instant: Date?, atMost end: Self, machine: Date) -> Self {
    guard let instant else { return end }
    return at(min(end.origin, origin + max(0, instant.timeIntervalSince(date(machine)))))
  }
}

extension Date {
  /// The first date, from this one on, that is encoded exactly. On the bus and on disk, dates are seconds since 1970,
  /// whose steps are twice those of `Date`, which counts from 2001.
  var rounded: Date {
    let rounded = Date(timeIntervalSince1970: timeIntervalSince1970)
    return rounded < self ? Date(timeIntervalSince1970: timeIntervalSince1970.nextUp) : rounded
  }
}

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
