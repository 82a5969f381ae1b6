// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The text sizes of a device. Source: the cases of `SwiftUI.DynamicTypeSize`.
package enum TextSizeName: String, Codable, Hashable, Sendable, CaseIterable {
  case xSmall, small, medium, large, xLarge, xxLarge, xxxLarge
  case accessibility1, accessibility2, accessibility3, accessibility4, accessibility5
}

/// The settings of `DeviceSettings`, as commands name them.
package enum SettingName: String, Codable, Hashable, Sendable, CaseIterable {
  case textSize = "text-size"
  case boldText = "bold-text"
  case contrast
  case reduceMotion = "reduce-motion"
  case reduceTransparency = "reduce-transparency"
  case differentiateWithoutColor = "differentiate-without-color"
  case voiceOver = "voice-over"
  case locale
  case timeZone = "time-zone"
  case location
  case locationAccess = "location-access"
  case battery
  case lowPowerMode = "low-power-mode"
  case notificationAccess = "notification-access"
}

/// The charge of a device's battery.
package struct DeviceBattery: Codable, Hashable, Sendable {
  /// Source: the cases of `UIDevice.BatteryState`.
  package enum State: String, Codable, Hashable, Sendable, CaseIterable {
    case unplugged, charging, full
  }

  /// From 0 to 100.
  package let percent: Int
  package let state: State

  /// That of a device whose user chose nothing. Ours.
  package static let usual = DeviceBattery(percent: 80, state: .unplugged)

  private init(percent: Int, state: State) {
    self.percent = percent
    self.state = state
  }

  /// From a percentage, and after a comma the state unless it is `unplugged`: `80`, `80,charging`; `nil` for any other
  /// text.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    let state = parts.count == 1 ? State.unplugged : State(rawValue: parts[1])
    guard parts.count <= 2, let percent = Int(parts[0]), (0...100).contains(percent), let state else { return nil }
    self.init(percent: percent, state: state)
  }

  package var text: String { state == .unplugged ? "\(percent)" : "\(percent),\(state.rawValue)" }
}

/// What the user answers when an app asks for permission to show notifications.
package enum NotificationAnswer: String, Codable, Hashable, Sendable, CaseIterable {
  case allowed, denied
  /// The user has not answered: the app waits.
  case unanswered
}

/// A place on the earth, in degrees.
package struct DeviceLocation: Codable, Hashable, Sendable {
  package let latitude: Double
  package let longitude: Double

  /// From `LATITUDE,LONGITUDE`, such as `47.3769,8.5417`; `nil` for any other text, and for degrees that do not exist.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard parts.count == 2, let latitude = parts[0], let longitude = parts[1], abs(latitude) <= 90,
      abs(longitude) <= 180
    else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  package var text: String { "\(latitude),\(longitude)" }
}

/// The settings of a device that its user changes, and that views or the author's code read.
package struct DeviceSettings: Codable, Hashable, Sendable {
  package var textSize = TextSizeName.large
  package var isTextBold = false
  package var increasesContrast = false
  package var reducesMotion = false
  package var reducesTransparency = false
  package var differentiatesWithoutColor = false
  package var isVoiceOverOn = false
  /// Language and region, such as `en_US`.
  package var locale: String
  /// Such as `Europe/Zurich`.
  package var timeZone: String
  /// `nil` for a device that does not know where it is.
  package var location: DeviceLocation?
  private var refusesLocation: Bool?
  private var charge: DeviceBattery?
  private var savesPower: Bool?

  package var battery: DeviceBattery {
    get { charge ?? .usual }
    set { charge = newValue == .usual ? nil : newValue }
  }

  package var isLowPowerModeOn: Bool {
    get { savesPower ?? false }
    set { savesPower = newValue ? true : nil }
  }

  /// Whether the user has forbidden apps to use the location.
  package var isLocationDenied: Bool {
    get { refusesLocation ?? false }
    set { refusesLocation = newValue ? true : nil }
  }

  private var answerToNotifications: NotificationAnswer?

  /// What the user answers to every app that asks, and has chosen for those that asked.
  package var notificationAnswer: NotificationAnswer {
    get { answerToNotifications ?? .allowed }
    set { answerToNotifications = newValue == .allowed ? nil : newValue }
  }

  package init(locale: String = "en_US", timeZone: String = "GMT") {
    self.locale = locale
    self.timeZone = timeZone
  }

  /// Whether the language is written from right to left.
  package var isRightToLeft: Bool { Locale(identifier: locale).language.characterDirection == .rightToLeft }

  /// The value of a setting, as commands name it.
  package subscript(name: SettingName) -> String {
    switch name {
    case .textSize: textSize.rawValue
    case .contrast: increasesContrast ? "increased" : "standard"
    case .locale: locale
    case .timeZone: timeZone
    case .location: location?.text ?? Self.unknown
    case .locationAccess: isLocationDenied ? "denied" : "allowed"
    case .battery: battery.text
    case .notificationAccess: notificationAnswer.rawValue
    case .boldText, .reduceMotion, .reduceTransparency, .differentiateWithoutColor, .voiceOver, .lowPowerMode:
      self[keyPath: name.switched] ? "on" : "off"
    }
  }

  /// The value of a location that the device does not know.
  private static let unknown = "unknown"

  /// Changes a setting.
  ///
  /// - Parameter value: as `subscript` returns it; a locale may have a hyphen.
  /// - Throws: `SettingRefusal` when the setting has no such value.
  package mutating func set(_ name: SettingName, to value: String) throws(SettingRefusal) {
    guard change(name, to: value) else { throw SettingRefusal(name: name, value: value) }
  }

  /// The settings with other values for some of them. A value that its setting does not have is left out.
  package func applying(_ values: [SettingName: String]) -> DeviceSettings {
    var settings = self
    for (name, value) in values { _ = settings.change(name, to: value) }
    return settings
  }

  /// - Returns: whether the setting has such a value.
  private mutating func change(_ name: SettingName, to value: String) -> Bool {
    switch name {
    case .textSize:
      guard let size = TextSizeName(rawValue: value) else { return false }
      textSize = size
    case .locale:
      let identifier = value.replacingOccurrences(of: "-", with: "_")
      guard Self.isLocale(identifier) else { return false }
      locale = identifier
    case .timeZone:
      guard Self.isTimeZone(value) else { return false }
      timeZone = value
    case .location:
      let place = DeviceLocation(value)
      guard place != nil || value == Self.unknown else { return false }
      location = place
    case .battery:
      guard let charge = DeviceBattery(value) else { return false }
      battery = charge
    case .notificationAccess:
      guard let answer = NotificationAnswer(rawValue: value) else { return false }
      notificationAnswer = answer
    case .contrast, .boldText, .reduceMotion, .reduceTransparency, .differentiateWithoutColor, .voiceOver,
      .locationAccess, .lowPowerMode:
      guard let values = name.values, let index = values.firstIndex(of: value) else { return false }
      self[keyPath: name.switched] = index == 1
    }
    return true
  }

  private static func isLocale(_ identifier: String) -> Bool {
    let isPlain = identifier.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isPlain && Locale(identifier: identifier).language.languageCode?.isISOLanguage == true
  }

  /// `GMT+3` has opposite meanings for Foundation and for the C library.
  private static func isTimeZone(_ identifier: String) -> Bool {
    guard identifier == "GMT" || !identifier.hasPrefix("GMT") else { return false }
    return TimeZone(identifier: identifier) != nil
  }
}

