// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization

/// The state of a session in this process. All objects of a background session's identifier share it.
final class SessionCore: Sendable {
  enum Opening {
    /// The request to the host is in progress.
    case asking(whenDone: [@Sendable () -> Void])
    case open
    /// The host did not reply. The request is repeated when it returns.
    case unanswered
  }

  enum Validity {
    case valid
    /// Creates no new tasks. Becomes invalid when the running ones have ended.
    case ending
    case invalid
  }

  struct State {
    var delegate: (any URLSessionDelegate)?
    /// The object that the delegate receives. Like the delegate, it is retained until the session is invalid.
    var object: URLSession?
    var opening = Opening.asking(whenDone: [])
    var validity = Validity.valid
    /// Why no task can run.
    var obstacle: URLError.Code?
    var description: String?
    var nextIdentifier = 1
    /// Created, and neither resumed nor released.
    var made: Set<Int> = []
    /// Resumed, and the end has not been reported to the author.
    var tasks: [Int: URLSessionTask] = [:]
    /// Tasks whose end has been reported here. The host may still list them until it receives the acknowledgement.
    var reported: Set<Int> = []
    /// For inline requests.
    var connections: (any InlineConnections)?

    var isOver: Bool { validity == .ending && tasks.isEmpty && made.isEmpty }
  }

  let process: HostedProcess
  let configuration: SessionValues
  let queue: OperationQueue
  /// Whether it is `URLSession.shared`, which never becomes invalid.
  let isShared: Bool
  let state: Mutex<State>

  init(
    _ configuration: SessionValues, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
    obstacle: URLError.Code? = nil, isShared: Bool = false, in process: HostedProcess
  ) {
    self.process = process
    self.configuration = configuration
    self.isShared = isShared
    self.queue = queue ?? SessionCore.serialQueue(configuration.identifier ?? "URLSession")
    state = Mutex(State(delegate: delegate, obstacle: obstacle))
  }

