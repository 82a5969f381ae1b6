// SPDX-License-Identifier: Apache-2.0

package import AuthorRuntime
import Foundation
import MessageBus
package import Messages
import Synchronization

/// The device's network according to the host, for inline requests and for monitors of the network. Any thread.
package final class DeviceNetwork: Sendable {
  private struct State {
    var network = NetworkState()
    var limit = RateLimit()
    var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// The network of a process. The first call, before the process is announced, registers the handler.
  package static func of(_ process: HostedProcess) -> DeviceNetwork {
    process.part(DeviceNetwork.self) { process in
      let network = DeviceNetwork()
      process.connection.onNotice(NetworkChanged.self) { notice, _ in network.became(notice.state) }
      return network
    }
  }

  /// The host's state arrived.
  package func became(_ network: NetworkState) {
    let watchers = state.withLock { state in
      state.network = network
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher() }
  }

  /// The network now. Wi-Fi without a limit before the host's first message.
  package var current: NetworkState { state.withLock { $0.network } }

  /// Returns when this many bytes, together with those of all other requests, have passed; `nil` without a rate limit.
  func pass(_ bytes: Int) -> ContinuousClock.Instant? {
    state.withLock { state in
      guard let rate = state.network.rate else { return nil }
      return state.limit.pass(bytes, at: .now, rate: rate)
    }
  }

  /// Calls `change` after every change, until `forget`.
  package func watch(_ watcher: AnyObject, _ change: @escaping @Sendable () -> Void) {
    state.withLock { $0.watchers[ObjectIdentifier(watcher)] = change }
  }

  /// Ends the calls that `watch` requested.
  package func forget(_ watcher: AnyObject) {
    _ = state.withLock { $0.watchers.removeValue(forKey: ObjectIdentifier(watcher)) }
  }
}

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
