// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@Suite struct `Cookies` {
  private let now = Date(timeIntervalSince1970: 1_445_412_480)

  private func cookie(_ field: String, _ url: String = "https://www.figures.example/a/b/c?x") throws -> Cookie? {
    Cookie(field, from: try #require(URL(string: url)), now: now)
  }

  @Test(.rule("NETWORK-15")) func `a Set-Cookie field is read with its attributes`() throws {
    let plain = try #require(try cookie(" a = b=c "))
    #expect(plain.name == "a" && plain.value == "b=c" && plain.path == "/a/b" && plain.expires == nil)
    #expect(plain.domain == "www.figures.example" && plain.isHostOnly && !plain.isSecure)
    let full = try #require(try cookie("a=; PATH=/x; domain=.Figures.Example; Secure; HttpOnly; max-age=10"))
    #expect(full.value == "" && full.path == "/x" && full.domain == "figures.example" && !full.isHostOnly)
    #expect(full.isSecure && full.expires == now + 10)
    #expect(try cookie("a=b", "https://h")?.path == "/" && cookie("a=b; path=x", "https://h/y/z")?.path == "/y")
    for date in ["Wed, 21 Oct 2015 07:28:00 GMT", "Wednesday, 21-Oct-15 07:28:00 GMT", "Wed Oct 21 07:28:00 2015"] {
      #expect(try cookie("a=b; Expires=\(date)")?.expires == now, "\(date)")
    }
    #expect(try cookie("a=b; Expires=soon")?.expires == nil)
    #expect(try cookie("a=b; Max-Age=0; Expires=Wed, 21 Oct 2099 07:28:00 GMT")?.isExpired(at: now) == true)
  }

  @Test(
    .rule("NETWORK-15"),
    arguments: [
      ("novalue", "https://h/"), ("=b", "https://h/"), ("a=b; domain=example", "https://figures.example/"),
      ("a=b; domain=other.example", "https://figures.example/"), ("a=b; domain=0.0.1", "https://127.0.0.1/"),
      ("a=b; Secure", "http://h/"), ("a=\(String(repeating: "b", count: 5000))", "https://h/"),
      ("a=b\u{7f}", "https://h/"), ("a=b\r\nc: d", "https://h/"), ("a\0=b", "https://h/"),
      ("a=b; Path=/\u{1}", "https://h/"),
    ])
  func `a field that a server may not send is ignored`(field: String, url: String) throws {
    #expect(try cookie(field, url) == nil)
  }

  @Test(
    .rule("NETWORK-15"),
    arguments: [
      ("a=b; path=/a", "https://www.figures.example/a", true),
      ("a=b; path=/a", "https://www.figures.example/a/b", true),
      ("a=b; path=/a", "https://www.figures.example/ab", false),
      ("a=b; path=/", "https://x.www.figures.example/", false),
      ("a=b; path=/; domain=figures.example", "http://q.figures.example/a", true),
      ("a=b; path=/; domain=figures.example", "http://notfigures.example/", false),
      ("a=b; path=/; Secure", "http://www.figures.example/", false),
      ("a=b; path=/", "http://www.figures.example", true),
    ])
  func `a cookie is sent to its domain, its path, and if it is secure only with TLS`(
    field: String, url: String, isSent: Bool
  ) throws {
    let cookie = try #require(try cookie(field))
    #expect(cookie.isSent(to: try #require(URL(string: url)), at: now) == isSent)
  }

  @Test(.rule("NETWORK-15")) func `longer paths come first, then older cookies`() throws {
    let url = try #require(URL(string: "https://www.figures.example/a/b/c"))
    let old = try #require(Cookie("c=0; path=/", from: url, now: now - 5))
    let cookies = [try cookie("a=1; path=/"), try cookie("b=2; path=/a"), old].compactMap(\.self)
    #expect(Cookie.header(cookies, for: url, at: now) == "b=2; c=0; a=1")
    #expect(Cookie.header(cookies.filter { $0.isSecure }, for: url, at: now) == nil)
  }
}
