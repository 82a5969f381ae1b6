// SPDX-License-Identifier: Apache-2.0

package import Cluster
import DefaultsLog
import FaultPoints
import Foundation
import Glibc
import Logging
package import MessageBus
import Messages
import Timekeeping
import ZeroMQ

/// The process API of one container: spawns, signals and reaps on the host's request, and reports how each child ended.
///
/// Requests, all with definite failures unless stated otherwise: `process.spawn` (`no-such-executable`,
/// `already-running`, `not-started`), `process.signal` (`no-such-instance`), `process.list`. Messages that it sends:
/// `agent.started` at its start and whenever the host connects, `process.exited`, `process.memory-exceeded` and
/// `process.locks-held` until the host has acknowledged them, `process.started`, `process.left-out-code` and
/// `process.output` to the journal.
package actor Agent {
  let connection: any BusConnection
  private let host: Address
  private let executables: ExecutableSearch
  var bundles: BundleFolder?
  private let bus: @Sendable () throws -> BusPlace
  /// The page of fault points, which the children also map; `nil` in ordinary use.
  private let faultPoints: String?
  private let logger: Logger
  private let incarnation = UUID()
  private let thread: ChildThread
  private let events: AsyncStream<AgentEvent>
  private let reportEvent: AsyncStream<AgentEvent>.Continuation
  /// The owner of the tasks that the agent starts, except those that wait for the bus to take output.
  nonisolated let tasks = TaskOwner()
  private(set) var table: ChildTable
  private var orders: [ChildInstance: (order: SpawnOrder, context: MessageContext)] = [:]
  var folders: [ChildInstance: ChildFolders] = [:]
  /// The executables whose sources were searched for code that is left out.
  var examined: Set<ExecutableBuild> = []
  private var launches: [ChildInstance: CheckedContinuation<Result<Int32, SpawnFailure>, Never>] = [:]
  private var announcement: Task<Void, Never>?
  private(set) var isHostPresent = false
  /// The generation of the host that connected last; `nil` before that.
  private var hostGeneration: UInt32?
  /// The number of process instances that the broker has not retired yet.
  private var retirements = 0
  /// Continuations that wait until no child runs, or until nothing is left to be sent.
  var quietWaiters: [UUID: QuietWaiter] = [:]
  typealias Quiet = @Sendable (isolated Agent) -> Bool
  typealias QuietWaiter = (isQuiet: Quiet, continuation: CheckedContinuation<Void, Never>)

  /// - Parameters:
  ///   - connection: the agent's own, not yet started.
  ///   - executables: where the names of executables are looked up.
  ///   - bundles: where bundles are made; `nil`: processes have none.
  ///   - bus: returns the broker's current address.
  ///   - faultPoints: the page of fault points, which the children also map; `nil` in ordinary use.
  ///   - reportedPid: maps a pid to the one that is sent to other processes; differs only in a build with a deliberate
  ///     fault.
  package init(
    connection: any BusConnection, executables: ExecutableSearch, bundles: BundleFolder? = nil,
    bus: @escaping @Sendable () throws -> BusPlace, faultPoints: String? = nil,
    reportedPid: @escaping @Sendable (Int32) -> Int32 = { $0 }
  ) {
    self.connection = connection
    self.host = .host(connection.address.device ?? "")
    self.executables = executables
    self.bundles = bundles
    self.bus = bus
    self.faultPoints = faultPoints
    self.logger = Logger(label: "process-agent")
    let (events, reportEvent) = AsyncStream.makeStream(of: AgentEvent.self)
    self.events = events
    self.reportEvent = reportEvent
    self.thread = ChildThread(events: reportEvent)
    self.table = ChildTable(reportedPid: reportedPid)
  }

  // MARK: Start and end

  /// Sets the handlers. Call it before the connection is started.
  package nonisolated func listen() {
    connection.onRequest(SpawnProcess.self) { request, received in try await self.spawn(request, received) }
    connection.onRequest(SignalProcess.self) { request, from in try await self.signal(request, from) }
    connection.onRequest(ListProcesses.self) { _, _ in await self.list() }
    connection.onPresence { self.presenceChanged($0) }
    tasks.start { await self.follow() }
  }

  /// Announces the agent. Call it after the connection was started.
  package func begin() { announce() }

  /// Ends all children (`SIGTERM`, after a second `SIGKILL`), gives a connected host half a second to acknowledge that,
  /// and the broker to retire them, and leaves the bus. After that no task of `tasks` runs.
  package func end() async {
    table.close()
    announcement?.cancel()
    await signalAll(SIGTERM)
    // A stopped child handles the signal only after SIGCONT.
    await signalAll(SIGCONT)
    if !(await quiet(within: .seconds(1)) { $0.table.isEmpty }) {
      await signalAll(SIGKILL)
      await quiet { $0.table.isEmpty }
    }
    await quiet(within: .milliseconds(500)) {
      $0.retirements == 0 && (!$0.isHostPresent || $0.table.exits.isEmpty)
    }
    thread.stop()
    await tasks.end()
    await connection.leave()
    isHostPresent = false
  }

  private func signalAll(_ signal: Int32) async {
    for (instance, _) in table.living { _ = await thread.signal(instance, signal) }
  }

  // MARK: Requests

  private func spawn(_ request: SpawnProcess, _ received: Received) async throws -> SpawnProcess.Reply {
    let address = request.address
    guard address.bundleIdentifier != nil, address.device == connection.address.device else {
      throw BusError(.refused, "\(connection.address) spawns only apps and extensions of its device, not \(address)")
    }
    let executable = try path(of: request.executable)
    try table.claim(address)
    do {
      let order = try await order(request, executable, context: received.context)
      let pid = try await launch(order, received.context)
      // The reply may go to a host that has ended, and its successor got the list before this child was started.
      if let hostGeneration, hostGeneration != received.sourceGeneration { announce() }
      return SpawnProcess.Reply(generation: order.instance.generation, pid: table.reported(pid))
    } catch {
      table.abandon(address)
      checkQuiet()
      throw error
    }
  }

  private func order(
    _ request: SpawnProcess, _ executable: String, context: MessageContext
  ) async throws(BusError) -> SpawnOrder {
    let address = request.address
    let keys: CurveKeyPair
    let place: BusPlace
    let environment: [String: String]
    do {
      try DeviceFolder.makeContainer(at: request.container)
      environment = try childEnvironment(request, executable)
      keys = try CurveKeyPair.generate()
      place = try bus()
    } catch {
      throw BusError(.notStarted, "\(address) cannot be started: \(error)")
    }
    let instance: ChildInstance
    do {
      FaultPoint.agentBeforeInstanceRegistered.reached()
      let registration = RegisterInstance(address: address, publicKey: keys.publicKey)
      let reply = try await connection.request(
        registration, to: .messageBus, context: context, within: .seconds(10), whenUnreachable: .wait)
      instance = ChildInstance(address: address, generation: reply.generation)
      FaultPoint.agentAfterInstanceRegistered.reached()
    } catch {
      throw BusError(.notStarted, "the broker did not register \(address), so it was not started: \(error)")
    }
    folders[instance] = ChildFolders(request)
    let launchContext = LaunchContext(
      address: address, generation: instance.generation, host: host, endpoint: place.endpoint,
      serverKey: place.serverKey, publicKey: keys.publicKey, secretKey: keys.secretKey, container: request.container,
      groups: request.groups, rules: request.rules, agentPid: getpid(), faultPoints: faultPoints)
    return SpawnOrder(
      instance: instance, executable: executable, environment: environment, directory: request.container,
      input: launchContext.line, memory: request.memory)
  }

  private func launch(_ order: SpawnOrder, _ context: MessageContext) async throws(BusError) -> Int32 {
    guard !table.isClosed else {
      retire(order.instance)
      throw BusError(.closed, "the agent is shutting down and starts no more processes")
    }
    orders[order.instance] = (order, context)
    let result = await withCheckedContinuation { continuation in
      launches[order.instance] = continuation
      thread.spawn(order)
    }
    orders[order.instance] = nil
    switch result {
    case .success(let pid): return pid
    case .failure(let failure):
      retire(order.instance)
      throw BusError(
        failure.code == ENOENT ? .noSuchExecutable : .notStarted,
        "\(order.executable) cannot be started in \(order.directory): \(failure) (errno \(failure.code))")
    }
  }

  private func signal(_ request: SignalProcess, _ received: Received) async throws -> SignalProcess.Reply {
    let (instance, pid) = try table.instance(request.address, request.generation)
    switch await thread.signal(instance, request.signal) {
    case 0:
      if request.signal == SIGSTOP, received.source == host {
        await reportLocks(of: instance, pid: pid)
        compactDefaults(of: instance)
      }
      return SignalProcess.Reply(generation: instance.generation, pid: table.reported(pid))
    case ESRCH:
      throw BusError(.noSuchInstance, "generation \(instance.generation) of \(instance.address) has just ended")
    case let code:
      throw BusError(
        .failed, "signal \(request.signal) to \(instance.address), pid \(pid): \(String(cString: strerror(code)))")
    }
  }

  private func list() async -> ListProcesses.Reply {
    // Signals requested before this are sent before the list is made: the thread performs its work in order, and the
    // null signal is work like any other.
    await signalAll(0)
    return ListProcesses.Reply(incarnation: incarnation, children: table.children(status: ChildStatus.init(of:)))
  }

  /// The path of an executable, if its file can be executed.
  ///
  /// - Throws: `no-such-executable`, `not-started`.
  private func path(of name: String) throws(BusError) -> String {
    guard let path = executables.authored(name) else {
      throw BusError(
        .noSuchExecutable,
        "there is no executable \(name); \(connection.address.short) looked for "
          + executables.places(of: name).joined(separator: ", "))
    }
    if let problem = ExecutableFile(path).problem { throw BusError(.notStarted, "\(path) \(problem)") }
    return path
  }

  // MARK: Events

  /// Handles all events, in order.
  private func follow() async {
    for await event in events {
      switch event {
      case .child(let event): happened(event)
      case .presence(let presence): hostPresence(presence)
      }
    }
  }

  private func happened(_ event: ChildEvent) {
    switch event {
    case .spawned(let instance, let pid):
      guard let (order, context) = orders[instance] else { return }
      let launch = table.started(
        instance, pid: pid, executable: order.executable, memoryLimit: order.memory?.bytes)
      connection.record(launch, context: context)
      reportLeftOutCode(of: instance.address, order.executable)
      logger.info("spawned", metadata: metadata(instance, ["pid": "\(pid)", "executable": "\(order.executable)"]))
      launches.removeValue(forKey: instance)?.resume(returning: .success(pid))
      announceAgain()
    case .notSpawned(let instance, let code):
      launches.removeValue(forKey: instance)?.resume(returning: .failure(SpawnFailure(code: code)))
    case .wrote(let instance, let stream, let bytes):
      for line in table.wrote(instance, stream: stream, bytes: bytes) { connection.record(line) }
      // Without an owner: `caughtUp` does not end by cancellation. It touches no state of the agent.
      Task { [connection, thread] in
        await connection.caughtUp()
        thread.taken(instance, bytes)
      }
    case .exceededMemory(let instance, let memory):
      guard let (exceeded, id) = table.exceeded(instance, memory: memory) else { return }
      logger.warning("memory limit exceeded", metadata: metadata(instance, ["found": "\(exceeded)"]))
      tasks.start { _ = await self.delivered(exceeded, id) }
    case .ended(let instance, let ending):
      guard let (lines, exit, id) = table.ended(instance, ending) else { return }
      for line in lines { connection.record(line) }
      logger.info("ended", metadata: metadata(instance, ["ending": "\(ending)"]))
      report(exit, id)
      retire(instance)
      announceAgain()
      checkQuiet()
    }
  }

  /// Sends the exit of a child until it is acknowledged.
  private func report(_ exit: ProcessExited, _ id: UUID) {
    tasks.start {
      if await self.delivered(exit, id) { await self.acknowledged(id) }
    }
  }

  private func acknowledged(_ id: UUID) {
    table.acknowledged(id)
    FaultPoint.agentAfterExitAcknowledged.reached()
    checkQuiet()
  }

  /// Sends an event to the host until it is acknowledged.
  ///
  /// - Returns: `false` when the connection was left, or the task cancelled, before that.
  private func delivered(_ event: some Event, _ id: UUID) async -> Bool {
    await retryUntilAccepted { try await connection.deliver(event, to: host, id: id, context: .none) }
  }

  /// Retires a process instance at the broker, retrying until it succeeds, so that its key is rejected.
  private func retire(_ instance: ChildInstance) {
    compactDefaults(of: instance)
    folders[instance] = nil
    let request = RetireInstance(address: instance.address, generation: instance.generation)
    retirements += 1
    tasks.start { await self.retire(request) }
  }

  private func retire(_ request: RetireInstance) async {
    _ = await retryUntilAccepted {
      _ = try await connection.request(request, to: .messageBus, within: .seconds(30), whenUnreachable: .wait)
    }
    retirements -= 1
    checkQuiet()
  }

  /// Calls `send` until it succeeds, with a pause of a second of machine time after each failure.
  ///
  /// - Returns: `false` when the connection was left, or the task cancelled, before that.
  private func retryUntilAccepted(_ send: () async throws -> Void) async -> Bool {
    while !Task.isCancelled {
      do {
        try await send()
        return true
      } catch let error as BusError where error.code == .closed || error.code == .refused {
        return false
      } catch {
        logger.warning("not accepted, retrying in a second", metadata: ["error": "\(error)"])
        try? await Task.sleep(for: .seconds(1))
      }
    }
    return false
  }

  // MARK: The host

  /// The bus reported a presence. It is handled in order with other presence and with the events of children.
  nonisolated func presenceChanged(_ presence: Presence) { reportEvent.yield(.presence(presence)) }

  private func hostPresence(_ presence: Presence) {
    guard presence.address == host else { return }
    isHostPresent = presence.isPresent
    if presence.isPresent {
      hostGeneration = presence.generation
      announce()
    } else {
      // The acknowledgement of an older announcement would not prove that the host is back.
      announceAgain()
    }
    checkQuiet()
  }

  /// Sends the list of children to the host. An announcement that was not acknowledged yet is cancelled, since it may
  /// be outdated.
  private func announce() {
    announcement?.cancel()
    guard !table.isClosed else { return }
    let event = AgentStarted(
      incarnation: incarnation, pid: getpid(), children: table.children(status: ChildStatus.init(of:)))
    announcement = tasks.start { await self.announce(event) }
  }

  private func announce(_ event: AgentStarted) async {
    guard await delivered(event, UUID()), !Task.isCancelled else { return }
    isHostPresent = true
    announcement = nil
  }

  /// Replaces an announcement that was not acknowledged yet.
  private func announceAgain() {
    if announcement != nil { announce() }
  }

  private func metadata(_ instance: ChildInstance, _ more: Logger.Metadata) -> Logger.Metadata {
    more.merging(["address": "\(instance.address)", "generation": "\(instance.generation)"]) { $1 }
  }
}

