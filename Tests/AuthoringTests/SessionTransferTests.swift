import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// What a background session and the host say to each other of one transfer.
@Suite(.timeLimit(.minutes(1))) struct `A transfer of a background session` {
  private let url = "http://a.example/figures"

  private func request() throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }

  /// A task that the host has.
  private func resumed<Made: URLSessionTask>(
    _ stage: Stage, _ make: @escaping @Sendable () -> Made
  ) async -> Made {
    await stage.blocking {
      let task = make()
      task.resume()
      return task
    }
  }

  /// A change as it travels.
  private func body(_ change: ChangeTransfer) -> [UInt8]? { try? BodyCoding.encode(change) }

  private func deliver(_ outcomes: [TaskOutcome], on stage: Stage) async throws {
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: outcomes), to: Stage.widget)
  }

  private func count(_ counts: TransferCounted, on stage: Stage) {
    stage.host.connection.notify(counts, to: Stage.widget, story: .none)
  }

  @Test func `carries the session's configuration whole`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let configuration = URLSessionConfiguration.background(withIdentifier: "whole")
    configuration.sharedContainerIdentifier = Stage.group
    configuration.sessionSendsLaunchEvents = false
    configuration.isDiscretionary = true
    configuration.timeoutIntervalForRequest = 1
    configuration.timeoutIntervalForResource = 2
    configuration.httpMaximumConnectionsPerHost = 3
    configuration.httpAdditionalHeaders = ["X-A": 1]
    configuration.allowsCellularAccess = false
    configuration.allowsExpensiveNetworkAccess = false
    configuration.allowsConstrainedNetworkAccess = false
    let session = stage.process.asCurrent {
      URLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
    }
    _ = await session.allTasks
    let sent = SessionConfiguration(
      sharedContainerIdentifier: Stage.group, sessionSendsLaunchEvents: false, isDiscretionary: true,
      timeoutIntervalForRequest: 1, timeoutIntervalForResource: 2, httpMaximumConnectionsPerHost: 3,
      httpAdditionalHeaders: [["X-A", "1"]], allowsCellularAccess: false, allowsExpensiveNetworkAccess: false,
      allowsConstrainedNetworkAccess: false)
    #expect(await stage.host.opened.map(\.configuration) == [sent])
  }

  @Test func `carries its request and all that the author set before resume`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let session = stage.session(FullDelegate())
    var request = try request()
    request.httpMethod = "POST"
    request.httpBody = Data("body".utf8)
    request.timeoutInterval = 9
    request.allowsExpensiveNetworkAccess = false
    let date = Date(timeIntervalSince1970: 4_000_000_000)
    _ = await resumed(stage) { [request] in
      let task = session.downloadTask(with: request)
      task.taskDescription = "plan"
      task.earliestBeginDate = date
      task.priority = 2
      task.countOfBytesClientExpectsToSend = 4
      task.countOfBytesClientExpectsToReceive = 5
      return task
    }
    let created = try #require(await stage.host.created.first)
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

  @Test func `sends a file, and hands the response's body to didReceive data before metrics and the end`() async throws
  {
    let stage = try Stage()
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    var request = try request()
    request.httpBody = Data("not this".utf8)
    let file = stage.folder.appendingPathComponent("upload")
    let task = await resumed(stage) { [request] in session.uploadTask(with: request, fromFile: file) }
    let created = try #require(await stage.host.created.first)
    #expect(created.type == .upload)
    #expect(created.file == file.path)
    #expect(created.request.body == nil)
    let answer = try stage.success(1, "thanks")
    var snapshot = answer.task
    snapshot.type = .upload
    snapshot.bytesSent = 12
    let metrics = TransferMetrics(began: .distantPast, ended: .distantPast, redirectCount: 2, attempts: 1)
    try await deliver(
      [TaskOutcome(task: snapshot, response: answer.response, file: answer.file, failure: nil, metrics: metrics)],
      on: stage)
    #expect(delegate.told == ["create 1", "data thanks", "metrics 2 0.0", "end 1 0"])
    #expect(task.countOfBytesSent == 12)
    #expect(!FileManager.default.fileExists(atPath: try #require(answer.file)))
  }

  @Test func `tells metrics between the file and the end`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    let success = try stage.success(1)
    let metrics = TransferMetrics(began: .distantPast, ended: .distantPast, redirectCount: 0, attempts: 3)
    try await deliver(
      [
        TaskOutcome(
          task: success.task, response: success.response, file: success.file, failure: nil, metrics: metrics)
      ], on: stage)
    #expect(delegate.told == ["file figures", "metrics 0 0.0", "end 1 0"])
    withExtendedLifetime(session) {}
  }

  @Test func `is made before didCreateTask, and didCreateTask before its maker has it`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    let request = try request()
    await stage.blocking { _ = session.downloadTask(with: request) }
    #expect(delegate.told == ["create 1"])
  }

  @Test func `takes no delegate of its own`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let session = stage.session(FullDelegate())
    let request = try request()
    let task = await stage.blocking { session.downloadTask(with: request) }
    task.delegate = FullDelegate()
    #expect(task.delegate == nil)
  }

  @Test func `tells a running process how far it is`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    let request = try request()
    let task = await resumed(stage) { session.downloadTask(with: request) }
    count(TransferCounted(session: "daily", taskIdentifier: 1, bytesReceived: 40, bytesExpected: 100), on: stage)
    await delegate.hears("wrote 40 40/100")
    #expect(task.progress.fractionCompleted == 0.4)
    #expect(task.countOfBytesExpectedToReceive == 100)
    count(
      TransferCounted(session: "daily", taskIdentifier: 1, bytesReceived: 60, bytesExpected: 100, resumedAt: 30),
      on: stage)
    await delegate.hears("wrote 30 60/100")
    count(
      TransferCounted(
        session: "daily", taskIdentifier: 1, bytesSent: 5, bytesExpectedToSend: 8, bytesReceived: 60,
        bytesExpected: 100), on: stage)
    await delegate.hears("sent 5 5/8")
    #expect(delegate.told == ["create 1", "wrote 40 40/100", "resumed at 30/100", "wrote 30 60/100", "sent 5 5/8"])
  }

  @Test func `tells the host what is changed after resume, and that it is suspended`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let session = stage.session(FullDelegate())
    let request = try request()
    let task = await resumed(stage) { session.downloadTask(with: request) }
    task.taskDescription = "second"
    task.priority = 0.75
    task.suspend()
    task.suspend()
    #expect(task.state == .suspended)
    task.resume()
    #expect(task.state == .running)
    task.taskDescription = nil
    _ = await stage.bus.first { envelope in
      envelope.header.kind == ChangeTransfer.kind
        && (try? BodyCoding.decode(ChangeTransfer.self, from: envelope.body))?.description == .init(nil)
    }
    _ = await stage.bus.first { $0.header.kind == ChangeTransfer.kind.answered(.ok) }
    let said = await stage.bus.said.filter { $0.header.kind == ChangeTransfer.kind }
      .compactMap { try? BodyCoding.decode(ChangeTransfer.self, from: $0.body) }
    #expect(
      said.map(body)
        == [
          ChangeTransfer(session: "daily", taskIdentifier: 1, description: .init("second")),
          ChangeTransfer(session: "daily", taskIdentifier: 1, priority: 0.75),
          ChangeTransfer(session: "daily", taskIdentifier: 1, isSuspended: true),
          ChangeTransfer(session: "daily", taskIdentifier: 1, isSuspended: false),
          ChangeTransfer(session: "daily", taskIdentifier: 1, description: .init(nil)),
        ].map(body))
    #expect(await stage.host.created.count == 1)
  }

  @Test func `is cancelled with resume data, from which another goes on`() async throws {
    let stage = try Stage()
    try await stage.begin()
    await stage.host.makeResumeData(Data("half".utf8))
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    let request = try request()
    let task = await resumed(stage) { session.downloadTask(with: request) }
    #expect(await task.cancelByProducingResumeData() == Data("half".utf8))
    #expect(task.state == .canceling)
    let next = await resumed(stage) { session.downloadTask(withResumeData: Data("half".utf8)) }
    #expect(await stage.host.created.last?.resumeData == Data("half".utf8))
    #expect(next.taskIdentifier == 2)
    await stage.blocking { _ = session.downloadTask(with: request) }
    #expect(
      await session.downloadTask(withResumeData: Data("rest".utf8)).cancelByProducingResumeData() == Data("rest".utf8))
  }

  @Test func `fails with what the host says of it`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let session = stage.session(FullDelegate())
    let request = try request()
    let task = await resumed(stage) { session.downloadTask(with: request) }
    let failure = TransferFailure(
      code: -999, message: "ended", cancelledReason: 0, networkUnavailableReason: 2, resumeData: Data("half".utf8))
    try await deliver([TaskOutcome(task: Stage.snapshot(1), response: nil, file: nil, failure: failure)], on: stage)
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

  @Test func `is what it was in an earlier life`() async throws {
    let stage = try Stage()
    var snapshot = Stage.snapshot(3)
    snapshot.type = .upload
    snapshot.isSuspended = true
    snapshot.priority = 0.25
    snapshot.earliestBeginDate = Date(timeIntervalSince1970: 5000)
    snapshot.bytesSent = 3
    snapshot.bytesExpectedToSend = 9
    snapshot.currentRequest = TransferRequest(url: "http://b.example/")
    await stage.host.reply(nextTask: 4, tasks: [snapshot, Stage.snapshot(1)])
    try await stage.begin()
    let session = stage.session(FullDelegate())
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
    _ = await stage.bus.first { $0.header.kind == ChangeTransfer.kind.answered(.ok) }
    let goesOn = ChangeTransfer(session: "daily", taskIdentifier: 3, isSuspended: false)
    #expect(await stage.host.changed.map(body) == [body(goesOn)])
    #expect(await stage.host.created.isEmpty)
  }

  @Test func `is of an invalid session with -996 when another process has it`() async throws {
    let stage = try Stage()
    await stage.host.refuseOpens(BusError(.sessionInUse, "another process has it"))
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    await delegate.hears("invalid -996")
    let request = try request()
    _ = await resumed(stage) { session.downloadTask(with: request) }
    await delegate.hears("end 1 -996")
    #expect(await stage.host.created.isEmpty)
    #expect(await stage.host.closed.isEmpty)
  }

  @Test func `closes its session for the host when that is invalid, before another one of its name is opened`()
    async throws
  {
    let stage = try Stage()
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    _ = await session.allTasks
    session.finishTasksAndInvalidate()
    await delegate.hears("invalid 0")
    let next = stage.session(FullDelegate())
    _ = await next.allTasks
    let words = await stage.bus.said.map(\.header.kind).filter { $0 == OpenSession.kind || $0 == CloseSession.kind }
    #expect(words == [OpenSession.kind, CloseSession.kind, OpenSession.kind])
  }

  @Test func `made before the invalidation and resumed after it still runs`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let delegate = FullDelegate()
    let session = stage.session(delegate)
    let request = try request()
    let task = await stage.blocking { session.downloadTask(with: request) }
    session.finishTasksAndInvalidate()
    await stage.blocking { task.resume() }
    try await deliver([try stage.success(1)], on: stage)
    await delegate.hears("invalid 0")
    #expect(delegate.told == ["create 1", "file figures", "end 1 0", "invalid 0"])
  }
}
