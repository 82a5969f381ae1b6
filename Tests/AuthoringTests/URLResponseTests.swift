import BackgroundURLSession
import Foundation
import Testing

/// What a response says of itself.
@Suite struct `A response` {
  private func response(_ fields: [String: String]) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://a.example/folder/figures.json?day=1"))
    return try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
  }

  @Test func `capitalizes header fields that came in lower case`() throws {
    let response = try response(["content-type": "text/plain; charset=utf-8", "etag": "1", "X-iD": "2"])
    #expect(response.allHeaderFields["Content-Type"] as? String == "text/plain; charset=utf-8")
    #expect(response.allHeaderFields["Etag"] as? String == "1")
    #expect(response.allHeaderFields["X-iD"] as? String == "2")
    #expect(response.value(forHTTPHeaderField: "ETAG") == "1")
    #expect(response.mimeType == "text/plain")
  }

  @Test func `suggests a name for its body`() throws {
    #expect(try response([:]).suggestedFilename == "figures.json")
    let named = try response(["Content-Disposition": "attachment; filename=\"../today.json\""])
    #expect(named.suggestedFilename == "today.json")
  }

  @Test func `has a phrase for each status`() {
    #expect(HTTPURLResponse.localizedString(forStatusCode: 404) == "not found")
    #expect(HTTPURLResponse.localizedString(forStatusCode: 299) == "success")
    #expect(HTTPURLResponse.localizedString(forStatusCode: 799) == "server error")
  }
}
