// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
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
        let group = configuration.sent.sharedContainerIdentifier
        notice(
          .noSharedContainer,
          group.map { "no app group \($0) is shared with this extension" }
            ?? "its configuration has no sharedContainerIdentifier", context)
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
    if isBackground { refuse(kind, request, source, completion) }
    let isValid = state.withLock { $0.validity == .valid || $0.obstacle != nil }
    guard isValid else { fatalError("Task created in a session that has been invalidated") }
    if isBackground, obstacle == nil { _ = waitUntilOpen() }
    let number = state.withLock { state in
      defer { state.nextIdentifier += 1 }
      state.made.insert(state.nextIdentifier)
      return state.nextIdentifier
    }
    let task = TaskCore(number, kind, request, from: source, completion: completion, in: self).object
    _ = callDelegate(task, HostedProcess.currentContext) { $0.urlSession($1, didCreateTask: task) }
    return task
  }

  /// Stops with the reason of the exception that Apple's background sessions raise. Also rejects a body stream, which
  /// the host could not send because the stream ends with this process.
  private func refuse(
    _ kind: TaskCore.Kind, _ request: URLRequest, _ source: TaskCore.Source, _ completion: TaskCore.Completion?
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

  func becomeInvalid(_ error: URLError?) {
    queue.addOperation {
      let former = self.state.withLock { state -> State? in
        guard state.validity != .invalid else { return nil }
        let former = state
        state.validity = .invalid
        state.connections = nil
        // A session that was never valid still reports the end of its tasks.
        if error == nil { (state.delegate, state.object) = (nil, nil) }
        return former
      }
      guard let former else { return }
      former.connections?.close()
      if error == nil, self.isBackground { self.close() }
      SessionRegistry.of(self.process).remove(self)
      guard let delegate = former.delegate, let object = former.object else { return }
      self.process.asCurrent(self.context) { delegate.urlSession(object, didBecomeInvalidWithError: error) }
    }
  }
}
