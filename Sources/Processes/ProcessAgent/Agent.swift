package import Cluster
import Conversations
import Foundation
import Glibc
import Logging
package import MessageBus
import ZeroMQ

/// Where the broker is, for a child's birth certificate.
package struct BusPlace: Sendable, Hashable {
  /// Such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// The broker's key, z85.
  package let serverKey: String

  package init(endpoint: String, serverKey: String) {
    self.endpoint = endpoint
    self.serverKey = serverKey
  }
}

/// The kernel's hands in one container: spawns, signals and reaps on the host's request, and says how each child ended.
///
/// Requests that it answers, all with definite failures unless said otherwise: `process.spawn` (`no-such-executable`,
/// `already-running`, `not-started`), `process.signal` (`no-such-life`), `process.list`. What it says by itself:
/// `agent.started` when it begins and whenever the host comes, `process.exited` and `process.memory-exceeded` until the host
/// has acknowledged it, `process.started` and `process.output` to the journal.
package actor Agent {
  private let connection: any BusConnection
  private let host: Address
  private let executables: ExecutableSearch
  private let bus: @Sendable () throws -> BusPlace
  private let logger: Logger
  private let incarnation = UUID()
  private let thread: ChildThread
  private let events: AsyncStream<ChildEvent>
  private var table: ChildTable
  private var orders: [Life: (order: SpawnOrder, story: Story)] = [:]
  private var births: [Life: CheckedContinuation<Result<Int32, SpawnFailure>, Never>] = [:]
  private var announcement: Task<Void, Never>?
  private var isHostPresent = false
  /// How often a host came.
  private var hostArrivals = 0
  /// Who waits until nobody lives, or until the host knows of all exits.
  private var quietWaiters: [UUID: (isQuiet: (ChildTable) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
    [:]

  /// - Parameters:
  ///   - connection: the agent's own, not yet started.
  ///   - executables: where the names of executables are looked up.
  ///   - bus: where the broker is now.
  ///   - reportedPid: what others are told instead of a pid; a build that is broken on purpose lies here.
  package init(
    connection: any BusConnection, executables: ExecutableSearch, bus: @escaping @Sendable () throws -> BusPlace,
    reportedPid: @escaping @Sendable (Int32) -> Int32 = { $0 }
  ) {
    self.connection = connection
    self.host = .host(connection.address.device ?? "")
    self.executables = executables
    self.bus = bus
    self.logger = Logger(label: "process-agent")
    let (events, continuation) = AsyncStream.makeStream(of: ChildEvent.self)
    self.events = events
    self.thread = ChildThread(events: continuation)
    self.table = ChildTable(reportedPid: reportedPid)
  }

  // MARK: Life

  /// Sets the handlers. Before the connection is started.
  package nonisolated func listen() {
    connection.onRequest(SpawnProcess.self) { request, received in try await self.spawn(request, received) }
    connection.onRequest(SignalProcess.self) { request, _ in try await self.signal(request) }
    connection.onRequest(ListProcesses.self) { _, _ in await self.list() }
    connection.onPresence { presence in
      Task { await self.heard(presence) }
    }
    Task { await self.follow() }
  }

  /// Says that the agent is there. After the connection was started.
  package func begin() { announce() }

  /// Ends all children (`SIGTERM`, after a second `SIGKILL`), and gives a host that is there half a second to hear of
  /// it. Before the connection is left.
  package func end() async {
    table.close()
    announcement?.cancel()
    await signalAll(SIGTERM)
    // One that is stopped hears of it only when it goes on.
    await signalAll(SIGCONT)
    if !(await quiet(within: .seconds(1)) { $0.isEmpty }) {
      await signalAll(SIGKILL)
      await quiet { $0.isEmpty }
    }
    if isHostPresent { await quiet(within: .milliseconds(500)) { $0.exits.isEmpty } }
    thread.stop()
  }

  private func signalAll(_ signal: Int32) async {
    for (life, _) in table.living { _ = await thread.signal(life, signal) }
  }

  // MARK: Requests

  private func spawn(_ request: SpawnProcess, _ received: Received) async throws -> SpawnProcess.Reply {
    let address = request.address
    guard address.bundleIdentifier != nil, address.device == connection.address.device else {
      throw BusError(.refused, "\(connection.address) spawns apps and extensions of its own device, and not \(address)")
    }
    let executable = try path(of: request.executable)
    try table.claim(address)
    let arrivals = hostArrivals
    do {
      let order = try await order(request, executable, story: received.story)
      let pid = try await birth(order, received.story)
      // The reply goes to a host that may be gone: its successor was told of the children before this one was born.
      if hostArrivals != arrivals { announce() }
      return SpawnProcess.Reply(generation: order.life.generation, pid: table.reported(pid))
    } catch {
      table.abandon(address)
      checkQuiet()
      throw error
    }
  }

  private func order(
    _ request: SpawnProcess, _ executable: String, story: Story
  ) async throws(BusError) -> SpawnOrder {
    let address = request.address
    let keys: CurveKeyPair
    let place: BusPlace
    do {
      try DeviceFolder.makeContainer(at: request.container)
      keys = try CurveKeyPair.generate()
      place = try bus()
    } catch {
      throw BusError(.notStarted, "\(address) cannot be started: \(error)")
    }
    let life: Life
    do {
      let registration = RegisterLife(address: address, publicKey: keys.publicKey)
      let reply = try await connection.request(
        registration, to: .messageBus, story: story, within: .seconds(10), whenUnreachable: .wait)
      life = Life(address: address, generation: reply.generation)
    } catch {
      throw BusError(.notStarted, "the broker did not register a life of \(address), so it was not started: \(error)")
    }
    let certificate = BirthCertificate(
      address: address, generation: life.generation, host: host, endpoint: place.endpoint, serverKey: place.serverKey,
      publicKey: keys.publicKey, secretKey: keys.secretKey, container: request.container, groups: request.groups,
      rules: request.rules, agentPid: getpid())
    return SpawnOrder(
      life: life, executable: executable, environment: childEnvironment(request), directory: request.container,
      input: try BodyCoding.encode(certificate) + [UInt8(ascii: "\n")], memory: request.memory)
  }

  private func birth(_ order: SpawnOrder, _ story: Story) async throws(BusError) -> Int32 {
    guard !table.isClosed else {
      retire(order.life)
      throw BusError(.closed, "the agent is ending, and starts nothing any longer")
    }
    orders[order.life] = (order, story)
    let result = await withCheckedContinuation { continuation in
      births[order.life] = continuation
      thread.spawn(order)
    }
    orders[order.life] = nil
    switch result {
    case .success(let pid): return pid
    case .failure(let failure):
      retire(order.life)
      let reason = String(cString: strerror(failure.code))
      throw BusError(
        failure.code == ENOENT ? .noSuchExecutable : .notStarted,
        "\(order.executable) cannot be started in \(order.directory): \(reason) (errno \(failure.code))")
    }
  }

  private func signal(_ request: SignalProcess) async throws -> SignalProcess.Reply {
    let (life, pid) = try table.life(request.address, request.generation)
    switch await thread.signal(life, request.signal) {
    case 0: return SignalProcess.Reply(generation: life.generation, pid: table.reported(pid))
    case ESRCH: throw BusError(.noSuchLife, "generation \(life.generation) of \(life.address) has just ended")
    case let code:
      throw BusError(
        .failed, "signal \(request.signal) to \(life.address), pid \(pid): \(String(cString: strerror(code)))")
    }
  }

  private func list() async -> ListProcesses.Reply {
    // A signal that was asked for before this is carried out before it: the thread takes its work in order, and the null
    // signal is work like any other.
    await signalAll(0)
    return ListProcesses.Reply(
      incarnation: incarnation, children: table.children(status: ChildStatus.init(of:)))
  }

  /// Where an executable is, if it can be started as far as its file says.
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

  private func childEnvironment(_ request: SpawnProcess) -> [String: String] {
    let own = ProcessInfo.processInfo.environment
    let base = [
      "PATH": own["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", "LANG": own["LANG"] ?? "C.UTF-8",
      "TZ": own["TZ"] ?? "UTC", "HOME": request.container, "TMPDIR": request.container + "/tmp",
      "CFFIXED_USER_HOME": request.container,
    ]
    return base.merging(request.environment) { $1 }
  }

  // MARK: What happens to children

  private func follow() async {
    for await event in events { happened(event) }
  }

  private func happened(_ event: ChildEvent) {
    switch event {
    case .spawned(let life, let pid):
      guard let (order, story) = orders[life] else { return }
      let birth = table.started(
        life, pid: pid, executable: order.executable, memoryLimit: order.memory?.bytes)
      connection.record(birth, story: story)
      logger.info("spawned", metadata: metadata(life, ["pid": "\(pid)", "executable": "\(order.executable)"]))
      births.removeValue(forKey: life)?.resume(returning: .success(pid))
      childrenChanged()
    case .notSpawned(let life, let code):
      births.removeValue(forKey: life)?.resume(returning: .failure(SpawnFailure(code: code)))
    case .wrote(let life, let stream, let bytes):
      for line in table.wrote(life, stream, bytes) { connection.record(line) }
      Task {
        await connection.caughtUp()
        thread.taken(life, bytes)
      }
    case .exceededMemory(let life, let memory):
      guard let (exceeded, id) = table.exceeded(life, memory: memory) else { return }
      logger.warning("too much memory", metadata: metadata(life, ["found": "\(exceeded)"]))
      Task { _ = await said { try await connection.deliver(exceeded, to: host, id: id, story: .none) } }
    case .ended(let life, let ending):
      guard let (lines, exit, id) = table.ended(life, ending) else { return }
      for line in lines { connection.record(line) }
      logger.info("ended", metadata: metadata(life, ["ending": "\(ending)"]))
      report(exit, id)
      retire(life)
      childrenChanged()
      checkQuiet()
    }
  }

  /// Says until it is heard how a child ended.
  private func report(_ exit: ProcessExited, _ id: UUID) {
    Task {
      if await said({ try await connection.deliver(exit, to: host, id: id, story: .none) }) {
        table.acknowledged(id)
        checkQuiet()
      }
    }
  }

  /// Tells the broker, until it knows, that a life's key is of no use any longer.
  private func retire(_ life: Life) {
    let request = RetireLife(address: life.address, generation: life.generation)
    Task {
      _ = await said {
        _ = try await connection.request(request, to: .messageBus, within: .seconds(30), whenUnreachable: .wait)
      }
    }
  }

  /// Tries again, after a second, until it is done.
  ///
  /// - Returns: `false` when the connection was left, or the task cancelled, before it was.
  private func said(_ speak: () async throws -> Void) async -> Bool {
    while !Task.isCancelled {
      do {
        try await speak()
        return true
      } catch let error as BusError where error.code == .closed || error.code == .refused {
        return false
      } catch {
        logger.warning("not accepted, said again in a second", metadata: ["error": "\(error)"])
        try? await Task.sleep(for: .seconds(1))
      }
    }
    return false
  }

  // MARK: The host

  private func heard(_ presence: Presence) {
    guard presence.address == host else { return }
    isHostPresent = presence.isPresent
    guard presence.isPresent else { return }
    hostArrivals += 1
    announce()
  }

  /// Tells the host which children there are. One that was not acknowledged yet is taken back: it may be wrong by now.
  private func announce() {
    announcement?.cancel()
    guard !table.isClosed else { return }
    let event = AgentStarted(
      incarnation: incarnation, pid: getpid(), children: table.children(status: ChildStatus.init(of:)))
    announcement = Task {
      let isHeard = await said { try await connection.deliver(event, to: host) }
      if isHeard {
        isHostPresent = true
        if !Task.isCancelled { announcement = nil }
      }
    }
  }

  private func childrenChanged() {
    if announcement != nil { announce() }
  }

  // MARK: Waiting

  private func checkQuiet() {
    for (id, waiter) in quietWaiters where waiter.isQuiet(table) {
      quietWaiters.removeValue(forKey: id)?.continuation.resume()
    }
  }

  /// Waits until the table is as wanted.
  ///
  /// - Returns: `false` when the time was over before.
  @discardableResult
  private func quiet(
    within limit: Duration? = nil, _ isQuiet: @escaping @Sendable (ChildTable) -> Bool
  ) async -> Bool {
    let id = UUID()
    let timer = limit.map { limit in
      Task {
        try? await Task.sleep(for: limit)
        quietWaiters.removeValue(forKey: id)?.continuation.resume()
      }
    }
    await withCheckedContinuation { continuation in
      quietWaiters[id] = (isQuiet, continuation)
      checkQuiet()
    }
    timer?.cancel()
    return isQuiet(table)
  }

  private func metadata(_ life: Life, _ more: Logger.Metadata) -> Logger.Metadata {
    more.merging(["address": "\(life.address)", "generation": "\(life.generation)"]) { $1 }
  }
}
