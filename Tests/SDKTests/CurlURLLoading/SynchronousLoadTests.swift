// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import BusTesting
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

@testable import URLSessionAPI

/// Foundation's initializers that load a URL of the network.
@Suite(.timeLimit(.minutes(1))) struct SynchronousLoadTests {
  /// The server has a redirection, a text, and an answer for each other status.
  private static func answer(_ request: LocalServer.Request) -> LocalServer.Reply {
    switch request.path {
    case "/text": .text("größer", 200, [:])
    case "/moved": .text("", 302, ["Location": "/text"])
    default: .text("no", Int(request.path.dropFirst()) ?? 500, [:])
    }
  }

  @Test(.rule("INLINE-24"), arguments: ["/text", "/moved"])
  func `data and texts of an http URL are loaded before the initializer returns`(path: String) async throws {
    try await CurlFixture.run({ Self.answer($0) }) { fixture in
      let url = fixture.server.url(path)
      try fixture.process.asCurrent { () throws in
        #expect(try Data(contentsOf: url) == Data("größer".utf8))
        #expect(try Data(contentsOf: url, options: .uncached) == Data("größer".utf8))
        #expect(try String(contentsOf: url, encoding: .utf8) == "größer")
        #expect(try string(contentsOf: url) == "größer")
        var encoding = String.Encoding.ascii
        #expect(try string(contentsOf: url, usedEncoding: &encoding) == "größer")
        #expect(encoding == .utf8)
      }
    }
  }

  @Test(
    .rule("INLINE-24"), arguments: [(200, true), (399, true), (401, true), (407, true), (404, false), (500, false)])
  func `a status that is no success throws`(status: Int, succeeds: Bool) async throws {
    try await CurlFixture.run({ Self.answer($0) }) { fixture in
      let url = fixture.server.url("/\(status)")
      fixture.process.asCurrent {
        #expect((try? Data(contentsOf: url)) == (succeeds ? Data("no".utf8) : nil))
        if !succeeds {
          #expect(throws: CocoaError.self) { try Data(contentsOf: url) }
        }
      }
    }
  }

  @Test(.rule("INLINE-24")) func `a failure has the error of the request as its cause`() async throws {
    try await CurlFixture.run({ Self.answer($0) }) { fixture in
      fixture.network(.off)
      let error = fixture.process.asCurrent {
        #expect(throws: CocoaError.self) { try Data(contentsOf: fixture.server.url("/text")) }
      }
      #expect(error?.code == .fileReadUnknown)
      #expect((error?.underlying as? URLError)?.code == .notConnectedToInternet)
    }
  }

  @Test(.rule("INLINE-24")) func `other schemes, and files, are read as before`() async throws {
    try await CurlFixture.run({ Self.answer($0) }) { fixture in
      let ftp = try #require(URL(string: "ftp://127.0.0.1/b"))
      let file = URL(fileURLWithPath: NSTemporaryDirectory() + "synchronous-\(UUID().uuidString)")
      try Data("kept".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      try fixture.process.asCurrent { () throws in
        let error = #expect(throws: CocoaError.self) { try Data(contentsOf: ftp) }
        #expect(error?.code == .fileReadUnsupportedScheme)
        #expect(try string(contentsOf: file) == "kept")
      }
    }
  }

  @Test(.rule("INLINE-24", "DIAGNOSIS-13")) func `a synchronous load is reported with its place`() async throws {
    let fixture = try SDKFixture()
    CurlPerformer.serve(fixture.process)
    try await fixture.begin()
    let url = try #require(URL(string: "http://127.0.0.1:1/image.png"))
    _ = fixture.process.asCurrent(.none, within: "getTimeline") { try? Data(contentsOf: url) }
    #expect(
      await fixture.sent(FaultNoticed.self) == [
        FaultNoticed(
          .blockingLoad, subject: "127.0.0.1",
          details: "http://127.0.0.1:1/image.png is loaded with contentsOf, which blocks getTimeline")
      ])
  }
}
