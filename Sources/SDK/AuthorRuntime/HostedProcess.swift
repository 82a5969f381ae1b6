// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import MessageBus
package import Messages
import OwnedTasks
import Synchronization

/// A process instance of an author's process on a device: its address, its folders, and its connection to the host
/// system.
///
/// A process has one, created by `begin()`. A test creates any number and selects one with `asCurrent`.
package final class HostedProcess: Sendable {
  /// The process that an author's call belongs to, and the message context of the call.
  private struct Ambient: Sendable {
    let process: HostedProcess
    let context: MessageContext
    let method: String?
  }

  private struct State {
    /// Few; a dictionary would search for the key's conformance when the process starts.
    var parts: [(type: ObjectIdentifier, part: any Sendable)] = []
    /// Events that are not acknowledged yet.
    var deliveries: Set<UUID> = []
    /// Callers that wait for some of these events.
    var settling: [(outstanding: Set<UUID>, continuation: CheckedContinuation<Void, Never>)] = []
    var introductions: [@Sendable () async -> Void] = []
    var activities: [ActivityDeclaration] = []
    var hasHostAppeared = false
  }

  @TaskLocal private static var ambient: Ambient?
  private static let installed = Mutex<HostedProcess?>(nil)

  /// The process of the calling code: the one selected by `asCurrent`, or else that of this executable. `nil` in an
  /// executable that no agent started.
  package static var current: HostedProcess? { ambient?.process ?? installed.withLock { $0 } }

  /// The message context of the author's code that is running.
  package static var currentContext: MessageContext { ambient?.context ?? .none }

  /// The provider's method that the author's code runs in, such as `getTimeline`; inherited by the tasks that it
  /// starts.
  package static var currentMethod: String? { ambient?.method }

  package let address: Address
  /// The host system of the device.
  package let host: Address
  /// The generation of this process instance.
  package let generation: UInt32
  /// The process's container folder.
  package let container: String
  /// The folders of app groups, by group identifier.
  package let groups: [String: String]
  package let connection: any BusConnection
  /// Settings of behaviour that Apple does not document.
  package let rules: ProcessRules
  /// The tasks that this process starts for itself, and those that wait for the host before they call the author's
  /// code. `leave()` cancels them.
  let tasks = TaskOwner()
  private let state = Mutex(State())

  /// A process instance from its launch context, on a connection that has not been started.
  package init(_ launchContext: LaunchContext, connection: any BusConnection) {
    address = launchContext.address
    host = launchContext.host
    generation = launchContext.generation
    container = launchContext.container
    groups = launchContext.groups
    rules = launchContext.rules
    self.connection = connection
  }

  /// Makes this the process of the whole executable. Call once.
  func install() {
    HostedProcess.installed.withLock { $0 = self }
  }

  /// Calls an author's code with this process and a message context.
  ///
  /// - Parameter method: the author's method that is called, where it matters.
  package func asCurrent<Result>(
    _ context: MessageContext = .none, within method: String? = nil, _ body: () throws -> Result
  ) rethrows -> Result {
    try HostedProcess.$ambient.withValue(Ambient(process: self, context: context, method: method), operation: body)
  }

  /// The same for asynchronous code.
  package func asCurrent<Result>(_ context: MessageContext = .none, _ body: () async throws -> Result) async rethrows
    -> Result
  {
    try await HostedProcess.$ambient.withValue(Ambient(process: self, context: context, method: nil), operation: body)
  }

  /// The single value of a type that a module stores with this process; created on first use. `make` must not call
  /// `part` itself.
  package func part<Part: Sendable>(_ type: Part.Type, _ make: (HostedProcess) -> Part) -> Part {
    state.withLock { state in
      if let part = state.parts.first(where: { $0.type == ObjectIdentifier(type) })?.part as? Part { return part }
      let part = make(self)
      state.parts.append((ObjectIdentifier(type), part))
      return part
    }
  }

  /// The message context of a background session of this process.
  package func context(ofSession identifier: String, cause: UUID? = nil) -> MessageContext {
    MessageContext(cause: cause, correlation: MessageContext.correlation(ofSession: identifier, of: address))
  }

  // MARK: Events that are redelivered until they are acknowledged

  /// Sends an event to the host from an author's synchronous call. Any thread.
  package func deliver(_ event: some Event, context: MessageContext) {
    let id = UUID.random()
    _ = state.withLock { $0.deliveries.insert(id) }
    connection.submit(event, to: host, id: id, context: context) { result in
      if case .failure(let error) = result { self.log("\(type(of: event).kind) did not reach the host: \(error)") }
      self.delivered(id)
    }
  }

  private func delivered(_ id: UUID) {
    let settled = state.withLock { state in
      state.deliveries.remove(id)
      for index in state.settling.indices { state.settling[index].outstanding.remove(id) }
      defer { state.settling.removeAll { $0.outstanding.isEmpty } }
      return state.settling.filter { $0.outstanding.isEmpty }.map(\.continuation)
    }
    for continuation in settled { continuation.resume() }
  }

  /// Returns when every event that was passed to `deliver` before this call has been acknowledged. So the host has
  /// recorded what an author requested while it handled an event before that event is acknowledged.
  package func settled() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if !state.deliveries.isEmpty { state.settling.append((state.deliveries, continuation)) }
        return state.deliveries.isEmpty
      }
      if isSettled { continuation.resume() }
    }
  }

  // MARK: Tasks

  /// Starts a task that `leave()` cancels. Any thread.
  ///
  /// - Parameter executor: runs the task; `nil` for the shared threads of Swift concurrency.
  package func startTask(on executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async -> Void) {
    tasks.start(on: executor, work)
  }

  // MARK: What a new host must receive

  /// `introduce` is called when a host that lacks the state of an earlier host has acknowledged `process.ready`. Handlers
  /// run in the order of these calls.
  package func onNewHost(_ introduce: @escaping @Sendable () async -> Void) {
    state.withLock { $0.introductions.append(introduce) }
  }

  /// Whether a host has connected since this process did.
  var hasHostAppeared: Bool { state.withLock { $0.hasHostAppeared } }

  /// Whether this message says that a host has connected. Any thread.
  func hasHostAppeared(by presence: Presence) -> Bool {
    guard presence.address == host, presence.isPresent else { return false }
    state.withLock { $0.hasHostAppeared = true }
    return true
  }

  func introduceAgain() async {
    for introduce in state.withLock({ $0.introductions }) { await introduce() }
  }

  // MARK: Live Activities

  /// The Live Activities that an extension shows. Call before the process is announced.
  package func declare(_ activities: [ActivityDeclaration]) { state.withLock { $0.activities = activities } }

  /// The Live Activities that this extension shows.
  var declaredActivities: [ActivityDeclaration] { state.withLock { $0.activities } }

  /// Writes a line to standard error, which the agent adds to the journal. Any thread.
  package func log(_ text: String) {
    writeLine("\(address.short): \(text)")
  }
}
