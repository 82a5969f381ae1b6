// SPDX-License-Identifier: Apache-2.0

package import Device
package import DeviceRules
import Synchronization
package import Timekeeping

/// A device for the test of one service: the other concerns are empty. It keeps what they ask of each other.
package final class LoneDevice: Sendable {
  package let core: DeviceCore
  package let processes: AsyncStream<ProcessAction>
  package let launches: AsyncStream<LaunchOutput>
  package let apps: AsyncStream<AppLifecycleOutput>
  package let pushes: AsyncStream<PushOutput>
  package let network: AsyncStream<DeviceConditionsOutput>
  /// Why its state cannot be written.
  package let failures: AsyncStream<String>

  private static let all = Mutex<[ObjectIdentifier: LoneDevice]>([:])

  package init(_ state: DeviceStateMachine, clock: any ControllableClock) async {
    let (processes, process) = AsyncStream.makeStream(of: ProcessAction.self)
    let (launches, launch) = AsyncStream.makeStream(of: LaunchOutput.self)
    let (apps, app) = AsyncStream.makeStream(of: AppLifecycleOutput.self)
    let (pushes, push) = AsyncStream.makeStream(of: PushOutput.self)
    let (network, condition) = AsyncStream.makeStream(of: DeviceConditionsOutput.self)
    let (failures, failure) = AsyncStream.makeStream(of: String.self)
    core = DeviceCore(state, clock: clock) { failure.yield($0) }
    (self.processes, self.launches, self.apps, self.pushes) = (processes, launches, apps, pushes)
    (self.network, self.failures) = (network, failures)
    Self.all.withLock { $0[ObjectIdentifier(core)] = self }
    await core.observe { [core] step in
      // Its service is connected.
      core.begin()
      for request in step.asked {
        switch request {
        case .process(let action): process.yield(action)
        case .launch(let output): launch.yield(output)
        case .app(let output): app.yield(output)
        case .push(let output): push.yield(output)
        case .conditions(let output): condition.yield(output)
        case .timelines, .report: break
        }
      }
    }
  }

  /// The device of a service.
  package static func of(_ core: DeviceCore) -> LoneDevice {
    guard let device = all.withLock({ $0[ObjectIdentifier(core)] }) else { fatalError("the core of no lone device") }
    return device
  }
}
