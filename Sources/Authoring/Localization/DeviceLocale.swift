package import Foundation

// What stands in the place of Foundation's getters in an author's executable, whose linker is told so (`--wrap`): on Linux
// they answer `en_001` whatever one says, and every formatter asks them.

/// `Locale.current`.
@_silgen_name("__wrap_$s20FoundationEssentials6LocaleV7currentACvgZ")
package func currentLocale() -> Locale { .device }

/// `Locale.autoupdatingCurrent`.
@_silgen_name("__wrap_$s20FoundationEssentials6LocaleV19autoupdatingCurrentACvgZ")
package func autoupdatingLocale() -> Locale { .device }

/// `Locale.preferredLanguages`.
@_silgen_name("__wrap_$s20FoundationEssentials6LocaleV18preferredLanguagesSaySSGvgZ")
package func preferredLanguages() -> [String] { [Locale.device.identifier.replacingOccurrences(of: "_", with: "-")] }
