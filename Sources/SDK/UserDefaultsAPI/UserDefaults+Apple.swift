// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
