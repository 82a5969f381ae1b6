// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import FaultPoints
import Foundation
import Glibc
import MessageBus
import Messages
import Stores
import Timekeeping

/// Delivers the events of sessions to their owners until they are acknowledged, as `DeliveryStateMachine` decides.
///
/// Each change of the state machine is in the database before its owner gets the events of it. An acknowledgement is on
/// the disk before files are removed.
@DeviceActor final class EventDelivery {
  let context: TransferContext
  /// Owns the running attempts and the checks.
  let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
  var files: OwnerFiles
  /// The folder of an owner.
  nonisolated let container: @Sendable (Address) -> String?
  private var storedDeliveries: StoredDeliveries
  /// The last attempt of each delivery.
  var running: [UUID: Task<Void, Never>] = [:]
  /// For each delivery whose time is over, the check whether it may still be acknowledged.
  var checks: [UUID: Task<Void, Never>] = [:]
  /// Acknowledged deliveries whose removal is not on the disk yet, with the work that the clock waits for.
  private var acknowledged: [(delivery: DeliveryStateMachine.Delivery, work: ClockWork)] = []
  /// For each owner, the id under which the files with its task lists are stored. No delivery has this id.
  private var lists: [Address: UUID] = [:]

  nonisolated init(_ context: TransferContext, _ stateMachine: DeliveryStateMachine, files: OwnerFiles) {
    self.context = context
    self.files = files
    container = files.container
    storedDeliveries = StoredDeliveries(stateMachine)
  }

  var stateMachine: DeliveryStateMachine { context.core.state.delivery }

  /// Resumes after a host restart.
  ///
  /// - Parameter suspended: the generations of the owners that are suspended.
  func begin(suspended: [Address: UInt32]) {
    context.core.state.delivery.suspendedInstances = suspended
    handle(.began)
    let sessions = context.core.state.loading.sessions
    files.removeOrphans(of: stateMachine.sessions.keys.map { ($0.owner, sessions[$0]?.sharedContainerIdentifier) })
  }

  /// Cancels the attempts and checks, and returns when the last one has ended.
  func leave() async {
    await tasks.end()
    _ = writePostponed()
  }

  // MARK: The state machine

  func handle(_ event: DeliveryStateMachine.Event) { context.core.handle(.delivery(event)) }

  /// Writes or postpones the new state. While a file's row is in the database, the file must exist.
  func save() throws { try context.store.save(&context.core.state.delivery, &storedDeliveries) }

  /// Writes what waits for a transaction.
  ///
  /// - Returns: `false` when it cannot be written: the host exits.
  func writePostponed() -> Bool {
    do {
      try context.store.writePostponed()
      return true
    } catch {
      context.broken(error)
      return false
    }
  }

  /// Whether the next transaction that waits for the disk must be soon.
  var waitsForCommit: Bool { !acknowledged.isEmpty }

  /// The disk has everything that was postponed: removes the files and the copies of acknowledged deliveries.
  func committed() {
    let acknowledged = acknowledged
    self.acknowledged = []
    for (delivery, work) in acknowledged {
      for task in delivery.tasks { unlink(context.path(TaskKey(session: delivery.session, identifier: task))) }
      files.remove(of: delivery.id)
      let notice = SessionAcknowledged(
        owner: delivery.session.owner, session: delivery.session.identifier, delivery: delivery.id,
        tasks: TaskNumbers(delivery.tasks))
      context.bus.record(notice, context: delivery.context)
      context.clock.endWork(work)
    }
  }

  func perform(_ action: DeliveryStateMachine.Action) {
    switch action {
    case .asks: break
    case .deliver(let id, let attempt):
      guard let delivery = stateMachine.deliveries[id] else { return }
      startDelivery(of: delivery, attempt)
    case .expire(let id): notifyOfExpiry(id)
    case .ask(let id, let generation): startCheck(of: id, generation)
    case .stop(let id):
      running[id]?.cancel()
      checks.removeValue(forKey: id)?.cancel()
    case .forget(let delivery):
      // Not necessarily the attempt that was acknowledged: the acknowledgement of an older instance may arrive last.
      running.removeValue(forKey: delivery.id)?.cancel()
      checks.removeValue(forKey: delivery.id)?.cancel()
      acknowledged.append((delivery, context.clock.beginWork()))
      context.commits.request()
    }
  }

  // MARK: Sessions

