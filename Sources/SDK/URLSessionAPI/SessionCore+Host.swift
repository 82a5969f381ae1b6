// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization

// Messages between a background session and the host.
extension SessionCore {
  // MARK: Opening

  /// Opens the session at the host. The reply contains its tasks and the next free identifier.
  func open() {
    let cookies = configuration.cookies
    var configuration = configuration.sent
    configuration.cookies = cookies
    configuration.client = ClientProfileSource.of(process).profile
    process.connection.submit(
      OpenSession(identifier: identifier, configuration: configuration), to: process.host, id: .random(),
      context: context, within: .seconds(86_400), whenUnreachable: .wait
    ) { self.opened($0) }
  }

  /// Opens the session again when the host returns, unless an earlier request is still waiting for the host.
  ///
  /// - Parameter isNew: the host may be another one, which does not know an open session.
  func openAgain(isNew: Bool = true) {
    let mustAsk = state.withLock { state in
      guard state.validity != .invalid else { return false }
      switch state.opening {
      case .asking: return false
      case .open: return isNew
      case .unanswered:
        state.opening = .asking(whenDone: [])
        return true
      }
    }
    if mustAsk { open() }
  }

  private func opened(_ answer: Result<OpenSession.Reply, BusError>) {
    let result = answer.flatMap { reply in Result { () throws(BusError) in try handle(reply) } }
    let isInUse = if case .failure(let error) = result { error.code == .sessionInUse } else { false }
    let whenDone = state.withLock { state -> [@Sendable () -> Void] in
      if isInUse { state.obstacle = .backgroundSessionInUseByAnotherProcess }
      guard case .asking(let whenDone) = state.opening else { return [] }
      if case .success = result { state.opening = .open } else { state.opening = .unanswered }
      return whenDone
    }
    if case .failure(let error) = result { process.log("session \(identifier) is not open: \(error)") }
    if isInUse { becomeInvalid(URLError(ofHost: .backgroundSessionInUseByAnotherProcess)) }
    for done in whenDone { done() }
  }

  /// Another process connected to the session while this one was suspended.
  func wasTaken(by holder: Address) {
    process.log("session \(identifier) is invalid: \(holder.short) connected to it while this process was suspended")
    state.withLock { $0.obstacle = .backgroundSessionInUseByAnotherProcess }
    becomeInvalid(URLError(ofHost: .backgroundSessionInUseByAnotherProcess))
  }

  /// Adds the host's tasks.
  private func handle(_ reply: OpenSession.Reply) throws(BusError) {
    state.withLock { $0.nextIdentifier = max($0.nextIdentifier, reply.nextTaskIdentifier) }
    var tasks = try reply.allTasks()
    while let snapshot = try tasks.next() {
      let number = snapshot.taskIdentifier
      state.withLock { state in
        guard state.tasks[number] == nil, !state.reported.contains(number) else { return }
        state.tasks[number] = TaskCore(snapshot, in: self).object
      }
    }
    if let file = reply.tasksFile { unlink(file) }
  }

  /// Calls `done` when the host has replied or cannot be asked; at once when it has replied.
  func whenOpened(_ done: @escaping @Sendable () -> Void) {
    let isDone = state.withLock { state in
      guard case .asking(let whenDone) = state.opening, isBackground, state.validity != .invalid else { return true }
      state.opening = .asking(whenDone: whenDone + [done])
      return false
    }
    if isDone { done() }
  }

  private var isOpen: Bool {
    state.withLock { if case .open = $0.opening { true } else { false } }
  }

  /// Blocks an author's thread until the host has replied, or until the process's limit. A host that could not open the
  /// session, because its disk was full for example, is asked again.
  func waitUntilOpen() -> Bool {
    openAgain(isNew: false)
    let answered = MonotonicSemaphore()
    whenOpened { answered.signal() }
    return answered.wait(seconds: process.rules.callDeadline) && isOpen
  }

