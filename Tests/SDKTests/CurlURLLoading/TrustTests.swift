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
}
