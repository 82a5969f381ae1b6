import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

// What a background session and the host say to each other.
extension SessionCore {
  // MARK: Opening

  /// Tells the host that the session is there, and learns which identifiers are free.
  func open() {
    process.connection.submit(
      OpenSession(identifier: identifier, configuration: configuration.sent), to: process.host, id: UUID(),
      story: story, within: .seconds(86_400), whenUnreachable: .wait
    ) { self.opened($0) }
  }

  /// Tells a host that came back. Nothing is said twice when the first telling still waits for it.
  func openAgain() {
    let mustAsk = state.withLock { state in
      guard state.validity != .invalid else { return false }
      switch state.opening {
      case .asking: return false
      case .open: return true
      case .unanswered:
        state.opening = .asking(whenDone: [])
        return true
      }
    }
    if mustAsk { open() }
  }

  private func opened(_ answer: Result<OpenSession.Reply, BusError>) {
    let result = answer.flatMap { reply in Result { () throws(BusError) in try take(reply) } }
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

  /// Learns of the tasks that the host has.
  private func take(_ reply: OpenSession.Reply) throws(BusError) {
    state.withLock { $0.nextIdentifier = max($0.nextIdentifier, reply.nextTaskIdentifier) }
    var tasks = try reply.allTasks()
    while let snapshot = try tasks.next() {
      let number = snapshot.taskIdentifier
      state.withLock { state in
        guard state.tasks[number] == nil, !state.told.contains(number) else { return }
        state.tasks[number] = TaskCore(snapshot, in: self).object
      }
    }
    if let file = reply.tasksFile { unlink(file) }
  }

  /// Calls `done` when the host has answered or cannot be asked; at once when it has.
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

  /// Blocks an author's thread until the host has answered, at most for the process's limit.
  func waitUntilOpen() -> Bool {
    let answered = DispatchSemaphore(value: 0)
    whenOpened { answered.signal() }
    return answered.wait(timeout: .now() + process.rules.callDeadline) == .success && isOpen
  }

  /// Tells the host that this process is no longer connected to the session.
  func close() {
    process.connection.submit(
      CloseSession(identifier: identifier), to: process.host, id: UUID(), story: story, within: .seconds(86_400),
      whenUnreachable: .wait
    ) { result in
      if case .failure(let error) = result { self.process.log("session \(self.identifier) is not closed: \(error)") }
    }
  }

  // MARK: Tasks

  /// Hands a task to the host, and blocks until it is on disk there or the limit has passed.
  func hand(_ task: URLSessionTask) {
    let core = task.core
    let answer = Answer()
    process.connection.submit(
      creation(core), to: process.host, id: UUID(), story: story, within: .seconds(process.rules.callDeadline),
      whenUnreachable: .wait
    ) { answer.come($0) }
    guard case .failure(let error) = answer.wait(atMost: .seconds(process.rules.callDeadline + 1)) else {
      // Another thread's word may have overtaken this one's.
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
    // The body of an upload is its file, whatever the request says.
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
      request, to: process.host, id: UUID(), story: story, within: .seconds(86_400), whenUnreachable: .wait
    ) { result in
      if case .failure(let error) = result {
        self.process.log("session \(self.identifier), task \(task.identifier): cancel() failed: \(error)")
      }
      guard let handler else { return }
      let data = try? result.get().resumeData
      self.queue.addOperation { self.process.asCurrent(self.story) { handler(data) } }
    }
  }

  /// Tells the host what the author changed of a task that it has.
  func change(_ task: TaskCore, _ body: (inout ChangeTransfer) -> Void) {
    var change = ChangeTransfer(session: identifier, taskIdentifier: task.identifier)
    body(&change)
    process.connection.submit(
      change, to: process.host, id: UUID(), story: story, within: .seconds(86_400), whenUnreachable: .wait
    ) { result in
      guard case .failure(let error) = result else { return }
      self.process.log("session \(self.identifier), task \(task.identifier): a change failed: \(error)")
    }
  }

  // MARK: What the host tells

  /// The object of a task that the host names.
  private func object(_ snapshot: TaskSnapshot) -> URLSessionTask {
    state.withLock { state in
      let task = state.tasks[snapshot.taskIdentifier] ?? TaskCore(snapshot, in: self).object
      state.tasks[snapshot.taskIdentifier] = task
      return task
    }
  }

  /// Tells the delegate what became of a task, in Apple's order, and returns when it has been told.
  func replay(_ outcome: TaskOutcome, _ story: Story) async {
    let task = object(outcome.task)
    await onQueue {
      task.core.transferred(outcome)
      if let file = outcome.file.map({ URL(fileURLWithPath: $0) }) {
        self.tellBody(file, of: task, hasFailed: outcome.failure != nil, story)
      }
      if let metrics = outcome.metrics { self.tell(metrics, of: task, story) }
      self.tellEnd(of: task, outcome.failure?.error(for: task.originalRequest?.url), story)
    }
  }

  /// The body of a response: a download's as a file, an upload's piece by piece. The copy goes.
  private func tellBody(_ file: URL, of task: URLSessionTask, hasFailed: Bool, _ story: Story) {
    let bytes = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.size] as? Int
    if let task = task as? URLSessionDownloadTask, !hasFailed {
      tellFile(file, of: task, story)
      return record("didFinishDownloadingTo", story, task: task, bytes: bytes.map(Int64.init))
    }
    if let task = task as? URLSessionDataTask, let handle = try? FileHandle(forReadingFrom: file) {
      while let data = try? handle.read(upToCount: 65_536), !data.isEmpty { tellData(data, of: task, story) }
      try? handle.close()
    }
    try? FileManager.default.removeItem(at: file)
  }

