// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import ServiceLifecycle

/// Sends the pushes that are due, and retries until APNs accepts or refuses them.
struct PushSender: Service {
  /// The number of pushes sent at the same time. The sender does not need all the streams that APNs allows on one
  /// connection.
  private static let atOnce = 100

  private let storage: Storage
  private let apns: APNsClient
  private let retries: RetryPolicy
  private let logger: Logger
  private let bell: AsyncStream<Void>
  private let ringer: AsyncStream<Void>.Continuation

  init(_ storage: Storage, to apns: APNsClient, retrying retries: RetryPolicy, logger: Logger) {
    self.storage = storage
    self.apns = apns
    self.retries = retries
    self.logger = logger
    (bell, ringer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Wakes the sender: a push may be due.
  func wake() { ringer.yield() }

  /// Sends until the server shuts down. The next run of the server retries what was in progress.
  func run() async throws {
    wake()
    var alarm: Task<Void, any Error>?
    do {
      for await _ in bell.cancelOnGracefulShutdown() {
        alarm?.cancel()
        let next = try await sendDue()
        alarm = next.map { next in
          Task {
            try await Task.sleep(for: .seconds(min(max(0, next.timeIntervalSinceNow), 1e9)))
            wake()
          }
        }
      }
    } catch {
      alarm?.cancel()
      try? await apns.shutdown()
      throw error
    }
    alarm?.cancel()
    try await apns.shutdown()
  }

  /// Sends all pushes that are due; returns the date at which the next one is due.
  private func sendDue() async throws -> Date? {
    while true {
      let (pending, next) = try await storage.due(at: .now, limit: Self.atOnce)
      if pending.isEmpty || Task.isCancelled { return next }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for push in pending { group.addTask { try await send(push) } }
        try await group.waitForAll()
      }
    }
  }

  private func send(_ pending: Storage.PendingPush) async throws {
    let outcome = await apns.push(to: pending.token, id: pending.push.apnsID)
    if Task.isCancelled { return }
    let verdict = retries.verdict(on: outcome, attempts: pending.push.attempts)
    let (status, reason): (Int?, String?) =
      switch outcome {
      case .answered(let status, let reason, _): (status, reason)
      case .unanswered(let problem): (nil, problem)
      }
    try await storage.record(verdict, of: pending, status: status, reason: reason)
    log(verdict, of: pending.push, status: status, reason: reason)
  }

  private func log(_ verdict: PushVerdict, of push: Push, status: Int?, reason: String?) {
    let facts: Logger.Metadata = [
      "installation": "\(push.installation)", "change": "\(push.change)", "apns-id": "\(push.apnsID)",
      "answer": "\([status.map(String.init), reason].compactMap(\.self).joined(separator: " "))",
    ]
    switch verdict {
    case .sent: logger.notice("push sent", metadata: facts)
    case .refused: logger.error("push refused; it is not retried", metadata: facts)
    case .tokenGone: logger.notice("the token is no longer valid; the push waits for a new one", metadata: facts)
    case .again(let pause): logger.warning("push retried in \(pause.rounded(.up)) s", metadata: facts)
    }
  }
}
