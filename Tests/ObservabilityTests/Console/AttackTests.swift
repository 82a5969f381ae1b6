// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Synchronization
import Testing
import WidgetLabTesting

@testable import Console

/// Requests that a browser of another site, or another process, may send. Over real sockets.
@Suite(.timeLimit(.minutes(1))) struct `Attacks on the console` {
  @Test func `a request with the name of another host is refused before its route and its method`() async throws {
    try await ConsoleFixture.with { fixture, client in
      let good = client.host
      for host in ["evil.example", "evil.example:\(client.port)", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example"]
      {
        for (method, path) in [("GET", "/"), ("GET", "/api/state"), ("DELETE", "/nothing"), ("GET", "/api/health")] {
          let answer = try await client.send(method, path, headers: ["Host": host])
          #expect(answer.status == 421, "\(method) \(path) for \(host)")
          #expect(!answer.text.contains(client.token))
        }
        #expect(
          try await client.post("/api/actions", #"{"arguments":["lock"]}"#, headers: ["Host": host]).status == 421)
      }
      let twice = "GET / HTTP/1.1\r\nHost: \(good)\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
      #expect(try await client.exchange(twice).status == 421)
      let missing = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
      #expect([400, 421].contains(try await client.exchange(missing).status))
      #expect(try await client.get("/", ["Host": "localhost:\(client.port)"]).status == 200)
      #expect(fixture.cluster.performed.withLock { $0.isEmpty })
    }
  }

  /// RFC 9110, section 9.3.2.
  @Test func `HEAD is answered without a body`() async throws {
    try await ConsoleFixture.with { _, client in
      for (path, status) in [("/", 200), ("/nothing", 404), ("/api/health", 405), ("/api/state", 405)] {
        let answer = try await client.send("HEAD", path)
        #expect(answer.status == status && answer.body.isEmpty, "\(path): \(answer)")
      }
    }
  }

  @Test func `a permitted name needs no port, and permits no other name`() {
    let rule = HostRule(port: 8099, allowed: ["build.example", "other.example:90"])
    for host in [
      "127.0.0.1:8099", "LOCALHOST:8099", "[::1]:8099", "build.example", "build.example:1", "other.example:90",
    ] {
      #expect(rule.allows(host), "\(host)")
    }
    for host in ["127.0.0.1", "127.0.0.1:80", "other.example", "other.example:91", "x.build.example", "", ":8099"] {
      #expect(!rule.allows(host), "\(host)")
    }
  }

  @Test func `a POST from another site, or without an origin, or with another type performs nothing`() async throws {
    try await ConsoleFixture.with { fixture, client in
      let body = #"{"arguments":["lock"]}"#
      for origin in ["", "http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:1"] {
        let answer = try await client.post("/api/actions", body, headers: ["Origin": origin])
        #expect(answer.status == 403, "origin '\(origin)'")
        #expect(try await client.post("/api/session", "{}", headers: ["Origin": origin]).status == 403)
      }
      for type in ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        #expect(
          try await client.post("/api/actions", body, headers: ["Content-Type": type]).status == 403, "type '\(type)'")
      }
      #expect(fixture.cluster.performed.withLock { $0.isEmpty })
      #expect(try await client.post("/api/actions", body).status == 200)
      #expect(fixture.cluster.performed.withLock { $0 } == [["lock"]])
    }
  }

  @Test func `without the cookie of this console everything below api is refused`() async throws {
    try await ConsoleFixture.with { fixture, client in
      var stranger = client
      let name = client.cookie.prefix { $0 != "=" }
      let cookies: [String] = [
        "", "\(name)=", "\(name)=\(client.token)", client.cookie + "0", "x=1; y=2", String(client.cookie.dropLast()),
      ]
      let paths = ["state", "messages", "events", "screen", "pictures/x.svg", "nothing", "messages/1", "processes"]
      for cookie in cookies {
        stranger.cookie = cookie
        for path in paths {
          let answer = try await stranger.get("/api/\(path)")
          #expect(answer.status == 401, "\(path) with '\(cookie)'")
        }
        let answer = try await stranger.post("/api/actions", #"{"arguments":["lock"]}"#)
        #expect(answer.status == 401)
      }
      #expect(fixture.cluster.performed.withLock { $0.isEmpty })
      stranger.cookie = "other=1; \(client.cookie); more=2"
      #expect(try await stranger.get("/api/state").status == 200)
    }
  }

  @Test func `a wrong token gives no session`() async throws {
    try await ConsoleFixture.with { _, client in
      let token = client.token
      for wrong in ["", String(token.dropLast()), token + "0", String(token.reversed()), client.cookie] {
        let answer = try await client.post("/api/session", #"{"token":"\#(wrong)"}"#)
        #expect(answer.status == 401, "'\(wrong)'")
        #expect(answer.headers["set-cookie"] == nil)
      }
      #expect(try await client.post("/api/session", "[]").status == 400)
    }
  }

  @Test func `a token has enough characters, and its cookie does not reveal it`() throws {
    #expect(ConsoleToken("short") == nil)
    #expect(ConsoleToken("0123456789abcdef\n") == nil)
    let token = try #require(ConsoleToken("0123456789abcdef"))
    #expect(token.matches("0123456789abcdef") && !token.matches("0123456789abcdeg"))
    #expect(!token.cookie.contains(token.text) && !token.cookieName.contains(token.text))
    #expect(ConsoleToken.random().text.count == 48 && ConsoleToken.random() != ConsoleToken.random())
    #expect(ConsoleToken.random().cookieName != ConsoleToken.random().cookieName)
  }

  @Test func `no response contains the token, and each forbids scripts of others and referrers`() async throws {
    try await ConsoleFixture.with { fixture, client in
      try fixture.fill(3)
      let paths = [
        "/", "/screen", "/bus/1", "/assets/index.html", "/assets/nothing", "/api/health", "/api/state", "/api/messages",
        "/api/messages/1", "/api/history", "/api/traces", "/api/diagnoses", "/api/nothing", "/nothing", "/api/pushes",
      ]
      for path in paths {
        let answer = try await client.get(path)
        #expect(!answer.text.contains(client.token), "\(path)")
        #expect(answer.headers["referrer-policy"] == "no-referrer", "\(path)")
        #expect(answer.headers["x-content-type-options"] == "nosniff", "\(path)")
        #expect(answer.headers["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self'") == true)
        #expect(answer.headers["access-control-allow-origin"] == nil, "\(path)")
        if path.hasPrefix("/api") { #expect(answer.headers["cache-control"] == "no-store", "\(path)") }
      }
      let session = try await client.post("/api/session", #"{"token":"\#(client.token)"}"#)
      #expect(session.headers["set-cookie"]?.hasSuffix("; HttpOnly; SameSite=Strict; Path=/") == true)
      #expect(!session.text.contains(client.token))
    }
  }

  @Test func `a path leaves the embedded files in no spelling`() async throws {
    try await ConsoleFixture.with { _, client in
      let paths = [
        "/assets/../Package.swift", "/assets/..%2f..%2fetc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets//etc/passwd",
        "/assets/", "/assets", "//etc/passwd", "/../../etc/passwd", "/assets/index.html/", "/assets/index.html%00.js",
        "/assets/....//index.html", "/assets\\..\\etc", "/api/pictures/../../../etc/passwd", "/etc/passwd",
      ]
      for path in paths {
        let answer = try await client.get(path)
        #expect([400, 404].contains(answer.status), "\(path): \(answer.status)")
        #expect(!answer.text.contains("root:"))
      }
      let absolute = "GET http://evil.example/etc/passwd HTTP/1.1\r\nHost: \(client.host)\r\nConnection: close\r\n\r\n"
      #expect(try await client.exchange(absolute).status == 404)
    }
  }

  @Test func `a picture is never script, and a body of markup is text in JSON`() async throws {
    try await ConsoleFixture.with { fixture, client in
      fixture.cluster.pictures.withLock { $0["abc"] = Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8) }
      let picture = try await client.get("/api/pictures/abc.svg")
      #expect(picture.status == 200)
      #expect(picture.headers["content-type"] == "image/svg+xml")
      #expect(picture.headers["content-security-policy"] == "sandbox; default-src 'none'; style-src 'none'")
      let markup = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
      try fixture.write([ConsoleFixture.output(markup)])
      let answer = try await client.get("/api/messages/2")
      #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
      let body = try #require(try answer.json()["body"] as? [String: Any])
      #expect(body["line"] as? String == markup)
    }
  }

  @Test func `a body that is too large is refused, whether it names its length or not`() async throws {
    try await ConsoleFixture.with { fixture, client in
      let filler = String(repeating: "a", count: 100_000)
      let large = #"{"arguments":["\#(filler)"]}"#
      let refused = try await client.post("/api/actions", large)
      #expect(refused.status == 413)
      let chunk = String(repeating: "b", count: 0x8000)
      let lines: [String] = [
        "POST /api/actions HTTP/1.1", "Host: \(client.host)", "Origin: http://\(client.host)",
        "Cookie: \(client.cookie)", "Content-Type: application/json", "Transfer-Encoding: chunked",
        "Connection: close", "",
      ]
      let chunks = Array(repeating: "8000\r\n\(chunk)", count: 4) + ["0", "", ""]
      let request = (lines + chunks).joined(separator: "\r\n")
      #expect(try await client.exchange(request).status == 413)
      #expect(try await client.post("/api/actions", "{}").status == 400)
      #expect(fixture.cluster.performed.withLock { $0.isEmpty })
    }
  }

  @Test func `a read-only console refuses actions with 409`() async throws {
    try await ConsoleFixture.with(isReadOnly: true) { fixture, client in
      let answer = try await client.act(["lock"])
      #expect(answer.status == 409)
      #expect(answer.text.contains("a test"))
      #expect(try await client.get("/api/state").json()["isReadOnly"] as? Bool == true)
      #expect(fixture.cluster.performed.withLock { $0.isEmpty })
    }
  }
}
