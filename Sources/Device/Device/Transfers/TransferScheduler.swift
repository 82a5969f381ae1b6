// SPDX-License-Identifier: Apache-2.0

import CookieFiles
import DeviceRules
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Synchronization
import Timekeeping

/// Loads the tasks of sessions, as `LoadingStateMachine` decides, and records their ends.
///
/// An end is in the database before it is reported and delivered. Tasks end in `EventDelivery` in the order of the database.
@DeviceActor final class TransferScheduler {
  let context: TransferContext
  /// Owns the attempts, the expiries and the questions before tasks begin.
  let tasks: TaskOwner
  let counter: TransferCounter
  let delivery: EventDelivery
  private let network = TransferNetwork()
  /// The parts that resume data refers to.
  private let parts: PartFiles
  private(set) var configurations: [SessionKey: SessionConfiguration]
  /// The attempts in progress.
  private var attempts: [TaskKey: Task<Void, Never>] = [:]
  /// Ends that are not in the database yet, in order. The state machine has handled them.
  private var ends: [TaskEnd] = []
  /// Tasks whose ends are in the database and not delivered yet, in order.
  private var undelivered: [TaskKey] = []
  /// The cookies of each owner.
  var cookieStorages: [Address: CookieStorage] = [:]
  /// The tasks whose owner must be asked before they begin.
  var delayed: [Address: Set<TaskKey>] = [:]
  /// For each of these tasks, the question that is in progress.
  var questions: [TaskKey: Task<Void, Never>] = [:]
  /// The attempts that wait for their owners to run, because of a challenge.
  let challenged = ChallengedTasks()

  /// Nothing is started before `begin`.
  ///
  /// - Parameter isAwake: whether an owner runs now and can receive the progress of its tasks.
  nonisolated init(
    _ context: TransferContext, configurations: [SessionKey: SessionConfiguration], delivery: EventDelivery,
    isAwake: @escaping @Sendable (Address) async -> Bool
  ) {
    self.context = context
    tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
    self.delivery = delivery
    parts = PartFiles(folder: context.keptParts)
    counter = TransferCounter(
      context.bus, perSecond: context.settings.countsPerSecond, on: DeviceActor.executor.taskExecutor, isAwake: isAwake)
    self.configurations = configurations
  }

  var stateMachine: LoadingStateMachine { context.core.state.loading }

  /// Continues every task that has not ended and may use the network.
  func begin(network: NetworkState) {
    parts.remove(before: context.clock.now.addingTimeInterval(-context.settings.keepsResumeData))
    counter.begin()
    setRate(network.rate)
    handle(.network(network))
    handle(.began)
  }

  /// Stops the attempts where they are and cancels the questions to owners. Returns when nothing runs any more.
  func leave() async {
    await tasks.end()
    commit()
    await counter.leave()
    await network.shutdown()
  }

  // MARK: The state machine

  func handle(_ event: LoadingStateMachine.Event) { context.core.handle(.loading(event)) }

  func perform(_ action: LoadingStateMachine.Action) {
    switch action {
    case .load(let key):
      attempts[key] = tasks.start { await self.runAttempt(of: key) }
    case .stop(let key): attempts[key]?.cancel()
    case .waits(let key, let wait): context.record(key, .waiting, context.bytes(key), "waits for \(wait)")
    case .ask(let key): askBeforeBegin(of: key)
    case .expire(let key, let reason): startExpiry(of: key, reason)
    case .limiter(let account, let limiter, let reason):
      do {
        try context.store.setLimiter(limiter, of: account)
      } catch {
        return context.broken(error)
      }
      context.bus.record(
        LimiterChanged(
          owner: limiter.owner, delay: limiter.delay, until: limiter.delay > 0 ? limiter.until : nil, reason: reason))
    }
  }

  /// Sets the data rate of the network, in bytes per second; `nil` for no limit.
  func setRate(_ rate: Int64?) { network.throttle.setRate(rate) }

  // MARK: Requests of owners and of the user

  /// A process created the session object, with this configuration.
  func open(_ session: SessionKey, _ configuration: SessionConfiguration) {
    configurations[session] = configuration
    handle(.opened(session, LoadingStateMachine.SessionPolicy(configuration)))
  }

