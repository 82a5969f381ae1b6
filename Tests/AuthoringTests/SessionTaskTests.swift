import Conversations
import Foundation
import MessageBus
import Synchronization
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// What an author can do with sessions and their tasks.
@Suite(.timeLimit(.minutes(1))) struct `A background session` {
  private let url = URL(string: "http://a.example/figures")

  @Test func `has a task on disk when resume returns`() async throws {
    let stage = try Stage()
    try await stage.begin()
    await stage.host.holdCreates()
    let session = stage.session(Delegate())
    var request = URLRequest(url: try #require(url))
    request.setValue("1", forHTTPHeaderField: "X-Day")
    let isBack = Mutex(false)
    let made = await stage.blocking { [request] in session.downloadTask(with: request) }
    made.taskDescription = "today"
    #expect(await session.allTasks.isEmpty)
    async let returned: Void = stage.blocking {
      made.resume()
      isBack.withLock { $0 = true }
    }
    _ = await stage.bus.first { $0.header.kind == CreateTransfer.kind }
    #expect(made.state == .running)
    #expect(isBack.withLock { $0 } == false)
    await stage.host.answerCreates()
    await returned
    let created = await stage.host.created
    #expect(created.map(\.session) == ["daily"])
    #expect(created.map(\.taskIdentifier) == [1])
    #expect(created.map(\.taskDescription) == ["today"])
    #expect(created.first?.request == TransferRequest(url: "http://a.example/figures", headers: [["X-Day", "1"]]))
  }

  @Test(arguments: [0.05, 0.3])
  func `fails a task with -997 when the host does not answer in time`(deadline: Double) async throws {
    let stage = try Stage(rules: .waiting(deadline))
    try await stage.begin()
    await stage.host.holdCreates()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = stage.session(delegate)
    let began = ContinuousClock.now
    let task = await stage.blocking {
      let task = session.downloadTask(with: url)
      task.resume()
      return task
    }
    #expect(ContinuousClock.now - began >= .seconds(deadline))
    await delegate.hears("end 1 -997")
    #expect(task.state == .completed)
    #expect((task.error as? URLError)?.code == .backgroundSessionWasDisconnected)
    await stage.host.answerCreates()
  }

  @Test func `fails a task with -997 when nobody is there, and opens itself when the host comes`() async throws {
    let stage = try Stage(rules: .waiting(0.05))
    await MainActor.run { stage.registry.serve([]) }
    try await stage.announce()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = stage.session(delegate)
    await stage.blocking { session.downloadTask(with: url).resume() }
    await delegate.hears("end 1 -997")
    try await stage.host.start()
    _ = await stage.bus.first { $0.header.kind == OpenSession.kind.answered(.ok) }
    // A process that was slow to hear this answer, or the next one, fails once more.
    while await stage.host.created.isEmpty { await stage.blocking { session.downloadTask(with: url).resume() } }
  }

  @Test func `knows the tasks of an earlier life and gives its own other identifiers`() async throws {
    let stage = try Stage()
    await stage.host.reply(nextTask: 8, tasks: [Stage.snapshot(7)])
    try await stage.begin()
    let url = try #require(url)
    let session = stage.session(Delegate())
    let tasks = await session.allTasks
    let earlier = try #require(tasks.first)
    #expect(tasks.map(\.taskIdentifier) == [7])
    #expect(earlier is URLSessionDownloadTask)
    #expect(earlier.taskDescription == "of an earlier life")
    #expect(earlier.originalRequest?.value(forHTTPHeaderField: "x-day") == "1")
    #expect(earlier.state == .running)
    #expect(await stage.blocking { session.downloadTask(with: url).taskIdentifier } == 8)
  }

  @Test func `does not list a task whose end was told before the host answered for the session`() async throws {
    let stage = try Stage()
    await stage.host.reply(nextTask: 3, tasks: [Stage.snapshot(1), Stage.snapshot(2)])
    await stage.host.holdOpens()
    try await stage.begin()
    let session = stage.session(Delegate())
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try stage.success(1)]), to: Stage.widget)
    await stage.host.answerOpens()
    #expect(await session.allTasks.map(\.taskIdentifier) == [2])
  }

  @Test func `gives a delivered task its response and its end`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let url = try #require(url)
    let session = stage.session(Delegate())
    let task = await stage.blocking {
      let task = session.downloadTask(with: url)
      task.resume()
      return task
    }
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try stage.success(1)]), to: Stage.widget)
    #expect(task.state == .completed)
    #expect(task.error == nil)
    #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
    #expect(task.response?.mimeType == "text/plain")
    #expect(task.response?.textEncodingName == "utf-8")
    #expect(task.countOfBytesReceived == 7)
    #expect(await session.allTasks.isEmpty)
  }

  @Test func `is invalid with -995 in an extension that shares no folder`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = stage.session(delegate, shared: false)
    await delegate.hears("invalid -995")
    await stage.blocking { session.downloadTask(with: url).resume() }
    await delegate.hears("end 1 -995")
    #expect(await stage.host.opened.isEmpty)
  }

  @Test func `needs no shared folder in an app`() async throws {
    let stage = try Stage(Stage.app)
    try await stage.begin()
    let url = try #require(url)
    let session = stage.session(Delegate(), shared: false)
    await stage.blocking { session.downloadTask(with: url).resume() }
    #expect(await stage.host.created.count == 1)
  }

  @Test func `is one for all objects of its identifier and keeps its first delegate`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let (first, second) = (Delegate(), Delegate())
    let one = stage.session(first)
    let other = stage.session(second)
    #expect(other.delegate === first)
    _ = await other.allTasks
    #expect(await stage.host.opened.count == 1)
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try stage.success(1)]), to: Stage.widget)
    #expect(first.told.count == 2)
    #expect(second.told.isEmpty)
    withExtendedLifetime(one) {}
  }

  @Test func `copies its configuration`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let configuration = URLSessionConfiguration.background(withIdentifier: "copied")
    configuration.sharedContainerIdentifier = Stage.group
    configuration.httpAdditionalHeaders = ["X-App": "trial"]
    let session = stage.process.asCurrent {
      URLSession(configuration: configuration, delegate: Delegate(), delegateQueue: nil)
    }
    configuration.isDiscretionary = true
    #expect(!session.configuration.isDiscretionary)
    #expect(session.configuration.identifier == "copied")
    #expect(session.configuration.httpAdditionalHeaders as? [String: String] == ["X-App": "trial"])
  }

  @Test func `has a serial queue where the author gives none`() async throws {
    let stage = try Stage()
    try await stage.begin()
    #expect(stage.session(Delegate()).delegateQueue.maxConcurrentOperationCount == 1)
    let queue = OperationQueue()
    let configuration = URLSessionConfiguration.background(withIdentifier: "queued")
    configuration.sharedContainerIdentifier = Stage.group
    let session = stage.process.asCurrent {
      URLSession(configuration: configuration, delegate: Delegate(), delegateQueue: queue)
    }
    #expect(session.delegateQueue === queue)
    #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
  }

  @Test(arguments: [
    (-996, "Could not communicate with background transfer service"),
    (-997, "Lost connection to background transfer service"),
  ])
  func `says of the host's errors what Apple's systems say`(code: Int, text: String) {
    #expect(TransferFailure(code: code, message: "").error(for: url).localizedDescription == text)
    #expect(TransferFailure(code: code, message: "else").error(for: url).localizedDescription == "else")
  }

  @Test func `says its last word when it is invalidated, and frees its identifier`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = stage.session(delegate)
    await stage.blocking { session.downloadTask(with: url).resume() }
    session.finishTasksAndInvalidate()
    try await stage.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try stage.success(1)]), to: Stage.widget)
    await delegate.hears("invalid 0")
    #expect(delegate.told == ["file 1 figures", "end 1 0", "invalid 0"])
    #expect(session.delegate == nil)
    let next = Delegate()
    #expect(stage.session(next).delegate === next)
  }

  @Test func `cancels a task that runs at the host, and one that never ran at once`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = stage.session(delegate)
    let running = await stage.blocking {
      let task = session.downloadTask(with: url)
      task.resume()
      return task
    }
    running.cancel()
    _ = await stage.bus.first { $0.header.kind == CancelTransfer.kind.answered(.ok) }
    #expect(running.state == .canceling)
    let fresh = await stage.blocking { session.downloadTask(with: url) }
    fresh.cancel()
    await delegate.hears("end 2 -999")
    #expect(fresh.state == .completed)
  }
}
