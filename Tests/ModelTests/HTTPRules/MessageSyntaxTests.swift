// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@Suite struct `The syntax of requests` {
  @Test func `a token has at least one character, and none that ends or separates tokens`() {
    for text in ["GET", "x-a_b.1", "!#$%&'*+-.^_`|~"] { #expect(MessageSyntax.isToken(text)) }
    for text in ["", "a b", "a:", "a\r\n", "a\0", "ä", "(a)", "a,b", "\u{7f}"] { #expect(!MessageSyntax.isToken(text)) }
  }

  @Test func `a value has any characters but control characters`() {
    for text in ["", "a, b", "a\tb", "Zürich 東京"] { #expect(MessageSyntax.isValue(text)) }
    for text in ["a\nb", "a\r", "\0", "\u{7f}", "\u{1b}[0m"] { #expect(!MessageSyntax.isValue(text)) }
  }

  @Test func `an objection names the method or the field without its control characters`() {
    func objection(_ method: String, name: String, value: String) -> String? {
      MessageSyntax.objection(method, [("First", "1"), (name, value)])
    }
    #expect(objection("GET", name: "A", value: "1") == nil)
    #expect(objection("G T", name: "A", value: "1") == #"the method "G T""#)
    #expect(objection("GET", name: "A\n", value: "1") == #"the header field name "A\n""#)
    #expect(objection("GET", name: "A", value: "1\n") == "a control character in the header field A")
    #expect(objection("GET", name: String(repeating: "ä", count: 500), value: "1")?.count == 104)
  }

  @Test(
    arguments: [
      ("http://h/", true), ("http://a_b.example/", true), ("http://%C3%A4/", true), ("http://bücher.example/", true),
      ("http://127.0.0.1/", true), ("http://[::1]/", true), ("http://[fe80::1%25lo]/", true), ("http:///x", false),
      ("http://[]/", false), ("http://%5B%5D/", false), ("http://%5D/", false), ("http://%5B/", false),
      ("http://a%00b/", false), ("http://a%20b/", false), ("http://a%2Fb/", false), ("http://a%3A99999/", false),
      ("http://a%40b/", false), ("http://%FF/", false), ("http://a%7F/", false),
    ])
  func `a host has no characters that separate the parts of a URL`(url: String, isUsable: Bool) throws {
    #expect(MessageSyntax.hasUsableHost(try #require(URL(string: url))) == isUsable)
  }

  @Test(
    arguments: [
      ("http://h/", true), ("http://h:/", true), ("http://h:0/", true), ("http://h:65535/", true),
      ("http://h:0065535/", true), ("http://[::1]:1/", true), ("http://h:65536/", false),
      ("http://[::1]:99999/", false),
      ("http://u:p@h:70000/", false), ("http://h:99999999999999999999/", false), ("//h:99999999999999999999", false),
    ])
  func `a port is usable from 0 to 65535`(url: String, isUsable: Bool) throws {
    #expect(MessageSyntax.hasUsablePort(try #require(URL(string: url))) == isUsable)
  }
}
