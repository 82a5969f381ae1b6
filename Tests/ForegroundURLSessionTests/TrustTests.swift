import Foundation
import Testing
import WidgetLabTesting

@testable import BackgroundURLSession

/// A server with a certificate that nobody knows.
@Suite(.timeLimit(.minutes(1))) struct TrustTests {
  private func run(_ answers: Recorder.Answers) async throws -> [String] {
    let server = try await SecureServer()
    let scene = try Scene { _ in .text("") }
    defer { scene.server.stop() }
    let recorder = Recorder(answers)
    scene.session(recorder).dataTask(with: server.url).resume()
    await recorder.hears("end")
    await server.stop()
    return recorder.all
  }

  @Test func `a certificate that nobody knows ends a request with -1202`() async throws {
    #expect(try await run(Recorder.Answers()) == ["challenge NSURLAuthenticationMethodServerTrust  0", "end -1202"])
  }

  @Test func `a certificate that nobody knows does when the delegate trusts it`() async throws {
    let told = try await run(Recorder.Answers(trusts: true))
    #expect(told == ["challenge NSURLAuthenticationMethodServerTrust  0", "response 200", "data secret", "end 0"])
  }
}