  /// The tasks of a session for its owner, in the reply or in a file.
  ///
  /// - Throws: database and file system errors.
  func taskList(of key: SessionKey) throws -> OpenSession.Reply {
    let listed = try context.store.tasks(of: key).filter { context.settings.listsEndedTasks || !$0.hasEnded }
    let tasks = listed.map { $0.snapshot(bytes: context.bytes(of: $0)) }
    let next = stateMachine.sessions[key]?.nextTaskIdentifier ?? 1
    let list = lists[key.owner] ?? UUID()
    lists[key.owner] = list
    let file = try files.overflow(
      OpenSession.Reply(nextTaskIdentifier: next, tasks: []), values: tasks, for: key.owner, delivery: list)
    return OpenSession.Reply(nextTaskIdentifier: next, tasks: file == nil ? tasks : [], tasksFile: file)
  }

  /// An instance of the owner has ended: removes its copies.
  func removeCopies(of owner: Address, _ deliveries: [UUID]) {
    if let list = lists.removeValue(forKey: owner) { files.remove(of: list) }
    for delivery in deliveries { files.remove(of: delivery) }
  }

  /// Another process has connected to a session of the owner.
  func tell(_ takenSession: SessionTaken, _ session: SessionKey) {
    context.bus.submit(takenSession, to: session.owner, id: .random(), context: session.context) { _ in }
  }
}

extension DeliveryStateMachine.Delivery {
  /// The context of messages about the delivery.
  var context: MessageContext { MessageContext(cause: id, correlation: session.context.correlation) }
}

// One attempt of a delivery: the copies of the files, then the message, until the owner acknowledges it or the attempt
// is stopped.

extension EventDelivery {
  /// Starts to deliver events to one instance of the owner. An advance of the clock waits for it.
  func startDelivery(of delivery: DeliveryStateMachine.Delivery, _ attempt: DeliveryStateMachine.Attempt) {
    let formerTask = running[delivery.id]
    formerTask?.cancel()
    let work = context.clock.beginWork()
    let task = tasks.start {
      // Both attempts use the same message id: wait, so that the end of the previous one does not end this one.
      await formerTask?.value
      await self.deliver(delivery, attempt: attempt, first: work)
    }
    if task == nil { context.clock.endWork(work) }
    running[delivery.id] = task
  }

  /// - Parameter first: the work that the clock waits for. It ends with the attempt.
  private func deliver(
    _ delivery: DeliveryStateMachine.Delivery, attempt: DeliveryStateMachine.Attempt, first: ClockWork
  ) async {
    var work = first
    defer { context.clock.endWork(work) }
    var failures = 0
    while !Task.isCancelled {
      do {
        let events = try message(delivery, attempt: attempt, outcomes: try await outcomes(of: delivery))
        handle(.sent(delivery.id, generation: attempt.generation))
        // Before the owner gets the events.
        guard writePostponed() else { return }
        return await send(events, of: delivery)
      } catch {
        guard !Task.isCancelled else { return }
        failures += 1
        for task in delivery.tasks.prefix(1) {
          let key = TaskKey(session: delivery.session, identifier: task)
          context.record(key, step: .retrying, bytes: 0, detail: "the file cannot be delivered: \(error)")
        }
        context.clock.endWork(work)
        let retry = context.clock.now.addingTimeInterval(min(60, Double(failures)))
        guard let next = try? await context.clock.wait(until: retry) else { return }
        work = next
      }
    }
  }

  private func send(_ events: SessionEvents, of delivery: DeliveryStateMachine.Delivery) async {
    let owner = delivery.session.owner
    do throws(BusError) {
      try await context.bus.deliver(events, to: owner, id: delivery.id, context: delivery.session.context)
    } catch {
      // Cancelled, or this host leaves the bus: the caller of that handles the rest.
      guard error.code != .closed, !Task.isCancelled else { return }
      let notice = SessionUnclaimed(
        owner: owner, session: delivery.session.identifier, delivery: delivery.id, reason: "\(error)")
      context.bus.record(notice, context: delivery.context)
      return handle(.refused(delivery.id))
    }
    handle(.acknowledged(delivery.id, of: delivery.tasks))
  }

  private func message(
    _ delivery: DeliveryStateMachine.Delivery, attempt: DeliveryStateMachine.Attempt, outcomes: [TaskOutcome]
  ) throws -> SessionEvents {
    let isObserved = context.settings.observedEventOrder
    func events(_ outcomes: [TaskOutcome], _ file: String? = nil) -> SessionEvents {
      SessionEvents(
        session: delivery.session.identifier, wakesHandler: attempt.wakesHandler,
        finishes: attempt.wakesHandler || isObserved && delivery.wakes,
        handlerComesLast: isObserved && attempt.wakesHandler, outcomes: outcomes, outcomesFile: file,
        fileTasks: file == nil ? nil : TaskNumbers(delivery.tasks))
    }
    let file = try files.overflow(events([]), values: outcomes, for: delivery.session.owner, delivery: delivery.id)
    return events(file == nil ? outcomes : [], file)
  }

