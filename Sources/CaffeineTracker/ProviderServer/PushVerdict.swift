import Foundation

/// What came of an attempt to hand a push to APNs.
enum PushOutcome: Equatable, Sendable {
  /// APNs answered. `since` comes with 410: when the token was found to be no longer good.
  case answered(status: Int, reason: String?, since: Date?)
  /// There is no connection, or it broke before the answer: it may have been taken.
  case unanswered(String)
}

/// What is done with a push after an attempt. Source: Apple's *Handling notification responses from APNs*.
enum PushVerdict: Equatable, Sendable {
  case sent
  /// The same request is never sent again.
  case refused
  /// The token is no longer good, since when.
  case tokenGone(since: Date)
  /// The same once more, after so many seconds.
  case again(after: TimeInterval)
}

/// How long is waited before a push is tried again.
struct RetryPolicy: Sendable {
  /// Seconds after the first 500 or 503, twice as long after each further one. Apple asks for 15 minutes.
  var afterServerError: TimeInterval = 900
  /// Seconds after 429.
  var afterTooMany: TimeInterval = 60
  private static let longest: TimeInterval = 4 * 3600

  /// - Parameter attempts: how often it was tried before.
  func verdict(on outcome: PushOutcome, attempts: Int) -> PushVerdict {
    switch outcome {
    case .answered(200, _, _): .sent
    case .answered(410, _, let since): .tokenGone(since: since ?? .now)
    case .answered(429, _, _): .again(after: afterTooMany)
    // The provider token is too old, and the next attempt has another one.
    case .answered(403, "ExpiredProviderToken", _): .again(after: afterTooMany)
    case .answered(500..., _, _): .again(after: Self.doubled(afterServerError, attempts, longest: Self.longest))
    case .answered: .refused
    case .unanswered: .again(after: Self.doubled(1, attempts, longest: afterServerError))
    }
  }

  private static func doubled(_ first: TimeInterval, _ times: Int, longest: TimeInterval) -> TimeInterval {
    min(first * Double(1 << min(times, 16)), max(first, longest))
  }
}
