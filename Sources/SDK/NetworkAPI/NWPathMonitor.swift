// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Dispatch
@_exported public import Foundation
import Messages
import Synchronization
import URLSessionAPI

/// Observes the device's network, which `widgetlab network` sets. Source: `Network.NWPathMonitor`.
///
/// The device has one network at a time, so that a monitor that requires another type of interface has no path. In an
/// executable that no agent started the network is Wi-Fi.
public final class NWPathMonitor: Sendable {
  private struct State {
    var handler: (@Sendable (NWPath) -> Void)?
    var queue: DispatchQueue?
    var isCancelled = false
    /// The path that the handler received last.
    var reported: NWPath?
    /// The ends of sequences, by the iterator.
    var sequences: [ObjectIdentifier: AsyncStream<Void>.Continuation] = [:]
  }

  private let state = Mutex(State())
  private let network: DeviceNetwork?
  private let required: NWInterface.InterfaceType?
  private let prohibited: [NWInterface.InterfaceType]

  private init(required: NWInterface.InterfaceType?, prohibited: [NWInterface.InterfaceType]) {
    network = HostedProcess.current.map(DeviceNetwork.of)
    self.required = required
    self.prohibited = prohibited
  }

  /// Observes the network, whatever its interface.
  public convenience init() { self.init(required: nil, prohibited: []) }
  /// Observes one type of interface.
  public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
    self.init(required: requiredInterfaceType, prohibited: [])
  }
  /// Observes all types of interfaces except these.
  public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
    self.init(required: nil, prohibited: prohibitedInterfaceTypes)
  }

  deinit { network?.forget(self) }

  /// Receives the path after `start(queue:)`, and each other one, on the queue.
  public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
    get { state.withLock { $0.handler } }
    set { state.withLock { $0.handler = newValue } }
  }

  /// The queue of the handler; `nil` before `start(queue:)`.
  public var queue: DispatchQueue? { state.withLock { $0.queue } }

  /// The path now.
  public var currentPath: NWPath {
    NWPath(network?.current ?? NetworkState()) { (required == nil || required == $0) && !prohibited.contains($0) }
  }

  /// Begins to observe. Has no effect the second time, and after `cancel()`. The monitor must be kept: it ends with its
  /// last reference.
  public func start(queue: DispatchQueue) {
    let isFirst = state.withLock { state in
      guard state.queue == nil, !state.isCancelled else { return false }
      state.queue = queue
      return true
    }
    guard isFirst else { return }
    // The author's queue may be concurrent, and the paths have an order.
    let reports = DispatchQueue(label: "NWPathMonitor", target: queue)
    let schedule: @Sendable () -> Void = { [weak self] in reports.async { self?.report() } }
    network?.watch(self, schedule)
    schedule()
  }

  /// Ends the observation and all sequences. The handler is not called any more.
  public func cancel() {
    network?.forget(self)
    let sequences = state.withLock { state in
      state.isCancelled = true
      state.handler = nil
      return Array(state.sequences.values)
    }
    for sequence in sequences { sequence.finish() }
  }

  private var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Passes the path of this moment to the handler, unless it has it already. On the queue.
  private func report() {
    let path = currentPath
    let handler = state.withLock { state -> (@Sendable (NWPath) -> Void)? in
      guard !state.isCancelled, state.reported != path else { return nil }
      state.reported = path
      return state.handler
    }
    handler?(path)
  }

  // MARK: Sequences

  /// One iteration over the paths. The network knows it by its identity.
  fileprivate final class Iteration: Sendable {
    let changes: AsyncStream<Void>
    let monitor: NWPathMonitor

    init(of monitor: NWPathMonitor) {
      self.monitor = monitor
      // Only that there was a change is kept: the path is read afterwards.
      let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      self.changes = changes
      change.yield()
      let isCancelled = monitor.state.withLock { state in
        state.sequences[ObjectIdentifier(self)] = change
        return state.isCancelled
      }
      monitor.network?.watch(self) { change.yield() }
      if isCancelled { change.finish() }
    }

    deinit {
      monitor.network?.forget(self)
      _ = monitor.state.withLock { $0.sequences.removeValue(forKey: ObjectIdentifier(self)) }
    }
  }
}

extension NWPathMonitor: AsyncSequence {
  public typealias Element = NWPath
  public typealias Failure = Never

