import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

/// What session objects of one identifier stand for in this process.
final class SessionCore: Sendable {
  private enum Opening {
    /// The host is being asked.
    case asking(whenDone: [@Sendable () -> Void])
    case open
    /// The host did not answer; it is asked again when it comes back.
    case unanswered
  }

  private enum Validity {
    case valid
    /// No new tasks; invalid when the running ones have ended.
    case ending
    case invalid
  }

  private struct State {
    var delegate: (any URLSessionDelegate)?
    /// The object that the delegate is handed; kept, as the delegate is, until the session is invalid.
    var object: URLSession?
    var opening = Opening.asking(whenDone: [])
    var validity = Validity.valid
    var nextIdentifier = 1
    /// Resumed, and their end has not been told.
    var tasks: [Int: URLSessionTask] = [:]
    /// Tasks whose end has been told here; the host may still name them until it has the acknowledgement.
    var told: Set<Int> = []
  }

  let process: HostedProcess
  let configuration: URLSessionConfiguration.Values
  let queue: OperationQueue
  /// Why no task of this session can run.
  let obstacle: URLError.Code?
  private let state: Mutex<State>

  var identifier: String { configuration.identifier }
  private var story: Story { process.story(ofSession: identifier) }

  init(
    _ configuration: URLSessionConfiguration.Values, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
    obstacle: URLError.Code?, in process: HostedProcess
  ) {
    self.process = process
    self.configuration = configuration
    self.obstacle = obstacle
    self.queue = queue ?? SessionCore.serialQueue(configuration.identifier)
    state = Mutex(State(delegate: delegate))
  }

