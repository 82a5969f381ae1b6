// SPDX-License-Identifier: Apache-2.0

package import AuthorRuntime
import Foundation
import MessageBus
package import Messages
import Synchronization
import URLSessionAPI

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
