// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import URLSessionAPI

/// Whether a request may use the device's current network.
enum NetworkPassage: Hashable {
  case open
  /// No network.
  case absent
  /// A network that this request may not use.
  case closed(URLError.NetworkUnavailableReason)

  init(_ state: NetworkState, for request: URLRequest) {
    let isCellular = state.path == .cellular
    if state.path == .off {
      self = .absent
    } else if isCellular && !request.allowsCellularAccess {
      self = .closed(.cellular)
    } else if isCellular && !request.allowsExpensiveNetworkAccess {
      self = .closed(.expensive)
    } else if state.isConstrained && !request.allowsConstrainedNetworkAccess {
      self = .closed(.constrained)
    } else {
      self = .open
    }
  }

  /// The error of a request that does not wait: -1009, with the reason if any (documented: `NSURLError.h`).
  var failure: URLError? {
    switch self {
    case .open: nil
    case .absent:
      URLError(.notConnectedToInternet, userInfo: [NSLocalizedDescriptionKey: "the device has no network"])
    case .closed(let reason):
      URLError(
        .notConnectedToInternet,
        userInfo: [
          NSLocalizedDescriptionKey: "the device's network is \(reason), and the request does not allow that",
          NSURLErrorNetworkUnavailableReasonKey: reason.rawValue,
        ])
    }
  }
}

/// Computes when bytes have passed at a rate.
struct RateLimit {
  /// When all previous bytes have passed.
  private var free: ContinuousClock.Instant?

  /// - Parameter rate: in bytes per second; above 0.
  /// - Returns: when these bytes have passed.
  mutating func pass(_ bytes: Int, at now: ContinuousClock.Instant, rate: Int64) -> ContinuousClock.Instant {
    let begin = max(free ?? now, now)
    let end = begin + .seconds(Double(bytes) / Double(max(rate, 1)))
    free = end
    return end
  }

  /// The number of bytes of a tenth of a second, within libcurl's bounds.
  static func piece(at rate: Int64?) -> Int {
    rate.map { Int(min(max($0 / 10, 1024), 65_536)) } ?? 65_536
  }
}
