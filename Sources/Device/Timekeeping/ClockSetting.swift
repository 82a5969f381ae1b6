package import Foundation

/// How a device's clock goes: from an origin, which it had at an instant of the machine's, at a rate; or it is held there.
package struct ClockSetting: Hashable, Sendable {
  /// The device's time at `since`, or where it is held.
  package let origin: Date
  /// By the machine's clock.
  package let since: Date
  /// Device seconds in one of the machine's, while it is not held.
  package let rate: Double
  package let isHeld: Bool

  /// A clock that is held stands where a date is told: from one in between, what an extension dates "now" would come back
  /// later than now, and never be due.
  private init(origin: Date, since: Date, rate: Double, isHeld: Bool) {
    self.origin = isHeld ? origin.told : origin
    self.since = since
    self.rate = rate
    self.isHeld = isHeld
  }

  private func at(_ origin: Date) -> Self { Self(origin: origin, since: since, rate: rate, isHeld: isHeld) }

  /// At the machine's rate, so many seconds ahead of it.
  package static func running(ahead: Double) -> ClockSetting {
    ClockSetting(origin: zero.addingTimeInterval(ahead), since: zero, rate: 1, isHeld: false)
  }

  /// Held; it would go on at the machine's rate.
  package static func held(_ date: Date) -> ClockSetting {
    ClockSetting(origin: date, since: zero, rate: 1, isHeld: true)
  }

  /// Seconds that it is ahead of the machine's clock for ever; `nil` when the distance changes.
  var ahead: Double? { !isHeld && rate == 1 ? origin.timeIntervalSince(since) : nil }

  private static let zero = Date(timeIntervalSinceReferenceDate: 0)

  /// Rates that a clock can have.
  package static let rates = 1e-3...1e5
  /// What a clock can be set to: 2001-09-09 to 2199. An instant that is earlier than the first is of another clock, for
  /// whoever waits for a time of day in an author's process.
  package static let instants = Date(timeIntervalSince1970: 1e9)...Date(timeIntervalSince1970: 7_258_118_399)

  /// What time it is on the device.
  func date(_ machine: Date) -> Date {
    guard !isHeld else { return origin }
    return min(origin.addingTimeInterval(machine.timeIntervalSince(since) * rate), ClockSetting.instants.upperBound)
  }

  /// How many of the machine's seconds pass until an instant; `nil` when none do, for the clock is held.
  func machineSeconds(until instant: Date, _ machine: Date) -> Double? {
    isHeld ? nil : instant.timeIntervalSince(date(machine)) / rate
  }

  func held(_ machine: Date) -> Self { Self(origin: date(machine), since: machine, rate: rate, isHeld: true) }

  /// On from where it is, at its rate.
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

  /// To an instant, or to the end when there is none before it; never backwards.
  func advanced(to instant: Date?, atMost end: Self, machine: Date) -> Self {
    guard let instant else { return end }
    return at(min(end.origin, origin + max(0, instant.timeIntervalSince(date(machine)))))
  }
}

extension Date {
  /// The first instant from here on that is told to the last bit: on the bus and on disk dates are seconds since 1970, whose
  /// steps are twice as long as a `Date`'s own, which counts from 2001.
  var told: Date {
    let told = Date(timeIntervalSince1970: timeIntervalSince1970)
    return told < self ? Date(timeIntervalSince1970: timeIntervalSince1970.nextUp) : told
  }
}

extension ClockSetting: Codable {
  private enum Key: String, CodingKey { case origin, since, rate, isHeld, running, held }
  /// As a life of the host wrote it whose clock had no rate.
  private struct Running: Decodable { let ahead: Double }
  private struct Held: Decodable {
    let date: Date
    enum CodingKeys: String, CodingKey { case date = "_0" }
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    if let running = try container.decodeIfPresent(Running.self, forKey: .running) {
      self = .running(ahead: running.ahead)
    } else if let held = try container.decodeIfPresent(Held.self, forKey: .held) {
      self = .held(held.date)
    } else {
      self.init(
        origin: try container.decode(Date.self, forKey: .origin),
        since: try container.decode(Date.self, forKey: .since),
        rate: try container.decode(Double.self, forKey: .rate),
        isHeld: try container.decode(Bool.self, forKey: .isHeld))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(origin, forKey: .origin)
    try container.encode(since, forKey: .since)
    try container.encode(rate, forKey: .rate)
    try container.encode(isHeld, forKey: .isHeld)
  }
}
