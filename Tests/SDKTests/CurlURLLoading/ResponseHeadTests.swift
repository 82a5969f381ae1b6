// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import URLSessionAPI

/// The parts of a request that need no network.
@Suite struct ResponseHeadTests {
  private func head(_ lines: String...) -> ResponseHead {
    var head = ResponseHead()
    for line in lines + [""] { head.add("\(line)\r\n") }
    return head
  }

  @Test func `an interim response is replaced by the response that follows it`() {
    let found = head("HTTP/1.1 103 Early", "Link: </a>", "", "HTTP/1.1 200 OK", "X-Day: 1")
    #expect(found.status == 200 && found.fields == ["X-Day": "1"] && found.isComplete)
  }

  @Test func `header fields with the same name are joined with commas`() {
    let found = head("HTTP/2 200", "Vary: a", "vary: b", "Empty:", "no colon")
    #expect(found.fields == ["Vary": "a, b", "Empty": ""])
  }

  @Test func `a field after the end of the response head is ignored`() {
    var found = head("HTTP/1.1 200 OK", "X-Day: 1")
    found.add("X-Trailer: 2\r\n")
    #expect(found.fields == ["X-Day": "1"])
  }

  @Test(
    .rule("INLINE-12"),
    arguments: [
      (301, "POST", "GET"), (302, "PUT", "PUT"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"), (307, "POST", "POST"),
      (308, "DELETE", "DELETE"),
    ])
  func `the status of a redirection decides whether the method is kept or becomes GET`(
    status: Int, method: String, expected: String
  ) throws {
    var request = URLRequest(url: try #require(URL(string: "http://a.example/x/y?z")))
    request.httpMethod = method
    let next = try #require(request.following(head("HTTP/1.1 \(status) Words", "Location: ../v?w")))
    #expect(next.request.httpMethod == expected && next.keepsBody == (method == expected))
    #expect(next.request.url?.absoluteString == "http://a.example/v?w")
  }

  @Test(.rule("INLINE-12")) func `a redirection to another host drops the Authorization field`() throws {
    var request = URLRequest(url: try #require(URL(string: "http://a.example/")))
    request.setValue("Bearer 1", forHTTPHeaderField: "Authorization")
    let near = request.following(head("HTTP/1.1 302 Found", "Location: /b"))
    #expect(near?.request.value(forHTTPHeaderField: "Authorization") == "Bearer 1")
    let far = request.following(head("HTTP/1.1 302 Found", "Location: http://b.example/"))
    #expect(far?.request.value(forHTTPHeaderField: "Authorization") == nil)
  }

  @Test func `a 302 without Location and a 304 are not redirections`() throws {
    let request = URLRequest(url: try #require(URL(string: "http://a.example/")))
    #expect(request.following(head("HTTP/1.1 302 Found")) == nil)
    #expect(request.following(head("HTTP/1.1 304 Not Modified", "Location: /b")) == nil)
  }

  @Test(.rule("INLINE-16"))
  func `Digest is preferred to Basic, and an unsupported scheme or a 403 offers no authentication`() {
    let both = OfferedAuthentication(
      head("HTTP/1.1 401 No", #"WWW-Authenticate: Basic realm="a""#, #"WWW-Authenticate: Digest realm="b""#))
    #expect(both?.isDigest == true)
    #expect(OfferedAuthentication(head("HTTP/1.1 401 No", "WWW-Authenticate: Bearer")) == nil)
    #expect(OfferedAuthentication(head("HTTP/1.1 403 No", #"WWW-Authenticate: Basic realm="a""#)) == nil)
  }

  @Test(
    .rule("INLINE-21"),
    arguments: [
      (3, -1000), (6, -1003), (7, -1004), (8, -1017), (18, -1005), (28, -1001), (35, -1200), (56, -1005), (60, -1202),
      (61, -1016), (27, -1),
    ])
  func `a libcurl error code becomes the matching URLError code`(code: Int, expected: Int) {
    #expect(URLError(curl: Int32(code)).code.rawValue == expected)
  }
}
