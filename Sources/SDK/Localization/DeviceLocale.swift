// SPDX-License-Identifier: Apache-2.0

package import Foundation

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
