// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import Testing

@Suite struct `The conditions of a source file` {
  private func view(_ text: String, _ platform: String = "iOS") -> String? {
    ConditionalSource(Data(text.utf8)).view(platform: platform).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("#if os(iOS)\n", "#if true\n"), ("#if !os(iOS)\n", "#if !true\n"),
    ("#if os(macOS)||os(iOS)&&DEBUG\n", "#if os(macOS)||true&&DEBUG\n"),
    ("#if A\n#elseif os ( iOS ) // os(iOS)\n", "#if A\n#elseif true // os(iOS)\n"),
    ("  #if os(macOS) ||\n   os(iOS)\nlet os = 1", "  #if os(macOS) ||\n   true\nlet os = 1"),
    ("#if canImport(UIKit) && os(iOS)\r\nx\r\n#endif\r\n", "#if canImport(UIKit) && true\r\nx\r\n#endif\r\n"),
    ("#if /* os(iOS) */ os(iOS)\n", "#if /* os(iOS) */ true\n"),
  ])
  func `os(iOS) is replaced by true`(text: String, expected: String) {
    #expect(view(text) == expected)
  }

  @Test(arguments: [
    "let a = 1", "// #if os(iOS)\n", "/*\n#if os(iOS)\n*/\n", "let a = \"\"\"\n#if os(iOS)\n\"\"\"\n",
    "let a = #\"\"\"\n\"\"\"\n#if os(iOS)\n\"\"\"#\n", "#if os(macOS)\n", "#if macos(iOS)\n", "#if canImport(iOS)\n",
    "let a = \"\\(b(\"\"\"\n#if os(iOS)\n\"\"\"))\"\n", "f(os(iOS))", "/* /* */\n#if os(iOS)\n*/",
  ])
  func `a file without such a condition has no view`(text: String) {
    #expect(view(text) == nil)
  }

  @Test func `the view has as many lines as the file, also after texts and comments`() throws {
    let text = """
      /* a comment with " and ''' */
      let a = "a text with // and /* and \\" and \\(f("x") + 1)" // "
      let b = #"raw " \\ "#
      let unclosed = "
      #if os(iOS)
      let c = 1
      #endif
      """
    let result = try #require(view(text))
    #expect(result.split(separator: "\n").count == text.split(separator: "\n").count)
    #expect(result == text.replacing("os(iOS)", with: "true"))
  }

  @Test func `the platform is that of the target`() {
    #expect(view("#if os(watchOS)\n", "watchOS") == "#if true\n")
    #expect(view("#if os(iOS)\n", "watchOS") == nil)
  }

  // MARK: Imports

  private func imports(_ text: String) -> [String] {
    let values = ConditionValues(platform: "iOS", modules: ["UIKit", "SwiftUI"], defined: ["DEBUG"])
    return ConditionalSource(Data(text.utf8)).imports(values).map(\.module)
  }

  @Test(arguments: [
    ("import A", ["A"]), ("@testable import A.B\npublic import B", ["A", "B"]),
    ("import struct A.B; import C", ["A", "C"]),
    ("@preconcurrency internal import A // import B", ["A"]), ("let text = \"import A\"", []), ("important()", []),
    ("  import class A.X", ["A"]), ("/*\nimport A\n*/", []),
  ])
  func `imports are found`(text: String, modules: [String]) {
    #expect(imports(text) == modules)
  }

  @Test(arguments: [
    ("#if os(iOS)\nimport A\n#else\nimport B\n#endif", ["A"]),
    ("#if canImport(UIKit)\nimport UIKit\n#elseif canImport(AppKit)\nimport AppKit\n#endif", ["UIKit"]),
    ("#if canImport(AppKit)\nimport AppKit\n#endif", []),
    ("#if !canImport(AppKit) && swift(>=5.9)\nimport A\n#endif", ["A"]),
    ("#if DEBUG\nimport A\n#endif\n#if RELEASE\nimport B\n#endif", ["A"]),
    ("#if hasFeature(X)\nimport A\n#else\nimport B\n#endif\nimport C", ["C"]),
    ("#if targetEnvironment(simulator)\nimport A\n#endif", []),
    ("#if os(macOS)\n#if DEBUG\nimport A\n#endif\n#endif", []),
  ])
  func `only imports that are compiled for certain are found`(text: String, modules: [String]) {
    #expect(imports(text) == modules)
  }

  @Test func `an import has its line`() {
    let values = ConditionValues(platform: "iOS", modules: [], defined: [])
    let found = ConditionalSource(Data("\n\n  import A\n".utf8)).imports(values)
    #expect(found.map(\.line) == [3])
  }
}