  private static func serialQueue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = 1
    return queue
  }

  var isBackground: Bool { configuration.identifier != nil }
  /// The identifier of a background session.
  var identifier: String { configuration.identifier ?? "" }
  /// The message context of the session's own messages.
  var context: MessageContext { isBackground ? process.context(ofSession: identifier) : HostedProcess.currentContext }
  var obstacle: URLError.Code? { state.withLock { $0.obstacle } }
  var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }
  var runningTasks: [URLSessionTask] {
    state.withLock { $0.tasks.values.sorted { $0.taskIdentifier < $1.taskIdentifier } }
  }

  /// Sets the object that the delegate receives. Only the first call has an effect.
  func setObject(_ object: URLSession) {
    let isFirst = state.withLock { state in
      guard state.object == nil, state.validity != .invalid else { return false }
      state.object = object
      return true
    }
    guard isFirst else { return }
    if let obstacle {
      if obstacle == .backgroundSessionRequiresSharedContainer {
        let group = configuration.sentConfiguration.sharedContainerIdentifier
        notice(
          .noSharedContainer,
          details: group.map { "no app group \($0) is shared with this extension" }
            ?? "its configuration has no sharedContainerIdentifier", context: context)
      }
      becomeInvalid(URLError(ofHost: obstacle))
    } else if isBackground {
      SessionRegistry.of(process).publish(self)
    }
  }

  // MARK: Tasks

  /// Creates a task. In an invalidated session, or for a kind that the session does not support, this is a programming
  /// error, as on Apple's systems.
  func makeTask(
    _ kind: TaskCore.Kind, _ request: URLRequest, from source: TaskCore.Source = .none,
    completion: TaskCore.Completion? = nil
  ) -> URLSessionTask {
    if isBackground { refuse(kind, request: request, source: source, completion: completion) }
    let isValid = state.withLock { $0.validity == .valid || $0.obstacle != nil }
    guard isValid else { fatalError("Task created in a session that has been invalidated") }
    if isBackground, obstacle == nil { _ = waitUntilOpen() }
    let number = state.withLock { state in
      defer { state.nextIdentifier += 1 }
      state.made.insert(state.nextIdentifier)
      return state.nextIdentifier
    }
    let task = TaskCore(number, kind: kind, request: request, from: source, completion: completion, in: self).object
    _ = callDelegate(task, context: HostedProcess.currentContext) { $0.urlSession($1, didCreateTask: task) }
    return task
  }

  /// Stops with the reason of the exception that Apple's background sessions raise. Also rejects a body stream, which
  /// the host could not send because the stream ends with this process.
  private func refuse(
    _ kind: TaskCore.Kind, request: URLRequest, source: TaskCore.Source, completion: TaskCore.Completion?
  ) {
    guard completion == nil else {
      fatalError("Completion handler blocks are not supported in background sessions. Use a delegate instead.")
    }
    switch source {
    case .data: fatalError("Upload tasks from NSData are not supported in background sessions.")
    case .stream: fatalError("Upload tasks from streams are not supported in background sessions.")
    case .none where kind == .download && request.httpBodyStream != nil:
      fatalError("Download tasks with an httpBodyStream are not supported in background sessions. Use httpBody.")
    case .none, .file, .resumeData: return
    }
  }

  /// The author released a task without resuming it.
  func dropped(_ task: Int) {
    let isOver = state.withLock { state in
      state.made.remove(task)
      return state.isOver
    }
    if isOver { becomeInvalid(nil) }
  }

  /// The first `resume()` of a task. For a task of the host, returns when the host has stored it on disk, or after the
  /// limit.
  func begin(_ task: URLSessionTask) {
    let core = task.core
    let obstacle = state.withLock { state in
      state.made.remove(core.identifier)
      state.tasks[core.identifier] = task
      guard state.obstacle == nil, isBackground, case .open = state.opening else {
        return state.obstacle ?? (isBackground ? .backgroundSessionWasDisconnected : nil)
      }
      return nil
    }
    if let obstacle { return fail(task, obstacle) }
    if core.isInline { beginInline(task) } else { createAtHost(task) }
  }

  /// Ends a task that has not started.
  func fail(_ task: URLSessionTask, _ code: URLError.Code) {
    let failure = TransferFailure(code: code.rawValue, message: "").error(for: task.originalRequest?.url)
    let context = context
    queue.addOperation { self.deliverEnd(of: task, failure, context) }
  }

  // MARK: Invalidation

  func invalidate(cancelling: Bool) {
    guard !isShared else { return }
    let (tasks, isOver) = state.withLock { state in
      guard state.validity == .valid else { return ([URLSessionTask](), false) }
      state.validity = .ending
      if cancelling { state.made = [] }
      return (Array(state.tasks.values), state.isOver)
    }
    if cancelling { for task in tasks { task.cancel() } }
    if isOver { becomeInvalid(nil) }
  }

  private func becomeInvalid(_ error: URLError?) {
    queue.addOperation {
      let formerState = self.state.withLock { state -> State? in
        guard state.validity != .invalid else { return nil }
        let formerState = state
        state.validity = .invalid
        state.connections = nil
        // A session that was never valid still reports the end of its tasks.
        if error == nil { (state.delegate, state.object) = (nil, nil) }
        return formerState
      }
      guard let formerState else { return }
      formerState.connections?.close()
      if error == nil, self.isBackground { self.close() }
      SessionRegistry.of(self.process).remove(self)
      guard let delegate = formerState.delegate, let object = formerState.object else { return }
      self.process.asCurrent(self.context) { delegate.urlSession(object, didBecomeInvalidWithError: error) }
    }
  }
}

// Messages between a background session and the host.
extension SessionCore {
  // MARK: Opening

