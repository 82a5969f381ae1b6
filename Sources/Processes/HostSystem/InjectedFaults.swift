// SPDX-License-Identifier: Apache-2.0

package import Messages

/// The faults that a test injects into a host, to show that the demo detects them. The default is none.
package struct InjectedFaults: Sendable {
  /// Where the events of a session's owner are sent.
  package var deliverTo: @Sendable (Address) -> Address
  /// Whether an owner that is not running or is suspended is launched or resumed for its events.
  package var relaunches: Bool

  package init(deliverTo: @escaping @Sendable (Address) -> Address = { $0 }, relaunches: Bool = true) {
    self.deliverTo = deliverTo
    self.relaunches = relaunches
  }
}
