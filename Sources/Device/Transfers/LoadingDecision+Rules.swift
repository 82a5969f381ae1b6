import Conversations
import Foundation
import HeapModule
import Timekeeping

// What a task waits for, rule by rule; their sources stand in Documentation/fidelity.md.

extension LoadingDecision {
  /// What a task that is not loading waits for, other than a connection and its turn; `nil` when it may queue for those.
  func wait(of transfer: Transfer, _ now: Date) -> Wait? {
    if transfer.isSuspended { return .suspended }
    if let date = transfer.earliestBeginDate, date > now, transfer.attempts == 0 { return .date(date) }
    if isLimited(transfer) { return .limiter }
    if network.path == .off { return .connectivity }
    if unavailableReason(of: transfer) != nil { return .permittedNetwork }
    if isDiscretionary(transfer), settings.discretionaryNeedsWiFi, network.path != .wifi { return .wifi }
    if let instant = transfer.notBefore, instant > now { return .retry(instant) }
    return transfer.consent == .given ? nil : .answer
  }

  /// `NSURLErrorNetworkUnavailableReasonKey` of a task on the network as it is: 0 cellular, 1 expensive, 2 constrained.
  func unavailableReason(of transfer: Transfer) -> Int? {
    guard let terms = sessions[transfer.key.session] else { return nil }
    return Access(terms.access, and: transfer.access).unavailableReason(on: network)
  }

  /// A task that was not created in front counts as discretionary, whatever its session says (documented for apps).
  private func isDiscretionary(_ transfer: Transfer) -> Bool {
    let isAsked = sessions[transfer.key.session]?.isDiscretionary ?? false
    guard transfer.isInBackground else { return isAsked }
    return isAsked || transfer.key.session.owner.role == .app || settings.widgetTransfersAreDiscretionary
  }

  // MARK: What owners and persons do

  mutating func opened(_ session: SessionKey, _ terms: Terms, _ now: Date) -> [Answer] {
    let former = sessions.updateValue(terms, forKey: session)
    guard let former, former != terms else { return [] }
    let keys = inOrder { $0.key.session == session }
    for key in keys {
      guard let transfer = transfers[key] else { continue }
      touchedLanes.insert(Lane.Key(transfer))
      if let instant = expiry(of: transfer) { alarms.insert(Alarm(instant: instant, what: .expiry(key))) }
    }
    return keys.flatMap { settle($0, now) }
  }

  mutating func changed(
    _ key: TaskKey, _ isSuspended: Bool?, _ priority: Float?, _ date: Date?, _ now: Date
  ) -> [Answer] {
    guard var transfer = transfers[key] else { return [] }
    let isReordered = priority != nil && priority != transfer.priority
    transfer.isSuspended = isSuspended ?? transfer.isSuspended
    transfer.priority = priority ?? transfer.priority
    transfer.earliestBeginDate = date ?? transfer.earliestBeginDate
    transfers[key] = transfer
    switch transfer.place {
    case .loading where transfer.isSuspended:
      move(key, to: .stopping)
      return [.stop(key)]
    case .waiting(let wait) where wait.isQueue && isReordered && !transfer.isSuspended: queue(key)
    default: break
    }
    return settle(key, now)
  }

  /// An attempt is over and its task is not. `progressed`: it failed, and whether bytes had come.
  mutating func attemptEnded(_ key: TaskKey, failed progressed: Bool?, _ now: Date) -> [Answer] {
    switch transfers[key]?.place {
    case .loading: if let progressed { transfers[key]?.fail(progressed, now, settings) }
    // It was told to stop: how it ended says nothing.
    case .stopping: break
    case .ending, .waiting, nil: return []
    }
    release(key)
    move(key, to: .waiting(.nothing))
    return settle(key, now)
  }

  // MARK: The network

  /// No connection outlives the path that it was made on: what runs is stopped where it is, and goes on as soon as the
  /// new path will do.
  mutating func networkChanged(_ state: NetworkState, _ now: Date) -> [Answer] {
    let isSame = state.path == network.path && state.isConstrained == network.isConstrained
    network = state
    guard !isSame else { return [] }
    var answers: [Answer] = []
    for key in inOrder() {
      if transfers[key]?.place == .loading {
        move(key, to: .stopping)
        answers.append(.stop(key))
      } else {
        if state.path != .off { transfers[key]?.notBefore = nil }
        answers += settle(key, now)
      }
    }
    return answers
  }

  // MARK: The resume rate limiter

  /// Whose delays are counted together.
  func account(of owner: Address) -> String {
    settings.limiterIsSharedWithApp ? families.family(of: owner) : owner.text
  }

  /// What was created before the first wake is let through.
  private func isLimited(_ transfer: Transfer) -> Bool {
    let owner = transfer.key.session.owner
    guard transfer.isInBackground, limits(owner), let limiter = limiters[account(of: owner)] else { return false }
    return transfer.created >= limiter.since
  }

  private func limits(_ owner: Address) -> Bool {
    settings.limiterFirst > 0 && (owner.role == .app || settings.limiterAppliesToWidgets)
  }

  /// Until when tasks that an owner creates in the background wait.
  func limitedUntil(_ owner: Address) -> Date? {
    limits(owner) ? limiters[account(of: owner)]?.until : nil
  }

  mutating func woken(_ owner: Address, _ now: Date) -> [Answer] {
    guard limits(owner), !inFront.contains(owner) else { return [] }
    let account = account(of: owner)
    let delay = limiters[account].map { min($0.delay * 2, settings.limiterLimit) } ?? settings.limiterFirst
    let limiter = Limiter(
      owner: owner, delay: delay, since: limiters[account]?.since ?? now, until: now.addingTimeInterval(delay))
    limiters[account] = limiter
    alarms.insert(Alarm(instant: limiter.until, what: .limiter(account)))
    return [.limiter(account: account, limiter, reason: "woken")]
  }

  mutating func limiterPassed(_ account: String, _ now: Date) -> [Answer] {
    dropLimiter(account, "passed unused", now)
  }

  mutating func front(_ app: Address, _ isInFront: Bool, _ now: Date) -> [Answer] {
    guard isInFront else {
      inFront.remove(app)
      return []
    }
    inFront.insert(app)
    let family = families.family(of: app)
    let accounts = limiters.filter { families.family(of: $0.value.owner) == family }.keys.sorted()
    return accounts.flatMap { dropLimiter($0, "came to the front", now) }
  }

  private mutating func dropLimiter(_ account: String, _ reason: String, _ now: Date) -> [Answer] {
    guard let limiter = limiters.removeValue(forKey: account) else { return [] }
    let off = Limiter(owner: limiter.owner, delay: 0, since: limiter.since, until: now)
    return [.limiter(account: account, off, reason: reason)]
      + inOrder { $0.place == .waiting(.limiter) }.flatMap { settle($0, now) }
  }
}
