// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// The day of a fleet: which tokens its devices have, when they are reachable, how they register. The values are the
/// default day (Documentation/fleet.md), and ours: Apple publishes none.
package struct FleetProfile: Sendable, Hashable {
  /// Transitions to a state and back.
  package struct Absence: Sendable, Hashable {
    /// How often a device enters the state, on average.
    package var timesPerDay: Double
    /// How long it stays, on average.
    package var minutes: Double
    package init(timesPerDay: Double, minutes: Double) {
      self.timesPerDay = timesPerDay
      self.minutes = minutes
    }
  }

  package struct LiveActivities: Sendable, Hashable {
    /// How often the app of a device starts one, on average.
    package var perDay = 0.5
    /// Live Activities of a device at a time.
    package var limit = 5
    /// Updates of priority 10 that an activity shows in an hour; more are throttled.
    package var priority10PerHour = 20.0
    /// When the system ends an activity. Source: ActivityKit, 8 hours.
    package var hours = 8.0
    /// How long an ended one stays on the Lock Screen at most. Source: ActivityKit, 4 hours.
    package var hoursOnLockScreen = 4.0
    package init() {}
  }

  /// How the backend gets the tokens.
  package struct Registration: Sendable, Hashable {
    package enum Target: Sendable, Hashable {
      case none
      /// One line for each token is appended.
      case file(String)
      case http(url: String, method: String, headers: [String: String])
    }
    package var target = Target.none
    /// The body of the request, or the line of the file.
    package var body = #"{"device":"{device}","use":"{use}","topic":"{topic}","token":"{token}"}"#
    /// Requests at a time.
    package var concurrency = 32
    /// Seconds until a request has failed.
    package var timeout = 10.0
    /// The longest pause, in seconds, before a failed request is repeated. The first one is a tenth of a second.
    package var longestPause = 30.0
    package init() {}

    /// The names that may stand in braces.
    package static let placeholders = [
      "device", "fleet", "index", "use", "token", "topic", "bundle", "environment",
    ]
  }

  package var bundle = "com.example.app"
  /// The topic of `mdm` tokens.
  package var mdmTopic = "com.apple.mgmt.External.00000000-0000-0000-0000-000000000000"
  package var environment = PushEnvironment.development
  /// Seconds of the fleet's day in a second.
  package var speed = 1.0
  /// The hour at which the first day begins.
  package var startsAt = 8.0
  /// The share of the devices that have a token.
  package var tokens: [String: Double] = [
    "app": 1, "widgets": 0.4, "control": 0.1, "complication": 0.05, "fileprovider": 0.05, "liveactivity-start": 0.3,
    "location": 0.05, "mdm": 0.1, "pushtotalk": 0.02, "voip": 0.15,
  ]
  package var offline = Absence(timesPerDay: 6, minutes: 20)
  package var asleep = Absence(timesPerDay: 24, minutes: 30)
  /// By hour, how often a device goes offline or falls asleep, relative to the average.
  package var hours: [Double] = [
    2.4, 2.4, 2.4, 2.4, 2.2, 1.6, 0.8, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.8, 1.4,
    2.0,
  ]
  /// Replacements of each token in a year.
  package var rotationsPerYear = 1.5
  /// How often a device removes the app in a year.
  package var uninstallsPerYear = 1.0
  /// Until it installs the app again, on average.
  package var reinstallDays = 30.0
  package var liveActivities = LiveActivities()
  package var registration = Registration()

  package init() {}

  /// The kinds of tokens that a device keeps, in the order of their place in its record.
  package static let uses = [
    "app", "widgets", "control", "complication", "fileprovider", "liveactivity-start", "location", "mdm", "pushtotalk",
    "voip",
  ]

  /// Everything that determines the sequence of events. A fleet continues only with the same.
  package var identity: String {
    let shares = Self.uses.map { "\(tokens[$0] ?? 0)" }.joined(separator: ",")
    return [
      bundle, mdmTopic, environment.rawValue, "\(startsAt)", shares, "\(offline)", "\(asleep)", "\(hours)",
      "\(rotationsPerYear)", "\(uninstallsPerYear)", "\(reinstallDays)", "\(liveActivities)",
    ].joined(separator: "\n")
  }

  /// Reads a profile.
  ///
  /// - Throws: `configuration`, with the file, the line and the key.
  package init(file: String) throws(ClusterError) {
    self.init()
    var reader = try ConfigurationReader(file: file)
    try read(&reader)
    try reader.finish()
  }

  /// Reads the text of a profile. An empty one is the default day.
  ///
  /// - Throws: `configuration`, with the line and the key.
  package init(yaml: String, file: String = "profile") throws(ClusterError) {
    self.init()
    guard let node = try BoundedYAML.compose(yaml, file: file) else { return }
    var reader = try ConfigurationReader(node, file: file, path: "")
    try read(&reader)
    try reader.finish()
  }

  private mutating func read(_ reader: inout ConfigurationReader) throws(ClusterError) {
    bundle = try reader.string("bundle") ?? bundle
    mdmTopic = try reader.string("mdmTopic") ?? mdmTopic
    for (name, value) in [("bundle", bundle), ("mdmTopic", mdmTopic)] where !value.isTopic {
      throw reader.error(name, "\"\(value)\" is not an identifier: use letters, digits, `-` and `.`, at most 155")
    }
    guard mdmTopic.hasPrefix("com.apple.mgmt.") else {
      throw reader.error("mdmTopic", "must begin with com.apple.mgmt., as the UID of an MDM certificate does")
    }
    if let text = try reader.string("environment") {
      guard let known = PushEnvironment(rawValue: text) else {
        throw reader.error("environment", "must be development or production, not \"\(text)\"")
      }
      environment = known
    }
    speed = try reader.number("speed", in: 0.001...100_000) ?? speed
    startsAt = try reader.number("startsAt", in: 0...24) ?? startsAt
    if var shares = try reader.mapping("tokens") {
      for use in Self.uses { tokens[use] = try shares.number(use, in: 0...1) ?? tokens[use] }
      try shares.finish()
    }
    try offline.read("offline", &reader)
    try asleep.read("asleep", &reader)
    if let list = try reader.numbers("hours") {
      guard list.count == 24, list.allSatisfy({ (0...100).contains($0) }), list.contains(where: { $0 > 0 }) else {
        throw reader.error("hours", "must be 24 numbers from 0 to 100, one for each hour, not all of them 0")
      }
      hours = list
    }
    rotationsPerYear = try reader.number("rotationsPerYear", in: 0...1_000_000) ?? rotationsPerYear
    uninstallsPerYear = try reader.number("uninstallsPerYear", in: 0...1_000_000) ?? uninstallsPerYear
    reinstallDays = try reader.number("reinstallDays", in: 0.001...100_000) ?? reinstallDays
    try liveActivities.read(&reader)
    try registration.read(&reader)
  }
}

