import Foundation
import Logging
import ServiceLifecycle

/// Sends what is due, again and again until APNs has it or does not want it.
struct PushSender: Service {
  /// As many streams as APNs allows on one connection are not needed.
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

  /// Something may be due.
  func wake() { ringer.yield() }

  /// Sends until the server is told to end. What was under way then is tried again by the next life.
  func run() async throws {
    wake()
    var alarm: Task<Void, any Error>?
    do {
      for await _ in bell.cancelOnGracefulShutdown() {
        alarm?.cancel()
        let next = try await sendDue()
        alarm = next.map { next in
          Task {
            try await Task.sleep(for: .seconds(max(0, next.timeIntervalSinceNow)))
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

  /// Sends all that is due; says when there is more.
  private func sendDue() async throws -> Date? {
    while true {
      let (owed, next) = try await storage.due(at: .now, limit: Self.atOnce)
      if owed.isEmpty || Task.isCancelled { return next }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for push in owed { group.addTask { try await send(push) } }
        try await group.waitForAll()
      }
    }
  }

  private func send(_ owed: Storage.Owed) async throws {
    let outcome = await apns.push(to: owed.token, id: owed.push.apnsID)
    if Task.isCancelled { return }
    let verdict = retries.verdict(on: outcome, attempts: owed.push.attempts)
    let (status, reason): (Int?, String?) =
      switch outcome {
      case .answered(let status, let reason, _): (status, reason)
      case .unanswered(let problem): (nil, problem)
      }
    try await storage.record(verdict, of: owed, status: status, reason: reason)
    log(verdict, of: owed.push, status: status, reason: reason)
  }

  private func log(_ verdict: PushVerdict, of push: Push, status: Int?, reason: String?) {
    let facts: Logger.Metadata = [
      "installation": "\(push.installation)", "change": "\(push.change)", "apns-id": "\(push.apnsID)",
      "answer": "\([status.map(String.init), reason].compactMap(\.self).joined(separator: " "))",
    ]
    switch verdict {
    case .sent: logger.notice("push sent", metadata: facts)
    case .refused: logger.error("push refused; it is not sent again", metadata: facts)
    case .tokenGone: logger.notice("the token is no longer good; the push waits for another one", metadata: facts)
    case .again(let pause): logger.warning("push tried again in \(Int(pause.rounded(.up))) s", metadata: facts)
    }
  }
}
