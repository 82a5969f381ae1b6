// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import Messages

/// What determines the sequence of events of a fleet: name, seed, number of devices and profile. A value: the same plan
/// gives the same events, whatever happened before and on whichever machine.
struct FleetPlan: Sendable {
  let name: String
  let seed: UInt64
  let devices: Int
  let profile: FleetProfile
  private let key: UInt64
  private let shares: [Double]
  private let day: FleetDay

  init(name: String, seed: UInt64, devices: Int, profile: FleetProfile) {
    self.name = name
    self.seed = seed
    self.devices = devices
    self.profile = profile
    // Two fleets with one seed have different days.
    key = name.utf8.reduce(Self.mix(seed)) { Self.mix($0 ^ UInt64($1)) }
    shares = FleetProfile.uses.map { profile.tokens[$0] ?? 0 }
    day = FleetDay(profile)
  }

  /// A plan is continued only with the same identity.
  var identity: String { "\(name)\n\(seed)\n\(devices)\n\(profile.identity)" }

  // MARK: Random numbers

  /// The finalizer of SplitMix64.
  private static func mix(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A number between 0 and 1, both excluded, for one draw of one event of a device.
  private func draw(_ device: UInt32, event: UInt32, number: UInt32) -> Double {
    let bits = Self.mix(Self.mix(key ^ (UInt64(device) << 32 | UInt64(event))) ^ UInt64(number))
    return (Double(bits >> 11) + 0.5) / 9_007_199_254_740_992
  }

  // MARK: Devices

  /// Whether a device keeps a token of a slot.
  func has(_ slot: Int, _ device: UInt32) -> Bool { draw(device, event: .max, number: UInt32(slot)) < shares[slot] }

  /// Whether a device is offline, and asleep, at the start of the first day.
  func begins(_ device: UInt32) -> (isOnline: Bool, isAwake: Bool) {
    func isAway(_ absence: FleetProfile.Absence, _ number: UInt32) -> Bool {
      let away = absence.timesPerDay * absence.minutes / 1_440
      return draw(device, event: .max, number: number) < away / (1 + away)
    }
    return (!isAway(profile.offline, 100), !isAway(profile.asleep, 101))
  }

  /// The next event of a device.
  ///
  /// - Parameters:
  ///   - number: how many events the device had.
  ///   - time: seconds since the start of the first day.
  ///
  /// - Returns: the time of the event; infinity for none.
  func next(_ device: UInt32, number: UInt32, state: DeviceFlags, after time: Double) -> Double {
    day.next(state, after: time, hazard: -log(draw(device, event: number, number: 0)))
  }

  /// The kind of the event whose time `next` has determined.
  func event(_ device: UInt32, number: UInt32, state: DeviceFlags, at time: Double) -> FleetEvent {
    day.event(state, at: time, choice: draw(device, event: number, number: 1))
  }

  /// Which of a device's tokens an event is about.
  func choose(_ device: UInt32, number: UInt32, of count: Int) -> Int {
    min(count - 1, Int(saturating: draw(device, event: number, number: 2) * Double(count)))
  }
}

/// The state of a device.
struct DeviceFlags: OptionSet, Sendable, Hashable {
  let rawValue: UInt8
  static let installed = DeviceFlags(rawValue: 1)
  static let online = DeviceFlags(rawValue: 2)
  static let awake = DeviceFlags(rawValue: 4)
  /// Has a token by which a Live Activity can be started, so that its app starts some itself.
  static let active = DeviceFlags(rawValue: 8)
}

/// What happens to a device.
enum FleetEvent: Int, Sendable, CaseIterable {
  case goesOffline, comesOnline, fallsAsleep, wakes, rotatesToken, uninstalls, installs, startsActivity
  /// No rate is above 0: nothing happens.
  case nothing
}

/// The rates of the events, by hour. Each event is a Poisson process whose rate is constant within an hour.
struct FleetDay: Sendable {
  private static let hour = 3_600.0
  private static let events = 8
  private let profile: FleetProfile
  /// Relative to the average of the day.
  private let hours: [Double]
  /// By state: rates per second of each event, of those that depend on the hour at an average hour.
  private let rates: [[Double]]

  init(_ profile: FleetProfile) {
    self.profile = profile
    let average = profile.hours.reduce(0, +) / 24
    hours = profile.hours.map { $0 / average }
    let tokens = Double(FleetProfile.uses.count { profile.tokens[$0] ?? 0 > 0 })
    rates = (0..<16).map { bits in
      let state = DeviceFlags(rawValue: UInt8(bits))
      var rates = Array(repeating: 0.0, count: Self.events)
      func set(_ event: FleetEvent, _ perDay: Double) { rates[event.rawValue] = perDay / 86_400 }
      if state.contains(.online) {
        set(.goesOffline, profile.offline.timesPerDay)
      } else {
        set(.comesOnline, 1_440 / profile.offline.minutes)
      }
      if state.contains(.awake) {
        set(.fallsAsleep, profile.asleep.timesPerDay)
      } else {
        set(.wakes, 1_440 / profile.asleep.minutes)
      }
      guard state.contains(.installed) else {
        set(.installs, 1 / profile.reinstallDays)
        return rates
      }
      set(.rotatesToken, profile.rotationsPerYear / 365 * tokens)
      set(.uninstalls, profile.uninstallsPerYear / 365)
      if state.contains(.active) { set(.startsActivity, profile.liveActivities.perDay) }
      return rates
    }
  }

  /// Whether the rate of an event follows the hours.
  private static func followsHours(_ event: Int) -> Bool {
    event == FleetEvent.goesOffline.rawValue || event == FleetEvent.fallsAsleep.rawValue
  }

  private func total(_ rates: [Double], _ hour: Int) -> Double {
    var total = 0.0
    for (event, rate) in rates.enumerated() { total += Self.followsHours(event) ? rate * hours[hour] : rate }
    return total
  }

  private func hour(_ time: Double) -> Int {
    Int(saturating: (time / Self.hour + profile.startsAt).rounded(.down)) % 24
  }

  /// The time at which the integral of the total rate reaches the hazard.
  func next(_ state: DeviceFlags, after time: Double, hazard: Double) -> Double {
    let rates = rates[Int(state.rawValue & 15)]
    let perDay = (0..<24).reduce(0.0) { $0 + total(rates, $1) * Self.hour }
    guard perDay > 0 else { return .infinity }
    var now = time
    var rest = hazard
    let days = (rest / perDay).rounded(.down)
    now += days * 86_400
    rest -= days * perDay
    while true {
      let clock = now + profile.startsAt * Self.hour
      let hour = Int(saturating: (clock / Self.hour).rounded(.down)) % 24
      let rate = total(rates, hour)
      let left = Self.hour - clock.truncatingRemainder(dividingBy: Self.hour)
      if rate * left >= rest, rate > 0 { return now + rest / rate }
      rest -= rate * left
      now += left
    }
  }

  /// The kind of an event at a time.
  ///
  /// - Parameter choice: between 0 and 1.
  func event(_ state: DeviceFlags, at time: Double, choice: Double) -> FleetEvent {
    let rates = rates[Int(state.rawValue & 15)]
    let hour = hour(time)
    var rest = choice * total(rates, hour)
    var last = FleetEvent.nothing
    for (event, rate) in rates.enumerated() where rate > 0 {
      let rate = Self.followsHours(event) ? rate * hours[hour] : rate
      guard rate > 0 else { continue }
      last = FleetEvent(rawValue: event) ?? .nothing
      if rest < rate { return last }
      rest -= rate
    }
    return last
  }
}
