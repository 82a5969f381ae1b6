// SPDX-License-Identifier: Apache-2.0

import CAuthorProcess
public import Foundation

// The functions of `user_defaults.h`, which Foundation's UserDefaults calls.

@_cdecl("user_defaults_copy") func copyDefault(
  _ key: UnsafeRawPointer, _ domain: UnsafeRawPointer?
) -> UnsafeRawPointer? {
  guard let suite = Suite(domain) else { return nil }
  return UserDefaultsStore.current.object(forKey: string(key), suite: suite.name).map(retained)
}

@_cdecl("user_defaults_set") func setDefault(
  _ key: UnsafeRawPointer, _ value: UnsafeRawPointer?, _ domain: UnsafeRawPointer?
) {
  guard let suite = Suite(domain) else { return }
  let object = value.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  UserDefaultsStore.current.set(object, forKey: string(key), suite: suite.name)
}

@_cdecl("user_defaults_copy_all") func copyDefaults(_ domain: UnsafeRawPointer?) -> UnsafeRawPointer? {
  let objects = Suite(domain).map { UserDefaultsStore.current.objects(suite: $0.name) } ?? [:]
  return retained((objects as [String: Any])._bridgeToObjectiveC())
}

@_cdecl("user_defaults_add_suite") func addSuite(_ suite: UnsafeRawPointer) {
  UserDefaultsStore.current.addSuite(string(suite))
}

@_cdecl("user_defaults_remove_suite") func removeSuite(_ suite: UnsafeRawPointer) {
  UserDefaultsStore.current.removeSuite(string(suite))
}

/// A domain of the process; no value for the domains of the machine, which CoreFoundation asks for.
private struct Suite {
  /// `nil` for the standard domain.
  let name: String?

  init?(_ domain: UnsafeRawPointer?) {
    name = domain.map(string)
    if name?.hasPrefix("kCFPreferences") == true { return nil }
  }
}

private func string(_ pointer: UnsafeRawPointer) -> String {
  String._unconditionallyBridgeFromObjectiveC(Unmanaged<NSString>.fromOpaque(pointer).takeUnretainedValue())
}

private func retained(_ object: AnyObject) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque())
}

// What UserDefaults has on Apple's systems and not on Linux, or does differently there.

extension UserDefaults {
  /// The defaults of an app group or of another suite; `nil` for the name of the process's bundle and for the global
  /// domain, as on Apple's systems. It is chosen instead of Foundation's for a name that is not optional.
  public convenience init?(suiteName: String) {
    let store = UserDefaultsStore.current
    guard suiteName != store.standardName, suiteName != Self.globalDomain else { return nil }
    self.init(suiteName: Optional(suiteName))
    store.register(self, suite: suiteName)
  }

  /// Key-value coding: sets a default.
  public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

  /// Key-value coding: a default.
  public func value(forKey key: String) -> Any? { object(forKey: key) }

  /// Stores a URL that `url(forKey:)` returns: the path of a file, an archive of any other. Foundation on Linux stores
  /// the path of any URL.
  public func set(_ url: URL, forKey defaultName: String) {
    if url.isFileURL { return set(Optional(url), forKey: defaultName) }
    let object = NSURL(string: url.relativeString, relativeTo: url.baseURL)
    guard let object, let data = try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    else { return set(url.absoluteString, forKey: defaultName) }
    set(data, forKey: defaultName)
  }
}
