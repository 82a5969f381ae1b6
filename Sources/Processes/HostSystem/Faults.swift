package import Conversations

/// What a broken build of the host does wrong, so that the demonstration can be shown to notice it. A production host
/// has the default: nothing.
package struct Faults: Sendable {
  /// Where the events of a session's owner are sent.
  package var deliverTo: @Sendable (Address) -> Address
  /// Whether an owner that is not running is launched for its events.
  package var relaunches: Bool

  package init(deliverTo: @escaping @Sendable (Address) -> Address = { $0 }, relaunches: Bool = true) {
    self.deliverTo = deliverTo
    self.relaunches = relaunches
  }
}
