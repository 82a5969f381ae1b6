package import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

/// An author's handler for the events of background sessions: of a widget's configuration, or of the app's delegate.
package struct BackgroundEventsHandler: Sendable {
  /// Whether it is for the session of this identifier.
  package let matches: @MainActor (_ identifier: String) -> Bool
  /// The author's action; it calls the completion when the events have been handled.
  package let call: @MainActor (_ identifier: String, _ completion: @escaping () -> Void) -> Void

  /// A handler.
  package init(
    matches: @escaping @MainActor (_ identifier: String) -> Bool,
    call: @escaping @MainActor (_ identifier: String, _ completion: @escaping () -> Void) -> Void
  ) {
    self.matches = matches
    self.call = call
  }
}

/// The background sessions of one process: one for each identifier, for as long as it is valid.
package final class SessionRegistry: Sendable {
  private struct State {
    /// By identifier, from the beginning of `URLSession.init`: nobody else makes one.
    var claimed: [String: SessionCore] = [:]
    /// By identifier, once there is an object to hand to the delegate.
    var sessions: [String: SessionCore] = [:]
    var waiting: [String: [CheckedContinuation<SessionCore, Never>]] = [:]
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
      return state.waiting.removeValue(forKey: session.identifier) ?? []
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
    await withCheckedContinuation { continuation in
      let session = state.withLock { state in
        let session = state.sessions[identifier]
        if session == nil { state.waiting[identifier, default: []].append(continuation) }
        return session
      }
      if let session { continuation.resume(returning: session) }
    }
  }
}