  /// Opens the session at the host. The reply contains its tasks and the next free identifier.
  func open() {
    let cookies = configuration.cookies
    var configuration = configuration.sentConfiguration
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
  private func waitUntilOpen() -> Bool {
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
      if new.httpBodyStream != nil {
        process.noticeUnsimulated("httpBodyStream", "a request that replaces a delayed one is sent without its stream")
      }
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
    let formerValues = values
    change { values in
      values.bytesSent = counts.bytesSent
      values.bytesExpectedToSend = counts.bytesExpectedToSend
      values.bytesReceived = counts.bytesReceived
      values.bytesExpected = counts.bytesExpected
    }
    measure()
    func grown(from old: Int64, to new: Int64) -> Int64 { new >= old ? new - old : new }
    return (
      grown(from: counts.resumedAt ?? formerValues.bytesReceived, to: counts.bytesReceived),
      grown(from: formerValues.bytesSent, to: counts.bytesSent)
    )
  }
}

// Calls of the delegate, and their order.
extension SessionCore {
  /// The delegates that may implement a method of a task, the task's own first.
  private func delegates(of task: URLSessionTask) -> (delegates: [any URLSessionTaskDelegate], object: URLSession)? {
    let (delegate, object) = state.withLock { ($0.delegate as? any URLSessionTaskDelegate, $0.object) }
    guard let object else { return nil }
    return ([task.delegate, delegate].compactMap { $0 }, object)
  }

  /// Calls a method of the first delegate that implements it. On the delegate queue. Returns `false` when none does.
  ///
  /// - Parameter method: the name that is recorded with reloads requested during the call.
  func callDelegate(
    _ task: URLSessionTask, context: MessageContext, within method: String? = nil,
    call: (any URLSessionTaskDelegate, URLSession) -> Void
  ) -> Bool {
    guard let (delegates, object) = delegates(of: task) else { return false }
    return delegates.contains { delegate in
      process.asCurrent(context, within: method) { DelegateMethod.callDelegate { call(delegate, object) } }
    }
  }

  /// Calls a method with a result on the first delegate that implements it. Any thread. Returns `nil` when none does.
  func ask<Answer>(
    _ task: URLSessionTask, _ context: MessageContext,
    call: (any URLSessionTaskDelegate, URLSession) async -> Answer
  ) async -> Answer? {
    guard let (delegates, object) = delegates(of: task) else { return nil }
    for delegate in delegates {
      let answer = await process.asCurrent(context) { await DelegateMethod.ask { await call(delegate, object) } }
      if let answer { return answer }
    }
    return nil
  }

  /// Calls the delegate for a challenge. For a challenge of the connection, the session's method is tried first, then
  /// the task's. For a challenge of a request, only the task's is called (`NSURLSession.h`).
  func ask(_ challenge: InlineChallenge, of task: URLSessionTask, _ context: MessageContext) async
    -> AnswerChallenge.Reply
  {
    let challenge = URLAuthenticationChallenge(challenge)
    var answer: (URLSession.AuthChallengeDisposition, URLCredential?)?
    let (delegate, object) = state.withLock { ($0.delegate, $0.object) }
    if challenge.isOfSession, let delegate, let object {
      answer = await process.asCurrent(context) {
        await DelegateMethod.ask { await delegate.urlSession(object, didReceive: challenge) }
      }
    }
    if answer == nil {
      answer = await ask(task, context) { await $0.urlSession($1, task: task, didReceive: challenge) }
    }
    let (disposition, credential) = answer ?? (.performDefaultHandling, nil)
    return AnswerChallenge.Reply(disposition, credential)
  }

  /// Reports the bytes of a task. On the delegate queue.
  func deliverCounts(
    of task: URLSessionTask, received: Int64, sent bytesSent: Int64, resumedAt: Int64?, _ context: MessageContext
  ) {
    let values = task.core.values
    if let download = task as? URLSessionDownloadTask {
      if let resumedAt {
        _ = callDelegate(task, context: context) { delegate, session in
          guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
          delegate.urlSession(
            session, downloadTask: download, didResumeAtOffset: resumedAt, expectedTotalBytes: values.bytesExpected)
        }
      }
      if received > 0 {
        _ = callDelegate(task, context: context) { delegate, session in
          guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
          delegate.urlSession(
            session, downloadTask: download, didWriteData: received, totalBytesWritten: values.bytesReceived,
            totalBytesExpectedToWrite: values.bytesExpected)
        }
      }
    }
    guard bytesSent > 0 else { return }
    _ = callDelegate(task, context: context) {
      $0.urlSession(
        $1, task: task, didSendBodyData: bytesSent, totalBytesSent: values.bytesSent,
        totalBytesExpectedToSend: values.bytesExpectedToSend)
    }
  }

