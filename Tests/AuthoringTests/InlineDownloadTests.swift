import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// Downloads of sessions that perform their requests in the process.
@Suite(.timeLimit(.minutes(1))) struct `A download in the process` {
  private func url(_ path: String = "figures") throws -> URL { try #require(URL(string: "http://a.example/\(path)")) }

  @Test func `has its file until the delegate's method returns`() async throws {
    let stage = try Stage()
    let (performer, url, delegate) = (stage.perform(), try url(), FullDelegate())
    stage.inline(delegate).downloadTask(with: url).resume()
    try await performer.next().succeed("figures")
    await delegate.hears("end")
    #expect(delegate.told == ["create 1", "wrote 7 7/7", "file figures", "metrics 1 2.0", "end 1 0"])
  }

  @Test func `has its file until the completion handler returns, and leaves it to an asynchronous caller`()
    async throws
  {
    let stage = try Stage()
    let (performer, url) = (stage.perform(), try url())
    let session = stage.inline()
    async let heard = withCheckedContinuation { continuation in
      session.downloadTask(with: url) { file, _, _ in
        let content = file.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
        continuation.resume(returning: (file, content))
      }.resume()
    }
    try await performer.next().succeed("figures")
    let (file, content) = await heard
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

  @Test func `goes on where it was cancelled`() async throws {
    let stage = try Stage()
    let (performer, url, delegate) = (stage.perform(), try url(), FullDelegate())
    let session = stage.inline(delegate)
    let task = session.downloadTask(with: url)
    task.resume()
    let first = try await performer.next()
    #expect(await first.answer(200, ["ETag": "\"1\""], length: 7))
    first.observer.received(Data("fig".utf8))
    let data = try #require(await task.cancelByProducingResumeData())
    await delegate.hears("end 1 -999")
    #expect((task.error as? URLError)?.downloadTaskResumeData == data)
    session.downloadTask(withResumeData: data).resume()
    let second = try await performer.next()
    #expect(second.request.url == url)
    #expect(second.request.value(forHTTPHeaderField: "Range") == "bytes=3-")
    #expect(second.request.value(forHTTPHeaderField: "If-Range") == "\"1\"")
    await second.succeed("ures", 206)
    await delegate.hears("end 2 0")
    #expect(
      delegate.told.suffix(6) == [
        "create 2", "resumed at 3/7", "wrote 4 7/7", "file figures", "metrics 1 2.0", "end 2 0",
      ])
  }

  @Test func `begins anew when the server does not go on`() async throws {
    let stage = try Stage()
    let (performer, url, delegate) = (stage.perform(), try url(), FullDelegate())
    let session = stage.inline(delegate)
    let task = session.downloadTask(with: url)
    task.resume()
    let first = try await performer.next()
    #expect(await first.answer(200, ["Last-Modified": "today"], length: 7))
    first.observer.received(Data("fig".utf8))
    let data = try #require(await task.cancelByProducingResumeData())
    session.downloadTask(withResumeData: data).resume()
    try await performer.next().succeed("another")
    await delegate.hears("end 2 0")
    #expect(delegate.told.contains("file another"))
    #expect(!delegate.told.contains { $0.hasPrefix("resumed") })
  }

  @Test func `makes no resume data where the server names no version, and leaves no file`() async throws {
    let stage = try Stage()
    let (performer, url, delegate) = (stage.perform(), try url(), FullDelegate())
    let task = stage.inline(delegate).downloadTask(with: url)
    task.resume()
    let exchange = try await performer.next()
    #expect(await exchange.answer())
    exchange.observer.received(Data("fig".utf8))
    #expect(await task.cancelByProducingResumeData() == nil)
    await delegate.hears("end 1 -999")
  }

  @Test func `fails from data that is none of its resume data`() async throws {
    let stage = try Stage()
    let (_, delegate) = (stage.perform(), FullDelegate())
    stage.inline(delegate).downloadTask(withResumeData: Data("nonsense".utf8)).resume()
    await delegate.hears("end 1 -3001")
  }

  @Test func `has no resume data when it had ended before it was cancelled`() async throws {
    let stage = try Stage()
    let (performer, url, delegate) = (stage.perform(), try url(), FullDelegate())
    let session = stage.inline(delegate)
    let task = session.downloadTask(with: url)
    task.resume()
    let exchange = try await performer.next()
    session.delegateQueue.isSuspended = true
    await exchange.succeed("figures")
    async let data = task.cancelByProducingResumeData()
    session.delegateQueue.isSuspended = false
    #expect(await data == nil)
    await delegate.hears("end 1 0")
  }
}
