// SPDX-License-Identifier: Apache-2.0

package import AuthorRuntime
public import Foundation
// Translations and user defaults come with URLSession: an author's compiler flags import this module into every file.
@_exported public import FoundationAdditions
@_exported public import Localization
import MessageBus
package import Messages
import Synchronization
@_exported public import UserDefaultsAPI

/// An author's handler for events of background sessions: of a widget's configuration, or of the app's delegate.
package struct BackgroundEventsHandler: Sendable {
  /// Whether it handles the session with this identifier.
  package let matches: @MainActor (_ identifier: String) -> Bool
  /// Starts the author's action, which calls the completion when the events have been handled. Returns a function to
  /// call when the time limit is near.
  let begin: @MainActor (_ identifier: String, _ completion: @escaping () -> Void) -> (@Sendable () -> Void)?

  /// A handler that calls a completion. It is not notified when the time limit is near.
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

  /// An action that has handled the events when it returns. Its Swift task is cancelled when the time limit is near.
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

/// The background sessions of one process: one per identifier, while it is valid.
package final class SessionRegistry: Sendable {
  private struct State {
    /// By identifier, from the start of `URLSession.init`, so that no second one is created.
    var claimed: [String: SessionCore] = [:]
    /// By identifier, once there is an object to pass to the delegate.
    var sessions: [String: SessionCore] = [:]
    /// Callers that wait for a session to be created.
    var waitingContinuations: [String: [UUID: CheckedContinuation<SessionCore?, Never>]] = [:]
    /// By identifier, while a session's events are being delivered: the callers that wait for their turn.
    var turns: [String: [CheckedContinuation<Void, Never>]] = [:]
    /// By delivery: the handlers that were called for it and have not completed.
    var wakes: [UUID: Completions] = [:]
  }

  let process: HostedProcess
  private let state = Mutex(State())
  @MainActor private var handlers: [BackgroundEventsHandler] = []

  private init(_ process: HostedProcess) { self.process = process }

  package static func of(_ process: HostedProcess) -> SessionRegistry {
    process.part(SessionRegistry.self) { SessionRegistry($0) }
  }

  static var current: SessionRegistry {
    guard let process = HostedProcess.current else {
      fatalError(
        "URLSession needs the device of `widgetlab up`; this process was not started by its agent")
    }
    return of(process)
  }

  /// Delivers events of background sessions to the author's handlers and delegates. Call once, before the process is
  /// announced.
  @MainActor package func serve(_ handlers: [BackgroundEventsHandler]) {
    self.handlers = handlers
    process.connection.onEvent(SessionEvents.self) { events, received in
      try await self.deliver(events, cause: received.id)
    }
    process.connection.onEvent(SessionTaken.self) { taken, _ in
      if taken.generation == self.process.generation { self.existing(taken.session)?.wasTaken(by: taken.holder) }
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

  /// The session for a configuration. Returns the existing session for a background identifier that is in use.
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
        "A background URLSession with identifier \(made.identifier) already exists! Its first delegate is kept.")
    }
    return session
  }

  /// The session's object is complete: opens the session at the host and resumes the callers that wait for it.
  func publish(_ session: SessionCore) {
    let waitingContinuations = state.withLock { state in
      state.sessions[session.identifier] = session
      return state.waitingContinuations.removeValue(forKey: session.identifier)?.values.map(\.self) ?? []
    }
    session.open()
    for continuation in waitingContinuations { continuation.resume(returning: session) }
  }

  /// An extension's session requires a folder that is shared with its app (documented: `sharedContainerIdentifier`).
  private func obstacle(_ configuration: SessionValues) -> URLError.Code? {
    guard process.address.role == .widgetExtension else { return nil }
    let group = configuration.sentConfiguration.sharedContainerIdentifier
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

  /// The background session with an identifier, if the author has created it.
  func existing(_ identifier: String) -> SessionCore? { state.withLock { $0.sessions[identifier] } }

  /// The kernel suspended and resumed this process.
  func wasSuspended() {
    for session in state.withLock({ Array($0.sessions.values) }) { session.wasSuspended() }
  }

  /// `URLSession.shared`, which cannot be invalidated.
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

  /// Waits until the author has created the session with an identifier.
  func session(_ identifier: String) async -> SessionCore {
    while true {
      if let session = await session(identifier, unless: nil) { return session }
    }
  }

  /// The same. Returns `nil` when all completions have been called and the session does not exist.
  func session(_ identifier: String, unless completions: Completions?) async -> SessionCore? {
    let place = UUID.random()
    return await withCheckedContinuation { continuation in
      let session = state.withLock { state in
        let session = state.sessions[identifier]
        if session == nil { state.waitingContinuations[identifier, default: [:]][place] = continuation }
        return session
      }
      if let session { return continuation.resume(returning: session) }
      completions?.whenAllCalled {
        self.state.withLock { $0.waitingContinuations[identifier]?.removeValue(forKey: place) }?.resume(returning: nil)
      }
    }
  }

  // MARK: Delivery

  /// The events of one session are delivered sequentially, in the order of these calls.
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
      guard var waitingTurns = state.turns[identifier], !waitingTurns.isEmpty else {
        state.turns[identifier] = nil
        return nil
      }
      let next = waitingTurns.removeFirst()
      state.turns[identifier] = waitingTurns
      return next
    }?.resume()
  }

  /// Sets the handlers to notify when the time limit of a delivery is near; `nil` when it has ended.
  func setWake(_ delivery: UUID, _ completions: Completions?) {
    state.withLock { $0.wakes[delivery] = completions }
  }
}

/// What the requests of a process say about its product, and what they may load.
package final class ClientProfileSource: Sendable {
  private let make: @Sendable () -> ClientProfile

  package init(_ make: @escaping @Sendable () -> ClientProfile) { self.make = make }

  package var profile: ClientProfile { make() }

  /// That of the process: of its main bundle, of the device's system and of its language. Reports the keys of App
  /// Transport Security that have no effect here: DIAGNOSIS-11.
  package static func of(_ process: HostedProcess) -> ClientProfileSource {
    for key in TransportSecurity.keysWithoutEffect(in: Bundle.main.infoDictionary ?? [:]) {
      process.noticeUnsimulated(key, "App Transport Security examines only whether a connection uses TLS")
    }
    return process.part(ClientProfileSource.self) { _ in ClientProfileSource { .main } }
  }
}

extension ClientProfile {
  fileprivate static var main: ClientProfile {
    let process = ProcessInfo.processInfo
    return ClientProfile(
      infoDictionary: Bundle.main.infoDictionary ?? [:], processName: process.processName,
      systemVersion: process.environment["SIMULATOR_RUNTIME_VERSION"] ?? "", languages: preferredLanguages())
  }
}

extension FileManager {
  /// The folder of an app group, shared by the apps and extensions of the group; `nil` when the process does not belong
  /// to the group.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    HostedProcess.current?.groups[groupIdentifier].map { URL(fileURLWithPath: $0, isDirectory: true) }
  }
}
