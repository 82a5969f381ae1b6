import Conversations
import Foundation
import Synchronization

/// The answer that an author's thread blocks for.
final class Answer: Sendable {
  private let result = Mutex<Result<Done, BusError>?>(nil)
  private let arrival = DispatchSemaphore(value: 0)

  /// The answer is there. Any thread.
  func come(_ answer: Result<Done, BusError>) {
    result.withLock { $0 = answer }
    arrival.signal()
  }

  /// Blocks the calling thread, which is none that anybody else needs. The limit is the last resort of a connection
  /// that does not keep its own deadline.
  func wait(atMost limit: Duration) -> Result<Done, BusError> {
    _ = arrival.wait(timeout: .now() + limit.seconds)
    return result.withLock { $0 }
      ?? .failure(BusError(.deadline, "the connection did not answer within \(limit)", isDefinite: false))
  }
}

extension Duration {
  var seconds: Double { self / .seconds(1) }
}
