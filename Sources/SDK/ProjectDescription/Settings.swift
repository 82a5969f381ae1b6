// SPDX-License-Identifier: Apache-2.0

public typealias SettingsDictionary = [String: SettingValue]

/// The value of a build setting.
public enum SettingValue: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByBooleanLiteral,
  Equatable, Sendable
{
  case string(String)
  case array([String])

  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: String...) { self = .array(elements) }
  public init(booleanLiteral value: Bool) { self = .string(value ? "YES" : "NO") }

  var text: String {
    switch self {
    case .string(let text): text
    case .array(let texts): texts.joined(separator: " ")
    }
  }
}

extension [String: SettingValue] {
  public func merging(_ other: SettingsDictionary) -> SettingsDictionary { merging(other) { $1 } }
  public mutating func merge(_ other: SettingsDictionary) { merge(other) { $1 } }

  public func swiftVersion(_ version: String) -> SettingsDictionary { merging(["SWIFT_VERSION": .string(version)]) }
  public func marketingVersion(_ version: String) -> SettingsDictionary {
    merging(["MARKETING_VERSION": .string(version)])
  }
  public func currentProjectVersion(_ version: String) -> SettingsDictionary {
    merging(["CURRENT_PROJECT_VERSION": .string(version)])
  }
  public func otherSwiftFlags(_ flags: [String]) -> SettingsDictionary { merging(["OTHER_SWIFT_FLAGS": .array(flags)]) }
  public func otherSwiftFlags(_ flags: String...) -> SettingsDictionary { otherSwiftFlags(flags) }
  public func otherLinkerFlags(_ flags: [String]) -> SettingsDictionary { merging(["OTHER_LDFLAGS": .array(flags)]) }
  public func swiftActiveCompilationConditions(_ conditions: [String]) -> SettingsDictionary {
    merging(["SWIFT_ACTIVE_COMPILATION_CONDITIONS": .array(conditions)])
  }
  public func swiftActiveCompilationConditions(_ conditions: String...) -> SettingsDictionary {
    swiftActiveCompilationConditions(conditions)
  }
  // What signs and packs the product has no effect here.
  public func automaticCodeSigning(devTeam: String) -> SettingsDictionary { self }
  public func manualCodeSigning(
    identity: String? = nil, provisioningProfileSpecifier: String? = nil
  ) -> SettingsDictionary { self }
  public func codeSignIdentity(_ identity: String) -> SettingsDictionary { self }
  public func codeSignIdentityAppleDevelopment() -> SettingsDictionary { self }
  public func appleGenericVersioningSystem() -> SettingsDictionary { self }
  public func bitcodeEnabled(_ enabled: Bool) -> SettingsDictionary { self }
  public func debugInformationFormat(_ format: DebugInformationFormat) -> SettingsDictionary { self }
  public func swiftCompilationMode(_ mode: SwiftCompilationMode) -> SettingsDictionary { self }
  public func swiftOptimizationLevel(_ level: SwiftOptimizationLevel) -> SettingsDictionary { self }
}

public enum DebugInformationFormat: Sendable { case dwarf, dwarfWithDsym }
public enum SwiftCompilationMode: Sendable { case singlefile, wholemodule }
public enum SwiftOptimizationLevel: Sendable { case o, oNone, oSize }

public struct ConfigurationName: ExpressibleByStringInterpolation, Equatable, Sendable {
  public let rawValue: String
  public static func configuration(_ name: String) -> ConfigurationName { ConfigurationName(stringLiteral: name) }
  public static let debug: ConfigurationName = "Debug"
  public static let release: ConfigurationName = "Release"
  public init(stringLiteral value: String) { rawValue = value }
}

public struct Configuration: Equatable, Sendable {
  let description: Description

  public static func debug(
    name: ConfigurationName, settings: SettingsDictionary = [:], xcconfig: Path? = nil
  ) -> Configuration {
    make(name, settings, xcconfig, isDebug: true)
  }
  public static func release(
    name: ConfigurationName, settings: SettingsDictionary = [:], xcconfig: Path? = nil
  ) -> Configuration {
    make(name, settings, xcconfig, isDebug: false)
  }

  private static func make(
    _ name: ConfigurationName, _ settings: SettingsDictionary, _ file: Path?, isDebug: Bool
  ) -> Configuration {
    Configuration(
      description: .keys([
        "name": .text(name.rawValue), "isDebug": .boolean(isDebug),
        "settings": .map(settings.mapValues { .text($0.text) }), "file": file?.description,
      ]))
  }
}

public enum DefaultSettings: Equatable, Sendable {
  case all(excluding: Set<String>)
  case defaults(essential: Bool, excluding: Set<String>)
  case none

  public static func recommended(excluding: Set<String>) -> DefaultSettings {
    .defaults(essential: false, excluding: excluding)
  }
  public static func essential(excluding: Set<String>) -> DefaultSettings {
    .defaults(essential: true, excluding: excluding)
  }
  var excluded: [String] {
    switch self {
    case .all(let names), .defaults(_, let names): names.sorted()
    case .none: []
    }
  }

  public static var recommended: DefaultSettings { recommended(excluding: []) }
  public static var essential: DefaultSettings { essential(excluding: []) }
}

public struct Settings: Equatable, Sendable {
  let description: Description

  public static func settings(
    base: SettingsDictionary = [:], debug: SettingsDictionary = [:], release: SettingsDictionary = [:],
    defaultSettings: DefaultSettings = .recommended, defaultConfiguration: String? = nil
  ) -> Settings {
    settings(
      base: base,
      configurations: [.debug(name: .debug, settings: debug), .release(name: .release, settings: release)],
      defaultSettings: defaultSettings)
  }

  public static func settings(
    base: SettingsDictionary = [:], configurations: [Configuration], defaultSettings: DefaultSettings = .recommended,
    defaultConfiguration: String? = nil
  ) -> Settings {
    Settings(
      description: .map([
        "base": .map(base.mapValues { .text($0.text) }), "configurations": .list(configurations.map(\.description)),
        "hasDefaults": .boolean(defaultSettings != .none), "excluded": .texts(defaultSettings.excluded),
      ]))
  }

  public static var `default`: Settings { settings() }
}
