import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxMacros

/// `#Preview`: its arguments are compiled, and nothing comes of it, since no Xcode shows it.
struct PreviewMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}

@main struct Plugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [PreviewMacro.self]
}