extension Agent {
  /// The environment of a child. Makes its bundle.
  ///
  /// - Throws: `configuration` or `instance-folder`.
  private func childEnvironment(_ request: SpawnProcess, _ executable: String) throws(ClusterError) -> [String: String]
  {
    let ownEnvironment = ProcessInfo.processInfo.environment
    var base = [
      "PATH": ownEnvironment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", "LANG": ownEnvironment["LANG"] ?? "C.UTF-8",
      "TZ": ownEnvironment["TZ"] ?? "UTC", "HOME": request.container, "TMPDIR": request.container + "/tmp",
      "CFFIXED_USER_HOME": request.container,
      // Otherwise the Swift runtime looks for its backtracer before `main`: it searches all symbols of the executable for
      // its own path, 0.2 ms. Without a terminal it does not use it.
      "SWIFT_BACKTRACE": ownEnvironment["SWIFT_BACKTRACE"] ?? "enable=no,swift-backtrace=/dev/null",
    ]
    let bundle = request.address.bundleIdentifier ?? ""
    base[BundleFolder.variable] = try bundles?.make(bundle, executable: executable)
    return base.merging(request.environment) { $1 }
  }
}

// `folders` has the folders of the instances that have not ended.

extension Agent {
  /// Compacts the logs of user defaults and cookies of a child that is suspended or has ended, and of its app groups, if
  /// no process has them open. Not before a launch, so that no launch waits for it.
  private func compactDefaults(of instance: ChildInstance) {
    guard let folders = folders[instance]?.all else { return }
    tasks.start { await Self.compactDefaults(in: folders) }
  }