  private static func serialQueue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = 1
    return queue
  }

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
      becomeInvalid(URLError(obstacle))
    } else {
      SessionRegistry.of(process).publish(self)
    }
  }

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
    let result = answer.flatMap { reply in
      Result { () throws(BusError) in (reply.nextTaskIdentifier, try reply.allTasks()) }
    }
    let whenDone = state.withLock { state -> [@Sendable () -> Void] in
      if case .success((let next, let tasks)) = result {
        state.nextIdentifier = max(state.nextIdentifier, next)
        for snapshot in tasks {
          let number = snapshot.taskIdentifier
          guard state.tasks[number] == nil, !state.told.contains(number) else { continue }
          state.tasks[number] = URLSessionDownloadTask(TaskCore(snapshot, in: self))
        }
      }
      guard case .asking(let whenDone) = state.opening else { return [] }
      if case .success = result { state.opening = .open } else { state.opening = .unanswered }
      return whenDone
    }
    if case .failure(let error) = result { process.log("session \(identifier) is not open: \(error)") }
    for done in whenDone { done() }
  }

  /// Calls `done` when the host has answered or cannot be asked; at once when it has.
  func whenOpened(_ done: @escaping @Sendable () -> Void) {
    let isDone = state.withLock { state in
      guard case .asking(let whenDone) = state.opening, state.validity != .invalid else { return true }
      state.opening = .asking(whenDone: whenDone + [done])
      return false
    }
    if isDone { done() }
  }

  private var isOpen: Bool {
    state.withLock { if case .open = $0.opening { true } else { false } }
  }

  /// Blocks an author's thread until the host has answered, at most for the process's limit.
  private func waitUntilOpen() -> Bool {
    let answered = DispatchSemaphore(value: 0)
    whenOpened { answered.signal() }
    return answered.wait(timeout: .now() + process.callLimit.seconds) == .success && isOpen
  }

  // MARK: Tasks

  func makeTask(_ request: URLRequest) -> URLSessionDownloadTask {
    let isValid = state.withLock { $0.validity == .valid } || obstacle != nil
    precondition(isValid, "Task created in a session that has been invalidated: \(identifier)")
    let obstacle = obstacle ?? (waitUntilOpen() ? nil : .backgroundSessionWasDisconnected)
    let number = state.withLock { state in
      defer { state.nextIdentifier += 1 }
      return state.nextIdentifier
    }
    return URLSessionDownloadTask(TaskCore(number, request, in: self, obstacle: obstacle))
  }

  /// Hands the task to the host, and blocks until it is on disk there or the limit has passed.
  func begin(_ task: URLSessionTask) {
    let core = task.core
    state.withLock { $0.tasks[core.identifier] = task }
    let request = CreateTransfer(
      session: identifier, taskIdentifier: core.identifier, request: core.request.transfer,
      taskDescription: core.values.description)
    let answer = Answer()
    process.connection.submit(
      request, to: process.host, id: UUID(), story: story, within: process.callLimit, whenUnreachable: .wait
    ) { answer.come($0) }
    guard case .failure(let error) = answer.wait(atMost: process.callLimit + .seconds(1)) else { return }
    process.log("session \(identifier), task \(core.identifier): resume() failed: \(error)")
    fail(task, .backgroundSessionWasDisconnected)
  }

  func cancel(_ task: TaskCore) {
    process.connection.submit(
      CancelTransfer(session: identifier, taskIdentifier: task.identifier), to: process.host, id: UUID(),
      story: story, within: .seconds(86_400), whenUnreachable: .wait
    ) { result in
      guard case .failure(let error) = result else { return }
      self.process.log("session \(self.identifier), task \(task.identifier): cancel() failed: \(error)")
    }
  }

  /// Ends a task that the host does not have.
  func fail(_ task: URLSessionTask, _ code: URLError.Code) {
    // The delegate of a session that was invalid from its beginning is still told of the tasks, as the header says.
    let (delegate, object) = state.withLock { ($0.delegate, $0.object) }
    queue.addOperation {
      self.tellEnd(of: task, TransferFailure(code: code.rawValue, message: ""), self.story, delegate, object)
    }
  }

  // MARK: Telling the delegate

  /// Tells the delegate what became of a task, in Apple's order, and returns when it has been told.
  func replay(_ outcome: TaskOutcome, _ story: Story) async {
    let (task, delegate, object) = state.withLock { state in
      let number = outcome.task.taskIdentifier
      let task = state.tasks[number] ?? URLSessionDownloadTask(TaskCore(outcome.task, in: self))
      state.tasks[number] = task
      return (task, state.delegate, state.object)
    }
    await onQueue {
      task.core.transferred(outcome)
      if outcome.failure == nil, let file = outcome.file, let task = task as? URLSessionDownloadTask {
        self.tellFile(file, of: task, story, delegate, object)
      }
      self.tellEnd(of: task, outcome.failure, story, delegate, object)
    }
  }

  /// Tells the delegate that all that waited has been told.
  func finishEvents(_ story: Story) async {
    let (delegate, object) = state.withLock { ($0.delegate, $0.object) }
    await onQueue {
      guard let delegate, let object else { return }
      // Before the call: what the author does in it follows in the journal as it followed in time.
      self.record("urlSessionDidFinishEvents", story)
      self.process.asCurrent(story) { delegate.urlSessionDidFinishEvents(forBackgroundURLSession: object) }
    }
  }

  private func onQueue(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      queue.addOperation {
        work()
        continuation.resume()
      }
    }
  }

  private func tellFile(
    _ path: String, of task: URLSessionDownloadTask, _ story: Story, _ delegate: (any URLSessionDelegate)?,
    _ object: URLSession?
  ) {
    let file = URL(fileURLWithPath: path)
    let bytes = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    if let delegate = delegate as? any URLSessionDownloadDelegate, let object {
      process.asCurrent(story) { delegate.urlSession(object, downloadTask: task, didFinishDownloadingTo: file) }
      record("didFinishDownloadingTo", story, task: task.taskIdentifier, bytes: bytes.map(Int64.init))
    }
    // Gone already when the author moved it.
    try? FileManager.default.removeItem(at: file)
  }

  private func tellEnd(
    of task: URLSessionTask, _ failure: TransferFailure?, _ story: Story, _ delegate: (any URLSessionDelegate)?,
    _ object: URLSession?
  ) {
    let error = failure?.error(for: task.originalRequest?.url)
    task.core.ended(error)
    if let delegate = delegate as? any URLSessionTaskDelegate, let object {
      process.asCurrent(story) { delegate.urlSession(object, task: task, didCompleteWithError: error) }
      record("didCompleteWithError", story, task: task.taskIdentifier, failure: failure?.code)
    }
    let isOver = state.withLock { state in
      state.tasks[task.taskIdentifier] = nil
      state.told.insert(task.taskIdentifier)
      return state.validity == .ending && state.tasks.isEmpty
    }
    if isOver { becomeInvalid(nil) }
  }

  private func record(
    _ method: String, _ story: Story, task: Int? = nil, bytes: Int64? = nil, failure: Int? = nil
  ) {
    process.connection.record(
      DelegateCalled(session: identifier, method: method, taskIdentifier: task, bytes: bytes, failureCode: failure),
      story: story)
  }

  // MARK: Invalidation

  func invalidate(cancelling: Bool) {
    let (tasks, isOver) = state.withLock { state in
      guard state.validity == .valid else { return ([URLSessionTask](), false) }
      state.validity = .ending
      return (Array(state.tasks.values), state.tasks.isEmpty)
    }
    if cancelling { for task in tasks { task.cancel() } }
    if isOver { becomeInvalid(nil) }
  }

  private func becomeInvalid(_ error: URLError?) {
    queue.addOperation {
      let (delegate, object) = self.state.withLock { state in
        defer {
          state.validity = .invalid
          // A session that was never valid still tells its tasks' end.
          if error == nil { (state.delegate, state.object) = (nil, nil) }
        }
        return (state.delegate, state.object)
      }
      SessionRegistry.of(self.process).remove(self)
      guard let delegate, let object else { return }
      self.process.asCurrent(self.story) { delegate.urlSession(object, didBecomeInvalidWithError: error) }
    }
  }
}
