// SPDX-License-Identifier: Apache-2.0

package import Messages

/// The state machine of the device's conditions: the network, the power, and the order of changes to the clock. A plain
/// value without clock or I/O.
package struct DeviceConditionsStateMachine: Sendable {
  package enum Event: Sendable {
    /// The host starts, and these process instances run.
    case began(running: [Address: UInt32])
    case networkSet(NetworkState)
    case powerSet(isAwake: Bool)
    /// The push server connected to the bus.
    case pushServerConnected
    /// A process instance reported ready, or was resumed.
    case runs(Address, generation: UInt32)
    case suspended(Address, generation: UInt32)
    case ended(Address, generation: UInt32)
    /// A change of the clock was requested under this number.
    case clockChangeRequested(Int)
    /// The change of the clock that was in progress is applied, or failed.
    case clockChangeEnded
  }

  package enum Action: Sendable, Equatable {
    case output(DeviceConditionsOutput)
    /// Record the network state in the journal.
    case record(NetworkState)
    /// Send the network state to a process.
    case send(NetworkState, to: Address)
    /// Report the reachability to the push server. The report replaces an earlier one that is not delivered.
    case report(isOnline: Bool, isAwake: Bool)
    /// Apply the change with this number to the clock, then send `clockChangeEnded`.
    case changeClock(Int)
  }

  /// The state of the network.
  package private(set) var network: NetworkState
  /// Whether the push server may wake the device at any time.
  package private(set) var isAwake: Bool
  private let hasPushServer: Bool
  private var instances = InstanceTable<NetworkState>()
  /// The numbers of requested changes of the clock in order. The first one is in progress.
  private var clockChanges: [Int] = []

  /// - Parameter hasPushServer: whether the cluster has a push server to report to.
  package init(network: NetworkState = NetworkState(), isAwake: Bool = true, hasPushServer: Bool = true) {
    self.network = network
    self.isAwake = isAwake
    self.hasPushServer = hasPushServer
  }

  /// Handles one event.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began(let running):
      instances.began(running)
      return report()
    case .networkSet(let state):
      network = state
      return [.record(state), .output(.networkChanged(state))] + report() + sendToAll()
    case .powerSet(let isAwake):
      self.isAwake = isAwake
      return report()
    case .pushServerConnected: return report()
    case .runs(let address, let generation):
      return instances.runs(address, generation) ? send(address) : []
    case .suspended(let address, let generation):
      instances.suspended(address, generation)
      return []
    case .ended(let address, let generation):
      instances.ended(address, generation)
      return []
    case .clockChangeRequested(let number):
      clockChanges.append(number)
      return clockChanges.count == 1 ? [.changeClock(number)] : []
    case .clockChangeEnded:
      if !clockChanges.isEmpty { clockChanges.removeFirst() }
      return clockChanges.first.map { [.changeClock($0)] } ?? []
    }
  }

  /// Why a network state is refused; `nil` when it is valid.
  package static func refusal(of state: NetworkState) -> BusError? {
    guard let rate = state.rate, rate <= 0 else { return nil }
    return BusError(.malformed, "a rate must be at least 1 byte per second; a network without throughput is off")
  }

  private func report() -> [Action] {
    guard hasPushServer else { return [] }
    return [.report(isOnline: network.path != .off, isAwake: isAwake)]
  }

  private mutating func sendToAll() -> [Action] { instances.addresses.flatMap { send($0) } }

  /// Sends the network state to a running instance that does not have it.
  private mutating func send(_ address: Address) -> [Action] {
    instances.sends(network, to: address) ? [.send(network, to: address)] : []
  }
}
