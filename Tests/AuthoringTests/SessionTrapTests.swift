import Conversations
import Foundation
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// What raises an exception on Apple's systems ends the process here, with the same reason.
@Suite(.timeLimit(.minutes(1))) struct `A background session ends the process` {
  private static func session(_ stage: Stage) async throws -> URLSession {
    try await stage.begin()
    return stage.session(Delegate())
  }

  @inline(never) private static func makeDataTaskWithHandler() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(Stage()).dataTask(with: url) { _, _, _ in }
  }

  @inline(never) private static func downloadAsynchronously() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(Stage()).download(from: url)
  }

  @inline(never) private static func uploadData() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(Stage()).uploadTask(with: URLRequest(url: url), from: Data())
  }

  @inline(never) private static func uploadStream() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    _ = try await session(Stage()).uploadTask(withStreamedRequest: URLRequest(url: url))
  }

  @inline(never) private static func downloadWithStream() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    var request = URLRequest(url: url)
    request.httpBodyStream = InputStream(data: Data([1]))
    _ = try await session(Stage()).downloadTask(with: request)
  }

  @inline(never) private static func makeTaskTooLate() async throws {
    guard let url = URL(string: "http://a.example/") else { return }
    let session = try await session(Stage())
    session.finishTasksAndInvalidate()
    _ = session.downloadTask(with: url)
  }

  private func says(_ result: ExitTest.Result?, _ reason: String) -> Bool {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(reason)
  }

  @Test func `that has no identifier`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = URLSessionConfiguration.background(withIdentifier: "")
    }
    #expect(says(result, "a background session needs an identifier that is not empty"))
  }

  @Test func `that makes a task with a completion handler`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `A background session ends the process`.makeDataTaskWithHandler()
    }
    #expect(says(result, "Completion handler blocks are not supported in background sessions."))
  }

  @Test func `that uses an asynchronous function`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `A background session ends the process`.downloadAsynchronously()
    }
    #expect(says(result, "Completion handler blocks are not supported in background sessions."))
  }

  @Test func `that uploads data`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `A background session ends the process`.uploadData()
    }
    #expect(says(result, "Upload tasks from NSData are not supported in background sessions."))
  }

  @Test func `that uploads a stream`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `A background session ends the process`.uploadStream()
    }
    #expect(says(result, "Upload tasks from streams are not supported in background sessions."))
  }

  @Test func `that downloads with a stream as the request's body`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `A background session ends the process`.downloadWithStream()
    }
    #expect(says(result, "Download tasks with an httpBodyStream are not supported in background sessions."))
  }

  @Test func `that makes a task after its invalidation`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await `A background session ends the process`.makeTaskTooLate()
    }
    #expect(says(result, "Task created in a session that has been invalidated"))
  }
}