extension FleetProfile.Absence {
  fileprivate mutating func read(_ name: String, _ reader: inout ConfigurationReader) throws(ClusterError) {
    guard var values = try reader.mapping(name) else { return }
    timesPerDay = try values.number("timesPerDay", in: 0...100_000) ?? timesPerDay
    minutes = try values.number("minutes", in: 0.001...1_000_000) ?? minutes
    try values.finish()
  }
}

extension FleetProfile.LiveActivities {
  fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ClusterError) {
    guard var values = try reader.mapping("liveActivities") else { return }
    perDay = try values.number("perDay", in: 0...10_000) ?? perDay
    limit = try values.integer("limit") ?? limit
    guard (0...100).contains(limit) else { throw values.error("limit", "must be 0 to 100") }
    priority10PerHour = try values.number("priority10PerHour", in: 0...1_000_000) ?? priority10PerHour
    hours = try values.number("hours", in: 0.001...1_000) ?? hours
    hoursOnLockScreen = try values.number("hoursOnLockScreen", in: 0...1_000) ?? hoursOnLockScreen
    try values.finish()
  }
}

extension FleetProfile.Registration {
  fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ClusterError) {
    guard var values = try reader.mapping("registration") else { return }
    let file = try values.string("file").map(values.beside)
    let url = try values.string("url")
    let method = try values.string("method") ?? "PUT"
    let headers = try values.dictionary("headers")
    body = try values.string("body") ?? body
    concurrency = try values.integer("concurrency") ?? concurrency
    guard (1...10_000).contains(concurrency) else { throw values.error("concurrency", "must be 1 to 10000") }
    timeout = try values.number("timeout", in: 0.001...3_600) ?? timeout
    longestPause = try values.number("longestPause", in: 0.1...86_400) ?? longestPause
    try values.finish()
    switch (file, url) {
    case (.some, .some): throw values.error("url", "a registration has either file or url")
    case (nil, nil): throw values.error("url", "the registration needs file or url")
    case (.some(let file), nil): target = .file(file)
    case (nil, .some(let url)):
      guard let parts = URLComponents(string: url.replacing("{", with: "").replacing("}", with: "")),
        ["http", "https"].contains(parts.scheme ?? ""), parts.host?.isEmpty == false
      else { throw values.error("url", "\"\(url)\" is not an http or https URL") }
      guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5a).contains($0) }) else {
        throw values.error("method", "\"\(method)\" is not an HTTP method, such as PUT or POST")
      }
      target = .http(url: url, method: method, headers: headers)
    }
    for (name, text) in [("url", url ?? ""), ("body", body)] + headers.map({ ("headers", $0.value) }) {
      guard let unknown = Self.unknownPlaceholder(in: text) else { continue }
      let known = Self.placeholders.map { "{\($0)}" }.joined(separator: ", ")
      throw values.error(name, "{\(unknown)} is not a placeholder; known: \(known)")
    }
  }

  /// The first word in braces that is not a placeholder. Other braces, as those of JSON, have no meaning.
  private static func unknownPlaceholder(in text: String) -> String? {
    text.matches(of: /\{([A-Za-z]+)\}/).map { String($0.1) }.first { !placeholders.contains($0) }
  }
}

extension ConfigurationReader {
  fileprivate mutating func number(_ name: String, in range: ClosedRange<Double>) throws(ClusterError) -> Double? {
    guard let value = try number(name) else { return nil }
    guard range.contains(value) else {
      throw error(name, "must be \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
    return value
  }
}

extension String {
  fileprivate var isTopic: Bool {
    !isEmpty && utf8.count <= 155
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
