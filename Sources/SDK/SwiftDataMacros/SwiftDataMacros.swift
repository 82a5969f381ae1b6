// SPDX-License-Identifier: Apache-2.0

import Foundation
import MacroExpansion

/// The compiler plugin of SwiftData's macros.
@main struct SwiftDataPlugin {
  static func main() {
    let plugin = CompilerPlugin(name: "SwiftDataMacros", known: "SwiftData") { kind, message in
      guard let macro = (message["macro"] as? [String: Any])?["typeName"] as? String else { return nil }
      func source(_ key: String) -> String? { (message[key] as? [String: Any])?["source"] as? String }
      switch kind {
      case "expandFreestandingMacro": return Expansion("")
      case "expandAttachedMacro":
        return ModelExpansion.expansion(
          of: macro, role: message["macroRole"] as? String ?? "", declaration: source("declSyntax") ?? "",
          attribute: source("attributeSyntax") ?? "", type: source("extendedTypeSyntax"))
      default: return nil
      }
    }
    exit(plugin.run())
  }
}
