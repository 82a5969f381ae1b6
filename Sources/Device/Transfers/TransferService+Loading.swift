import Foundation
import MessageBus
import Messages
import Timekeeping

// The actions of the loading state machine.

extension TransferService {
  func perform(_ action: LoadingStateMachine.Action) {
    switch action {
    case .load(let key): load(key)
    case .stop(let key): attempts[key]?.cancel()
    case .waits(let key, let wait):
      TransferService.record(bus, key, .waiting, WholeFile.size(path(key)), "waits for \(wait)")
    case .ask(let key): requestDecision(on: key)
    case .expire(let key, let reason):
      let failure = TransferFailure(
        code: -1001, message: "the request timed out", networkUnavailableReason: reason)
      Task {
        do {
          try await end(key, with: failure, keepsPart: true)
        } catch {
          broken(error)
        }
      }
    case .limiter(let account, let limiter, let reason):
      do {
        try store.setLimiter(limiter, of: account)
      } catch {
        return broken(error)
      }
      bus.record(
        LimiterChanged(
          owner: limiter.owner, delay: limiter.delay, until: limiter.delay > 0 ? limiter.until : nil, reason: reason))
    }
  }

  // MARK: Attempts

  private func load(_ key: TaskKey) {
    attempts[key] = Task {
      let end = await attempt(key)
      attempts[key] = nil
      settle(key, end)
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

  private func attempt(_ key: TaskKey) async -> AttemptEnd {
    let file = path(key)
    let bytes = WholeFile.size(file)
    do {
      guard let task = try store.task(key), !task.hasEnded, let configuration = configurations[key.session] else {
        return .nothing
      }
      let result = try await perform(task, configuration)
      try Task.checkCancellation()
      return .finished(result)
    } catch  where Task.isCancelled {
      return .stopped
    } catch let fault as TransferFault {
      return .failed(fault, progressed: WholeFile.size(file) > bytes)
    } catch let error as HeadNotStored {
      return .broken(error.error)
    } catch {
      return .broken(error)
    }
  }

  /// Sends one request of a task, from where its file ends. The state machine checks the resource timeout, on the
  /// device's clock.
  private func perform(_ task: StoredTask, _ configuration: SessionConfiguration) async throws -> AttemptResult {
    let key = task.key
    let meter = counter.meter(of: key)
    let attempt = TransferAttempt(
      request: task.newRequest ?? task.request, upload: task.file, configuration: configuration, path: path(key),
      network: network, resumableFrom: settings.resumableFrom, redirectLimit: settings.redirectLimit,
      report: { [bus] event in
        switch event {
        case .started: TransferService.record(bus, key, .started, 0)
        case .resumed(let bytes):
          TransferService.record(bus, key, .resumed, bytes)
          meter.resumed(at: bytes, expected: task.response?.expectedLength ?? -1)
        case .restarted: TransferService.record(bus, key, .restarted, 0)
        case .sent(let bytes, let length): meter.sent(bytes, of: length)
        case .received(let bytes, let length): meter.received(bytes, of: length)
        case .redirected: break
        }
      },
      setHead: { [store] response, validator in try store.setHead(response, validator: validator, of: key) },
      respond: { [weak self] challenge in
        guard let self else { throw CancellationError() }
        return try await respond(challenge, of: key)
      })
    let known = TransferAttempt.Known(response: task.response, validator: task.validator)
    return try await attempt.perform(knowing: known, within: .greatestFiniteMagnitude)
  }

  private func settle(_ key: TaskKey, _ end: AttemptEnd) {
    switch end {
    case .finished(let result): self.end(key, result, failure: nil)
    case .failed(let fault, _) where fault.next == .never: self.end(key, nil, failure: fault.failure)
    case .failed(let fault, _) where fault.next == .atOnce: handle(.again(key))
    case .failed(let fault, let progressed):
      // An attempt that was requested to stop did not fail.
      let isFailure = loading.transfers[key]?.place == .loading
      handle(.failed(key, progressed: progressed))
      if isFailure { failed(key, fault.description) }
    case .stopped: handle(.stopped(key))
    case .nothing: handle(LoadingStateMachine.Event.ended(key))
    case .broken(let error): broken(error)
    }
  }

  private func failed(_ key: TaskKey, _ reason: String) {
    guard let transfer = loading.transfers[key], let next = transfer.notBefore else { return }
    do {
      try store.setFailures(of: transfer)
    } catch {
      return broken(error)
    }
    let pause = max(0, next.timeIntervalSince(clock.now))
    TransferService.record(bus, key, .retrying, WholeFile.size(path(key)), "\(reason); again in \(Int(pause)) s")
  }

  // MARK: Ends

  /// Ends a task from outside. Its attempt is stopped first, so that its file is not written any more.
  ///
  /// - Parameter keepsPart: whether the received part is kept for `downloadTask(withResumeData:)`.
  /// - Returns: the resume data, if there is any.
  /// - Throws: database errors. Has no effect on a task that has ended.
  @discardableResult
  func end(_ key: TaskKey, with failure: TransferFailure, keepsPart: Bool) async throws -> Data? {
    handle(LoadingStateMachine.Event.ending(key))
    if let attempt = attempts[key] {
      attempt.cancel()
      await attempt.value
    }
    guard let task = try store.task(key), !task.hasEnded else { return nil }
    let resumeData = keepsPart ? resumeData(of: task) : nil
    end(key, nil, failure: failure.with(resumeData: resumeData))
    return resumeData
  }

  /// Records the end of a task: in the database first, then in the state machines.
  func end(_ key: TaskKey, _ result: AttemptResult?, failure: TransferFailure?) {
    let bytes = WholeFile.size(path(key))
    let sent = counter.ended(key, bytes: failure == nil ? bytes : nil)
    do {
      try store.setEnded(
        key, result, failure: failure, attempts: loading.transfers[key]?.attempts ?? 0, sent: sent, at: clock.now)
      let step: TransferProgress.Step = failure.map { $0.code == -999 ? .cancelled : .failed } ?? .finished
      let detail = failure?.message ?? result.map { "HTTP \($0.response.status)" }
      TransferService.record(bus, key, step, bytes, detail, result?.sha256)
    } catch {
      return broken(error)
    }
    begins.removeValue(forKey: key)?.cancel()
    letGo(key)
    handle(LoadingStateMachine.Event.ended(key))
    handle(DeliveryStateMachine.Event.ended(key))
  }

  /// The data for `downloadTask(withResumeData:)`. The part file is kept for it.
  private func resumeData(of task: StoredTask) -> Data? {
    let file = path(task.key)
    let part = UUID()
    guard
      let resume = ResumeData(
        part: part, request: task.request, response: task.response, validator: task.validator,
        bytes: WholeFile.size(file)),
      let data = try? resume.data(), (try? parts.keep(file, as: part, at: clock.now)) != nil
    else { return nil }
    return data
  }
}

extension TransferFailure {
  fileprivate func with(resumeData: Data?) -> TransferFailure {
    TransferFailure(
      domain: domain, code: code, message: message, cancelledReason: cancelledReason,
      networkUnavailableReason: networkUnavailableReason, resumeData: resumeData)
  }
}