extension DeviceSettings {
  /// The locale of a process by its variable `LANG`: for example `de_DE` for `de_DE.UTF-8`, and `en_US` without a usable
  /// value.
  package static func locale(ofLanguage language: String?) -> String {
    guard let name = language?.prefix(while: { $0 != "." && $0 != "@" }), !name.isEmpty, name != "C", name != "POSIX"
    else { return "en_US" }
    return String(name)
  }
}

extension SettingName {
  /// Whether no view reads it.
  package var reloadsNothing: Bool {
    [.location, .locationAccess, .battery, .lowPowerMode, .notificationAccess].contains(self)
  }

  /// The values of the setting, the usual one first for two; `nil` for one with names of other standards.
  package var values: [String]? {
    switch self {
    case .textSize: TextSizeName.allCases.map(\.rawValue)
    case .contrast: ["standard", "increased"]
    case .boldText, .reduceMotion, .reduceTransparency, .differentiateWithoutColor, .voiceOver, .lowPowerMode:
      ["off", "on"]
    case .locationAccess: ["allowed", "denied"]
    case .notificationAccess: NotificationAnswer.allCases.map(\.rawValue)
    case .locale, .location, .timeZone, .battery: nil
    }
  }

  /// The property of a setting with two values.
  fileprivate var switched: WritableKeyPath<DeviceSettings, Bool> {
    switch self {
    case .contrast: \.increasesContrast
    case .boldText: \.isTextBold
    case .reduceMotion: \.reducesMotion
    case .reduceTransparency: \.reducesTransparency
    case .differentiateWithoutColor: \.differentiatesWithoutColor
    case .voiceOver: \.isVoiceOverOn
    case .locationAccess: \.isLocationDenied
    case .lowPowerMode: \.isLowPowerModeOn
    case .textSize, .locale, .location, .timeZone, .battery, .notificationAccess:
      preconditionFailure("\(rawValue) does not have two values")
    }
  }
}

/// A value that a setting does not have. Definite.
package struct SettingRefusal: Error, Hashable, CustomStringConvertible {
  package let name: SettingName
  package let value: String

  package var description: String {
    let advice =
      switch name {
      case .locale: "use a language and a region, such as de_DE or ar"
      case .timeZone: "use a name such as Europe/Zurich"
      case .location: "use a latitude and a longitude, such as 47.3769,8.5417, or unknown"
      case .battery: "use a percentage, such as 80, 80,charging or 100,full"
      case .textSize, .boldText, .contrast, .reduceMotion, .reduceTransparency, .differentiateWithoutColor, .voiceOver,
        .locationAccess, .lowPowerMode, .notificationAccess:
        "use one of: " + (name.values ?? []).joined(separator: ", ")
      }
    return "\"\(value)\" is not a value of \(name.rawValue); \(advice)"
  }
}