  /// Tells the delegate that all that waited has been told.
  func finishEvents(_ story: Story) async {
    await onQueue {
      let (delegate, object) = self.state.withLock { ($0.delegate, $0.object) }
      guard let delegate, let object else { return }
      // Before the call: what the author does in it follows in the journal as it followed in time.
      self.record("urlSessionDidFinishEvents", story)
      self.process.asCurrent(story, within: "urlSessionDidFinishEvents") {
        delegate.urlSessionDidFinishEvents(forBackgroundURLSession: object)
      }
    }
  }

  /// How far a task is.
  func counted(_ counts: TransferCounted) {
    guard let task = state.withLock({ $0.tasks[counts.taskIdentifier] }) else { return }
    let story = story
    queue.addOperation {
      guard task.state != .completed else { return }
      let (received, sent) = task.core.counted(counts)
      self.tellCounts(of: task, received: received, sent: sent, resumedAt: counts.resumedAt, story)
    }
  }

  /// Asks the delegate what to do with a task whose earliest date has come.
  func ask(_ question: BeginDelayedRequest, _ story: Story) async -> BeginDelayedRequest.Reply {
    let task = object(question.task)
    let request = task.originalRequest ?? URLRequest(question.task.request)
    let answer = await ask(task, story) { await $0.urlSession($1, task: task, willBeginDelayedRequest: request) }
    switch answer {
    case (.useNewRequest, let new?)?:
      return BeginDelayedRequest.Reply(disposition: .useNewRequest, request: new.transfer)
    case (.cancel, _)?: return BeginDelayedRequest.Reply(disposition: .cancel)
    default: return BeginDelayedRequest.Reply(disposition: .continueLoading)
    }
  }

  /// Asks the delegate for credentials.
  func ask(_ question: AnswerChallenge, _ story: Story) async -> AnswerChallenge.Reply {
    let challenge = InlineChallenge(
      method: question.method, host: question.host, port: question.port, scheme: question.scheme,
      realm: question.realm, previousFailures: question.previousFailures, response: nil)
    return await ask(challenge, of: object(question.task), story)
  }
}

extension TaskCore {
  /// Takes the host's figures, and returns what came and what went since the last ones.
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
