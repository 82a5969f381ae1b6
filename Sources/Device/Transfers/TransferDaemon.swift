package import Conversations
import Foundation
package import GRDB
package import MessageBus
package import Timekeeping

/// The keeper of Transfers: the background transfer daemon of a device.
///
/// A task is on disk before `create` returns. It loads whoever lives or dies, also when the bus is away, and goes on
/// where its file ends after the host's own death. Its events are handed over until they are acknowledged.
///
/// Two values decide: `LoadingDecision` which task loads and what the others wait for, `DeliveryDecision` when events are
/// handed over. The database has each fact before anyone is told of it.
package actor TransferDaemon {
  /// In order; one reader.
  package nonisolated let intents: Intents<TransferIntent>
  private nonisolated let executor = RoomExecutor("transfers")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  let store: TransferStore
  let bus: any BusConnection
  let clock: any DeviceClock
  let settings: TransferSettings
  let families: AppFamilies
  let container: @Sendable (Address) -> String?
  let deliverTo: @Sendable (Address) -> Address
  let counter: TransferCounter
  /// What resume data goes on from.
  let parts: KeptParts
  private let folder: String
  let network = TransferNetwork()
  var configurations: [SessionKey: SessionConfiguration]
  private(set) var decision: DeliveryDecision
  private(set) var loading: LoadingDecision
  private var kept: KeptDeliveries
  var attempts: [TaskKey: Task<Void, Never>] = [:]
  /// Tasks whose owner is to be asked before they begin, and those of them that it is being asked about.
  var questionsToOwners: [Address: Set<TaskKey>] = [:]
  var begins: [TaskKey: Task<Void, Never>] = [:]
  var challenged = ChallengedTasks()
  var handOvers: [UUID: Task<Void, Never>] = [:]
  var questions: [UUID: Task<Void, Never>] = [:]
  /// The files that told a life of an owner which tasks there are go with this delivery, which there is not.
  var lists: [Address: UUID] = [:]
  /// The database cannot be written, or the host leaves: from then on nothing is begun.
  private(set) var isOver = false
  private var timer: (instant: Date, alarm: ClockAlarm)?

  /// Reads what the last life of the host knew; nothing moves before `begin()`.
  ///
  /// - Parameters:
  ///   - folder: where the part files are.
  ///   - families: which app an extension belongs to.
  ///   - isAwake: whether an owner runs now, so that it can hear how far its tasks are.
  ///   - container: the folder of an owner, in which it is given its copies.
  ///   - deliverTo: where the events of an owner are sent: to the owner. Another function is a broken build.
  /// - Throws: what the database says.
  package init(
    folder: String, database: any DatabaseWriter, bus: any BusConnection, clock: any DeviceClock,
    settings: TransferSettings, families: AppFamilies = AppFamilies(),
    isAwake: @escaping @Sendable (Address) async -> Bool = { _ in true },
    container: @escaping @Sendable (Address) -> String?,
    deliverTo: @escaping @Sendable (Address) -> Address = { $0 }
  ) throws {
    self.folder = folder
    parts = KeptParts(folder: folder + "/kept")
    self.store = try TransferStore(database)
    self.bus = bus
    self.clock = clock
    self.settings = settings
    self.families = families
    self.container = container
    self.deliverTo = deliverTo
    counter = TransferCounter(bus, perSecond: settings.countsPerSecond, isAwake: isAwake)
    let configurations = try store.configurations()
    self.configurations = configurations
    let decision = try store.decision(settings)
    self.decision = decision
    kept = KeptDeliveries(decision)
    loading = LoadingDecision(
      sessions: configurations.mapValues(LoadingDecision.Terms.init),
      transfers: try store.unendedTasks().map(\.transfer),
      limiters: try store.limiters(), settings: settings, families: families)
    self.intents = Intents(clock)
  }

  /// Goes on with every task that has not ended, and asks for the owners whose events wait. Needs no bus.
  ///
  /// - Parameter network: how it is; a task that may not use it waits.
  package func begin(network: NetworkState = NetworkState()) throws {
    try removeOrphans()
    parts.remove(before: clock.now.addingTimeInterval(-settings.keepsParts))
    counter.begin()
    setNetwork(network)
    take(LoadingDecision.Event.began)
    take(DeliveryDecision.Event.began)
  }

  /// Stops the loading tasks where they are and hands nothing over any more; the next life goes on. The last call.
  package func leave() async {
    isOver = true
    timer?.alarm.cancel()
    counter.leave()
    for task in attempts.values { task.cancel() }
    for task in begins.values { task.cancel() }
    for task in handOvers.values { task.cancel() }
    for task in questions.values { task.cancel() }
    for task in attempts.values { await task.value }
    intents.finish()
    await network.shutdown()
  }

  // MARK: What the rest of the host says

  /// The owner runs. `woken`: it was launched or resumed a moment ago.
  package func awake(_ owner: Address, generation: UInt32, woken: Bool) {
    take(.awake(owner, generation: generation, woken: woken))
    askOwner(owner)
    challenged.awake(owner, woken: woken)
  }

  /// A life of the owner runs no longer; it is woken when all tasks of a session have ended.
  package func suspended(_ owner: Address, generation: UInt32) {
    take(.suspended(owner, generation: generation))
  }

  /// A life of the owner is over. Its tasks go on.
  package func ended(_ owner: Address, generation: UInt32) {
    removeCopies(of: owner, generation)
    take(.lifeEnded(owner, generation: generation))
  }

  /// A person brought an app to the front, or it left it: what it creates in front is not discretionary and does not wait
  /// for the resume rate limiter, which is reset.
  package func setFront(_ app: Address, _ isInFront: Bool) { take(.front(app, isInFront)) }

  /// The network changed. What loads is stopped where it is, and goes on as soon as the network will do.
  package func setNetwork(_ state: NetworkState) {
    network.throttle.setRate(state.rate)
    take(LoadingDecision.Event.network(state))
  }

  // MARK: Deciding

  func take(_ event: DeliveryDecision.Event) {
    guard !isOver else { return }
    let answers = decision.take(event, now: clock.now)
    do {
      try store.save(&decision, &kept)
    } catch {
      // What it answered is not done: a file whose row is still there must be there too.
      return broken(error)
    }
    // The limiter is raised before the handler is called (observed).
    if case .awake(let owner, _, woken: true) = event, answers.contains(where: \.isDelivery) || isToBeAsked(owner) {
      take(LoadingDecision.Event.woken(owner))
    }
    for answer in answers { perform(answer) }
    setTimer()
  }

  func take(_ event: LoadingDecision.Event) {
    guard !isOver else { return }
    for answer in loading.take(event, now: clock.now) { perform(answer) }
    setTimer()
  }

  func broken(_ error: any Error) {
    isOver = true
    intents.yield(.broken("the transfers cannot be written: \(error)"))
  }

  private func perform(_ answer: DeliveryDecision.Answer) {
    switch answer {
    case .intent(let intent): intents.yield(intent)
    case .deliver(let id, let attempt):
      guard let delivery = decision.deliveries[id] else { return }
      handOver(delivery, attempt)
    case .expire(let id): expire(id)
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
    // One that has gone off and was not heard yet is heard next, and sets another.
    if let timer, timer.instant <= clock.now { return }
    let instant = [decision.nextInstant(after: clock.now), loading.nextInstant].compactMap(\.self).min()
    guard instant != timer?.instant else { return }
    timer?.alarm.cancel()
    timer = instant.map { instant in
      (instant, clock.alarm(at: instant) { [weak self] in await self?.timerFired(instant) })
    }
  }

  private func timerFired(_ instant: Date) {
    guard timer?.instant == instant else { return }
    timer = nil
    take(LoadingDecision.Event.instantCame)
    take(DeliveryDecision.Event.instantCame)
  }

  // MARK: Files

  func path(_ key: TaskKey) -> String {
    let session = WholeFile.name(for: key.session.identifier)
    return "\(folder)/\(WholeFile.name(for: key.session.owner.text))/\(session)/\(key.identifier).part"
  }

  /// The part files that are there.
  func partFiles() -> [String] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".part") }.map { "\(folder)/\($0)" }
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

extension DeliveryDecision.Answer {
  /// Whether something is handed over.
  fileprivate var isDelivery: Bool {
    if case .deliver = self { return true }
    return false
  }
}
