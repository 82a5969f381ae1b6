import Foundation
import MessageBus
import Messages
import Timekeeping

// Challenges: the owner is asked, and woken for it (documented).

/// Attempts that wait for their owners to run.
struct ChallengedTasks {
  private var waiting: [TaskKey: CheckedContinuation<Bool, any Error>] = [:]

  func contains(_ owner: Address) -> Bool { waiting.keys.contains { $0.session.owner == owner } }

  mutating func wait(_ key: TaskKey, _ continuation: CheckedContinuation<Bool, any Error>) {
    waiting[key] = continuation
  }

  /// The owner runs. `woken`: it was launched or resumed a moment ago.
  mutating func awake(_ owner: Address, woken: Bool) {
    for key in waiting.keys where key.session.owner == owner {
      waiting.removeValue(forKey: key)?.resume(returning: woken)
    }
  }

  mutating func cancel(_ key: TaskKey) { waiting.removeValue(forKey: key)?.resume(throwing: CancellationError()) }
}

extension TransferService {
  /// Asks the owner how to respond to a server's challenge. If the owner exits, its next instance is asked. If it
  /// refuses the request or exceeds the deadline, the default handling applies.
  ///
  /// - Throws: `CancellationError`, and database errors.
  func respond(_ challenge: Challenge, of key: TaskKey) async throws -> AnswerChallenge.Reply {
    let owner = key.session.owner
    TransferService.record(bus, key, .waiting, WholeFile.size(path(key)), "waits for the owner's answer to a challenge")
    let isBounded = settings.challengeDeadline > 0
    let limit = isBounded ? settings.challengeDeadline : settings.completionDeadline
    defer { outputs.yield(.release(owner, because: key.challengeAssertion)) }
    while true {
      let woken = try await instance(of: owner, for: key)
      guard let task = try store.task(key) else { throw CancellationError() }
      do throws(BusError) {
        let question = AnswerChallenge(
          session: key.session.identifier, task: task.snapshot(bytes: WholeFile.size(path(key))), wakesHandler: woken,
          method: challenge.method, host: challenge.host, port: challenge.port, scheme: challenge.scheme,
          realm: challenge.realm, previousFailures: challenge.previousFailures)
        return try await bus.request(
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

  /// Returns when an instance of the owner runs.
  ///
  /// - Returns: whether it was woken.
  private func instance(of owner: Address, for key: TaskKey) async throws -> Bool {
    let launches = configurations[key.session]?.sessionSendsLaunchEvents ?? true
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
        challenged.wait(key, continuation)
        outputs.yield(.wantAwake(owner, because: key.challengeAssertion, launches: launches))
      }
    } onCancel: {
      Task { await self.cancelChallenge(of: key) }
    }
  }

  private func cancelChallenge(of key: TaskKey) { challenged.cancel(key) }
}

extension TaskKey {
  /// The assertion that keeps the owner awake for a challenge.
  fileprivate var challengeAssertion: String { "challenge \(session.identifier) \(identifier)" }
}
