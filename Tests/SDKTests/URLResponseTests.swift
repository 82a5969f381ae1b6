// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing
import URLSessionAPI

/// Properties that a response derives from its header fields and its status.
@Suite struct `HTTP responses` {
  private func response(_ fields: [String: String]) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://a.example/folder/figures.json?day=1"))
    return try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
  }

  @Test(.rule("INLINE-22")) func `a response capitalizes header fields that arrive in lower case`() throws {
    let response = try response(["content-type": "text/plain; charset=utf-8", "etag": "1", "X-iD": "2"])
    #expect(response.allHeaderFields["Content-Type"] as? String == "text/plain; charset=utf-8")
    #expect(response.allHeaderFields["Etag"] as? String == "1")
    #expect(response.allHeaderFields["X-iD"] as? String == "2")
    #expect(response.value(forHTTPHeaderField: "ETAG") == "1")
    #expect(response.mimeType == "text/plain")
  }

  @Test func `a response suggests a filename from Content-Disposition or the URL`() throws {
    #expect(try response([:]).suggestedFilename == "figures.json")
    let named = try response(["Content-Disposition": "attachment; filename=\"../today.json\""])
    #expect(named.suggestedFilename == "today.json")
  }

  @Test func `HTTPURLResponse.localizedString has a phrase for every status code`() {
    #expect(HTTPURLResponse.localizedString(forStatusCode: 404) == "not found")
    #expect(HTTPURLResponse.localizedString(forStatusCode: 299) == "success")
    #expect(HTTPURLResponse.localizedString(forStatusCode: 799) == "server error")
  }
}
