// SPDX-License-Identifier: Apache-2.0

package import Device
package import DeviceRules
import Synchronization
package import Timekeeping

/// A device for the test of one service: the other concerns are empty. It keeps what they ask of each other.
package final class LoneDevice: Sendable {
  package let core: DeviceCore
  package let processes: AsyncStream<ProcessAction>
  /// All but those of `processes`.
  package let requests: AsyncStream<DeviceRequest>
  /// Why its state cannot be written.
  package let failures: AsyncStream<String>

  private static let all = Mutex<[ObjectIdentifier: LoneDevice]>([:])

  package init(_ state: DeviceStateMachine, clock: any ControllableClock) async {
    let (processes, process) = AsyncStream.makeStream(of: ProcessAction.self)
    let (requests, other) = AsyncStream.makeStream(of: DeviceRequest.self)
    let (failures, failure) = AsyncStream.makeStream(of: String.self)
    core = DeviceCore(state, clock: clock) { failure.yield($0) }
    (self.processes, self.requests, self.failures) = (processes, requests, failures)
    Self.all.withLock { $0[ObjectIdentifier(core)] = self }
    await core.observe { [core] step in
      // Its service is connected.
      core.begin()
      for request in step.asked {
        if case .process(let action) = request { process.yield(action) } else { other.yield(request) }
      }
    }
  }

  /// The device of a service.
  package static func of(_ core: DeviceCore) -> LoneDevice {
    guard let device = all.withLock({ $0[ObjectIdentifier(core)] }) else { fatalError("the core of no lone device") }
    return device
  }
}
