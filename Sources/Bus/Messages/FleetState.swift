// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation

/// What a fleet reports about itself.
package struct FleetState: Codable, Hashable, Sendable {
  /// Tokens by what is still to be done.
  package struct Tokens: Codable, Hashable, Sendable {
    /// Requested from the push server, without a reply yet.
    package var wanted = 0
    /// Issued, and not registered with the backend yet.
    package var issued = 0
    package var registered = 0
    /// To be ended by the push server.
    package var ending = 0
    package init() {}

    /// Those that exist or are requested.
    package var all: Int { wanted + issued + registered }
  }

  /// The progress of registration since the process started.
  package struct Registration: Codable, Hashable, Sendable {
    package var succeeded = 0
    /// Attempts that are made again: by status, `timeout` or the error of the connection.
    package var retried: [String: Int] = [:]
    /// Tokens that the backend refused, by status. They are not sent again.
    package var refused: [String: Int] = [:]
    /// The last error, with the device.
    package var lastError: String?
    /// From the first attempt to the answer, in milliseconds.
    package var latency = LatencyHistogram()
    package init() {}
  }

  /// The results of the notifications of one push type.
  package struct Received: Codable, Hashable, Sendable {
    /// On the disk of the fleet, each once.
    package var delivered = 0
    /// Received again, and recognised.
    package var repeated = 0
    /// Refused, by code.
    package var refused: [String: Int] = [:]
    /// What the device did with the delivered ones: the name of a `PushStep` or of a step of a Live Activity.
    package var outcomes: [String: Int] = [:]
    /// From the acceptance by the push server to the disk of the fleet, in milliseconds.
    package var latency = LatencyHistogram()
    package init() {}
  }

  /// The figures of one second.
  package struct Second: Codable, Hashable, Sendable {
    /// Seconds since 1970.
    package let at: Int
    package var delivered: Int
    package var registered: Int
    package var online: Int
    /// The largest latency, in milliseconds.
    package var slowest: Double
    package init(at: Int, delivered: Int = 0, registered: Int = 0, online: Int = 0, slowest: Double = 0) {
      self.at = at
      self.delivered = delivered
      self.registered = registered
      self.online = online
      self.slowest = slowest
    }
  }

  package var name = ""
  package var pid: Int32 = 0
  package var seed: UInt64 = 0
  package var profile = ""
  package var devices = 0
  package var installed = 0
  package var online = 0
  package var asleep = 0
  /// The operator took the network from all.
  package var isCutOff = false
  package var activities = 0
  /// All wanted tokens are issued, and registered unless the backend refused them.
  package var isReady = false
  /// Seconds from the start of the process until it was ready first.
  package var readyAfter: Double?
  /// The time of the fleet's day.
  package var time = Date(timeIntervalSince1970: 0)
  /// Seconds of the fleet's day in a second.
  package var speed = 1.0
  /// Events of the devices' days so far.
  package var events = 0
  package var tokens = Tokens()
  package var registration = Registration()
  /// By push type.
  package var received: [String: Received] = [:]
  /// What happened to Live Activities with time, by name.
  package var liveActivities: [String: Int] = [:]
  /// The last seconds, oldest first, at most 600.
  package var seconds: [Second] = []
  package init() {}

  /// All push types together.
  package var total: Received {
    received.values.reduce(into: Received()) { total, part in
      total.delivered += part.delivered
      total.repeated += part.repeated
      total.refused.merge(part.refused, uniquingKeysWith: +)
      total.outcomes.merge(part.outcomes, uniquingKeysWith: +)
      total.latency.add(part.latency)
    }
  }
}

/// Counts of durations in classes whose bounds grow by a twelfth of a power of ten, so that a percentile is right to
/// within a tenth. Milliseconds.
package struct LatencyHistogram: Codable, Hashable, Sendable {
  private static let perDecade = 12.0
  /// The lower bound of the second class.
  private static let first = 0.1

  /// By class, up to the last one that is not empty.
  package private(set) var counts: [Int] = []
  package private(set) var longest = 0.0

  package init() {}

  package var count: Int { counts.reduce(0, +) }

  package mutating func add(_ milliseconds: Double) {
    let value = max(0, milliseconds)
    let place = value < Self.first ? 0 : 1 + min(Int(saturating: log10(value / Self.first) * Self.perDecade), 1000)
    if place >= counts.count { counts += Array(repeating: 0, count: place + 1 - counts.count) }
    counts[place] += 1
    longest = max(longest, value)
  }

  package mutating func add(_ other: LatencyHistogram) {
    if counts.count < other.counts.count {
      counts += Array(repeating: 0, count: other.counts.count - counts.count)
    }
    for (place, count) in other.counts.enumerated() { counts[place] += count }
    longest = max(longest, other.longest)
  }

  /// The upper bound of the class in which this share of the durations is reached; `nil` without durations.
  package func percentile(_ share: Double) -> Double? {
    let total = count
    guard total > 0 else { return nil }
    guard share < 1 else { return longest }
    let wanted = max(1, Int(saturating: (Double(total) * share).rounded(.up)))
    var sum = 0
    for (place, count) in counts.enumerated() {
      sum += count
      if sum >= wanted { return min(longest, bound(ofClass: place)) }
    }
    return longest
  }

  /// The upper bound of a class.
  package func bound(ofClass place: Int) -> Double { Self.first * pow(10, Double(place) / Self.perDecade) }
}