  /// Source: `NWPathMonitor.Iterator`.
  public struct Iterator: AsyncIteratorProtocol {
    private let iteration: Iteration
    private var changes: AsyncStream<Void>.Iterator
    private var last: NWPath?

    fileprivate init(of monitor: NWPathMonitor) {
      iteration = Iteration(of: monitor)
      changes = iteration.changes.makeAsyncIterator()
    }

    public mutating func next() async -> NWPath? { await next(isolation: #isolation) }
    public mutating func next(isolation actor: isolated (any Actor)?) async -> NWPath? {
      while await changes.next(isolation: actor) != nil {
        guard !iteration.monitor.isCancelled else { return nil }
        let path = iteration.monitor.currentPath
        guard path != last else { continue }
        last = path
        return path
      }
      return nil
    }
  }

  /// The path now, and each other one. Needs no `start(queue:)`.
  public func makeAsyncIterator() -> Iterator { Iterator(of: self) }
}

/// An interface of the device. Source: `Network.NWInterface`. The device has one for Wi-Fi, one for cellular data and the
/// loopback.
public struct NWInterface: Hashable, Sendable, CustomDebugStringConvertible {
  /// Source: `NWInterface.InterfaceType`.
  public enum InterfaceType: Hashable, Sendable {
    case other, wifi, cellular, wiredEthernet, loopback
  }

  public let type: InterfaceType
  public let name: String
  public let index: Int

  public var debugDescription: String { name }

  static let wifi = NWInterface(type: .wifi, name: "en0", index: 2)
  static let cellular = NWInterface(type: .cellular, name: "pdp_ip0", index: 3)
  static let loopback = NWInterface(type: .loopback, name: "lo0", index: 1)

  /// The interface with a name; `nil` when the device has none.
  static func named(_ name: String) -> NWInterface? { [wifi, cellular, loopback].first { $0.name == name } }
}

/// What the device's network offers. Source: `Network.NWPath`.
public struct NWPath: Equatable, Sendable, CustomDebugStringConvertible {
  /// Source: `NWPath.Status`. `requiresConnection` does not occur here.
  public enum Status: Hashable, Sendable {
    case satisfied, unsatisfied, requiresConnection
  }

  /// Source: `NWPath.UnsatisfiedReason`. Here it is always `notAvailable`.
  public enum UnsatisfiedReason: Hashable, Sendable {
    case notAvailable, cellularDenied, wifiDenied, localNetworkDenied, vpnInactive
  }

  public let status: Status
  /// The interfaces that can be used, the preferred one first.
  public let availableInterfaces: [NWInterface]
  /// Whether it is cellular data.
  public let isExpensive: Bool
  /// Whether the user has chosen Low Data Mode.
  public let isConstrained: Bool

  public var unsatisfiedReason: UnsatisfiedReason { .notAvailable }
  public var supportsIPv4: Bool { status == .satisfied }
  public var supportsIPv6: Bool { status == .satisfied }
  public var supportsDNS: Bool { status == .satisfied }
  /// Only the path of a connection has endpoints.
  public var localEndpoint: NWEndpoint? { nil }
  public var remoteEndpoint: NWEndpoint? { nil }
  public var gateways: [NWEndpoint] { [] }

  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
    availableInterfaces.contains { $0.type == type }
  }

  public var debugDescription: String {
    guard status == .satisfied else { return "unsatisfied (No network route)" }
    let more = [isExpensive ? "expensive" : nil, isConstrained ? "constrained" : nil].compactMap(\.self)
    let names = availableInterfaces.map { "interface: \($0.name)" }
    return (["satisfied (Path is satisfied)"] + names + ["ipv4", "ipv6", "dns"] + more).joined(separator: ", ")
  }

  /// The path over the device's network, as far as an author's code accepts its interface.
  init(_ network: NetworkState, accepts: (NWInterface.InterfaceType) -> Bool) {
    let interface: NWInterface? =
      switch network.path {
      case .wifi: .wifi
      case .cellular: .cellular
      case .off: nil
      }
    availableInterfaces = [interface].compactMap(\.self).filter { accepts($0.type) }
    status = availableInterfaces.isEmpty ? .unsatisfied : .satisfied
    isExpensive = availableInterfaces.first?.type == .cellular
    isConstrained = status == .satisfied && network.isConstrained
  }
}
