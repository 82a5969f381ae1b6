import Foundation
package import GRDB
package import MessageBus
package import Messages
package import Timekeeping

/// The transfer service: the background transfer service of a device.
///
/// A task is on disk before `create` returns. It loads whether its owner or the bus is running or not, and continues
/// where its file ends after a restart of the host. Its events are delivered until they are acknowledged.
///
/// `LoadingStateMachine` decides which task loads and what the others wait for, `DeliveryStateMachine` when events are
/// delivered. State is written to the database before it is announced.
package actor TransferService {
  /// In order; one reader.
  package nonisolated let outputs: Outputs<TransferOutput>
  private nonisolated let executor = ServiceExecutor("transfers")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  let store: TransferStore
  let bus: any BusConnection
  let clock: any DeviceClock
  let settings: TransferSettings
  let families: AppFamilies
  let container: @Sendable (Address) -> String?
  let deliverTo: @Sendable (Address) -> Address
  let counter: TransferCounter
  /// The parts that resume data refers to.
  let parts: PartFiles
  private let folder: String
  let network = TransferNetwork()
  var configurations: [SessionKey: SessionConfiguration]
  private(set) var stateMachine: DeliveryStateMachine
  private(set) var loading: LoadingStateMachine
  private var kept: StoredDeliveries
  var attempts: [TaskKey: Task<Void, Never>] = [:]
  /// Tasks whose owner must be asked before they begin, and the requests that are in progress.
  var questionsToOwners: [Address: Set<TaskKey>] = [:]
  var begins: [TaskKey: Task<Void, Never>] = [:]
  var challenged = ChallengedTasks()
  var handOvers: [UUID: Task<Void, Never>] = [:]
  var questions: [UUID: Task<Void, Never>] = [:]
  /// For each owner, the id under which the files with its task lists are stored. No delivery has this id.
  var lists: [Address: UUID] = [:]
  /// The database cannot be written, or the host leaves. From then on nothing is begun.
  private(set) var isOver = false
  private var timer: (instant: Date, alarm: ClockAlarm)?

  /// Reads the state that the previous host wrote. Nothing is started before `begin()`.
  ///
  /// - Parameters:
  ///   - folder: where the part files are.
  ///   - families: which app an extension belongs to.
  ///   - isAwake: whether an owner runs now and can receive the progress of its tasks.
  ///   - container: the folder of an owner, in which its copies are placed.
  ///   - deliverTo: the destination of an owner's events, by default the owner. Other functions simulate a broken
  ///     build.
  /// - Throws: database errors.
  package init(
    folder: String, database: any DatabaseWriter, bus: any BusConnection, clock: any DeviceClock,
    settings: TransferSettings, families: AppFamilies = AppFamilies(),
    isAwake: @escaping @Sendable (Address) async -> Bool = { _ in true },
    container: @escaping @Sendable (Address) -> String?,
    deliverTo: @escaping @Sendable (Address) -> Address = { $0 }
  ) throws {
    self.folder = folder
    parts = PartFiles(folder: folder + "/kept")
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
    let stateMachine = try store.stateMachine(settings)
    self.stateMachine = stateMachine
    kept = StoredDeliveries(stateMachine)
    loading = LoadingStateMachine(
      sessions: configurations.mapValues(LoadingStateMachine.SessionPolicy.init),
      transfers: try store.unendedTasks().map(\.transfer),
      limiters: try store.limiters(), settings: settings, families: families)
    self.outputs = Outputs(clock)
  }

  /// Continues every task that has not ended, and requests the owners of pending events. Does not need the bus.
  ///
  /// - Parameter network: the current network. Tasks that may not use it wait.
  package func begin(network: NetworkState = NetworkState()) throws {
    try removeOrphans()
    parts.remove(before: clock.now.addingTimeInterval(-settings.keepsParts))
    counter.begin()
    setNetwork(network)
    handle(LoadingStateMachine.Event.began)
    handle(DeliveryStateMachine.Event.began)
  }

  /// Stops the loading tasks where they are and all deliveries. They continue after a restart. Must be the last call.
  package func leave() async {
    isOver = true
    timer?.alarm.cancel()
    counter.leave()
    for task in attempts.values { task.cancel() }
    for task in begins.values { task.cancel() }
    for task in handOvers.values { task.cancel() }
    for task in questions.values { task.cancel() }
    for task in attempts.values { await task.value }
    outputs.finish()
    await network.shutdown()
  }

  // MARK: Events from the rest of the host

  /// The owner runs. `woken`: it was launched or resumed a moment ago.
  package func awake(_ owner: Address, generation: UInt32, woken: Bool) {
    handle(.awake(owner, generation: generation, woken: woken))
    askOwner(owner)
    challenged.awake(owner, woken: woken)
  }

  /// An instance of the owner was suspended. It is woken when all tasks of a session have ended.
  package func suspended(_ owner: Address, generation: UInt32) {
    handle(.suspended(owner, generation: generation))
  }

  /// An instance of the owner has ended. Its tasks continue.
  package func ended(_ owner: Address, generation: UInt32) {
    removeCopies(of: owner, generation)
    handle(.instanceEnded(owner, generation: generation))
  }

  /// The app entered or left the foreground. Tasks that it creates in the foreground are not discretionary and do not
  /// wait for the resume rate limiter, which is reset.
  package func setFront(_ app: Address, _ isInFront: Bool) { handle(.front(app, isInFront)) }

  /// The network changed. Loading tasks are stopped where they are, and continue when the network permits.
  package func setNetwork(_ state: NetworkState) {
    network.throttle.setRate(state.rate)
    handle(LoadingStateMachine.Event.network(state))
  }

  // MARK: State machines

  func handle(_ event: DeliveryStateMachine.Event) {
    guard !isOver else { return }
    let actions = stateMachine.handle(event, now: clock.now)
    do {
      try store.save(&stateMachine, &kept)
    } catch {
      // Do not perform the actions: while a file's row is in the database, the file must exist.
      return broken(error)
    }
    // The limiter is raised before the handler is called (observed).
    if case .awake(let owner, _, woken: true) = event, actions.contains(where: \.isDelivery) || mustBeAsked(owner) {
      handle(LoadingStateMachine.Event.woken(owner))
    }
    for action in actions { perform(action) }
    setTimer()
  }

  func handle(_ event: LoadingStateMachine.Event) {
    guard !isOver else { return }
    for action in loading.handle(event, now: clock.now) { perform(action) }
    setTimer()
  }

  func broken(_ error: any Error) {
    isOver = true
    outputs.yield(.broken("the transfer state cannot be written: \(error)"))
  }

  private func perform(_ action: DeliveryStateMachine.Action) {
    switch action {
    case .output(let output): outputs.yield(output)
    case .deliver(let id, let attempt):
      guard let delivery = stateMachine.deliveries[id] else { return }
      handOver(delivery, attempt)
    case .expire(let id): expire(id)
    case .ask(let id, let generation): ask(id, generation)
    case .stop(let id):
      handOvers[id]?.cancel()
      questions.removeValue(forKey: id)?.cancel()
    case .forget(let delivery):
      // Not necessarily the attempt that was acknowledged: the acknowledgement of an older instance may arrive last.
      handOvers.removeValue(forKey: delivery.id)?.cancel()
      questions.removeValue(forKey: delivery.id)?.cancel()
      removeFiles(of: delivery)
      let notice = SessionAcknowledged(
        owner: delivery.session.owner, session: delivery.session.identifier, delivery: delivery.id)
      bus.record(notice, context: MessageContext(cause: delivery.id, correlation: delivery.session.context.correlation))
    }
  }

  private func setTimer() {
    // A timer that has fired but is not handled yet is handled next, and sets another.
    if let timer, timer.instant <= clock.now { return }
    let instant = [stateMachine.nextInstant(after: clock.now), loading.nextInstant].compactMap(\.self).min()
    guard instant != timer?.instant else { return }
    timer?.alarm.cancel()
    timer = instant.map { instant in
      (instant, clock.alarm(at: instant) { [weak self] in await self?.timerFired(instant) })
    }
  }

  private func timerFired(_ instant: Date) {
    guard timer?.instant == instant else { return }
    timer = nil
    handle(LoadingStateMachine.Event.timerFired)
    handle(DeliveryStateMachine.Event.timerFired)
  }

  // MARK: Files

  func path(_ key: TaskKey) -> String {
    let session = WholeFile.name(for: key.session.identifier)
    return "\(folder)/\(WholeFile.name(for: key.session.owner.text))/\(session)/\(key.identifier).part"
  }

  /// The part files on disk.
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
    bus.record(notice, context: key.session.context)
  }
}

extension DeliveryStateMachine.Action {
  /// Whether the action begins a delivery attempt.
  fileprivate var isDelivery: Bool {
    if case .deliver = self { return true }
    return false
  }
}