  /// The outcome of each task, with a new copy of its file, so that this attempt has the original content whatever the
  /// owner did with an earlier copy. Earlier copies stay until the instance that has them ends: it may still handle the
  /// delivery of an earlier host, and then ignores this one.
  ///
  /// - Throws: `CancellationError`, database and file system errors. No new copy is left then.
  private func outcomes(of delivery: DeliveryStateMachine.Delivery) async throws -> [TaskOutcome] {
    var tasks = try context.store.tasks(delivery.tasks, of: delivery.session)
    for index in tasks.indices where isLost(tasks[index]) { tasks[index].failure = Self.lostFile }
    let whole = tasks.filter { $0.failure == nil }
    let group = context.core.state.loading.sessions[delivery.session]?.sharedContainerIdentifier
    let copies = try files.copyNames(whole.count, for: delivery.session.owner, in: group, delivery.id)
    do {
      FaultPoint.hostBeforeFilesCopied.reached()
      try await EventDelivery.copy(whole, to: copies, context)
      FaultPoint.hostAfterFilesCopied.reached()
      try Task.checkCancellation()
    } catch {
      for copy in copies { unlink(copy) }
      throw error
    }
    var rest = copies[...]
    return tasks.map { task in
      TaskOutcome(
        task: task.snapshot(bytes: context.bytes(of: task)), response: task.response,
        file: task.failure == nil ? rest.popFirst() : nil, failure: task.failure, metrics: task.metrics)
    }
  }

  /// The file of a download may be gone: an older copy of the database was put back, or someone removed it. It does not
  /// come back, so the task ends with -3001 instead of waiting for it.
  private nonisolated static let lostFile = TransferFailure(
    code: URLError.cannotOpenFile.rawValue, message: "the downloaded file is not on this device any more")

  private func isLost(_ task: StoredTask) -> Bool {
    task.failure == nil && task.contentLength == nil && access(context.path(task.key), F_OK) != 0 && errno == ENOENT
  }

  /// Copies the bodies of tasks in order, and yields to transfers between two of them. A file, which may be long, is copied
  /// on another thread.
  ///
  /// - Throws: `CancellationError`, database and file system errors. The bodies before the failed one have been copied.
  private nonisolated static func copy(
    _ tasks: [StoredTask], to copies: [String], _ context: TransferContext
  ) async throws {
    for (index, (task, copy)) in zip(tasks, copies).enumerated() {
      if index > 0 { await Task.yield() }
      try Task.checkCancellation()
      context.underWay.begin(task.key.work)
      defer { context.underWay.end(task.key.work) }
      if task.contentLength != nil, let content = try context.store.content(of: task.key) {
        try WholeFile.create(copy, content)
      } else {
        try context.space()?.require(context.bytes(task.key))
        try await WholeFile.copy(context.path(task.key), to: copy)
      }
    }
  }

  // MARK: The deadline

  /// Notifies the owner that the time for the completion handler is running out. If the message is lost, the eviction
  /// follows without it.
  func notifyOfExpiry(_ id: UUID) {
    guard let delivery = stateMachine.deliveries[id] else { return }
    context.bus.notify(
      ExpireEvents(session: delivery.session.identifier, delivery: id), to: delivery.session.owner,
      context: delivery.context)
  }

  /// The time to acknowledge is over. The acknowledgement may be delayed by an unreachable bus, and the owner is not
  /// evicted for that: first the bus must reply, then the owner, or fail to within 5 s. Messages that the owner sent
  /// before its reply arrive before it.
  func startCheck(of id: UUID, _ generation: UInt32) {
    guard let owner = stateMachine.deliveries[id]?.session.owner else { return }
    checks[id]?.cancel()
    checks[id] = tasks.start(holding: context.clock) { await self.check(id, generation: generation, owner: owner) }
  }

  private func check(_ id: UUID, generation: UInt32, owner: Address) async {
    do throws(BusError) {
      _ = try await context.bus.request(Ping(), to: .messageBus, within: .seconds(86_400), whenUnreachable: .wait)
      _ = try await context.bus.request(Ping(), to: owner, within: .seconds(5), whenUnreachable: .wait)
    } catch {
      guard error.code != .closed else { return }
    }
    guard !Task.isCancelled else { return }
    checks[id] = nil
    handle(.overdue(id, generation: generation))
  }
}