  @concurrent private static func compactDefaults(in folders: [String]) async {
    for folder in folders {
      DefaultsFile.compactAll(in: folder)
      CookieStorage.compact(in: folder)
    }
  }
}

// Locks on files of app groups that a child holds when the host suspends it.

extension Agent {
  // Less than the time within which the host expects the reply.
  private static let patience = Duration.seconds(4)

  /// Reports the locks of a child that the host has just stopped. Returns when the host has acknowledged the report, so
  /// that it ends the child before it regards it as suspended.
  private func reportLocks(of instance: ChildInstance, pid: Int32) async {
    guard let groups = folders[instance]?.groups, !groups.isEmpty else { return }
    let locks = await Self.locks(ofStopped: pid, groups: groups)
    guard !locks.isEmpty else { return }
    let event = LocksHeld(
      address: instance.address, generation: instance.generation, pid: table.reported(pid),
      locks: Array(locks.prefix(LocksHeld.limit)), count: locks.count)
    _ = await delivered(event, UUID())
  }

  /// The locks of a process when all its threads have stopped. Empty when that takes too long, and when the process was
  /// continued before the end.
  @concurrent private static func locks(ofStopped pid: Int32, groups: [String: String]) async -> [HeldLock] {
    let deadline = ContinuousClock.now + patience
    // The kernel reports a stop to the parent when the first thread has stopped, and the others shortly after.
    while !isStopped(pid) {
      guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .microseconds(100))) != nil else { return [] }
    }
    let folders = groups.mapValues { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    let locks = FileLock.held(FileLock.locks(of: pid), groups: folders)
    return isStopped(pid) ? locks : []
  }

  /// Whether all threads of a process are stopped. `true` when it does not exist.
  private static func isStopped(_ pid: Int32) -> Bool {
    ProcFile.numbers(in: "/proc/\(pid)/task").allSatisfy { ChildStatus(of: $0)?.isStopped ?? true }
  }
}