  /// Stores a task and lets it load. Has no effect if the task is stored already, or was acknowledged since.
  ///
  /// - Throws: `no-such-session` (definite) when no process ever created the session; database errors.
  func create(_ request: CreateTransfer, _ from: Received) throws {
    let owner = from.source
    let session = SessionKey(owner: owner, identifier: request.session)
    guard configurations[session] != nil else {
      throw BusError(.noSuchSession, "\(owner) has not created the session \(request.session)")
    }
    let key = TaskKey(session: session, identifier: request.taskIdentifier)
    guard delivery.stateMachine.isNew(key, by: from.sourceGeneration) else { return }
    let resume = request.resumeData.map(ResumeData.init(data:))
    let task = StoredTask(
      request, resuming: resume ?? nil, key: key, generation: from.sourceGeneration, created: context.clock.now,
      isInBackground: !stateMachine.isInFront(owner))
    try commit(creating: task)
    delivery.handle(.created(key, by: from.sourceGeneration))
    switch resume {
    // Data that is not ours. The task fails like others: the error is delivered to the delegate (documented).
    case .some(nil):
      addEnd(of: key, nil, failure: TransferFailure(code: -1, message: "this is not resume data of a download"))
      commit()
    case .some(let data?):
      if parts.adopt(data, to: context.path(key)) {
        try context.store.setHead(data.response, validator: data.validator, of: key)
      }
      handle(.created(task.transfer))
    case nil: handle(.created(task.transfer))
    }
  }

  /// Changes properties of a task. Has no effect on a task that has ended.
  ///
  /// - Throws: database errors.
  func change(_ request: ChangeTransfer, from owner: Address) throws {
    let key = TaskKey(
      session: SessionKey(owner: owner, identifier: request.session), identifier: request.taskIdentifier)
    // The end of a task is on the disk before a request is answered that has no effect because of it.
    guard stateMachine.transfers[key] != nil, var task = try context.store.task(key) else { return commit() }
    task.isSuspended = request.isSuspended ?? task.isSuspended
    if let description = request.description { task.description = description.text }
    task.priority = request.priority ?? task.priority
    task.earliestBeginDate = request.earliestBeginDate ?? task.earliestBeginDate
    try context.store.setWishes(of: task)
    handle(
      .changed(
        key, isSuspended: request.isSuspended, priority: request.priority,
        earliestBeginDate: request.earliestBeginDate))
  }

  // MARK: Ends

  /// Ends a task from outside. Its attempt is stopped first, so that its file is not written any more.
  ///
  /// - Parameter keepsPart: whether the received part is kept for `downloadTask(withResumeData:)`.
  /// - Returns: the resume data, if there is any.
  /// - Throws: database errors. Has no effect on a task that has ended.
  @discardableResult
  func stopAndEnd(_ key: TaskKey, with failure: TransferFailure, keepsPart: Bool) async throws -> Data? {
    handle(.ending(key))
    if let attempt = attempts[key] {
      attempt.cancel()
      await attempt.value
    }
    guard stateMachine.transfers[key] != nil, let task = try context.store.task(key) else {
      commit()
      return nil
    }
    let resumeData = keepsPart ? resumeData(of: task) : nil
    addEnd(of: key, nil, failure: failure.with(resumeData: resumeData))
    commit()
    return resumeData
  }

  /// Ends a task whose resource timeout has passed. An advance of the clock waits for it.
  private func startExpiry(of key: TaskKey, _ reason: Int?) {
    let failure = TransferFailure(code: -1001, message: "the request timed out", networkUnavailableReason: reason)
    tasks.start(holding: context.clock) {
      do {
        try await self.stopAndEnd(key, with: failure, keepsPart: true)
      } catch {
        await self.context.broken(error)
      }
    }
  }

  /// Records the end of a task with the next transaction that waits for the disk. Another task may load at once.
  func addEnd(of key: TaskKey, _ result: AttemptResult?, failure: TransferFailure?) {
    let bytes = result?.bytes ?? context.bytes(key)
    let sent = counter.ended(key, bytes: failure == nil ? bytes : nil)
    ends.append(
      TaskEnd(
        key: key, result: result, failure: failure, attempts: stateMachine.transfers[key]?.attempts ?? 0,
        bytesSent: sent, bytes: bytes, instant: context.clock.now))
    context.commits.request()
    // Its owner is kept running during the write.
    delivery.handle(.ending(key))
    handle(.ended(key))
  }

  // MARK: Transactions

  /// Writes what waits for the disk, the ends of tasks and acknowledgements, and delivers the ends.
  func commit() {
    do {
      if !ends.isEmpty || delivery.waitsForCommit { try commit(creating: nil) }
    } catch {
      return context.broken(error)
    }
    let recorded = undelivered
    undelivered = []
    if !recorded.isEmpty { delivery.handle(.ended(recorded)) }
  }

  /// Writes what waits for the disk, and stores a new task in the same transaction. The ends are delivered by the next
  /// `commit()`, which was requested.
  ///
  /// - Throws: database errors. What waits is kept.
  private func commit(creating task: StoredTask?) throws {
    try context.store.save(ends, creating: task)
    undelivered += ends.map(\.key)
    let recorded = ends
    ends = []
    for end in recorded { report(end) }
    delivery.committed()
  }

