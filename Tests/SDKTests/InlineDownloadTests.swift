// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// Downloads of sessions that perform their requests in the process.
@Suite(.timeLimit(.minutes(1))) struct `Inline downloads` {
  private func url(_ path: String = "figures") throws -> URL { try #require(URL(string: "http://a.example/\(path)")) }

  @Test(.rule("INLINE-03"))
  func `an inline download's file exists during the delegate's method, before metrics and end`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    fixture.inline(delegate).downloadTask(with: url).resume()
    try await performer.next().succeed("figures")
    await delegate.waitFor("end")
    #expect(delegate.calls == ["create 1", "wrote 7 7/7", "file figures", "metrics 1 2.0", "end 1 0"])
  }

  @Test(.rule("INLINE-03"))
  func `an inline download's file is deleted after its completion handler, and stays for an async caller`()
    async throws
  {
    let fixture = try SDKFixture()
    let (performer, url) = (fixture.perform(), try url())
    let session = fixture.inline()
    async let received = withCheckedContinuation { continuation in
      session.downloadTask(with: url) { file, _, _ in
        let content = file.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
        continuation.resume(returning: (file, content))
      }.resume()
    }
    try await performer.next().succeed("figures")
    let (file, content) = await received
    #expect(content == "figures")
    await withCheckedContinuation { done in session.flush { done.resume() } }
    #expect(!FileManager.default.fileExists(atPath: try #require(file).path))
    async let mine = session.download(from: url)
    try await performer.next().succeed("more")
    let (kept, _) = try await mine
    await withCheckedContinuation { done in session.flush { done.resume() } }
    #expect(try String(contentsOf: kept, encoding: .utf8) == "more")
    try FileManager.default.removeItem(at: kept)
  }

  @Test(.rule("INLINE-04"))
  func `an inline download resumes at the byte at which it was cancelled, with Range and If-Range`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let session = fixture.inline(delegate)
    let task = session.downloadTask(with: url)
    task.resume()
    let first = try await performer.next()
    #expect(await first.answer(200, ["ETag": "\"1\""], length: 7))
    first.observer.received(Data("fig".utf8))
    let data = try #require(await task.cancelByProducingResumeData())
    await delegate.waitFor("end 1 -999")
    #expect((task.error as? URLError)?.downloadTaskResumeData == data)
    session.downloadTask(withResumeData: data).resume()
    let second = try await performer.next()
    #expect(second.request.url == url)
    #expect(second.request.value(forHTTPHeaderField: "Range") == "bytes=3-")
    #expect(second.request.value(forHTTPHeaderField: "If-Range") == "\"1\"")
    await second.succeed("ures", status: 206)
    await delegate.waitFor("end 2 0")
    #expect(
      delegate.calls.suffix(6) == [
        "create 2", "resumed at 3/7", "wrote 4 7/7", "file figures", "metrics 1 2.0", "end 2 0",
      ])
  }

  @Test(.rule("INLINE-04"))
  func `a resumed inline download starts again when the server sends the whole file`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let session = fixture.inline(delegate)
    let task = session.downloadTask(with: url)
    task.resume()
    let first = try await performer.next()
    #expect(await first.answer(200, ["Last-Modified": "today"], length: 7))
    first.observer.received(Data("fig".utf8))
    let data = try #require(await task.cancelByProducingResumeData())
    session.downloadTask(withResumeData: data).resume()
    try await performer.next().succeed("another")
    await delegate.waitFor("end 2 0")
    #expect(delegate.calls.contains("file another"))
    #expect(!delegate.calls.contains { $0.hasPrefix("resumed") })
  }

  @Test(.rule("INLINE-04"))
  func `an inline download has no resume data when the response has no ETag and no Last-Modified`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let task = fixture.inline(delegate).downloadTask(with: url)
    task.resume()
    let exchange = try await performer.next()
    #expect(await exchange.answer())
    exchange.observer.received(Data("fig".utf8))
    #expect(await task.cancelByProducingResumeData() == nil)
    await delegate.waitFor("end 1 -999")
  }

  @Test(.rule("TASK-17")) func `an inline download fails with -3001 when its resume data is invalid`() async throws {
    let fixture = try SDKFixture()
    let (_, delegate) = (fixture.perform(), FullDelegate())
    fixture.inline(delegate).downloadTask(withResumeData: Data("nonsense".utf8)).resume()
    await delegate.waitFor("end 1 -3001")
  }

  @Test func `an inline download that ended before it was cancelled has no resume data`() async throws {
    let fixture = try SDKFixture()
    let (performer, url, delegate) = (fixture.perform(), try url(), FullDelegate())
    let session = fixture.inline(delegate)
    let task = session.downloadTask(with: url)
    task.resume()
    let exchange = try await performer.next()
    session.delegateQueue.isSuspended = true
    await exchange.succeed("figures")
    async let data = task.cancelByProducingResumeData()
    session.delegateQueue.isSuspended = false
    #expect(await data == nil)
    await delegate.waitFor("end 1 0")
  }
}
