// SPDX-License-Identifier: Apache-2.0

import Foundation
import MacroExpansion

/// The compiler plugin of `#Preview`. The compiler checks the types of the macro's arguments itself. The expansion is
/// empty, because no Xcode displays the preview.
@main struct PreviewsPlugin {
  static func main() {
    let plugin = CompilerPlugin(name: "PreviewsMacros", known: "#Preview") { kind, _ in
      kind == "expandFreestandingMacro" ? Expansion("") : nil
    }
    exit(plugin.run())
  }
}
