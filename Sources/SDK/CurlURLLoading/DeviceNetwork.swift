// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization
import URLSessionAPI

/// The device's network according to the host, for inline requests.
final class DeviceNetwork: Sendable {
  private struct State {
    var network = NetworkState()
    var limit = RateLimit()
    var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// The network of a process. The first call, before the process is announced, registers the handler.
  static func of(_ process: HostedProcess) -> DeviceNetwork {
    process.part(DeviceNetwork.self) { process in
      let network = DeviceNetwork()
      process.connection.onNotice(NetworkChanged.self) { notice, _ in network.became(notice.state) }
      return network
    }
  }

  func became(_ network: NetworkState) {
    let watchers = state.withLock { state in
      state.network = network
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher() }
  }

  var current: NetworkState { state.withLock { $0.network } }

  /// Returns when this many bytes, together with those of all other requests, have passed; `nil` without a rate limit.
  func pass(_ bytes: Int) -> ContinuousClock.Instant? {
    state.withLock { state in
      guard let rate = state.network.rate else { return nil }
      return state.limit.pass(bytes, at: .now, rate: rate)
    }
  }

  /// Calls `change` after every change, until `forget`.
  func watch(_ watcher: AnyObject, _ change: @escaping @Sendable () -> Void) {
    state.withLock { $0.watchers[ObjectIdentifier(watcher)] = change }
  }

  func forget(_ watcher: AnyObject) {
    _ = state.withLock { $0.watchers.removeValue(forKey: ObjectIdentifier(watcher)) }
  }
}
