import AuthoredProcess
import Conversations
import Foundation
import Synchronization

/// What session objects stand for in this process; of a background session, all objects of its identifier.
final class SessionCore: Sendable {
  enum Opening {
    /// The host is being asked.
    case asking(whenDone: [@Sendable () -> Void])
    case open
    /// The host did not answer; it is asked again when it comes back.
    case unanswered
  }

  enum Validity {
    case valid
    /// No new tasks; invalid when the running ones have ended.
    case ending
    case invalid
  }

  struct State {
    var delegate: (any URLSessionDelegate)?
    /// The object that the delegate is handed; kept, as the delegate is, until the session is invalid.
    var object: URLSession?
    var opening = Opening.asking(whenDone: [])
    var validity = Validity.valid
    /// Why no task can run.
    var obstacle: URLError.Code?
    var description: String?
    var nextIdentifier = 1
    /// Made, and neither resumed nor dropped.
    var made: Set<Int> = []
    /// Resumed, and their end has not been told.
    var tasks: [Int: URLSessionTask] = [:]
    /// Tasks whose end has been told here; the host may still name them until it has the acknowledgement.
    var told: Set<Int> = []
    /// For what this process performs itself.
    var connections: (any InlineConnections)?

    var isOver: Bool { validity == .ending && tasks.isEmpty && made.isEmpty }
  }

  let process: HostedProcess
  let configuration: SessionValues
  let queue: OperationQueue
  /// Never becomes invalid.
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
  /// Of a background session.
  var identifier: String { configuration.identifier ?? "" }
  /// What the session's own messages belong to.
  var story: Story { isBackground ? process.story(ofSession: identifier) : HostedProcess.currentStory }
  var obstacle: URLError.Code? { state.withLock { $0.obstacle } }
  var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate } }
  var runningTasks: [URLSessionTask] {
    state.withLock { $0.tasks.values.sorted { $0.taskIdentifier < $1.taskIdentifier } }
  }

  /// The first object is the one that the delegate is handed.
  func standsFor(_ object: URLSession) {
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
            ?? "its configuration has no sharedContainerIdentifier", story)
      }
      becomeInvalid(URLError(ofHost: obstacle))
    } else if isBackground {
      SessionRegistry.of(process).publish(self)
    }
  }

  // MARK: Tasks

  /// A task of the author's. In a session that has been invalidated, or of a kind that its session has not, this is a
  /// programming error, as it is on Apple's systems.
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
    _ = tell(task, HostedProcess.currentStory) { $0.urlSession($1, didCreateTask: task) }
    return task
  }

  /// What Apple's background sessions raise an exception for, with its reason; and what the host could not send, since the
  /// stream dies with this process.
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

  /// The author let go of a task without resuming it.
  func dropped(_ task: Int) {
    let isOver = state.withLock { state in
      state.made.remove(task)
      return state.isOver
    }
    if isOver { becomeInvalid(nil) }
  }

  /// The first `resume()` of a task. Of the host's it returns when the task is on disk there, or the limit has passed.
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
    if core.isInline { beginInline(task) } else { hand(task) }
  }

  /// Ends a task that has not begun anywhere.
  func fail(_ task: URLSessionTask, _ code: URLError.Code) {
    let failure = TransferFailure(code: code.rawValue, message: "").error(for: task.originalRequest?.url)
    let story = story
    queue.addOperation { self.tellEnd(of: task, failure, story) }
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
        // A session that was never valid still tells its tasks' end.
        if error == nil { (state.delegate, state.object) = (nil, nil) }
        return former
      }
      guard let former else { return }
      former.connections?.close()
      if error == nil, self.isBackground { self.close() }
      SessionRegistry.of(self.process).remove(self)
      guard let delegate = former.delegate, let object = former.object else { return }
      self.process.asCurrent(self.story) { delegate.urlSession(object, didBecomeInvalidWithError: error) }
    }
  }
}
