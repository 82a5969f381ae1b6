// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
import Synchronization

// Replacements of Foundation's getters in an author's executable, which is linked with `--wrap`. On Linux Foundation's
// own getters always return `en_001`, and every formatter calls them.

/// `Locale.current`.
@_silgen_name("__wrap_$s20FoundationEssentials6LocaleV7currentACvgZ")
package func currentLocale() -> Locale { .device }

/// `Locale.autoupdatingCurrent`.
@_silgen_name("__wrap_$s20FoundationEssentials6LocaleV19autoupdatingCurrentACvgZ")
package func autoupdatingLocale() -> Locale { .device }

/// `Locale.preferredLanguages`.
@_silgen_name("__wrap_$s20FoundationEssentials6LocaleV18preferredLanguagesSaySSGvgZ")
package func preferredLanguages() -> [String] { [Locale.device.identifier.replacingOccurrences(of: "_", with: "-")] }

private let deviceLocale = Mutex(
  Locale(identifier: DeviceSettings.locale(ofLanguage: ProcessInfo.processInfo.environment["LANG"])))

extension Locale {
  /// The device's locale. `Locale.current` of Foundation on Linux is the same on every machine, so the device passes
  /// its locale to its processes in `LANG`, and later changes by a message. The default is `en_US`.
  package static var device: Locale { deviceLocale.withLock { $0 } }

  /// The user changed the device's locale. Posts `NSLocale.currentLocaleDidChangeNotification`. Any thread.
  package static func setDevice(_ identifier: String) {
    let isChanged = deviceLocale.withLock { locale in
      defer { locale = Locale(identifier: identifier) }
      return locale.identifier != identifier
    }
    guard isChanged else { return }
    NotificationCenter.default.post(name: NSLocale.currentLocaleDidChangeNotification, object: nil)
  }

  /// The device's locale for `Locale.current` and `Locale.autoupdatingCurrent`; otherwise the locale itself.
  package var meant: Locale { self == .current || self == .autoupdatingCurrent ? .device : self }
}

extension TimeZone {
  /// The user changed the device's time zone: changes it for Foundation and the C library, and posts
  /// `NSSystemTimeZoneDidChange`. Any thread.
  ///
  /// The process was launched with the variable `TZ`, so that its environment only gets another pointer.
  package static func setDevice(_ identifier: String) {
    let isSet = ProcessInfo.processInfo.environment["TZ"] == identifier
    guard !isSet, let zone = TimeZone(identifier: identifier) else { return }
    setenv("TZ", identifier, 1)
    tzset()
    NSTimeZone.resetSystemTimeZone()
    // DateFormatter has read the variable when the process started.
    NSTimeZone.default = zone
    NotificationCenter.default.post(name: .NSSystemTimeZoneDidChange, object: nil)
  }
}
