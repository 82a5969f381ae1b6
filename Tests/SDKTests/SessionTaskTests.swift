// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// Background sessions and their tasks, as an author uses them.
@Suite(.timeLimit(.minutes(1))) struct `A background session` {
  private let url = URL(string: "http://a.example/figures")

  @Test(.rule("TASK-01", "TASK-03")) func `resume returns only after the host has stored the task`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    await fixture.host.holdCreates()
    let session = fixture.session(Delegate())
    var request = URLRequest(url: try #require(url))
    request.setValue("1", forHTTPHeaderField: "X-Day")
    let isBack = Mutex(false)
    let made = await fixture.blocking { [request] in session.downloadTask(with: request) }
    made.taskDescription = "today"
    #expect(await session.allTasks.isEmpty)
    async let returned: Void = fixture.blocking {
      made.resume()
      isBack.withLock { $0 = true }
    }
    _ = await fixture.bus.first { $0.header.kind == CreateTransfer.kind }
    #expect(made.state == .running)
    #expect(isBack.withLock { $0 } == false)
    await fixture.host.answerCreates()
    await returned
    let created = await fixture.host.created
    #expect(created.map(\.session) == ["daily"])
    #expect(created.map(\.taskIdentifier) == [1])
    #expect(created.map(\.taskDescription) == ["today"])
    #expect(created.first?.request == TransferRequest(url: "http://a.example/figures", headers: [["X-Day", "1"]]))
  }

  @Test(.rule("TASK-01"), arguments: [0.05, 0.3])
  func `a task fails with -997 when the host does not reply within the deadline`(callDeadline: Double) async throws {
    let fixture = try SDKFixture(rules: .waiting(callDeadline))
    try await fixture.begin()
    await fixture.host.holdCreates()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = fixture.session(delegate)
    let began = ContinuousClock.now
    let task = await fixture.blocking {
      let task = session.downloadTask(with: url)
      task.resume()
      return task
    }
    #expect(ContinuousClock.now - began >= .seconds(callDeadline))
    await delegate.waitFor("end 1 -997")
    #expect(task.state == .completed)
    #expect((task.error as? URLError)?.code == .backgroundSessionWasDisconnected)
    await fixture.host.answerCreates()
  }

  @Test(.rule("TASK-01"))
  func `a task fails with -997 without a host, and the session opens when the host connects`() async throws {
    let fixture = try SDKFixture(rules: .waiting(0.05))
    await MainActor.run { fixture.registry.serve([]) }
    try await fixture.announce()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = fixture.session(delegate)
    await fixture.blocking { session.downloadTask(with: url).resume() }
    await delegate.waitFor("end 1 -997")
    try await fixture.host.start()
    _ = await fixture.bus.first { $0.header.kind == OpenSession.kind.answered(.ok) }
    // A process that receives this reply, or the next one, too late fails once more.
    while await fixture.host.created.isEmpty {
      try Task.checkCancellation()
      await fixture.blocking { session.downloadTask(with: url).resume() }
    }
  }

  @Test(.rule("TASK-01"))
  func `a session that the host could not open is opened for the next task`() async throws {
    let fixture = try SDKFixture()
    await fixture.host.refuseOpens(BusError(.failed, "the disk is full", isDefinite: false))
    try await fixture.begin()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = fixture.session(delegate)
    await fixture.blocking { session.downloadTask(with: url).resume() }
    await delegate.waitFor("end 1 -997")
    await fixture.host.refuseOpens(nil)
    let task = await fixture.blocking {
      let task = session.downloadTask(with: url)
      task.resume()
      return task
    }
    #expect(await fixture.host.created.map(\.taskIdentifier) == [task.taskIdentifier])
    #expect(task.state == .running)
  }

  @Test(.rule("TASK-02"))
  func `a session lists the tasks of an earlier process instance and gives new tasks other identifiers`() async throws {
    let fixture = try SDKFixture()
    await fixture.host.reply(nextTask: 8, tasks: [SDKFixture.snapshot(7)])
    try await fixture.begin()
    let url = try #require(url)
    let session = fixture.session(Delegate())
    let tasks = await session.allTasks
    let earlier = try #require(tasks.first)
    #expect(tasks.map(\.taskIdentifier) == [7])
    #expect(earlier is URLSessionDownloadTask)
    #expect(earlier.taskDescription == "of an earlier instance")
    #expect(earlier.originalRequest?.value(forHTTPHeaderField: "x-day") == "1")
    #expect(earlier.state == .running)
    #expect(await fixture.blocking { session.downloadTask(with: url).taskIdentifier } == 8)
  }

  @Test(.rule("TASK-04"))
  func `a session does not list a task whose end arrives before the host's reply to session.open`() async throws {
    let fixture = try SDKFixture()
    await fixture.host.reply(nextTask: 3, tasks: [SDKFixture.snapshot(1), SDKFixture.snapshot(2)])
    await fixture.host.holdOpens()
    try await fixture.begin()
    let session = fixture.session(Delegate())
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try fixture.success(1)]), to: SDKFixture.widget)
    await fixture.host.answerOpens()
    #expect(await session.allTasks.map(\.taskIdentifier) == [2])
  }

  @Test func `a delivered task has its response, its byte count and no error, and is no longer listed`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let url = try #require(url)
    let session = fixture.session(Delegate())
    let task = await fixture.blocking {
      let task = session.downloadTask(with: url)
      task.resume()
      return task
    }
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try fixture.success(1)]), to: SDKFixture.widget)
    #expect(task.state == .completed)
    #expect(task.error == nil)
    #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
    #expect(task.response?.mimeType == "text/plain")
    #expect(task.response?.textEncodingName == "utf-8")
    #expect(task.countOfBytesReceived == 7)
    #expect(await session.allTasks.isEmpty)
  }

  @Test(.rule("SESSION-06"))
  func `an extension's session without a shared container is invalid with -995`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = fixture.session(delegate, shared: false)
    await delegate.waitFor("invalid -995")
    await fixture.blocking { session.downloadTask(with: url).resume() }
    await delegate.waitFor("end 1 -995")
    #expect(await fixture.host.opened.isEmpty)
  }

  @Test(.rule("SESSION-06")) func `an app's session needs no shared container`() async throws {
    let fixture = try SDKFixture(SDKFixture.app)
    try await fixture.begin()
    let url = try #require(url)
    let session = fixture.session(Delegate(), shared: false)
    await fixture.blocking { session.downloadTask(with: url).resume() }
    #expect(await fixture.host.created.count == 1)
  }

  @Test(.rule("SESSION-04"))
  func `URLSession objects with one identifier share one session and keep its first delegate`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let (first, second) = (Delegate(), Delegate())
    let one = fixture.session(first)
    let other = fixture.session(second)
    #expect(other.delegate === first)
    _ = await other.allTasks
    #expect(await fixture.host.opened.count == 1)
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: false, outcomes: [try fixture.success(1)]), to: SDKFixture.widget)
    #expect(first.calls.count == 2)
    #expect(second.calls.isEmpty)
    withExtendedLifetime(one) {}
  }

  @Test(.rule("SESSION-02")) func `a background session copies its configuration`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let configuration = URLSessionConfiguration.background(withIdentifier: "copied")
    configuration.sharedContainerIdentifier = SDKFixture.group
    configuration.httpAdditionalHeaders = ["X-App": "trial"]
    let session = fixture.process.asCurrent {
      URLSession(configuration: configuration, delegate: Delegate(), delegateQueue: nil)
    }
    configuration.isDiscretionary = true
    #expect(!session.configuration.isDiscretionary)
    #expect(session.configuration.identifier == "copied")
    #expect(session.configuration.httpAdditionalHeaders as? [String: String] == ["X-App": "trial"])
  }

  @Test(.rule("SESSION-16"))
  func `a background session has a serial delegate queue unless the author gives one`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    #expect(fixture.session(Delegate()).delegateQueue.maxConcurrentOperationCount == 1)
    let queue = OperationQueue()
    let configuration = URLSessionConfiguration.background(withIdentifier: "queued")
    configuration.sharedContainerIdentifier = SDKFixture.group
    let session = fixture.process.asCurrent {
      URLSession(configuration: configuration, delegate: Delegate(), delegateQueue: queue)
    }
    #expect(session.delegateQueue === queue)
    #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
  }

  @Test(
    .rule("SESSION-07"),
    arguments: [
      (-996, "Could not communicate with background transfer service"),
      (-997, "Lost connection to background transfer service"), (-999, "cancelled"),
      (-1001, "The request timed out."), (-1003, "A server with the specified hostname could not be found."),
      (-1004, "Could not connect to the server."), (-1005, "The network connection was lost."),
      (-1009, "The Internet connection appears to be offline."),
      (
        -1202,
        "The certificate for this server is invalid. You might be connecting to a server that is pretending to be "
          + "“a.example” which could put your confidential information at risk."
      ),
    ])
  func `the host's error codes have the localized descriptions of Apple's systems`(code: Int, text: String) {
    #expect(TransferFailure(code: code, message: "").error(for: url).localizedDescription == text)
    let error = TransferFailure(code: code, message: "else").error(for: url) as? URLError
    #expect(error?.localizedDescription == text)
    #expect(error?.errorUserInfo[NSDebugDescriptionErrorKey] as? String == "else")
    #expect(TransferFailure(code: -1, message: "else").error(for: url).localizedDescription == "else")
  }

  @Test(.rule("SESSION-14"))
  func `finishTasksAndInvalidate calls didBecomeInvalidWithError last and frees the identifier`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = fixture.session(delegate)
    await fixture.blocking { session.downloadTask(with: url).resume() }
    session.finishTasksAndInvalidate()
    try await fixture.host.connection.deliver(
      SessionEvents(session: "daily", wakesHandler: true, outcomes: [try fixture.success(1)]), to: SDKFixture.widget)
    await delegate.waitFor("invalid 0")
    #expect(delegate.calls == ["file 1 figures", "end 1 0", "invalid 0"])
    #expect(session.delegate == nil)
    let next = Delegate()
    #expect(fixture.session(next).delegate === next)
  }

  @Test(.rule("TASK-14"))
  func `cancelling a running task asks the host, and cancelling a task that never ran ends it at once`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let (delegate, url) = (Delegate(), try #require(url))
    let session = fixture.session(delegate)
    let running = await fixture.blocking {
      let task = session.downloadTask(with: url)
      task.resume()
      return task
    }
    running.cancel()
    _ = await fixture.bus.first { $0.header.kind == CancelTransfer.kind.answered(.ok) }
    #expect(running.state == .canceling)
    let fresh = await fixture.blocking { session.downloadTask(with: url) }
    fresh.cancel()
    await delegate.waitFor("end 2 -999")
    #expect(fresh.state == .completed)
  }
}
