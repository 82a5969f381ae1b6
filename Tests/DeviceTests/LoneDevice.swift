// SPDX-License-Identifier: Apache-2.0

import Device
import DeviceRules
import Synchronization
import Timekeeping

/// A device for the test of one service: the other concerns are empty. It keeps what they ask of each other.
final class LoneDevice: Sendable {
  let core: DeviceCore
  let processes: AsyncStream<ProcessAction>
  /// All but those of `processes`.
  let requests: AsyncStream<DeviceRequest>
  /// Why its state cannot be written.
  let failures: AsyncStream<String>

  private static let all = Mutex<[ObjectIdentifier: LoneDevice]>([:])

  init(_ state: DeviceStateMachine, clock: any ControllableClock) async {
    let (processes, process) = AsyncStream.makeStream(of: ProcessAction.self)
    let (requests, other) = AsyncStream.makeStream(of: DeviceRequest.self)
    let (failures, failure) = AsyncStream.makeStream(of: String.self)
    core = DeviceCore(state, clock: clock) { failure.yield($0) }
    (self.processes, self.requests, self.failures) = (processes, requests, failures)
    Self.all.withLock { $0[ObjectIdentifier(core)] = self }
    await core.observe { [core] step in
      // Its service is connected.
      core.begin()
      for request in step.requests {
        if case .process(let action) = request { process.yield(action) } else { other.yield(request) }
      }
    }
  }

  /// The device of a service.
  static func of(_ core: DeviceCore) -> LoneDevice {
    guard let device = all.withLock({ $0[ObjectIdentifier(core)] }) else { fatalError("the core of no lone device") }
    return device
  }
}
