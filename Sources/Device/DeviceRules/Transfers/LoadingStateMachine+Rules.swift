// SPDX-License-Identifier: Apache-2.0

package import Foundation
import HeapModule
package import Messages

// The rules for what a task waits for. Documentation/fidelity/transfers.md has their sources.

extension LoadingStateMachine {
  /// What a task that is not loading waits for, other than a connection and its turn; `nil` when it may queue for
  /// those.
  func wait(of transfer: Transfer, _ now: Date) -> WaitReason? {
    if transfer.isSuspended { return .suspended }
    if let date = transfer.earliestBeginDate, date > now, transfer.attempts == 0 { return .date(date) }
    if isLimited(transfer, now) { return .limiter }
    if network.path == .off { return .connectivity }
    if unavailableReason(of: transfer) != nil { return .permittedNetwork }
    if isDiscretionary(transfer), settings.discretionaryNeedsWiFi, network.path != .wifi { return .wifi }
    if let instant = transfer.notBefore,
      !Backoff.isOver(instant, longest: settings.resumeBackoff.pause(after: transfer.failures), at: now)
    {
      return .retry(instant)
    }
    return transfer.consent == .given ? nil : .ownerReply
  }

  /// `NSURLErrorNetworkUnavailableReasonKey` of a task on the current network: 0 cellular, 1 expensive, 2 constrained.
  func unavailableReason(of transfer: Transfer) -> Int? {
    guard let policy = sessions[transfer.key.session] else { return nil }
    return Access(policy.access, and: transfer.access).unavailableReason(on: network)
  }

  /// A task that was created in the background is discretionary, whatever its session requests (documented for apps).
  private func isDiscretionary(_ transfer: Transfer) -> Bool {
    let isAsked = sessions[transfer.key.session]?.isDiscretionary ?? false
    guard transfer.isInBackground else { return isAsked }
    return isAsked || transfer.key.session.owner.role == .app || settings.widgetTransfersAreDiscretionary
  }

  // MARK: Changes by owners

  mutating func opened(_ session: SessionKey, _ policy: SessionPolicy, _ now: Date) -> [Action] {
    let former = sessions.updateValue(policy, forKey: session)
    guard let former, former != policy else { return [] }
    let keys = inOrder { $0.key.session == session }
    for key in keys {
      guard let transfer = transfers[key] else { continue }
      touchedHostQueues.insert(HostQueue.Key(transfer))
      if let instant = expiry(of: transfer) { alarms.insert(Alarm(instant: instant, what: .expiry(key))) }
    }
    return keys.flatMap { requeue($0, now) }
  }

  mutating func changed(
    _ key: TaskKey, _ isSuspended: Bool?, _ priority: Float?, _ date: Date?, _ now: Date
  ) -> [Action] {
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
    return requeue(key, now)
  }

  /// An attempt ended and its task did not. `progressed`: `nil` when it did not fail, else whether it received bytes.
  mutating func attemptEnded(_ key: TaskKey, failed progressed: Bool?, _ now: Date) -> [Action] {
    switch transfers[key]?.place {
    case .loading: if let progressed { transfers[key]?.fail(progressed, now, settings) }
    // It was stopped, so its result does not count.
    case .stopping: break
    case .ending, .waiting, nil: return []
    }
    release(key)
    move(key, to: .waiting(.nothing))
    return requeue(key, now)
  }

  // MARK: The network

  /// A connection does not survive a change of the network path. Loading tasks are stopped where they are, and continue
  /// when the new path permits.
  mutating func networkChanged(_ state: NetworkState, _ now: Date) -> [Action] {
    let isSame = state.path == network.path && state.isConstrained == network.isConstrained
    network = state
    guard !isSame else { return [] }
    var actions: [Action] = []
    for key in inOrder() {
      if transfers[key]?.place == .loading {
        move(key, to: .stopping)
        actions.append(.stop(key))
      } else {
        if state.path != .off { transfers[key]?.notBefore = nil }
        actions += requeue(key, now)
      }
    }
    return actions
  }

  // MARK: The resume rate limiter

  /// The account under which an owner's delays are counted.
  func account(of owner: Address) -> String {
    settings.limiterIsSharedWithApp ? families.family(of: owner) : owner.text
  }

  /// Tasks that were created before the first wake are not delayed.
  private func isLimited(_ transfer: Transfer, _ now: Date) -> Bool {
    let owner = transfer.key.session.owner
    guard transfer.isInBackground, limits(owner), let limiter = limiters[account(of: owner)] else { return false }
    return transfer.created >= limiter.since && !Backoff.isOver(limiter.until, longest: limiter.delay, at: now)
  }

  private func limits(_ owner: Address) -> Bool {
    settings.limiterFirst > 0 && (owner.role == .app || settings.limiterAppliesToWidgets)
  }

  /// The date until which tasks wait that an owner creates in the background.
  package func limitedUntil(_ owner: Address) -> Date? {
    limits(owner) ? limiters[account(of: owner)]?.until : nil
  }

  mutating func woken(_ owner: Address, _ now: Date) -> [Action] {
    guard limits(owner), !inFront.contains(owner) else { return [] }
    let account = account(of: owner)
    let delay = limiters[account].map { min($0.delay * 2, settings.limiterMax) } ?? settings.limiterFirst
    let limiter = Limiter(
      owner: owner, delay: delay, since: limiters[account]?.since ?? now, until: now.addingTimeInterval(delay))
    limiters[account] = limiter
    alarms.insert(Alarm(instant: limiter.until, what: .limiter(account)))
    return [.limiter(account: account, limiter, reason: "woken")]
  }

  mutating func limiterPassed(_ account: String, _ now: Date) -> [Action] {
    dropLimiter(account, "expired unused", now)
  }

  mutating func front(_ app: Address, _ isInFront: Bool, _ now: Date) -> [Action] {
    guard isInFront else {
      inFront.remove(app)
      return []
    }
    inFront.insert(app)
    let family = families.family(of: app)
    let accounts = limiters.filter { families.family(of: $0.value.owner) == family }.keys.sorted()
    return accounts.flatMap { dropLimiter($0, "came to the front", now) }
  }

  private mutating func dropLimiter(_ account: String, _ reason: String, _ now: Date) -> [Action] {
    guard let limiter = limiters.removeValue(forKey: account) else { return [] }
    let off = Limiter(owner: limiter.owner, delay: 0, since: limiter.since, until: now)
    return [.limiter(account: account, off, reason: reason)]
      + inOrder { $0.place == .waiting(.limiter) }.flatMap { requeue($0, now) }
  }
}
