// SPDX-License-Identifier: Apache-2.0

package import Archive
import CAuthorProcess
import CPlatform
import FaultPoints
package import Foundation
import Glibc
import Localization
package import MessageBus
package import Messages
import Synchronization
import Timekeeping
import ZeroMQ

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
  private func install() {
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

extension HostedProcess {
  /// The first call of an author's `main()`: requests a parent-death signal for the agent that spawned this process,
  /// and reads the launch context from standard input and closes it. A process that was not spawned by an agent prints
  /// how to start it and exits with code 64.
  package static func begin() -> HostedProcess {
    guard process_set_parent_death_signal(SIGKILL) == 0 else {
      leave(70, "cannot set the parent-death signal: \(String(cString: strerror(errno)))")
    }
    guard isatty(STDIN_FILENO) == 0, let launchContext = readLaunchContext(from: STDIN_FILENO) else {
      leave(64, howToStart)
    }
    // The agent may have exited before the signal was requested. Then the signal is never sent.
    guard getppid() == launchContext.agentPid else {
      leave(0, "the agent \(launchContext.agentPid) that spawned this process has exited")
    }
    if let page = launchContext.faultPoints {
      do throws(FaultPointError) {
        try FaultPointPage.join(page, as: launchContext.address)
      } catch {
        writeLine("\(error)")
      }
    }
    let nothing = open("/dev/null", O_RDONLY)
    if nothing >= 0 {
      dup2(nothing, STDIN_FILENO)
      close(nothing)
    }
    // Output reaches the agent line by line, not when the process exits: the process may be killed.
    _ = process_print_by_line()
    let connection = Connection.zeroMQ(
      address: launchContext.address, endpoint: launchContext.endpoint, serverKey: launchContext.serverKey,
      keys: CurveKeyPair(publicKey: launchContext.publicKey, secretKey: launchContext.secretKey), heartbeats: false)
    let process = HostedProcess(launchContext, connection: connection)
    // In parallel with the author's initialization, which may already wait for a reply.
    process.connect()
    process.install()
    process.separateContainers()
    return process
  }

  /// The bundles whose containers this process wanted to open.
  private final class RefusedContainers: Sendable {
    let bundles = Mutex<Set<Substring>>([])
  }

  /// From now on the files of other products' containers cannot be opened. The path of a container ends with its bundle and
  /// a UUID.
  func separateContainers() {
    let parts = container.split(separator: "/", omittingEmptySubsequences: false)
    guard rules.separatesContainers, parts.count > 3 else { return }
    let all = parts.dropLast(2).joined(separator: "/")
    containers_limit(all, "\(all)/\(parts[parts.count - 2])") { path in
      guard let path, let process = HostedProcess.current else { return }
      process.refused(String(cString: path))
    }
  }

  /// Reports a path in another container, once for each container.
  private func refused(_ path: String) {
    let depth = container.split(separator: "/").count - 2
    guard let bundle = path.split(separator: "/").dropFirst(depth).first else { return }
    let refused = part(RefusedContainers.self) { _ in RefusedContainers() }
    guard refused.bundles.withLock({ $0.insert(bundle).inserted }) else { return }
    connection.record(
      FaultNoticed(.foreignContainer, subject: "container of \(bundle)", details: "it cannot open \(path)"),
      context: HostedProcess.currentContext)
  }

  /// Connects to the bus before the author's code runs. What the host sends before `announce` is handled after it,
  /// unless its handler is set.
  package func connect() {
    followSettings()
    connection.onPresence { _ = self.hasHostAppeared(by: $0) }
    connection.connect()
  }

  /// The launch context from the agent: one line. `nil` when it is missing, or when no byte arrives for ten
  /// seconds.
  static func readLaunchContext(from descriptor: Int32) -> LaunchContext? {
    var line: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while line.count < 65_536, !line.contains(UInt8(ascii: "\n")) {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) > 0 else { return nil }
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      line += chunk[..<count]
    }
    guard line.contains(UInt8(ascii: "\n")) else { return nil }
    return LaunchContext(line: line)
  }

  /// Connects, announces to the host that the author's code is ready, and runs the main run loop forever. The loop runs
  /// on the main thread, so that the process's resource figures are reported under its own pid.
  ///
  /// - Parameter widgets: an extension's widget declarations; empty for an app. Runs off the main thread.
  package func run(widgets: @escaping @Sendable () async -> [WidgetDeclaration] = { [] }) -> Never {
    let end: @Sendable (BusError) -> Void = {
      HostedProcess.leave(69, "\(self.address.short): this process instance is no longer accepted: \($0)")
    }
    tasks.start {
      do throws(BusError) {
        try await self.announce(widgets: await widgets(), end: end)
      } catch {
        if !Task.isCancelled { end(error) }
      }
    }
    while true { RunLoop.main.run() }
  }

  /// Cancels the tasks of this process, leaves the bus and exits. None of these tasks may call it. It does not wait
  /// for the author's code, which may block.
  package func leave() async -> Never {
    tasks.cancel()
    await connection.leave()
    exit(0)
  }

  private static func leave(_ status: Int32, _ reason: String) -> Never {
    writeLine(reason)
    exit(status)
  }

  private static var howToStart: String {
    let name = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "this program"
    return """
      \(name) is a widget extension or an app of a WidgetLab device. Do not start it by hand: the device's agent starts
      it when the host system needs it, and passes its identity on standard input. Add it to widgetlab.yaml, then run
        widgetlab up
      in the project's folder, and `widgetlab reload <kind>` to request a timeline from an extension.
      """
  }
}

/// The path of this process's executable.
func executablePath() -> String {
  (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments.first ?? ""
}

/// Writes each line with one write call, so that lines of several threads do not mix. A line that cannot be written is
/// lost.
func writeLine(_ text: String) {
  let bytes = Array("\(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}

extension HostedProcess {
  /// Applies changes of the device's locale, time zone, place and power to this process. Call before the connection is started.
  private func followSettings() {
    let (place, power) = (DevicePlace.of(self), DevicePower.of(self))
    connection.onNotice(SettingChanged.self) { notice, _ in
      place.set(notice.settings)
      power.set(notice.settings)
      Locale.setDevice(notice.settings.locale)
      TimeZone.setDevice(notice.settings.timeZone)
    }
  }
}
