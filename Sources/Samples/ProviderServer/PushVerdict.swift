// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The result of an attempt to send a push to APNs.
enum PushOutcome: Equatable, Sendable {
  /// APNs responded. `since` comes with status 410: the time at which APNs found that the token is no longer valid.
  case answered(status: Int, reason: String?, since: Date?)
  /// There was no connection, or it broke before the response: APNs may have accepted the push.
  case unanswered(String)
}

/// The decision about a push after an attempt. Source: Apple's *Handling notification responses from APNs*.
enum PushVerdict: Equatable, Sendable {
  case sent
  /// The same request is never sent again.
  case refused
  /// The token is no longer valid, since this time.
  case tokenGone(since: Date)
  /// The same request is sent again after this many seconds.
  case again(after: TimeInterval)
}

/// The pauses before a push is retried.
struct RetryPolicy: Sendable {
  /// Seconds after the first 500 or 503, doubled after each further one. Apple asks for 15 minutes.
  var afterServerError: TimeInterval = 900
  /// Seconds after 429.
  var afterTooMany: TimeInterval = 60
  private static let longest: TimeInterval = 4 * 3600

  /// - Parameter attempts: the number of earlier attempts.
  func verdict(on outcome: PushOutcome, attempts: Int) -> PushVerdict {
    switch outcome {
    case .answered(200, _, _): .sent
    case .answered(410, _, let since): .tokenGone(since: since ?? .now)
    case .answered(429, _, _): .again(after: afterTooMany)
    // The provider token is too old; the next attempt uses a new one.
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