/// The files in the containers of owners and app groups: copies of downloads, and lists that do not fit in an envelope. The
/// row of a delivery has the paths of its files before the owner gets them. A host that starts removes files that no row has.
struct OwnerFiles: Sendable {
  private let store: TransferStore
  /// The folder of an owner.
  let container: @Sendable (Address) -> String?
  /// The folder of an app group, by its identifier.
  private let group: @Sendable (String) -> String?
  /// The paths of the files of each delivery, and of each list of tasks.
  private var paths: [UUID: [String]]

  /// - Throws: database errors.
  init(
    store: TransferStore, container: @escaping @Sendable (Address) -> String?,
    group: @escaping @Sendable (String) -> String?
  ) throws {
    self.store = store
    self.container = container
    self.group = group
    paths = try store.copies()
  }

  /// Returns new file names like those of a device (observed): below `Library/Caches` of the container of the session's app
  /// group (documented: `sharedContainerIdentifier`), or of the owner's when the session or the device has no such group.
  ///
  /// - Throws: `NoContainer`, and file system errors.
  mutating func copyNames(
    _ count: Int, for owner: Address, in group: String?, _ delivery: UUID
  ) throws -> [String] {
    guard count > 0 else { return [] }
    let folder = try folder(of: owner, in: group)
    let names = (0..<count).map { _ in
      "\(folder)/\(OwnerFiles.copyPrefix)\(OwnerFiles.randomLetters())\(OwnerFiles.copySuffix)"
    }
    add(names, to: delivery)
    return names
  }

  private mutating func add(_ names: [String], to delivery: UUID) {
    let all = (paths[delivery] ?? []) + names
    paths[delivery] = all
    store.setCopies(all, of: delivery)
  }

  private static let copyPrefix = "CFNetworkDownload_"
  private static let copySuffix = ".tmp"
  private static let listSuffix = ".json"

  /// Six letters or digits, from one random number.
  private static func randomLetters() -> String {
    var number = UInt64.random(in: 0...UInt64.max)
    return String(
      decoding: (0..<6).map { _ in
        defer { number /= UInt64(letters.count) }
        return letters[Int(number % UInt64(letters.count))]
      }, as: UTF8.self)
  }

  private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

  /// Writes values that do not fit in an envelope to a file in the owner's container.
  ///
  /// - Parameters:
  ///   - body: the message without the values.
  ///   - delivery: the delivery that the file belongs to, or another id for a list of tasks. Such a list is removed by
  ///     the owner when it has read it, else when its instance ends, and at the latest when the host restarts.
  /// - Returns: `nil` when the values fit in the envelope.
  mutating func overflow(
    _ body: some DirectJSON, values: [some DirectJSON], for owner: Address, delivery: UUID
  ) throws -> String? {
    let lines = try BodyCoding.lines(values)
    guard try BodyCoding.data(body).count + lines.count > Wire.bodyLimit else { return nil }
    let path = try "\(folder(of: owner))/\(UUID().uuidString)\(OwnerFiles.listSuffix)"
    add([path], to: delivery)
    try lines.write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Removes the files of a delivery or of a list.
  mutating func remove(of delivery: UUID) {
    for path in paths.removeValue(forKey: delivery) ?? [] { unlink(path) }
  }

  /// Removes the files that an earlier host made for sessions and that belong to no delivery: it exited before it recorded
  /// them, or after it deleted the delivery.
  ///
  /// - Parameter sessions: owner and app group of each session.
  func removeOrphans(of sessions: [(owner: Address, group: String?)]) {
    let knownPaths = Set(paths.values.joined())
    let folders = sessions.flatMap { [downloads(of: $0.owner, in: nil), downloads(of: $0.owner, in: $0.group)] }
    for folder in Set(folders.compactMap(\.self)) {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        let isOurs = name.hasPrefix(OwnerFiles.copyPrefix) && name.hasSuffix(OwnerFiles.copySuffix)
        let path = "\(folder)/\(name)"
        if isOurs || name.hasSuffix(OwnerFiles.listSuffix), !knownPaths.contains(path) { unlink(path) }
      }
    }
  }

  private func folder(of owner: Address, in group: String? = nil) throws -> String {
    guard let folder = downloads(of: owner, in: group) else { throw NoContainer(owner: owner) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  private func downloads(of owner: Address, in group: String?) -> String? {
    guard let own = container(owner), let bundle = owner.bundleIdentifier else { return nil }
    let container = group.flatMap(self.group) ?? own
    return "\(container)/Library/Caches/com.apple.nsurlsessiond/Downloads/\(bundle)"
  }
}

/// The owner is no longer in the configuration.
struct NoContainer: Error, CustomStringConvertible {
  let owner: Address
  var description: String { "\(owner) has no folder on this device" }
}
