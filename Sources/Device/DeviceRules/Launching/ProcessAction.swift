// SPDX-License-Identifier: Apache-2.0

package import Messages

/// What a service of the device needs from a process. The launch service reads the actions of all services, and decides
/// each together with the state of the process.
package enum ProcessAction: Sendable, Hashable {
  /// Run the process, report when it is awake, and keep it running until `release`.
  ///
  /// Without `mayWake`, only a process that runs now is kept running, until its instance ends. A process that does not
  /// run, is suspended or is being suspended is left as it is.
  case want(Address, because: Assertion, mayWake: Bool = true)
  /// End one assertion of the process.
  case release(Address, because: Assertion)
  /// Like `release`, and suspend the process at once, even during its work, if no other assertion keeps it running.
  case halt(Address, because: Assertion)
  /// End this instance with `SIGKILL`; `nil`: the one that runs now, if there is one. The process may be launched again.
  case evict(Address, generation: UInt32? = nil, why: String)

  /// The same action for a device that launches no process for it.
  package var withoutWake: ProcessAction {
    guard case .want(let address, let assertion, _) = self else { return self }
    return .want(address, because: assertion, mayWake: false)
  }
}
