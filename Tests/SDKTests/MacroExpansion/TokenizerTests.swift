// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MacroExpansion

@Suite struct `Tokens of source text` {
  private func texts(_ source: String) -> [String] { Tokenizer.tokens(of: source).map { String($0.text) } }

  @Test func `comments are no tokens, also nested ones and those with braces`() {
    #expect(texts("a /* { /* } */ \" */ b // } c\nd") == ["a", "b", "d"])
    #expect(texts("a /* open") == ["a"])
  }

  @Test func `a string is one token, with escapes, braces and interpolations`() {
    #expect(texts(#"x = "a { \" // b" y"#) == ["x", "=", #""a { \" // b""#, "y"])
    #expect(texts(#""\(f("}", [1: "\(n)"])) {" z"#) == [#""\(f("}", [1: "\(n)"])) {""#, "z"])
    #expect(texts("##\"a \"# \\#(b) \"## c") == ["##\"a \"# \\#(b) \"##", "c"])
    #expect(texts("#\"\\#(\"}\") \"# c") == ["#\"\\#(\"}\") \"#", "c"])
  }

  @Test func `a string of several lines is one token`() {
    let source = "\"\"\"\n  a \"b\" { \\\"\"\"\n  \\(c)\n  \"\"\""
    #expect(texts(source + " d") == [source, "d"])
  }

  @Test func `a regular expression is one token, and a division is not one`() {
    #expect(texts("x = /a{2}\\/}/ y") == ["x", "=", "/a{2}\\/}/", "y"])
    #expect(texts("#/ } / }/# y") == ["#/ } / }/#", "y"])
    #expect(texts("a / b / c") == ["a", "/", "b", "/", "c"])
    #expect(texts("(a)/b/c") == ["(", "a", ")", "/", "b", "/", "c"])
  }

  @Test func `numbers, names in backticks and arrows are one token each`() {
    #expect(texts("1_000.5e3 0xF_F 1...2 x.0") == ["1_000.5e3", "0xF_F", "1", ".", ".", ".", "2", "x", ".", "0"])
    #expect(texts("`class` -> Größe $0 _x") == ["`class`", "->", "Größe", "$0", "_x"])
    #expect(Tokenizer.tokens(of: "`class`")[0].name == "class")
  }

  @Test func `a condition of the compilation is one token with its line`() {
    let tokens = Tokenizer.tokens(of: "#if os(iOS) && DEBUG // {\n a\n#endif\n#Unique")
    #expect(tokens.map(\.kind) == [.directive, .word, .directive, .symbol, .word])
    #expect(tokens[0].text == "#if os(iOS) && DEBUG ")
  }

  @Test func `a token knows whether it starts a line or follows space`() {
    let tokens = Tokenizer.tokens(of: "a(b) /* \n */ c d")
    #expect(tokens.map(\.startsLine) == [true, false, false, false, true, false])
    #expect(tokens.map(\.followsSpace) == [true, false, false, false, true, true])
  }

  @Test(arguments: ["", "\"", "\"\"\"", "#\"", "/*", "\"\\(", "`", "#", "/", "\\", "@", "#/"])
  func `every text has tokens`(_ source: String) { _ = Tokenizer.tokens(of: source) }
}