  /// Informs the host that this process is disconnected from the session.
  func close() {
    process.connection.submit(
      CloseSession(identifier: identifier), to: process.host, id: .random(), context: context, within: .seconds(86_400),
      whenUnreachable: .wait
    ) { result in
      if case .failure(let error) = result { self.process.log("session \(self.identifier) is not closed: \(error)") }
    }
  }

  // MARK: Tasks

  /// Creates a task at the host. Blocks until the host has stored it on disk, or until the limit.
  func createAtHost(_ task: URLSessionTask) {
    let core = task.core
    guard case .failure(let error) = process.ask(creation(core), context: context) else {
      // Another thread may have cancelled the task before its creation was acknowledged.
      if task.state == .canceling { cancel(core, nil) }
      return
    }
    process.log("session \(identifier), task \(core.identifier): resume() failed: \(error)")
    fail(task, .backgroundSessionWasDisconnected)
  }

  private func creation(_ task: TaskCore) -> CreateTransfer {
    let values = task.values
    var request = task.request.transfer
    var file: String?
    var resumeData: Data?
    // The body of an upload is its file. A body of the request is ignored.
    if task.kind == .upload { request.body = nil }
    switch task.source {
    case .file(let url): file = url.path
    case .resumeData(let data): resumeData = data
    case .none, .data, .stream: break
    }
    return CreateTransfer(
      session: identifier, taskIdentifier: task.identifier, type: task.kind == .upload ? .upload : .download,
      request: request, taskDescription: values.description, file: file, resumeData: resumeData,
      earliestBeginDate: values.earliestBeginDate,
      asksBeforeDelayedRequest: values.earliestBeginDate != nil && delegate is any URLSessionTaskDelegate,
      priority: values.priority, bytesClientExpectsToSend: values.bytesClientExpectsToSend,
      bytesClientExpectsToReceive: values.bytesClientExpectsToReceive)
  }

  func cancel(_ task: TaskCore, _ handler: (@Sendable (Data?) -> Void)?) {
    let request = CancelTransfer(
      session: identifier, taskIdentifier: task.identifier, producesResumeData: handler != nil)
    process.connection.submit(
      request, to: process.host, id: .random(), context: context, within: .seconds(86_400), whenUnreachable: .wait
    ) { result in
      if case .failure(let error) = result {
        self.process.log("session \(self.identifier), task \(task.identifier): cancel() failed: \(error)")
      }
      guard let handler else { return }
      let data = try? result.get().resumeData
      self.queue.addOperation { self.process.asCurrent(self.context) { handler(data) } }
    }
  }

  /// Sends the host a changed property of a task.
  func change(_ task: TaskCore, _ body: (inout ChangeTransfer) -> Void) {
    var change = ChangeTransfer(session: identifier, taskIdentifier: task.identifier)
    body(&change)
    process.connection.submit(
      change, to: process.host, id: .random(), context: context, within: .seconds(86_400), whenUnreachable: .wait
    ) { result in
      guard case .failure(let error) = result else { return }
      self.process.log("session \(self.identifier), task \(task.identifier): a change failed: \(error)")
    }
  }

  // MARK: Messages from the host

  /// Returns the object of a task, or creates it.
  private func object(_ snapshot: TaskSnapshot) -> URLSessionTask {
    state.withLock { state in
      let task = state.tasks[snapshot.taskIdentifier] ?? TaskCore(snapshot, in: self).object
      state.tasks[snapshot.taskIdentifier] = task
      return task
    }
  }

  /// Reports a task's outcome to the delegate in Apple's order. Returns after the calls.
  func report(_ outcome: TaskOutcome, _ context: MessageContext) async {
    let task = object(outcome.task)
    await onQueue {
      task.core.transferred(outcome)
      if let file = outcome.file.map({ URL(fileURLWithPath: $0) }) {
        self.deliverBody(file, of: task, hasFailed: outcome.failure != nil, context)
      }
      if let metrics = outcome.metrics { self.callDelegate(metrics, of: task, context) }
      self.deliverEnd(of: task, outcome.failure?.error(for: task.originalRequest?.url), context)
    }
  }

