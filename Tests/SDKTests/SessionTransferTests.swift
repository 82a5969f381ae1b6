// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import Glibc
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// The messages of a background session and the host about one transfer.
@Suite(.timeLimit(.minutes(1))) struct `A transfer of a background session` {
  private let url = "http://a.example/figures"

  private func request() throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }

  /// A task that was sent to the host.
  private func resumed<Made: URLSessionTask>(
    _ fixture: SDKFixture, _ make: @escaping @Sendable () -> Made
  ) async -> Made {
    await fixture.blocking {
      let task = make()
      task.resume()
      return task
    }
  }

  /// The encoded body of a change.
  private func body(_ change: ChangeTransfer) -> [UInt8]? { try? BodyCoding.encode(change) }

  private func deliver(_ outcomes: [TaskOutcome], on fixture: SDKFixture) async throws {
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: outcomes), to: SDKFixture.widget)
  }

  private func count(_ counts: TransferCounted, on fixture: SDKFixture) {
    fixture.host.connection.notify(counts, to: SDKFixture.widget, context: .none)
  }

  @Test(.rule("SESSION-02")) func `session.open carries the whole session configuration`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let configuration = URLSessionConfiguration.background(withIdentifier: "whole")
    configuration.sharedContainerIdentifier = SDKFixture.group
    configuration.sessionSendsLaunchEvents = false
    configuration.isDiscretionary = true
    configuration.timeoutIntervalForRequest = 1
    configuration.timeoutIntervalForResource = 2
    configuration.httpMaximumConnectionsPerHost = 3
    configuration.httpAdditionalHeaders = ["X-A": 1]
    configuration.allowsCellularAccess = false
    configuration.allowsExpensiveNetworkAccess = false
    configuration.allowsConstrainedNetworkAccess = false
    configuration.httpShouldSetCookies = false
    let session = fixture.process.asCurrent {
      URLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
    }
    _ = await session.allTasks
    let sentConfiguration = SessionConfiguration(
      sharedContainerIdentifier: SDKFixture.group, sessionSendsLaunchEvents: false, isDiscretionary: true,
      timeoutIntervalForRequest: 1, timeoutIntervalForResource: 2, httpMaximumConnectionsPerHost: 3,
      httpAdditionalHeaders: [["X-A", "1"]], allowsCellularAccess: false, allowsExpensiveNetworkAccess: false,
      allowsConstrainedNetworkAccess: false)
    #expect(await fixture.host.opened.map(\.configuration.withoutProduct) == [sentConfiguration])
    #expect(await fixture.host.opened.first?.configuration.cookies == CookieUse(sends: false, stores: true))
  }

  @Test(.rule("TASK-07"))
  func `transfer.create carries the request and every property set before resume`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let session = fixture.session(FullDelegate())
    var request = try request()
    request.httpMethod = "POST"
    request.httpBody = Data("body".utf8)
    request.timeoutInterval = 9
    request.allowsExpensiveNetworkAccess = false
    let date = Date(timeIntervalSince1970: 4_000_000_000)
    _ = await resumed(fixture) { [request] in
      let task = session.downloadTask(with: request)
      task.taskDescription = "plan"
      task.earliestBeginDate = date
      task.priority = 2
      task.countOfBytesClientExpectsToSend = 4
      task.countOfBytesClientExpectsToReceive = 5
      return task
    }
    let created = try #require(await fixture.host.created.first)
    #expect(created.type == .download)
    #expect(
      created.request
        == TransferRequest(
          url: url, method: "POST", body: Data("body".utf8), timeoutInterval: 9, allowsExpensiveNetworkAccess: false))
    #expect(created.taskDescription == "plan")
    #expect(created.earliestBeginDate == date)
    #expect(created.asksBeforeDelayedRequest)
    #expect(created.priority == 1)
    #expect(created.bytesClientExpectsToSend == 4)
    #expect(created.bytesClientExpectsToReceive == 5)
  }

  @Test(.rule("TASK-12"))
  func `an upload sends a file, and its response body reaches didReceive data before metrics and end`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    var request = try request()
    request.httpBody = Data("not this".utf8)
    let file = fixture.folder.appendingPathComponent("upload")
    let task = await resumed(fixture) { [request] in session.uploadTask(with: request, fromFile: file) }
    let created = try #require(await fixture.host.created.first)
    #expect(created.type == .upload)
    #expect(created.file == file.path)
    #expect(created.request.body == nil)
    let answer = try fixture.success(1, "thanks")
    var snapshot = answer.task
    snapshot.type = .upload
    snapshot.bytesSent = 12
    let metrics = TransferMetrics(began: .distantPast, ended: .distantPast, redirectCount: 2, attempts: 1)
    try await deliver(
      [TaskOutcome(task: snapshot, response: answer.response, file: answer.file, failure: nil, metrics: metrics)],
      on: fixture)
    #expect(delegate.calls == ["create 1", "data thanks", "metrics 2 0.0", "end 1 0"])
    #expect(task.countOfBytesSent == 12)
    #expect(!FileManager.default.fileExists(atPath: try #require(answer.file)))
  }

  @Test(.rule("TASK-12"), arguments: [1, 64 * 1024, 64 * 1024 + 1])
  func `the response body of an upload is delivered in pieces of 64 KiB, without its head`(count: Int) async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    let file = fixture.folder.appendingPathComponent("upload")
    let request = try request()
    _ = await resumed(fixture) { session.uploadTask(with: request, fromFile: file) }
    let answer = try fixture.success(1, String(repeating: "x", count: count))
    var snapshot = answer.task
    snapshot.type = .upload
    try await deliver(
      [TaskOutcome(task: snapshot, response: answer.response, file: answer.file, failure: nil)], on: fixture)
    let pieces = delegate.calls.filter { $0.hasPrefix("data ") }.map { $0.count - "data ".count }
    #expect(pieces == (count > 65_536 ? [65_536, count - 65_536] : [count]))
    #expect(!delegate.calls.contains { $0.hasPrefix("response") })
  }

  @Test(.rule("DIAGNOSIS-10"), arguments: ["nothing", "moved", "linked", "read"])
  func `a file that is neither moved, linked nor read is left behind, on a volume with access times`(use: String) throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "handed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (file, other) = (folder.appending(path: "a"), folder.appending(path: "b"))
    try Data("figures".utf8).write(to: file)
    var volume = statvfs()
    // ST_NOATIME of bits/statvfs.h
    let hasAccessTimes = statvfs(file.path, &volume) == 0 && volume.f_flag & 1024 == 0
    let handed = HandedFile(file)
    switch use {
    case "moved": try FileManager.default.moveItem(at: file, to: other)
    case "linked": try FileManager.default.linkItem(at: file, to: other)
    case "read": #expect(try Data(contentsOf: file) == Data("figures".utf8))
    default: break
    }
    #expect(handed.isLeftBehind == (use == "nothing" && hasAccessTimes))
  }

  @Test(.rule("DELIVERY-02"))
  func `a download's delegate receives metrics between the file and the end`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    let success = try fixture.success(1)
    let metrics = TransferMetrics(began: .distantPast, ended: .distantPast, redirectCount: 0, attempts: 3)
    try await deliver(
      [
        TaskOutcome(
          task: success.task, response: success.response, file: success.file, failure: nil, metrics: metrics)
      ], on: fixture)
    #expect(delegate.calls == ["file figures", "metrics 0 0.0", "end 1 0"])
    withExtendedLifetime(session) {}
  }

  @Test(.rule("DELIVERY-01"))
  func `didCreateTask is called before the method that creates the task returns, on its thread`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = ThreadDelegate()
    let session = fixture.session(delegate)
    let request = try request()
    let creator = await fixture.blocking {
      _ = session.downloadTask(with: request)
      // Read here: the calls until the method has returned.
      return (thread: pthread_self(), calls: delegate.calls.withLock { $0 })
    }
    #expect(creator.calls == [creator.thread])
  }

  @Test(.rule("TASK-10")) func `setting the delegate of a background session's task has no effect`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let session = fixture.session(FullDelegate())
    let request = try request()
    let task = await fixture.blocking { session.downloadTask(with: request) }
    task.delegate = FullDelegate()
    #expect(task.delegate == nil)
  }

  @Test(.rule("TASK-08"))
  func `a running process receives a transfer's progress, also after a resume at an offset`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    let request = try request()
    let task = await resumed(fixture) { session.downloadTask(with: request) }
    count(TransferCounted(session: "daily", taskIdentifier: 1, bytesReceived: 40, bytesExpected: 100), on: fixture)
    await delegate.waitFor("wrote 40 40/100")
    #expect(task.progress.fractionCompleted == 0.4)
    #expect(task.countOfBytesExpectedToReceive == 100)
    count(
      TransferCounted(session: "daily", taskIdentifier: 1, bytesReceived: 60, bytesExpected: 100, resumedAt: 30),
      on: fixture)
    await delegate.waitFor("wrote 30 60/100")
    count(
      TransferCounted(
        session: "daily", taskIdentifier: 1, bytesSent: 5, bytesExpectedToSend: 8, bytesReceived: 60,
        bytesExpected: 100), on: fixture)
    await delegate.waitFor("sent 5 5/8")
    #expect(delegate.calls == ["create 1", "wrote 40 40/100", "resumed at 30/100", "wrote 30 60/100", "sent 5 5/8"])
  }

  @Test(.rule("TASK-05"))
  func `the host receives property changes, suspend and resume of a running task in order`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let session = fixture.session(FullDelegate())
    let request = try request()
    let task = await resumed(fixture) { session.downloadTask(with: request) }
    task.taskDescription = "second"
    task.priority = 0.75
    task.suspend()
    task.suspend()
    #expect(task.state == .suspended)
    task.resume()
    #expect(task.state == .running)
    task.taskDescription = nil
    _ = await fixture.bus.first { envelope in
      envelope.header.kind == ChangeTransfer.kind
        && (try? BodyCoding.decode(ChangeTransfer.self, from: envelope.body))?.description == .init(nil)
    }
    _ = await fixture.bus.first { $0.header.kind == ChangeTransfer.kind.answered(.ok) }
    let sentChanges = await fixture.bus.sentEnvelopes.filter { $0.header.kind == ChangeTransfer.kind }
      .compactMap { try? BodyCoding.decode(ChangeTransfer.self, from: $0.body) }
    #expect(
      sentChanges.map(body)
        == [
          ChangeTransfer(session: "daily", taskIdentifier: 1, description: .init("second")),
          ChangeTransfer(session: "daily", taskIdentifier: 1, priority: 0.75),
          ChangeTransfer(session: "daily", taskIdentifier: 1, isSuspended: true),
          ChangeTransfer(session: "daily", taskIdentifier: 1, isSuspended: false),
          ChangeTransfer(session: "daily", taskIdentifier: 1, description: .init(nil)),
        ].map(body))
    #expect(await fixture.host.created.count == 1)
  }

  @Test func `a download is cancelled with resume data, and another download resumes from it`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    await fixture.host.makeResumeData(Data("half".utf8))
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    let request = try request()
    let task = await resumed(fixture) { session.downloadTask(with: request) }
    #expect(await task.cancelByProducingResumeData() == Data("half".utf8))
    #expect(task.state == .canceling)
    let next = await resumed(fixture) { session.downloadTask(withResumeData: Data("half".utf8)) }
    #expect(await fixture.host.created.last?.resumeData == Data("half".utf8))
    #expect(next.taskIdentifier == 2)
    await fixture.blocking { _ = session.downloadTask(with: request) }
    #expect(
      await session.downloadTask(withResumeData: Data("rest".utf8)).cancelByProducingResumeData() == Data("rest".utf8))
  }

  @Test func `a failed task's error has the host's code, reasons, resume data and URL`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let session = fixture.session(FullDelegate())
    let request = try request()
    let task = await resumed(fixture) { session.downloadTask(with: request) }
    let failure = TransferFailure(
      code: -999, message: "ended", cancelledReason: 0, networkUnavailableReason: 2, resumeData: Data("half".utf8))
    try await deliver(
      [TaskOutcome(task: SDKFixture.snapshot(1), response: nil, file: nil, failure: failure)], on: fixture)
    let error = try #require(task.error as? URLError)
    #expect(error.code == .cancelled)
    #expect(error.backgroundTaskCancelledReason == .userForceQuitApplication)
    #expect(error.networkUnavailableReason == .constrained)
    #expect(error.downloadTaskResumeData == Data("half".utf8))
    #expect(error.failingURL == request.url)
    let bridged = error as NSError
    #expect(bridged.domain == NSURLErrorDomain)
    #expect(bridged.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == Data("half".utf8))
    #expect(bridged.userInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int == 0)
  }

  @Test(.rule("TASK-02"))
  func `a task of an earlier process instance is restored with its properties and can be resumed`() async throws {
    let fixture = try SDKFixture()
    var snapshot = SDKFixture.snapshot(3)
    snapshot.type = .upload
    snapshot.isSuspended = true
    snapshot.priority = 0.25
    snapshot.earliestBeginDate = Date(timeIntervalSince1970: 5000)
    snapshot.bytesSent = 3
    snapshot.bytesExpectedToSend = 9
    snapshot.currentRequest = TransferRequest(url: "http://b.example/")
    await fixture.host.reply(nextTask: 4, tasks: [snapshot, SDKFixture.snapshot(1)])
    try await fixture.begin()
    let session = fixture.session(FullDelegate())
    let (data, uploads, downloads) = await session.tasks
    #expect(data.isEmpty)
    #expect(downloads.map(\.taskIdentifier) == [1])
    let upload = try #require(uploads.first)
    #expect(upload.state == .suspended)
    #expect(upload.priority == 0.25)
    #expect(upload.earliestBeginDate == Date(timeIntervalSince1970: 5000))
    #expect(upload.countOfBytesSent == 3)
    #expect(upload.countOfBytesExpectedToSend == 9)
    #expect(upload.originalRequest?.url?.absoluteString == url)
    #expect(upload.currentRequest?.url?.absoluteString == "http://b.example/")
    upload.resume()
    _ = await fixture.bus.first { $0.header.kind == ChangeTransfer.kind.answered(.ok) }
    let goesOn = ChangeTransfer(session: "daily", taskIdentifier: 3, isSuspended: false)
    #expect(await fixture.host.changed.map(body) == [body(goesOn)])
    #expect(await fixture.host.created.isEmpty)
  }

  @Test(.rule("SESSION-05")) func `a session that another process has open is invalid with -996`() async throws {
    let fixture = try SDKFixture()
    await fixture.host.refuseOpens(BusError(.sessionInUse, "another process has it"))
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    await delegate.waitFor("invalid -996")
    let request = try request()
    _ = await resumed(fixture) { session.downloadTask(with: request) }
    await delegate.waitFor("end 1 -996")
    #expect(await fixture.host.created.isEmpty)
    #expect(await fixture.host.closed.isEmpty)
  }

  @Test(.rule("SESSION-19"))
  func `a session that another process took during the suspension becomes invalid with -996`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    _ = await session.allTasks
    for generation in [fixture.process.generation + 1, fixture.process.generation] {
      let taken = SessionTaken(session: "daily", generation: generation, holder: .app("iphone", "com.example"))
      try await fixture.host.connection.deliver(taken, to: SDKFixture.widget)
      if generation != fixture.process.generation { #expect(delegate.calls.isEmpty, "another instance is meant") }
    }
    await delegate.waitFor("invalid -996")
    #expect(await fixture.host.closed.isEmpty)
  }

  @Test(.rule("SESSION-15"))
  func `an invalidated session is closed at the host before another with its identifier is opened`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    _ = await session.allTasks
    session.finishTasksAndInvalidate()
    await delegate.waitFor("invalid 0")
    let next = fixture.session(FullDelegate())
    _ = await next.allTasks
    let words = await fixture.bus.sentEnvelopes.map(\.header.kind).filter {
      $0 == OpenSession.kind || $0 == CloseSession.kind
    }
    #expect(words == [OpenSession.kind, CloseSession.kind, OpenSession.kind])
  }

  @Test(.rule("SESSION-12"))
  func `a task created before finishTasksAndInvalidate and resumed after it still runs`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let delegate = FullDelegate()
    let session = fixture.session(delegate)
    let request = try request()
    let task = await fixture.blocking { session.downloadTask(with: request) }
    session.finishTasksAndInvalidate()
    await fixture.blocking { task.resume() }
    try await deliver([try fixture.success(1)], on: fixture)
    await delegate.waitFor("invalid 0")
    #expect(delegate.calls == ["create 1", "file figures", "end 1 0", "invalid 0"])
  }
}

/// Records the threads on which `didCreateTask` is called.
private final class ThreadDelegate: NSObject, URLSessionTaskDelegate, Sendable {
  let calls = Mutex<[pthread_t]>([])

  func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
    calls.withLock { $0.append(pthread_self()) }
  }
}
