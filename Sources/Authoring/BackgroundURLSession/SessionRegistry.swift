package import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

/// An author's handler for the events of background sessions: of a widget's configuration, or of the app's delegate.
package struct BackgroundEventsHandler: Sendable {
  /// Whether it is for the session of this identifier.
  package let matches: @MainActor (_ identifier: String) -> Bool
  /// Begins the author's action, which calls the completion when the events have been handled. Returns what is called
  /// when the time for that runs out.
  let begin: @MainActor (_ identifier: String, _ completion: @escaping () -> Void) -> (@Sendable () -> Void)?

  /// A handler that calls a completion. It is not told that its time runs out.
  package init(
    matches: @escaping @MainActor (_ identifier: String) -> Bool,
    call: @escaping @MainActor (_ identifier: String, _ completion: @escaping () -> Void) -> Void
  ) {
    self.matches = matches
    begin = { identifier, completion in
      call(identifier, completion)
      return nil
    }
  }

  /// An action that has handled the events when it returns. Its Swift task is cancelled when its time runs out.
  package init(
    matches: @escaping @MainActor (_ identifier: String) -> Bool,
    action: @escaping @Sendable (_ identifier: String) async -> Void
  ) {
    self.matches = matches
    begin = { identifier, completion in
      let task = Task { @MainActor in
        await action(identifier)
        completion()
      }
      return { task.cancel() }
    }
  }
}

