// SPDX-License-Identifier: Apache-2.0

import Foundation
import MacroExpansion

/// The compiler plugin of `#Preview` and of SwiftData's macros. The compiler checks the types of a macro's arguments
/// itself.
@main struct AuthorPlugin {
  static func main() {
    let plugin = CompilerPlugin(name: "AuthorMacros", known: "#Preview and SwiftData") { kind, message in
      func source(_ key: String) -> String? { (message[key] as? [String: Any])?["source"] as? String }
      switch kind {
      // `#Preview`, because no Xcode displays previews, and `#Unique` and `#Index`, which `@Model` reads.
      case "expandFreestandingMacro": return Expansion("")
      case "expandAttachedMacro":
        guard let macro = (message["macro"] as? [String: Any])?["typeName"] as? String else { return nil }
        return ModelExpansion.expansion(
          of: macro, role: message["macroRole"] as? String ?? "", declaration: source("declSyntax") ?? "",
          attribute: source("attributeSyntax") ?? "", type: source("extendedTypeSyntax"))
      default: return nil
      }
    }
    exit(plugin.run())
  }
}
