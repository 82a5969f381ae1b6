import BackgroundURLSession
import Conversations
import Foundation

/// Whether a request may use the device's network as it is.
enum NetworkPassage: Hashable {
  case open
  /// There is none.
  case absent
  /// There is one, and not for this request.
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

  /// What a request fails with that does not wait: -1009, with the reason where there is one (documented: `NSURLError.h`).
  var failure: URLError? {
    switch self {
    case .open: nil
    case .absent:
      URLError(.notConnectedToInternet, userInfo: [NSLocalizedDescriptionKey: "the device has no network"])
    case .closed(let reason):
      URLError(
        .notConnectedToInternet,
        userInfo: [
          NSLocalizedDescriptionKey: "the device's network is \(reason), which the request may not use",
          NSURLErrorNetworkUnavailableReasonKey: reason.rawValue,
        ])
    }
  }
}

/// How much may pass when.
struct RateLimit {
  /// When all that passed so far has passed.
  private var free: ContinuousClock.Instant?

  /// - Parameter rate: bytes a second; above 0.
  /// - Returns: when these bytes have passed.
  mutating func pass(_ bytes: Int, at now: ContinuousClock.Instant, rate: Int64) -> ContinuousClock.Instant {
    let begin = max(free ?? now, now)
    let end = begin + .seconds(Double(bytes) / Double(max(rate, 1)))
    free = end
    return end
  }

  /// Bytes that make a tenth of a second, in the bounds of what libcurl takes.
  static func piece(at rate: Int64?) -> Int {
    rate.map { Int(min(max($0 / 10, 1024), 65_536)) } ?? 65_536
  }
}