/// The background sessions of one process: one for each identifier, for as long as it is valid.
package final class SessionRegistry: Sendable {
  private struct State {
    /// By identifier, from the beginning of `URLSession.init`: nobody else makes one.
    var claimed: [String: SessionCore] = [:]
    /// By identifier, once there is an object to hand to the delegate.
    var sessions: [String: SessionCore] = [:]
    /// Who waits for a session that nobody has made.
    var waiting: [String: [UUID: CheckedContinuation<SessionCore?, Never>]] = [:]
    /// Who is being told of a session's events, by identifier, and who waits for that to end.
    var turns: [String: [CheckedContinuation<Void, Never>]] = [:]
    /// By delivery: the handlers that were called for it and have not completed.
    var wakes: [UUID: Completions] = [:]
  }

  let process: HostedProcess
  private let state = Mutex(State())
  @MainActor private var handlers: [BackgroundEventsHandler] = []

  private init(_ process: HostedProcess) { self.process = process }

  /// The sessions of a process.
  package static func of(_ process: HostedProcess) -> SessionRegistry {
    process.part(SessionRegistry.self) { SessionRegistry($0) }
  }

  static var current: SessionRegistry {
    guard let process = HostedProcess.current else {
      fatalError(
        "a URLSession needs the device of `widgetlab up`; this process was not started by its agent")
    }
    return of(process)
  }

  /// Takes the events of background sessions and hands them to the author's handlers and delegates. Before the process
  /// is announced; once.
  @MainActor package func serve(_ handlers: [BackgroundEventsHandler]) {
    self.handlers = handlers
    process.connection.onEvent(SessionEvents.self) { events, received in
      try await self.deliver(events, cause: received.id)
    }
    process.connection.onNotice(ExpireEvents.self) { word, _ in
      self.state.withLock { $0.wakes[word.delivery] }?.expire()
    }
    answerQuestions()
    process.onNewHost {
      for session in self.state.withLock({ Array($0.sessions.values) }) { session.openAgain() }
    }
  }

  @MainActor func handlers(for identifier: String) -> [BackgroundEventsHandler] {
    handlers.filter { $0.matches(identifier) }
  }

  // MARK: Sessions

  /// The session of a configuration: of a background session the one of its identifier, if it is there.
  func session(
    _ configuration: SessionValues, delegate: (any URLSessionDelegate)?, queue: OperationQueue?
  ) -> SessionCore {
    guard configuration.identifier != nil else {
      return SessionCore(configuration, delegate: delegate, queue: queue, in: process)
    }
    let made = SessionCore(
      configuration, delegate: delegate, queue: queue, obstacle: obstacle(configuration), in: process)
    guard made.obstacle == nil else { return made }
    let session = state.withLock { state in
      let session = state.claimed[made.identifier] ?? made
      state.claimed[made.identifier] = session
      return session
    }
    if session !== made {
      process.log(
        "A background URLSession with identifier \(made.identifier) already exists! Its delegate stays the first one.")
    }
    return session
  }

  /// The session's object is complete: the host is told, and what waited for it goes on.
  func publish(_ session: SessionCore) {
    let waiting = state.withLock { state in
      state.sessions[session.identifier] = session
      return state.waiting.removeValue(forKey: session.identifier)?.values.map(\.self) ?? []
    }
    session.open()
    for continuation in waiting { continuation.resume(returning: session) }
  }

  /// An extension's session needs a folder that it shares with its app (documented: `sharedContainerIdentifier`).
  private func obstacle(_ configuration: SessionValues) -> URLError.Code? {
    guard process.address.role == .widgetExtension else { return nil }
    let group = configuration.sent.sharedContainerIdentifier
    guard let group, process.groups[group] != nil else { return .backgroundSessionRequiresSharedContainer }
    return nil
  }

  func remove(_ session: SessionCore) {
    state.withLock { state in
      guard state.claimed[session.identifier] === session else { return }
      state.claimed[session.identifier] = nil
      state.sessions[session.identifier] = nil
    }
  }

  func has(_ identifier: String) -> Bool { existing(identifier) != nil }

  /// The background session of an identifier, if the author has made it.
  func existing(_ identifier: String) -> SessionCore? { state.withLock { $0.sessions[identifier] } }

  /// The kernel suspended this process, and let it go on.
  func wasSuspended() {
    for session in state.withLock({ Array($0.sessions.values) }) { session.wasSuspended() }
  }

  /// The session that nobody makes and nobody ends.
  var shared: URLSession {
    process.part(SharedSession.self) {
      let values = URLSessionConfiguration.default.values
      return SharedSession(
        session: URLSession(SessionCore(values, delegate: nil, queue: nil, isShared: true, in: $0)))
    }.session
  }

  private struct SharedSession: Sendable {
    let session: URLSession
  }

  /// The session of an identifier, as soon as the author has made it.
  func session(_ identifier: String) async -> SessionCore {
    while true {
      if let session = await session(identifier, unless: nil) { return session }
    }
  }

  /// The same; `nil` when the completions have all been called and there is still none.
  func session(_ identifier: String, unless completions: Completions?) async -> SessionCore? {
    let place = UUID()
    return await withCheckedContinuation { continuation in
      let session = state.withLock { state in
        let session = state.sessions[identifier]
        if session == nil { state.waiting[identifier, default: [:]][place] = continuation }
        return session
      }
      if let session { return continuation.resume(returning: session) }
      completions?.whenAllCalled {
        self.state.withLock { $0.waiting[identifier]?.removeValue(forKey: place) }?.resume(returning: nil)
      }
    }
  }

  // MARK: Telling

  /// The messages of one session are told by one at a time, in the order in which they asked.
  func takeTurn(_ identifier: String) async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.turns[identifier] != nil else {
          state.turns[identifier] = []
          return true
        }
        state.turns[identifier]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  func endTurn(_ identifier: String) {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard var waiting = state.turns[identifier], !waiting.isEmpty else {
        state.turns[identifier] = nil
        return nil
      }
      let next = waiting.removeFirst()
      state.turns[identifier] = waiting
      return next
    }?.resume()
  }

  /// Which handlers are told when the time for a delivery runs out; `nil` when it is over.
  func setWake(_ delivery: UUID, _ completions: Completions?) {
    state.withLock { $0.wakes[delivery] = completions }
  }
}