  /// Reports the body of a response: a download's as a file, an upload's in parts. Deletes the copy.
  private func deliverBody(_ file: URL, of task: URLSessionTask, hasFailed: Bool, _ context: MessageContext) {
    let bytes = FileDigest.size(ofFile: file.path)
    if let task = task as? URLSessionDownloadTask, !hasFailed {
      // The author may move or change the file.
      let digest = isBackground ? FileDigest.sha256(ofFile: file.path) : nil
      deliverFile(file, of: task, context)
      return record("didFinishDownloadingTo", context, task: task, bytes: bytes, sha256: digest)
    }
    if let task = task as? URLSessionDataTask, let handle = try? FileHandle(forReadingFrom: file) {
      while let data = try? handle.read(upToCount: 65_536), !data.isEmpty { deliverData(data, of: task, context) }
      try? handle.close()
    }
    try? FileManager.default.removeItem(at: file)
  }

  /// Reports to the delegate that all waiting events have been delivered.
  func finishEvents(_ context: MessageContext) async {
    await onQueue {
      let (delegate, object) = self.state.withLock { ($0.delegate, $0.object) }
      guard let delegate, let object else { return }
      // Before the call, so that the journal has the order of events.
      self.record("urlSessionDidFinishEvents", context)
      self.process.asCurrent(context, within: "urlSessionDidFinishEvents") {
        delegate.urlSessionDidFinishEvents(forBackgroundURLSession: object)
      }
    }
  }

  /// Updates a task's progress.
  func counted(_ counts: TransferCounted) {
    guard let task = state.withLock({ $0.tasks[counts.taskIdentifier] }) else { return }
    let context = context
    queue.addOperation {
      guard task.state != .completed else { return }
      let (received, sent) = task.core.counted(counts)
      self.deliverCounts(of: task, received: received, sent: sent, resumedAt: counts.resumedAt, context)
    }
  }

  /// Calls the delegate for a task whose earliest begin date has come.
  func ask(_ question: BeginDelayedRequest, _ context: MessageContext) async -> BeginDelayedRequest.Reply {
    let task = object(question.task)
    let request = task.originalRequest ?? URLRequest(question.task.request)
    let answer = await ask(task, context) { await $0.urlSession($1, task: task, willBeginDelayedRequest: request) }
    switch answer {
    case (.useNewRequest, let new?)?:
      return BeginDelayedRequest.Reply(disposition: .useNewRequest, request: new.transfer)
    case (.cancel, _)?: return BeginDelayedRequest.Reply(disposition: .cancel)
    default: return BeginDelayedRequest.Reply(disposition: .continueLoading)
    }
  }

  /// Calls the delegate for credentials.
  func ask(_ question: AnswerChallenge, _ context: MessageContext) async -> AnswerChallenge.Reply {
    let challenge = InlineChallenge(
      method: question.method, host: question.host, port: question.port, scheme: question.scheme,
      realm: question.realm, previousFailures: question.previousFailures, response: nil)
    return await ask(challenge, of: object(question.task), context)
  }
}

extension TaskCore {
  /// Stores the host's counts, and returns the bytes received and sent since the last ones.
  func counted(_ counts: TransferCounted) -> (received: Int64, sent: Int64) {
    let former = values
    change { values in
      values.bytesSent = counts.bytesSent
      values.bytesExpectedToSend = counts.bytesExpectedToSend
      values.bytesReceived = counts.bytesReceived
      values.bytesExpected = counts.bytesExpected
    }
    measure()
    func grown(from old: Int64, to new: Int64) -> Int64 { new >= old ? new - old : new }
    return (
      grown(from: counts.resumedAt ?? former.bytesReceived, to: counts.bytesReceived),
      grown(from: former.bytesSent, to: counts.bytesSent)
    )
  }
}