  /// Reports a part of a response's body. On the delegate queue.
  func deliverData(_ data: Data, of task: URLSessionDataTask, _ context: MessageContext) {
    _ = callDelegate(task, context: context) { delegate, session in
      guard let delegate = delegate as? any URLSessionDataDelegate else { return DelegateMethod.isMissing() }
      delegate.urlSession(session, dataTask: task, didReceive: data)
    }
  }

  /// Reports a finished download. The file is deleted when the method has returned. On the delegate queue.
  func deliverFile(_ file: URL, of task: URLSessionDownloadTask, _ context: MessageContext) {
    let handed = HandedFile(file)
    let isNotified = callDelegate(task, context: context, within: "didFinishDownloadingTo") { delegate, session in
      guard let delegate = delegate as? any URLSessionDownloadDelegate else { return DelegateMethod.isMissing() }
      delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
    }
    // The body of a server error may be left in place.
    if isNotified, handed.isLeftBehind, (200..<300).contains((task.response as? HTTPURLResponse)?.statusCode ?? 0) {
      notice(
        .fileLeftBehind,
        details:
          "the file of task \(task.taskIdentifier) was neither moved nor read when didFinishDownloadingTo returned",
        context: context
      )
    }
    // Already gone if the author moved it.
    try? FileManager.default.removeItem(at: file)
  }

  /// Reports the metrics. On the delegate queue.
  func callDelegate(_ metrics: TransferMetrics, of task: URLSessionTask, _ context: MessageContext) {
    let metrics = URLSessionTaskMetrics(
      metrics, request: task.currentRequest ?? task.core.request, response: task.response)
    _ = callDelegate(task, context: context) { $0.urlSession($1, task: task, didFinishCollecting: metrics) }
  }

  /// Reports the end of a task. On the delegate queue.
  ///
  /// - Parameter completion: called instead of the delegate's method.
  func deliverEnd(
    of task: URLSessionTask, _ error: (any Error)?, _ context: MessageContext, completion: (() -> Void)? = nil
  ) {
    task.core.ended(error)
    if (error as? URLError)?.code == .appTransportSecurityRequiresSecureConnection { explainBlock(of: task) }
    if let completion {
      process.asCurrent(context, completion)
    } else if task.core.completion == nil {
      let isNotified = callDelegate(task, context: context, within: "didCompleteWithError") {
        $0.urlSession($1, task: task, didCompleteWithError: error)
      }
      if isNotified { record("didCompleteWithError", context, task: task, failure: error.map { ($0 as NSError).code }) }
    } else {
      process.asCurrent(context) { task.core.completion?.fail(error) }
    }
    let isOver = state.withLock { state in
      state.tasks[task.taskIdentifier] = nil
      state.made.remove(task.taskIdentifier)
      state.reported.insert(task.taskIdentifier)
      return state.isOver
    }
    if isOver { becomeInvalid(nil) }
  }

  /// Apple's systems write a line to the log, too.
  private func explainBlock(of task: URLSessionTask) {
    let url = task.currentRequest?.url ?? task.originalRequest?.url
    process.log(
      "App Transport Security blocked \(url?.absoluteString ?? "a request"): use https, or add \(url?.host ?? "its host") "
        + "to NSExceptionDomains of this product's Info.plist")
  }

  func onQueue(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      queue.addOperation {
        work()
        continuation.resume()
      }
    }
  }

  /// Records a fault in the author's code in the journal. Only for background sessions.
  private func notice(_ fault: FaultNoticed.Fault, details: String, context: MessageContext) {
    guard isBackground else { return }
    process.connection.record(FaultNoticed(fault, subject: "session \(identifier)", details: details), context: context)
  }

