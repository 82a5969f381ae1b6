import APNs
import NIOCore
import Synchronization

/// What the connections of a front share, and who they are.
final class ConnectionRegistry: Sendable {
  let limits: PushFrontLimits
  let backend: any APNsBackend
  let authority: ClientAuthority?
  let log: @Sendable (String) -> Void

  private let open = Atomic(0)
  private let accepted = Atomic(0)
  private let turnedAway = Atomic(0)
  private let requests = Atomic(0)
  private let members = Mutex(Members())

  private struct Members {
    var inboxes: [ObjectIdentifier: AnswerInbox] = [:]
    var isShuttingDown = false
    var whenEmpty: CheckedContinuation<Void, Never>?
  }

  init(
    limits: PushFrontLimits, backend: any APNsBackend, authority: ClientAuthority?,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.limits = limits
    self.backend = backend
    self.authority = authority
    self.log = log
  }

  var counters: APNsFront.Counters {
    APNsFront.Counters(
      connections: open.load(ordering: .relaxed), accepted: accepted.load(ordering: .relaxed),
      turnedAway: turnedAway.load(ordering: .relaxed), requests: requests.load(ordering: .relaxed))
  }

  func countRequest() { requests.add(1, ordering: .relaxed) }

  /// Whether there is room for one more connection.
  func admit() -> Bool {
    guard open.load(ordering: .relaxed) < limits.connections else {
      turnedAway.add(1, ordering: .relaxed)
      log("a client was turned away: there are \(limits.connections) connections")
      return false
    }
    accepted.add(1, ordering: .relaxed)
    return true
  }

  func enter(_ inbox: AnswerInbox) {
    open.add(1, ordering: .relaxed)
    let isShuttingDown = members.withLock {
      $0.inboxes[ObjectIdentifier(inbox)] = inbox
      return $0.isShuttingDown
    }
    if isShuttingDown { inbox.perform { $0.shutDown() } }
  }

  func leave(_ inbox: AnswerInbox) {
    open.subtract(1, ordering: .relaxed)
    let waiter = members.withLock { members -> CheckedContinuation<Void, Never>? in
      members.inboxes[ObjectIdentifier(inbox)] = nil
      guard members.inboxes.isEmpty else { return nil }
      defer { members.whenEmpty = nil }
      return members.whenEmpty
    }
    waiter?.resume()
  }

  /// Tells every connection, and each that comes later.
  func beginShutdown() {
    let inboxes = members.withLock {
      $0.isShuttingDown = true
      return Array($0.inboxes.values)
    }
    for inbox in inboxes { inbox.perform { $0.shutDown() } }
  }

  /// Returns when the last connection is gone.
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

  /// Closes what is still there.
  func abandon() {
    for inbox in members.withLock({ Array($0.inboxes.values) }) { inbox.perform { $0.abandon() } }
  }
}
