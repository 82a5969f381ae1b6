package import Conversations
package import Foundation
package import MessageBus
import Synchronization

/// One life of an author's process on a device: who it is, its folders, and its connection to the host system.
///
/// In a process there is one, made by `begin()`. A test makes as many as it likes and puts one in force with
/// `asCurrent`.
package final class HostedProcess: Sendable {
  /// Which process an author's call comes from, and what it follows from.
  private struct Ambient: Sendable {
    let process: HostedProcess
    let story: Story
    let method: String?
  }

  private struct State {
    var parts: [ObjectIdentifier: any Sendable] = [:]
    /// Events that have not been acknowledged.
    var deliveries: Set<UUID> = []
    /// Who waits for which of them.
    var settling: [(outstanding: Set<UUID>, continuation: CheckedContinuation<Void, Never>)] = []
    var introductions: [@Sendable () async -> Void] = []
  }

  @TaskLocal private static var ambient: Ambient?
  private static let installed = Mutex<HostedProcess?>(nil)

  /// The process of whoever asks: the one whose code is being called, or else the one that this executable is. `nil` in
  /// an executable that no agent started.
  package static var current: HostedProcess? { ambient?.process ?? installed.withLock { $0 } }

  /// What the author's code that is running now was called for.
  package static var currentStory: Story { ambient?.story ?? .none }

  /// The provider's method that the author's code runs in, such as `getTimeline`; also in the tasks that it starts.
  package static var currentMethod: String? { ambient?.method }

  package let address: Address
  /// The host system of the device.
  package let host: Address
  /// Which life of the address this is.
  package let generation: UInt32
  /// The process's own folder.
  package let container: String
  /// Folders of app groups, by group identifier.
  package let groups: [String: String]
  package let connection: any BusConnection
  /// What holds in it and Apple does not state.
  package let rules: ProcessRules
  private let state = Mutex(State())

  /// A life from its certificate, on a connection that has not been started.
  package init(_ certificate: BirthCertificate, connection: any BusConnection) {
    address = certificate.address
    host = certificate.host
    generation = certificate.generation
    container = certificate.container
    groups = certificate.groups
    rules = certificate.rules
    self.connection = connection
  }

  /// Makes this the process that the whole executable is. Once.
  func install() {
    HostedProcess.installed.withLock { $0 = self }
  }

  /// Calls an author's code as a part of this process and of a story.
  ///
  /// - Parameter method: the author's method that is called, where it matters.
  package func asCurrent<Result>(
    _ story: Story = .none, within method: String? = nil, _ body: () throws -> Result
  ) rethrows -> Result {
    try HostedProcess.$ambient.withValue(Ambient(process: self, story: story, method: method), operation: body)
  }

  /// The same for code that waits.
  package func asCurrent<Result>(_ story: Story = .none, _ body: () async throws -> Result) async rethrows -> Result {
    try await HostedProcess.$ambient.withValue(Ambient(process: self, story: story, method: nil), operation: body)
  }

  /// The one value of a type that a module keeps with this process; made when it is first asked for. `make` must not
  /// ask for a part itself.
  package func part<Part: Sendable>(_ type: Part.Type, _ make: (HostedProcess) -> Part) -> Part {
    state.withLock { state in
      if let part = state.parts[ObjectIdentifier(type)] as? Part { return part }
      let part = make(self)
      state.parts[ObjectIdentifier(type)] = part
      return part
    }
  }

  /// The story of a background session of this process.
  package func story(ofSession identifier: String, cause: UUID? = nil) -> Story {
    Story(cause: cause, correlation: Story.session(address, identifier))
  }

  // MARK: What is said again until it is heard

  /// Sends an event to the host from an author's synchronous call. Any thread.
  package func deliver(_ event: some Event, story: Story) {
    let id = UUID()
    _ = state.withLock { $0.deliveries.insert(id) }
    connection.submit(event, to: host, id: id, story: story) { result in
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

  /// Returns when every event that `deliver` was given before this call has been acknowledged: what an author asked for
  /// while it handled something is on record before that is.
  package func settled() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if !state.deliveries.isEmpty { state.settling.append((state.deliveries, continuation)) }
        return state.deliveries.isEmpty
      }
      if isSettled { continuation.resume() }
    }
  }

  // MARK: What a new host must be told

  /// `tell` is called when a host has taken `process.ready` that was not told what an earlier one was, in the order of
  /// these calls.
  package func onNewHost(_ tell: @escaping @Sendable () async -> Void) {
    state.withLock { $0.introductions.append(tell) }
  }

  func introduceAgain() async {
    for tell in state.withLock({ $0.introductions }) { await tell() }
  }

  /// A line on standard error, which the agent puts into the journal. Any thread.
  package func log(_ text: String) {
    writeLine("\(address.short): \(text)")
  }
}
