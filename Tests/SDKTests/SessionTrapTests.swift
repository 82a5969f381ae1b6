// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// Misuse that raises an exception on Apple's systems terminates the process here, with the same reason.
@Suite(.timeLimit(.minutes(1))) struct `Background session pitfalls` {
  private static func session(_ fixture: SDKFixture) async throws -> URLSession {
    try await fixture.begin()
    return fixture.session(Delegate())
  }

  @inline(never) private static func makeDataTaskWithHandler() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(SDKFixture()).dataTask(with: url) { _, _, _ in }
  }

  @inline(never) private static func downloadAsynchronously() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(SDKFixture()).download(from: url)
  }

  @inline(never) private static func uploadData() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(SDKFixture()).uploadTask(with: URLRequest(url: url), from: Data())
  }

  @inline(never) private static func uploadStream() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(SDKFixture()).uploadTask(withStreamedRequest: URLRequest(url: url))
  }

  @inline(never) private static func downloadWithStream() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    var request = URLRequest(url: url)
    request.httpBodyStream = InputStream(data: Data([1]))
    _ = try await session(SDKFixture()).downloadTask(with: request)
  }

  @inline(never) private static func makeTaskTooLate() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    let session = try await session(SDKFixture())
    session.finishTasksAndInvalidate()
    _ = session.downloadTask(with: url)
  }

  private func says(_ result: ExitTest.Result?, _ reason: String) -> Bool {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(reason)
  }

  @Test(.rule("SESSION-01")) func `a background session without an identifier terminates the process`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = URLSessionConfiguration.background(withIdentifier: "")
    }
    #expect(says(result, "the identifier of a background session must not be empty"))
  }

  @Test(.rule("SESSION-08")) func `a completion handler of a background session's task terminates the process`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `Background session pitfalls`.makeDataTaskWithHandler()
    }
    #expect(says(result, "Completion handler blocks are not supported in background sessions."))
  }

  @Test(.rule("SESSION-08")) func `an async function of a background session terminates the process`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `Background session pitfalls`.downloadAsynchronously()
    }
    #expect(says(result, "Completion handler blocks are not supported in background sessions."))
  }

  @Test(.rule("SESSION-09")) func `an upload of Data in a background session terminates the process`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `Background session pitfalls`.uploadData()
    }
    #expect(says(result, "Upload tasks from NSData are not supported in background sessions."))
  }

  @Test(.rule("SESSION-09")) func `a streamed upload in a background session terminates the process`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `Background session pitfalls`.uploadStream()
    }
    #expect(says(result, "Upload tasks from streams are not supported in background sessions."))
  }

  @Test(.rule("SESSION-10")) func `a background download with an httpBodyStream terminates the process`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `Background session pitfalls`.downloadWithStream()
    }
    #expect(says(result, "Download tasks with an httpBodyStream are not supported in background sessions."))
  }

  @Test(.rule("SESSION-11"))
  func `creating a task in an invalidated background session terminates the process`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `Background session pitfalls`.makeTaskTooLate()
    }
    #expect(says(result, "Task created in a session that has been invalidated"))
  }
}
