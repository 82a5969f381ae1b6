// SPDX-License-Identifier: Apache-2.0

import APNs
import NIOCore
import Synchronization

/// The connections of a server, and what they share.
final class ConnectionRegistry: Sendable {
  let limits: APNsServerLimits
  let backend: any APNsBackend
  let authority: ClientAuthority?
  let log: @Sendable (String) -> Void
  /// The log for lines that a client can cause.
  let limitedLog: LimitedLog

  private let open = Atomic(0)
  private let accepted = Atomic(0)
  private let turnedAway = Atomic(0)
  private let requests = Atomic(0)
  private let members = Mutex(Members())

  private struct Members {
    var inboxes: [ObjectIdentifier: ResponseMailbox] = [:]
    var isShuttingDown = false
    var whenEmpty: CheckedContinuation<Void, Never>?
  }

  init(
    limits: APNsServerLimits, backend: any APNsBackend, authority: ClientAuthority?, on loop: any EventLoop,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.limits = limits
    self.backend = backend
    self.authority = authority
    self.log = log
    limitedLog = LimitedLog(loop, log)
  }

  var counters: APNsHTTP2Server.Counters {
    APNsHTTP2Server.Counters(
      connections: open.load(ordering: .relaxed), accepted: accepted.load(ordering: .relaxed),
      turnedAway: turnedAway.load(ordering: .relaxed), requests: requests.load(ordering: .relaxed))
  }

  func countRequest() { requests.add(1, ordering: .relaxed) }

  /// Why another connection is not accepted; `nil` when it is.
  func objection() -> String? {
    open.load(ordering: .relaxed) < limits.connections
      ? Descriptors.objection() : "the limit of \(limits.connections) connections is reached"
  }

  /// Counts a connection that is closed on arrival.
  func turnAway() { turnedAway.add(1, ordering: .relaxed) }

  func enter(_ inbox: ResponseMailbox) {
    accepted.add(1, ordering: .relaxed)
    open.add(1, ordering: .relaxed)
    let isShuttingDown = members.withLock {
      $0.inboxes[ObjectIdentifier(inbox)] = inbox
      return $0.isShuttingDown
    }
    if isShuttingDown { inbox.perform { $0.shutDown() } }
  }

  func leave(_ inbox: ResponseMailbox) {
    open.subtract(1, ordering: .relaxed)
    let waiter = members.withLock { members -> CheckedContinuation<Void, Never>? in
      members.inboxes[ObjectIdentifier(inbox)] = nil
      guard members.inboxes.isEmpty else { return nil }
      defer { members.whenEmpty = nil }
      return members.whenEmpty
    }
    waiter?.resume()
  }

  /// Starts the shutdown of every connection, present and future.
  func beginShutdown() {
    let inboxes = members.withLock {
      $0.isShuttingDown = true
      return Array($0.inboxes.values)
    }
    for inbox in inboxes { inbox.perform { $0.shutDown() } }
  }

  /// Returns when the last connection is closed.
  func untilEmpty() async {
    await withCheckedContinuation { continuation in
      let isEmpty = members.withLock {
        if $0.inboxes.isEmpty { return true }
        $0.whenEmpty = continuation
        return false
      }
      if isEmpty { continuation.resume() }
    }
  }

  /// Closes the remaining connections.
  func abandon() {
    for inbox in members.withLock({ Array($0.inboxes.values) }) { inbox.perform { $0.abandon() } }
  }
}