  /// Records a delegate call in the journal. Only for background sessions.
  func record(
    _ method: String, _ context: MessageContext, task: URLSessionTask? = nil, bytes: Int64? = nil,
    sha256: String? = nil, failure: Int? = nil
  ) {
    guard isBackground else { return }
    process.connection.record(
      DelegateCalled(
        session: identifier, method: method, taskIdentifier: task?.taskIdentifier, bytes: bytes, sha256: sha256,
        failureCode: failure),
      context: context)
  }
}

extension TaskCore.Completion {
  /// Reports a failed task.
  func fail(_ error: (any Error)?) {
    switch self {
    case .data(let handler): handler(nil, nil, error)
    case .download(_, let handler): handler(nil, nil, error)
    case .bytes(let arrivals): arrivals.ended(error)
    }
  }
}

// Inline tasks.
extension SessionCore {
  /// The shared state of the session's inline requests. `nil` when this process cannot perform any.
  private func connect() -> (any InlineConnections)? {
    if let connections = state.withLock({ $0.connections }) { return connections }
    guard let performer = InlineRequests.of(process).performer else { return nil }
    let made = performer.session(configuration.inline(of: ClientProfileSource.of(process).profile))
    let connections = state.withLock { state in
      let connections = state.connections ?? made
      state.connections = connections
      return connections
    }
    if let spare = connections as AnyObject === made as AnyObject ? nil : made { spare.close() }
    return connections
  }

  /// The first `resume()` of an inline task.
  private func beginInline(_ task: URLSessionTask) {
    guard let connections = connect() else {
      process.log("task \(task.taskIdentifier): this process cannot perform its own requests")
      return fail(task, .resourceUnavailable)
    }
    if isBackground { SuspensionWatch.of(process).begin() }
    let run = InlineRun(task, in: self, HostedProcess.currentContext)
    task.core.change { $0.run = run }
    // Another thread may have changed the state since.
    switch task.state {
    case .canceling: run.cancel()
    case .suspended: run.hold(true)
    case .running, .completed: break
    }
    run.begin(on: connections)
  }

  /// The class of the author that loads a task's request; `nil` when the session loads it.
  func protocolClass(for task: URLSessionTask) -> URLProtocol.Type? {
    guard !isBackground else { return nil }
    let registered = isShared ? URLProtocol.registeredClasses : []
    return (configuration.protocolClasses + registered).first { $0.canInit(with: task) }
  }

  /// Ends transfers that a suspension of the process interrupted: data tasks of background sessions end with -997
  /// (`URLError.backgroundSessionWasDisconnected`). Downloads and uploads belong to the host.
  func wasSuspended() {
    guard isBackground else { return }
    for task in runningTasks { task.core.values.run?.abandon(.backgroundSessionWasDisconnected) }
  }

  /// `URLSession.reset`.
  func reset() async {
    await state.withLock { $0.connections }?.reset()
  }
}

/// Detects that the process was suspended: the kernel sends SIGCONT when it is resumed.
final class SuspensionWatch: Sendable {
  private let process: HostedProcess
  private let source = Mutex<(any DispatchSourceSignal)?>(nil)

  private init(_ process: HostedProcess) { self.process = process }

  static func of(_ process: HostedProcess) -> SuspensionWatch {
    process.part(SuspensionWatch.self) { SuspensionWatch($0) }
  }

  /// Starts the detection. It is active when this returns. Further calls have no effect.
  func begin() {
    let isListening = MonotonicSemaphore()
    source.withLock { source in
      guard source == nil else { return }
      let made = DispatchSource.makeSignalSource(signal: SIGCONT, queue: .global())
      made.setEventHandler { [process] in SessionRegistry.of(process).wasSuspended() }
      made.setRegistrationHandler { isListening.signal() }
      made.resume()
      source = made
      isListening.wait(seconds: 1)
    }
  }
}
