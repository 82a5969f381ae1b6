// SPDX-License-Identifier: Apache-2.0

import DefaultsLog
import DeviceRules
import FaultPoints
import Foundation
import Glibc
import MessageBus
import Messages
import Stores
import Synchronization
import Timekeeping

/// Loads the tasks of sessions, as `LoadingStateMachine` decides, and records their ends.
///
/// An end is in the database before it is reported and delivered. Tasks end in `EventDelivery` in the order of the database.
@DeviceActor final class TransferScheduler {
  let context: TransferContext
  /// Owns the attempts, the expiries and the questions before tasks begin.
  let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)
  let counter: TransferCounter
  let delivery: EventDelivery
  private let network = TransferNetwork()
  /// The parts that resume data refers to.
  private let parts: PartFiles
  /// The state machine's, and those that are opened while the device ends.
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
  /// For each attempt that waits for its owner to run, because of a challenge: whether the owner was woken.
  private var challenged: [TaskKey: AsyncStream<Bool>.Continuation] = [:]

  /// Nothing is started before `begin`.
  ///
  /// - Parameter isAwake: whether an owner runs now and can receive the progress of its tasks.
  nonisolated init(
    _ context: TransferContext, configurations: [SessionKey: SessionConfiguration], delivery: EventDelivery,
    isAwake: @escaping @DeviceActor (Address) -> Bool
  ) {
    self.context = context
    self.delivery = delivery
    parts = PartFiles(folder: context.folder + "/kept")
    counter = TransferCounter(context.bus, perSecond: context.settings.countsPerSecond, isAwake: isAwake)
    self.configurations = configurations
  }

  var stateMachine: LoadingStateMachine { context.core.state.loading }

  /// Continues every task that has not ended and may use the network.
  func begin(network: NetworkState) {
    parts.remove(before: context.clock.now.addingTimeInterval(-context.settings.keepsResumeData))
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
    case .waits(let key, let wait):
      context.record(key, step: .waiting, bytes: context.bytes(key), detail: "waits for \(wait)")
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
    handle(.opened(session, configuration))
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
    var failure = failure
    failure.resumeData = keepsPart ? resumeData(of: task) : nil
    addEnd(of: key, nil, failure: failure)
    commit()
    return failure.resumeData
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
    let bytesSent = counter.ended(key, bytes: failure == nil ? bytes : nil)
    ends.append(
      TaskEnd(
        key: key, result: result, failure: failure, attempts: stateMachine.transfers[key]?.attempts ?? 0,
        bytesSent: bytesSent, bytes: bytes, instant: context.clock.now))
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
    context.record(end.key, step: step, bytes: end.bytes, detail: detail, sha256: end.result?.sha256)
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
    let bytes = context.bytes(key)
    let end: Result<AttemptResult?, any Error>
    context.underWay.begin(key.work)
    FaultPoint.hostWithinTask.reached()
    do {
      end = .success(try await attempt(key))
    } catch {
      end = .failure(error)
    }
    context.underWay.end(key.work)
    attempts[key] = nil
    attemptEnded(key, end, from: bytes)
  }

  /// - Returns: `nil` when the task had already ended.
  private func attempt(_ key: TaskKey) async throws -> AttemptResult? {
    guard stateMachine.transfers[key] != nil, let task = try context.store.task(key),
      let configuration = configurations[key.session]
    else { return nil }
    return try await sendRequest(of: task, configuration)
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
        case .started: context.record(key, step: .started, bytes: 0)
        case .resumed(let bytes):
          context.record(key, step: .resumed, bytes: bytes)
          meter.resumed(at: bytes, expected: task.response?.expectedLength ?? -1)
        case .restarted: context.record(key, step: .restarted, bytes: 0)
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

  /// - Parameter bytes: what its file had before.
  private func attemptEnded(_ key: TaskKey, _ end: Result<AttemptResult?, any Error>, from bytes: Int64) {
    switch end {
    case .success(.none): handle(.ended(key))
    case _ where Task.isCancelled: handle(.stopped(key))
    case .success(let result?): addEnd(of: key, result, failure: nil)
    case .failure(let fault as TransferFault) where fault.next == .never:
      addEnd(of: key, nil, failure: fault.failure)
    case .failure(let fault as TransferFault) where fault.next == .atOnce: handle(.again(key))
    case .failure(let fault as TransferFault):
      // A download with resume data begins at byte 0 without its part.
      if let space = context.space(), space.free < space.reserve { parts.remove(before: .distantFuture) }
      // An attempt that was requested to stop did not fail.
      let isFailure = stateMachine.transfers[key]?.place == .loading
      handle(.failed(key, progressed: context.bytes(key) > bytes))
      if isFailure { recordFailure(of: key, fault.description) }
    case .failure(let error): context.broken((error as? HeadNotStored)?.error ?? error)
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
    context.record(key, step: .retrying, bytes: context.bytes(key), detail: "\(reason); again in \(pause) s")
  }
}

// `willBeginDelayedRequest`: the owner is asked before a task with an earliest begin date begins.

extension TransferScheduler {
  /// Passes on whether the owner must be asked about a task, or about a challenge.
  func noteQuestions(of owner: Address) {
    let areOpen = delayed[owner] != nil || challenged.keys.contains { $0.session.owner == owner }
    if context.core.state.hasQuestions(for: owner) != areOpen { context.core.handle(.questions(owner: owner, areOpen)) }
  }

  /// The owner runs: asks it about its tasks and challenges. `woken`: the system launched or resumed it for its sessions.
  func awake(_ owner: Address, woken: Bool) {
    for key in (delayed[owner] ?? []).sorted(by: { $0.identifier < $1.identifier }) where questions[key] == nil {
      questions[key] = tasks.start { await self.sendQuestion(about: key) }
    }
    for (key, waiting) in challenged where key.session.owner == owner {
      challenged[key] = nil
      waiting.yield(woken)
    }
    noteQuestions(of: owner)
  }

  /// Waits for the owner's reply. The owner is woken for it if the settings permit. Otherwise the task of an owner that
  /// does not run continues unchanged.
  func askBeforeBegin(of key: TaskKey) {
    let owner = key.session.owner
    delayed[owner, default: []].insert(key)
    noteQuestions(of: owner)
    let launches = context.settings.delayedRequestLaunches
    context.need(.want(owner, because: key.session.beginAssertion, mayWake: launches))
    guard !launches else { return }
    questions[key] = tasks.start {
      if await self.counter.isAwake(owner) {
        await self.sendQuestion(about: key)
      } else {
        await self.apply(BeginDelayedRequest.Reply(disposition: .continueLoading), to: key)
      }
    }
  }

  private func sendQuestion(about key: TaskKey) async {
    let owner = key.session.owner
    var reply = BeginDelayedRequest.Reply(disposition: .continueLoading)
    do {
      guard stateMachine.transfers[key] != nil, let task = try context.store.task(key) else { return }
      let question = BeginDelayedRequest(
        session: key.session.identifier, task: task.snapshot(bytes: context.bytes(key)))
      reply = try await context.bus.request(
        question, to: owner, context: key.session.context, within: .seconds(context.settings.completionDeadline),
        whenUnreachable: .wait)
    } catch let error as BusError {
      // The host leaves: it asks again after its restart. On any other error the original request is sent.
      guard error.code != .closed, !Task.isCancelled else { return }
    } catch {
      return context.broken(error)
    }
    await apply(reply, to: key)
  }

  private func apply(_ reply: BeginDelayedRequest.Reply, to key: TaskKey) async {
    do {
      guard stateMachine.transfers[key] != nil, var task = try context.store.task(key) else { return }
      if reply.disposition == .cancel {
        try await stopAndEnd(key, with: TransferFailure(code: -999, message: "cancelled"), keepsPart: false)
        return
      }
      if reply.disposition == .useNewRequest { task.newRequest = reply.request.map(task.request.replaced) }
      task.asksBeforeBegin = false
      try context.store.setWishes(of: task)
      questions[key] = nil
      withdrawQuestion(about: key)
      handle(.answered(key, host: StoredTask.host(task.newRequest ?? task.request)))
    } catch {
      context.broken(error)
    }
  }

  /// The owner need not be asked about the task any longer.
  func withdrawQuestion(about key: TaskKey) {
    questions.removeValue(forKey: key)?.cancel()
    let owner = key.session.owner
    guard delayed[owner]?.remove(key) != nil else { return }
    if delayed[owner]?.isEmpty == true { delayed[owner] = nil }
    noteQuestions(of: owner)
    guard delayed[owner]?.contains(where: { $0.session == key.session }) != true else { return }
    context.need(.release(owner, because: key.session.beginAssertion))
  }
}

extension SessionKey {
  /// The assertion that keeps the owner awake before a task begins.
  fileprivate var beginAssertion: Assertion { .begin(of: identifier) }
}

extension TransferRequest {
  /// The request that an owner supplied instead of this one: its network flags are ignored (documented).
  func replaced(by other: TransferRequest) -> TransferRequest {
    var request = other
    request.allowsCellularAccess = allowsCellularAccess
    request.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
    request.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
    return request
  }
}

// Challenges: the owner is asked, and woken for it (documented).

extension TransferScheduler {
  /// Asks the owner how to respond to a server's challenge. If the owner exits, its next instance is asked. If it
  /// refuses the request or exceeds the deadline, the default handling applies.
  ///
  /// - Throws: `CancellationError`, and database errors.
  func respond(_ challenge: Challenge, of key: TaskKey) async throws -> AnswerChallenge.Reply {
    let owner = key.session.owner
    context.record(
      key, step: .waiting, bytes: context.bytes(key), detail: "waits for the owner's answer to a challenge")
    let isBounded = context.settings.challengeDeadline > 0
    let limit = isBounded ? context.settings.challengeDeadline : context.settings.completionDeadline
    defer {
      noteQuestions(of: owner)
      context.need(.release(owner, because: key.challengeAssertion))
    }
    while true {
      let launches = configurations[key.session]?.sessionSendsLaunchEvents ?? true
      let woken = try await ownerRuns(key) {
        noteQuestions(of: owner)
        context.need(.want(owner, because: key.challengeAssertion, mayWake: launches))
      }
      guard let task = try context.store.task(key) else { throw CancellationError() }
      do throws(BusError) {
        let question = AnswerChallenge(
          session: key.session.identifier, task: task.snapshot(bytes: context.bytes(key)), wakesHandler: woken,
          method: challenge.method, host: challenge.host, port: challenge.port, scheme: challenge.scheme,
          realm: challenge.realm, previousFailures: challenge.previousFailures)
        return try await context.bus.request(
          question, to: owner, context: key.session.context, within: .seconds(limit), whenUnreachable: .wait)
      } catch {
        try Task.checkCancellation()
        if error.code == .closed { throw CancellationError() }
        if error.isDefinite || isBounded && error.code == .deadline {
          return AnswerChallenge.Reply(disposition: .performDefaultHandling)
        }
      }
    }
  }

  /// Waits until the owner of the task runs.
  ///
  /// - Parameter request: requests that the owner runs. It is called after the wait has begun.
  /// - Returns: whether the owner was woken.
  /// - Throws: `CancellationError` when the attempt is stopped.
  private func ownerRuns(_ key: TaskKey, _ request: () -> Void) async throws -> Bool {
    try Task.checkCancellation()
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    challenged[key] = continuation
    defer { challenged[key] = nil }
    request()
    for await woken in stream { return woken }
    throw CancellationError()
  }
}

extension TaskKey {
  /// The assertion that keeps the owner awake for a challenge.
  fileprivate var challengeAssertion: Assertion { .challenge(of: self) }
}

// Tasks that ended two hosts in a row by a trap. They fail, and are not handled again.

extension TaskKey {
  /// The task in the record of the work under way.
  var work: UnderWay.Work { UnderWay.Work(.task, "\(identifier) of \(session.owner.text) \(session.identifier)") }
}

extension TransferScheduler {
  /// Ends tasks that would load.
  func failTasksSetAside() {
    let failed = stateMachine.transfers.keys.filter { key in
      guard let failure = failure(ofSetAside: key) else { return false }
      addEnd(of: key, nil, failure: failure)
      return true
    }
    commit()
    forget(failed)
  }

  /// Replaces the results of tasks whose files are not delivered yet.
  func failEndedTasksSetAside() {
    guard context.underWay.hasSetAside(.task) else { return }
    do {
      for ended in try context.store.taskKeys() where ended.hasEnded {
        guard let failure = failure(ofSetAside: ended.key), let task = try context.store.task(ended.key) else {
          continue
        }
        let bytes = context.bytes(of: task)
        let end = TaskEnd(
          key: task.key, result: nil, failure: failure, attempts: task.attempts, bytesSent: task.bytesSent,
          bytes: bytes, instant: task.ended ?? context.clock.now)
        try context.store.save([end])
        // Its end was recorded already; the notice of the work that is set aside names it.
        unlink(context.path(task.key))
        forget([task.key])
      }
    } catch {
      context.broken(error)
    }
  }

  /// The failure is in the database.
  private func forget(_ keys: [TaskKey]) {
    guard context.core.failure == nil else { return }
    for key in keys { context.underWay.end(key.work) }
  }

  private func failure(ofSetAside key: TaskKey) -> TransferFailure? {
    context.underWay.reason(key.work).map { TransferFailure(code: -1, message: $0) }
  }
}
