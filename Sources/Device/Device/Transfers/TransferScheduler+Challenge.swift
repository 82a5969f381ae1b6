// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Timekeeping

// Challenges: the owner is asked, and woken for it (documented).

/// Attempts that wait for their owners to run. Any thread.
final class ChallengedTasks: Sendable {
  private let waiting = Mutex<[TaskKey: CheckedContinuation<Bool, any Error>]>([:])

  /// Whether an attempt waits for the owner.
  func contains(_ owner: Address) -> Bool {
    waiting.withLock { waiting in waiting.keys.contains { $0.session.owner == owner } }
  }

  /// Waits until the owner of the task runs.
  ///
  /// - Parameter request: requests that the owner runs. It is called after the wait has begun.
  /// - Returns: whether the owner was woken.
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  func wait(_ key: TaskKey, _ request: () -> Void) async throws -> Bool {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiting.withLock { $0[key] = continuation }
        // An earlier cancellation found no continuation.
        guard !Task.isCancelled else { return cancel(key) }
        request()
      }
    } onCancel: {
      cancel(key)
    }
  }

  /// The owner runs. `woken`: it was launched or resumed a moment ago.
  func awake(_ owner: Address, woken: Bool) {
    let found = waiting.withLock { waiting in
      waiting.keys.filter { $0.session.owner == owner }.compactMap { waiting.removeValue(forKey: $0) }
    }
    for continuation in found { continuation.resume(returning: woken) }
  }

  private func cancel(_ key: TaskKey) {
    waiting.withLock { $0.removeValue(forKey: key) }?.resume(throwing: CancellationError())
  }
}

extension TransferScheduler {
  /// Asks the owner how to respond to a server's challenge. If the owner exits, its next instance is asked. If it
  /// refuses the request or exceeds the deadline, the default handling applies.
  ///
  /// - Throws: `CancellationError`, and database errors.
  func respond(_ challenge: Challenge, of key: TaskKey) async throws -> AnswerChallenge.Reply {
    let owner = key.session.owner
    context.record(key, .waiting, context.bytes(key), "waits for the owner's answer to a challenge")
    let isBounded = context.settings.challengeDeadline > 0
    let limit = isBounded ? context.settings.challengeDeadline : context.settings.completionDeadline
    defer {
      noteQuestions(of: owner)
      context.need(.release(owner, because: key.challengeAssertion))
    }
    while true {
      let launches = configurations[key.session]?.sessionSendsLaunchEvents ?? true
      let woken = try await challenged.wait(key) {
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
}

extension TaskKey {
  /// The assertion that keeps the owner awake for a challenge.
  fileprivate var challengeAssertion: Assertion { Assertion("challenge \(session.identifier) \(identifier)") }
}
