import AsyncHTTPClient
package import Conversations
import Foundation
package import GRDB
package import MessageBus
import NIOCore
package import Timekeeping

/// The keeper of Transfers: the background transfer daemon of a device.
///
/// A task is on disk before `create` returns. It downloads whoever lives or dies, also when the bus is away, and goes
/// on where its file ends after the host's own death. Its events are handed over until they are acknowledged.
package actor TransferDaemon {
  /// In order; one reader.
  package nonisolated let intents: AsyncStream<TransferIntent>
  let outlet: AsyncStream<TransferIntent>.Continuation
  let store: TransferStore
  let bus: any BusConnection
  let clock: any DeviceClock
  let container: @Sendable (Address) -> String?
  let deliverTo: @Sendable (Address) -> Address
  private let folder: String
  private var clients = HTTPClients()
  private let resumePause: Double
  private(set) var decision: DeliveryDecision
  private var downloads: [TaskKey: Task<Void, Never>] = [:]
  var handOvers: [UUID: Task<Void, Never>] = [:]
  var questions: [UUID: Task<Void, Never>] = [:]
  /// The database cannot be written: from then on nothing is done that it does not know of.
  private var isBroken = false
  private var timer: (instant: Date, task: Task<Void, Never>)?
  var network = NetworkState()

  /// Reads what the last life of the host knew; nothing moves before `begin()`.
  ///
  /// - Parameters:
  ///   - folder: where the part files are.
  ///   - container: the folder of an owner, in which it is given its copies.
  ///   - deliverTo: where the events of an owner are sent: to the owner. Another function is a broken build.
  /// - Throws: what the database says.
  package init(
    folder: String, database: any DatabaseWriter, bus: any BusConnection, clock: any DeviceClock,
    settings: TransferSettings, container: @escaping @Sendable (Address) -> String?,
    deliverTo: @escaping @Sendable (Address) -> Address = { $0 }
  ) throws {
    self.folder = folder
    self.resumePause = settings.resumePause
    self.store = try TransferStore(database)
    self.bus = bus
    self.clock = clock
    self.container = container
    self.deliverTo = deliverTo
    self.decision = try store.decision(settings)
    (self.intents, self.outlet) = AsyncStream.makeStream(of: TransferIntent.self)
  }

  /// Goes on with every download that has not ended, and asks for the owners whose events wait. Needs no bus.
  package func begin() throws {
    try removeOrphans()
    for task in try store.tasks() where !task.hasEnded { download(task.key) }
    take(.began)
  }

  /// Stops the downloads where they are and hands nothing over any more; the next life goes on. The last call.
  package func leave() async {
    timer?.task.cancel()
    for task in downloads.values { task.cancel() }
    for task in handOvers.values { task.cancel() }
    for task in questions.values { task.cancel() }
    for task in downloads.values { await task.value }
    outlet.finish()
    var closing = clients
    clients = HTTPClients()
    await closing.shutdown()
  }

  // MARK: What owners say

  /// `session.open`: from now on the session's events can be handed to this life.
  package func open(_ request: OpenSession, _ from: Received) throws -> OpenSession.Reply {
    let key = SessionKey(owner: from.source, identifier: request.identifier)
    try store.open(key, request.configuration)
    take(
      .opened(
        key, sendsLaunchEvents: request.configuration.sessionSendsLaunchEvents, generation: from.sourceGeneration))
    let tasks = try store.tasks(of: key).map { task in
      TaskSnapshot(
        taskIdentifier: task.key.identifier, request: task.request, taskDescription: task.description,
        bytesReceived: WholeFile.size(path(task.key)), bytesExpected: task.response?.expectedLength ?? -1)
    }
    let next = try store.nextTaskIdentifier(of: key)
    let reply = OpenSession.Reply(nextTaskIdentifier: next, tasks: tasks)
    guard let file = try overflow(of: reply, tasks, for: key.owner, UUID()) else { return reply }
    return OpenSession.Reply(nextTaskIdentifier: next, tasks: [], tasksFile: file)
  }

  /// `transfer.create`: the task is on disk when this returns. The same task a second time is answered alike.
  ///
  /// - Throws: `no-such-session` (definite) when no process ever created the session; what the database says.
  package func create(_ request: CreateTransfer, _ from: Received) throws -> Done {
    let session = SessionKey(owner: from.source, identifier: request.session)
    guard try store.configuration(of: session) != nil else {
      throw BusError(.noSuchSession, "\(from.source) has not created the session \(request.session)")
    }
    let key = TaskKey(session: session, identifier: request.taskIdentifier)
    let task = StoredTask(
      key: key, request: request.request, description: request.taskDescription, created: clock.now, hasEnded: false)
    if try store.insert(task) {
      take(.created(key))
      download(key)
    }
    return Done()
  }

  /// `transfer.cancel`: the task ends with -999. A task that has ended stays as it is.
  package func cancel(_ request: CancelTransfer, _ from: Received) throws -> CancelTransfer.Reply {
    let key = TaskKey(
      session: SessionKey(owner: from.source, identifier: request.session), identifier: request.taskIdentifier)
    guard let task = try store.task(key), !task.hasEnded else { return CancelTransfer.Reply() }
    downloads.removeValue(forKey: key)?.cancel()
    end(key, response: nil, failure: TransferFailure(code: -999, message: "cancelled"))
    return CancelTransfer.Reply()
  }

  // MARK: What Launching says

  /// The owner runs. `woken`: it was launched or resumed a moment ago.
  package func awake(_ owner: Address, generation: UInt32, woken: Bool) {
    take(.awake(owner, generation: generation, woken: woken))
  }

  /// A life of the owner is over. Its downloads go on.
  package func ended(_ owner: Address, generation: UInt32) { take(.lifeEnded(owner, generation: generation)) }

  /// What `ps` prints.
  package func status() throws -> [SessionStatus] {
    let tasks = Dictionary(grouping: try store.tasks(), by: \.key.session)
    return decision.sessions.keys.sorted { ($0.owner.text, $0.identifier) < ($1.owner.text, $1.identifier) }.map {
      key in
      let own = tasks[key] ?? []
      return SessionStatus(
        owner: key.owner, session: key.identifier, running: own.count { !$0.hasEnded },
        undelivered: own.count { $0.hasEnded }, bytesReceived: own.reduce(0) { $0 + WholeFile.size(path($1.key)) })
    }
  }

  // MARK: Deciding

  func take(_ event: DeliveryDecision.Event) {
    guard !isBroken else { return }
    let before = decision
    let answers = decision.take(event, now: clock.now)
    do {
      try store.save(decision, since: before)
    } catch {
      // What it answered is not done: a file whose row is still there must be there too.
      return broken(error)
    }
    for answer in answers { perform(answer) }
    setTimer()
  }

  func broken(_ error: any Error) {
    isBroken = true
    outlet.yield(.broken("the transfers cannot be written: \(error)"))
  }

  private func perform(_ answer: DeliveryDecision.Answer) {
    switch answer {
    case .intent(let intent): outlet.yield(intent)
    case .deliver(let id, let attempt):
      guard let delivery = decision.deliveries[id] else { return }
      handOver(delivery, attempt)
    case .ask(let id, let generation): ask(id, generation)
    case .stop(let id):
      handOvers[id]?.cancel()
      questions.removeValue(forKey: id)?.cancel()
    case .forget(let delivery):
      // Not always the hand-over that was acknowledged: an older life's word may come last.
      handOvers.removeValue(forKey: delivery.id)?.cancel()
      questions.removeValue(forKey: delivery.id)?.cancel()
      removeFiles(of: delivery)
      let notice = SessionAcknowledged(
        owner: delivery.session.owner, session: delivery.session.identifier, delivery: delivery.id)
      bus.record(notice, story: Story(cause: delivery.id, correlation: delivery.session.story.correlation))
    }
  }

  private func setTimer() {
    let instant = decision.nextInstant(after: clock.now)
    guard instant != timer?.instant else { return }
    timer?.task.cancel()
    timer = instant.map { instant in
      let task = Task { [weak self, clock] in
        _ = try? await clock.sleep(until: instant) { await self?.timerFired(instant) }
      }
      return (instant, task)
    }
  }

  private func timerFired(_ instant: Date) {
    guard timer?.instant == instant else { return }
    timer = nil
    take(.instantCame)
  }

  // MARK: Downloading

  func path(_ key: TaskKey) -> String {
    let session = WholeFile.name(for: key.session.identifier)
    return "\(folder)/\(WholeFile.name(for: key.session.owner.text))/\(session)/\(key.identifier).part"
  }

  /// The part files that are there.
  func partFiles() -> [String] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".part") }.map { "\(folder)/\($0)" }
  }

  private func download(_ key: TaskKey) {
    downloads[key] = Task {
      do {
        try await run(key)
      } catch {
        if !Task.isCancelled { broken(error) }
      }
      if !Task.isCancelled { downloads[key] = nil }
    }
  }

  /// Tries until the file is whole, the error is for good, the time is up or the task is cancelled.
  private func run(_ key: TaskKey) async throws {
    guard let stored = try store.task(key), let configuration = try store.configuration(of: key.session) else { return }
    let file = path(key)
    let download = Download(
      key: key, request: stored.request, additionalHeaders: configuration.httpAdditionalHeaders, path: file,
      client: clients.client(configuration),
      report: { [bus] step, bytes in TransferDaemon.record(bus, key, step, bytes) },
      setHead: { [store] response, validator in try store.setHead(response, validator: validator, of: key) })
    let end = stored.created.addingTimeInterval(configuration.timeoutIntervalForResource)
    var failures = 0
    while !Task.isCancelled {
      let bytes = WholeFile.size(file)
      do {
        guard let task = try store.task(key), !task.hasEnded else { return }
        let known = Download.Known(response: task.response, validator: task.validator)
        let remaining = end.timeIntervalSince(clock.now)
        guard remaining > 0 else {
          throw FailedForGood(failure: TransferFailure(code: -1001, message: "the request timed out"))
        }
        let response = try await download.attempt(knowing: known, limit: remaining)
        let digest = try await WholeFile.sha256(file)
        try Task.checkCancellation()
        return self.end(key, response: response, failure: nil, digest)
      } catch let error as FailedForGood {
        guard !Task.isCancelled else { return }
        return self.end(key, response: nil, failure: error.failure)
      } catch is RangeRefused {
        continue
      } catch {
        guard !Task.isCancelled else { return }
        failures = WholeFile.size(file) > bytes ? 1 : failures + 1
        await pause(after: failures, until: end, key, "\(error)")
      }
    }
  }

  private func pause(after failures: Int, until end: Date, _ key: TaskKey, _ reason: String) async {
    let seconds = Backoff(first: resumePause, limit: max(60, resumePause)).pause(after: failures)
    TransferDaemon.record(bus, key, .retrying, WholeFile.size(path(key)), "\(reason); again in \(Int(seconds)) s")
    try? await clock.sleep(until: min(end, clock.now.addingTimeInterval(seconds)))
  }

  /// The task is over: on disk first, then known to the decision.
  private func end(
    _ key: TaskKey, response: TransferResponse?, failure: TransferFailure?, _ digest: String? = nil
  ) {
    let bytes = WholeFile.size(path(key))
    do {
      try store.setEnded(key, response: response, failure: failure)
      let step: TransferProgress.Step = failure.map { $0.code == -999 ? .cancelled : .failed } ?? .finished
      let detail = failure?.message ?? response.map { "HTTP \($0.status)" }
      TransferDaemon.record(bus, key, step, bytes, detail, digest)
    } catch {
      return broken(error)
    }
    take(.ended(key))
  }

  nonisolated static func record(
    _ bus: any BusConnection, _ key: TaskKey, _ step: TransferProgress.Step, _ bytes: Int64, _ detail: String? = nil,
    _ sha256: String? = nil
  ) {
    let notice = TransferProgress(
      owner: key.session.owner, session: key.session.identifier, taskIdentifier: key.identifier, step: step,
      bytes: bytes, sha256: sha256, detail: detail)
    bus.record(notice, story: key.session.story)
  }
}

extension BusError.Code {
  /// The sender never created this background session.
  package static let noSuchSession = BusError.Code("no-such-session")
}
