// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing
import WidgetLabTesting

@testable import URLSessionAPI

/// Requests to a server with an untrusted certificate.
@Suite(.timeLimit(.minutes(1))) struct TrustTests {
  private func run(_ answers: Recorder.Answers) async throws -> [String] {
    let server = try await SecureServer()
    let fixture = try CurlFixture { _ in .text("") }
    defer { fixture.server.stop() }
    let recorder = Recorder(answers)
    fixture.session(recorder).dataTask(with: server.url).resume()
    await recorder.waitFor("end")
    await server.stop()
    return recorder.all
  }

  @Test(.rule("INLINE-17")) func `an untrusted certificate ends a request with -1202`() async throws {
    #expect(try await run(Recorder.Answers()) == ["challenge NSURLAuthenticationMethodServerTrust  0", "end -1202"])
  }

  @Test(.rule("INLINE-17", "INLINE-18"))
  func `an untrusted certificate is accepted when the delegate trusts it`() async throws {
    let received = try await run(Recorder.Answers(trusts: true))
    #expect(received == ["challenge NSURLAuthenticationMethodServerTrust  0", "response 200", "data secret", "end 0"])
  }

  @Test(.rule("INLINE-25")) func `Brotli is requested over TLS only, and the author's list replaces the device's`()
    async throws
  {
    let server = try await SecureServer()
    let fixture = try CurlFixture { .text($0.headers["accept-encoding"] ?? "none") }
    defer { fixture.server.stop() }
    let session = fixture.session(Recorder(Recorder.Answers(trusts: true)))
    let encoding = try await session.text(from: server.url.appendingPathComponent("encoding"))
    #expect(encoding == "gzip, deflate, br")
    #expect(try await session.text(from: fixture.server.url()) == "gzip, deflate")
    var request = URLRequest(url: fixture.server.url())
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    #expect(try await session.text(for: request) == "identity")
    request = URLRequest(url: fixture.server.url())
    request.setValue("bytes=0-3", forHTTPHeaderField: "Range")
    #expect(try await session.text(for: request) == "none")
    await server.stop()
  }
}
