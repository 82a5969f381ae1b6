// SPDX-License-Identifier: Apache-2.0

/// Logic with a third value, `nil`, for what is not known.
enum Kleene {
  static func not(_ value: Bool?) -> Bool? { value.map { !$0 } }

  static func and(_ left: Bool?, _ right: Bool?) -> Bool? {
    left == false || right == false ? false : left == nil || right == nil ? nil : true
  }

  static func or(_ left: Bool?, _ right: Bool?) -> Bool? { not(and(not(left), not(right))) }
}

/// The condition of an `#if` or `#elseif`.
///
/// Source: *The Swift Programming Language*, grammar of a conditional compilation block.
struct PlatformCondition {
  /// A condition's value here, on Linux, and on a phone; `nil` if it depends on something else.
  struct Values: Equatable {
    var here: Bool?
    var phone: Bool?
  }

  /// Whether the author has written it for Linux.
  private(set) var namesLinux = false
  private(set) var values = Values()
  private let modules: Set<String>
  private var rest: Substring

  init(_ text: Substring, modules: Set<String>) {
    rest = text
    self.modules = modules
    values = alternatives()
  }

  private mutating func alternatives() -> Values {
    var values = conjunction()
    while skip("||") {
      let other = conjunction()
      values = Values(here: Kleene.or(values.here, other.here), phone: Kleene.or(values.phone, other.phone))
    }
    return values
  }

  private mutating func conjunction() -> Values {
    var values = term()
    while skip("&&") {
      let other = term()
      values = Values(here: Kleene.and(values.here, other.here), phone: Kleene.and(values.phone, other.phone))
    }
    return values
  }

  private mutating func term() -> Values {
    if skip("!") {
      let values = term()
      return Values(here: Kleene.not(values.here), phone: Kleene.not(values.phone))
    }
    if skip("(") {
      defer { _ = skip(")") }
      return alternatives()
    }
    skipSpace()
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    rest = rest.dropFirst(name.count)
    guard !name.isEmpty else { return Values() }
    guard skip("(") else { return Values(here: Bool(String(name)), phone: Bool(String(name))) }
    let argument = rest.prefix { $0 != ")" }
    rest = rest.dropFirst(argument.count)
    _ = skip(")")
    return value(of: name, argument.filter { !$0.isWhitespace })
  }

  private mutating func value(of name: Substring, _ argument: String) -> Values {
    switch name {
    case "os":
      namesLinux = namesLinux || argument == "Linux"
      return Values(here: argument == "Linux", phone: argument == "iOS")
    case "targetEnvironment" where argument == "macCatalyst": return Values(here: false, phone: false)
    case "canImport":
      let module = argument.prefix { $0 != "," && $0 != "." }
      if ["Glibc", "Musl", "FoundationNetworking"].contains(module) {
        namesLinux = true
        return Values(here: true, phone: false)
      }
      let isMissing = Self.frameworks.contains(String(module)) && !modules.contains(String(module))
      return isMissing ? Values(here: false, phone: true) : Values()
    default: return Values()
    }
  }

  private mutating func skip(_ token: String) -> Bool {
    skipSpace()
    guard rest.hasPrefix(token) else { return false }
    rest = rest.dropFirst(token.count)
    return true
  }

  private mutating func skipSpace() { rest = rest.drop { $0.isWhitespace } }

  /// Frameworks of iOS that widgets import and that may be missing here.
  private static let frameworks: Set<String> = [
    "AVFoundation", "Accelerate", "ActivityKit", "AppTrackingTransparency", "BackgroundTasks", "CallKit", "Charts",
    "CloudKit", "Combine", "Contacts", "CoreData", "CoreGraphics", "CoreImage", "CoreLocation", "CoreML", "CoreMotion",
    "CoreSpotlight", "CoreText", "CryptoKit", "Darwin", "EventKit", "FamilyControls", "GameKit", "HealthKit", "HomeKit",
    "Intents", "IntentsUI", "LinkPresentation", "LocalAuthentication", "MapKit", "MediaPlayer", "Metal", "MetricKit",
    "MusicKit", "NaturalLanguage", "Network", "OSLog", "ObjectiveC", "Photos", "PhotosUI", "QuartzCore",
    "RelevanceKit", "SafariServices", "Security", "SpriteKit", "StoreKit", "SwiftData", "TipKit",
    "UniformTypeIdentifiers", "UserNotifications", "Vision", "WatchConnectivity", "WeatherKit", "WebKit", "os",
  ]
}