  private func report(_ end: TaskEnd) {
    let step: TransferProgress.Step = end.failure.map { $0.code == -999 ? .cancelled : .failed } ?? .finished
    let detail = end.failure?.message ?? end.result.map { "HTTP \($0.response.status)" }
    context.record(end.key, step, end.bytes, detail, end.result?.sha256)
    withdrawQuestion(about: end.key)
    context.failures.withLock { _ = $0.removeValue(forKey: end.key) }
  }

  /// The data for `downloadTask(withResumeData:)`. The part file is kept for it.
  private func resumeData(of task: StoredTask) -> Data? {
    let file = context.path(task.key)
    let part = UUID()
    guard
      let resume = ResumeData(
        part: part, request: task.request, response: task.response, validator: task.validator,
        bytes: WholeFile.size(file)),
      let data = try? resume.data(), (try? parts.keep(file, as: part, at: context.clock.now)) != nil
    else { return nil }
    return data
  }

  // MARK: Attempts

  private func runAttempt(of key: TaskKey) async {
    let end = await context.handling(key) { await attempt(key) }
    attempts[key] = nil
    attemptEnded(key, end)
  }

  private func attempt(_ key: TaskKey) async -> AttemptEnd {
    let bytes = context.bytes(key)
    do {
      guard stateMachine.transfers[key] != nil, let task = try context.store.task(key),
        let configuration = configurations[key.session]
      else { return .nothing }
      let result = try await sendRequest(of: task, configuration)
      try Task.checkCancellation()
      return .finished(result)
    } catch  where Task.isCancelled {
      return .stopped
    } catch let fault as TransferFault {
      return .failed(fault, progressed: context.bytes(key) > bytes)
    } catch let error as HeadNotStored {
      return .broken(error.error)
    } catch {
      return .broken(error)
    }
  }

  /// Sends one request of a task, from where its file ends. The state machine checks the resource timeout, on the
  /// device's clock.
  private func sendRequest(
    of task: StoredTask, _ configuration: SessionConfiguration
  ) async throws -> AttemptResult {
    let key = task.key
    let meter = counter.meter(of: key)
    let attempt = TransferAttempt(
      request: task.newRequest ?? task.request, upload: task.file, configuration: configuration,
      path: context.path(key), network: network, resumableFrom: context.settings.resumableFrom,
      cookies: cookies(of: task, configuration), redirectLimit: context.settings.redirectLimit,
      expansionLimit: context.settings.expansionLimit, space: context.space,
      report: { [context] event in
        switch event {
        case .started: context.record(key, .started, 0)
        case .resumed(let bytes):
          context.record(key, .resumed, bytes)
          meter.resumed(at: bytes, expected: task.response?.expectedLength ?? -1)
        case .restarted: context.record(key, .restarted, 0)
        case .sent(let bytes, let length): meter.sent(bytes, of: length)
        case .received(let bytes, let length): meter.received(bytes, of: length)
        }
      },
      setHead: { [context] response, validator in
        try context.store.setHead(response, validator: validator, of: key)
      },
      respond: { [weak self] challenge in
        guard let self else { throw CancellationError() }
        return try await respond(challenge, of: key)
      }, executor: DeviceActor.executor.taskExecutor)
    let known = TransferAttempt.Known(response: task.response, validator: task.validator)
    return try await attempt.perform(knowing: known)
  }

  private func attemptEnded(_ key: TaskKey, _ end: AttemptEnd) {
    switch end {
    case .finished(let result): addEnd(of: key, result, failure: nil)
    case .failed(let fault, _) where fault.next == .never: addEnd(of: key, nil, failure: fault.failure)
    case .failed(let fault, _) where fault.next == .atOnce: handle(.again(key))
    case .failed(let fault, let progressed):
      // A download with resume data begins at byte 0 without its part.
      if let space = context.space(), space.free < space.reserve { parts.remove(before: .distantFuture) }
      // An attempt that was requested to stop did not fail.
      let isFailure = stateMachine.transfers[key]?.place == .loading
      handle(.failed(key, progressed: progressed))
      if isFailure { recordFailure(of: key, fault.description) }
    case .stopped: handle(.stopped(key))
    case .nothing: handle(.ended(key))
    case .broken(let error): context.broken(error)
    }
  }

  private func recordFailure(of key: TaskKey, _ reason: String) {
    guard let transfer = stateMachine.transfers[key], let next = transfer.notBefore else { return }
    context.failures.withLock { $0[key] = reason }
    do {
      try context.store.setFailures(of: transfer)
    } catch {
      return context.broken(error)
    }
    let pause = Int(exactly: max(0, next.timeIntervalSince(context.clock.now)).rounded(.down)) ?? .max
    context.record(key, .retrying, context.bytes(key), "\(reason); again in \(pause) s")
  }
}

/// The result of an attempt.
private enum AttemptEnd {
  case finished(AttemptResult)
  case failed(TransferFault, progressed: Bool)
  case stopped
  /// The task had already ended.
  case nothing
  case broken(any Error)
}