/// The folders of a child.
struct ChildFolders: Sendable {
  let container: String
  /// Folders of app groups, by identifier.
  let groups: [String: String]

  init(_ request: SpawnProcess) {
    container = request.container
    groups = request.groups
  }

  var all: [String] { [container] + groups.values }
}

// Code of a child's sources that is compiled for a phone and not here.

extension Agent {
  /// Reports the code that is left out of an executable, once for each of its builds.
  private func reportLeftOutCode(of address: Address, _ executable: String) {
    let build = ExecutableBuild(bundle: address.bundleIdentifier, file: FileState(executable))
    guard examined.insert(build).inserted else { return }
    tasks.start { [connection] in
      let blocks = await Self.leftOutCode(of: executable)
      guard !blocks.isEmpty, !Task.isCancelled else { return }
      connection.record(
        LeftOutCode(
          address: address, executable: executable, blocks: Array(blocks.prefix(LeftOutCode.limit)),
          count: blocks.count))
    }
  }

  /// Reads the sources on its own thread, because the agent needs those of Swift's pool.
  private static func leftOutCode(of executable: String) async -> [LeftOutCode.Block] {
    await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async {
        continuation.resume(returning: BuiltSources(of: executable).leftOut())
      }
    }
  }
}

/// A build of a product's executable.
struct ExecutableBuild: Hashable {
  let bundle: String?
  let file: FileState
}

// Waiting for the end of what an agent does.

extension Agent {
  private func checkQuiet() {
    for (id, waiter) in quietWaiters where waiter.isQuiet(self) {
      quietWaiters.removeValue(forKey: id)?.continuation.resume()
    }
  }

  /// Waits until the agent satisfies the condition.
  ///
  /// - Returns: `false` when the time limit passed before.
  @discardableResult
  private func quiet(within limit: Duration? = nil, _ isQuiet: @escaping Quiet) async -> Bool {
    let id = UUID()
    let timer = limit.flatMap { limit in
      tasks.start {
        try? await Task.sleep(for: limit)
        await self.stopWaiting(id)
      }
    }
    await withCheckedContinuation { continuation in
      quietWaiters[id] = (isQuiet, continuation)
      checkQuiet()
    }
    timer?.cancel()
    return isQuiet(self)
  }

  private func stopWaiting(_ id: UUID) {
    quietWaiters.removeValue(forKey: id)?.continuation.resume()
  }
}
