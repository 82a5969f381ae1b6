// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
package import Messages

// What the rest of the host may ask about the processes.

extension LaunchService {
  /// Whether the user force-quit the app and has not opened it since.
  package func isQuit(_ app: Address) -> Bool { stateMachine.isQuit(app) }

  /// The apps that the user force-quit and has not opened since.
  package var quitApps: [Address] {
    stateMachine.processes.filter(\.value.isQuit).keys.sorted { $0.text < $1.text }
  }

  /// Whether the app is in the foreground.
  package func isInFront(_ app: Address) -> Bool { stateMachine.isInFront(app) }

  /// The instance of this address that runs and is not suspended, if there is one.
  package func awakeInstance(of address: Address) -> ProcessInstance? { stateMachine.runningInstance(of: address) }

  /// The generations of the instances that run and are not suspended.
  package var runningInstances: [Address: UInt32] {
    stateMachine.processes.compactMapValues { $0.state == .running ? $0.instance?.generation : nil }
  }

  /// The generations of the instances that are suspended.
  package var suspendedInstances: [Address: UInt32] {
    stateMachine.processes.compactMapValues { $0.state == .suspended ? $0.instance?.generation : nil }
  }

  /// Why the last launch of a process failed, unless another one has succeeded since.
  package func launchFailure(of address: Address) -> BusError? { stateMachine.processes[address]?.launchFailure }

  /// The rows of `ps`.
  package var status: [DeviceStatus.Process] {
    stateMachine.processes.sorted { $0.key.text < $1.key.text }.map { address, process in
      DeviceStatus.Process(
        address: address, generation: process.instance?.generation ?? process.lastGeneration,
        pid: process.instance?.pid,
        state: process.state.rawValue, why: why(process), lastEnding: process.lastEnding)
    }
  }

  private func why(_ process: LaunchStateMachine.Process) -> String {
    if process.isQuit {
      return "force-quit by the user; not launched until the user opens it, or touches a button, toggle or control "
        + "whose intent it performs"
    }
    // For a process that is wanted and does not run, the reason matters more than the assertions.
    if process.state == .dying || process.state == .absent && process.notBefore != nil { return process.why }
    return process.assertions.isEmpty
      ? process.why : process.assertions.sorted().map(\.description).joined(separator: ", ")
  }
}
