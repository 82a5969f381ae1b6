// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Glibc
package import Messages

/// A named point of a process, directly before or after a durable write or an acknowledgement.
///
/// An injector can end or stall a process there, or make the write fail: `FaultPointPage`. It also reads which point a
/// process reached last, also after the process was killed.
///
/// In ordinary use a process has no page, and a point costs one load and a branch. A process has a page only if the file
/// `fault-points` was in the instance's folder when the process started.
package enum FaultPoint: UInt32, CaseIterable, Sendable {
  // The raw values are in the shared page. 0 means that no point was reached.
  case busBeforeJournal = 1
  case busAfterJournal
  case busAfterForwarding
  case busBeforeSegment
  case busAfterSegment

  case hostBeforeTasksSaved
  case hostAfterTasksSaved
  case hostBeforeDeliveriesSaved
  case hostAfterDeliveriesSaved
  case hostBeforeInstancesSaved
  case hostAfterInstancesSaved
  case hostBeforeTimelinesSaved
  case hostAfterTimelinesSaved
  case hostBeforeScreenSaved
  case hostAfterScreenSaved
  case hostBeforePushesSaved
  case hostAfterPushesSaved
  case hostBeforeSettingsSaved
  case hostAfterSettingsSaved
  case hostBeforeFilesCopied
  case hostAfterFilesCopied
  case hostWithinTask
  case hostWithinNotification
  case hostWithinTimeline
  case hostWithinImage

  case agentBeforeInstanceRegistered
  case agentAfterInstanceRegistered
  case agentBeforeSpawn
  case agentAfterSpawn
  case agentBeforeExitReported
  case agentAfterExitAcknowledged

  case pushServerBeforePushesSaved
  case pushServerAfterPushesSaved
  case pushServerBeforeTokensSaved
  case pushServerAfterTokensSaved

  case authorBeforeEventsHandled
  case authorAfterEventsHandled

  case peerBeforeAnswer
  case peerAfterAnswer

  /// This process reached the point. Ends or stalls the process if an injector has armed that. Any thread.
  @inlinable package func reached() {
    if fault_page_is_here() != 0 { _ = fault_point_perform(rawValue) }
  }

  /// The same at a write.
  ///
  /// - Returns: the `errno` with which the write must fail; `nil` when it must be made.
  @inlinable package func failure() -> Int32? {
    guard fault_page_is_here() != 0 else { return nil }
    let code = fault_point_perform(rawValue)
    return code == 0 ? nil : code
  }

  /// The point with this name.
  package init?(name: String) {
    guard let point = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = point
  }
}

extension FaultPointPage {
  /// The name of the file in the instance's folder.
  package static let fileName = "fault-points"

  /// Maps the page of an instance into this process, if there is one. Called once, at the start of a process.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - address: of this process.
  /// - Returns: whether this process has the page; `false` in ordinary use, without the file.
  /// - Throws: when the file exists and cannot be used.
  @discardableResult
  package static func join(_ path: String, as address: Address) throws(FaultPointError) -> Bool {
    guard fault_page_join(path, address.text) == 0 else {
      if errno == ENOENT { return false }
      throw FaultPointError(path, errno)
    }
    return true
  }
}

/// The faults on the lines of the bus, as the broker performs them.
package enum LineFaults {
  /// Whether a fault is armed; one load and a branch in ordinary use.
  @inlinable package static var areArmed: Bool { fault_page_is_here() != 0 && fault_page_has_lines() != 0 }

  /// What happens to an envelope that is being forwarded; `nil`: nothing. It counts as a hit.
  ///
  /// - Parameter mayDouble: whether it is a request or an event, which may be sent twice.
  package static func action(
    from source: Address, to destination: Address, type: String, mayDouble: Bool
  ) -> FaultPointPage.LineAction? {
    var value: UInt32 = 0
    let action = fault_line_perform(source.text, destination.text, type, mayDouble ? 1 : 0, &value)
    return switch Int(action) {
    case fault_delay: .delay(milliseconds: Int(value))
    case fault_cut: .cut
    case fault_double: .double
    default: nil
    }
  }
}

/// Why the page of an instance cannot be used.
package struct FaultPointError: Error, Sendable, CustomStringConvertible {
  /// The `errno`.
  package let code: Int32
  package let description: String

  init(_ path: String, _ code: Int32) {
    self.code = code
    self.description =
      switch code {
      case EWOULDBLOCK: "\(path) is in use: another campaign injects faults into this instance"
      case EINVAL: "\(path) is not a page of fault points: remove it, or stop the campaign of another version"
      default: "\(path) cannot be used for fault points: \(String(cString: strerror(code)))"
      }
  }
}

// The table of the points.

extension FaultPoint {
  /// The name, such as `host.before-tasks-saved`: the process, and what it does there.
  package var name: String { row.name }

  /// One sentence about the state of the process at this point.
  package var summary: String { row.summary }

  /// Whether a write follows the point, so that it can be made to fail.
  package var canFail: Bool { row.canFail }

  /// Whether the process is in the middle of a step that the next point ends.
  package var isBefore: Bool { name.contains(".before-") }

  private typealias Row = (name: String, summary: String, canFail: Bool)

  private var row: Row {
    switch self {
    case .busBeforeJournal, .busAfterJournal, .busAfterForwarding, .busBeforeSegment, .busAfterSegment: busRow
    case .agentBeforeInstanceRegistered, .agentAfterInstanceRegistered, .agentBeforeSpawn, .agentAfterSpawn,
      .agentBeforeExitReported, .agentAfterExitAcknowledged:
      agentRow
    case .pushServerBeforePushesSaved, .pushServerAfterPushesSaved, .pushServerBeforeTokensSaved,
      .pushServerAfterTokensSaved:
      pushServerRow
    case .authorBeforeEventsHandled, .authorAfterEventsHandled, .peerBeforeAnswer, .peerAfterAnswer: peerRow
    default: hostRow
    }
  }

  private var busRow: Row {
    switch self {
    case .busBeforeJournal: ("bus.before-journal", "A batch of envelopes is decided and not written.", true)
    case .busAfterJournal: ("bus.after-journal", "A batch is in the journal, and nothing of it is forwarded.", false)
    case .busBeforeSegment: ("bus.before-segment", "A new segment of the journal is not written.", true)
    case .busAfterSegment: ("bus.after-segment", "The journal has a new segment.", false)
    default: ("bus.after-forwarding", "A batch is in the journal and forwarded.", false)
    }
  }

  private var hostRow: Row {
    switch self {
    case .hostBeforeTasksSaved:
      ("host.before-tasks-saved", "A change of sessions or their tasks is not committed.", true)
    case .hostAfterTasksSaved:
      ("host.after-tasks-saved", "A change of sessions or their tasks is committed, and not announced.", false)
    case .hostBeforeDeliveriesSaved:
      ("host.before-deliveries-saved", "A change of a delivery, or its deletion, is not committed.", true)
    case .hostAfterDeliveriesSaved:
      ("host.after-deliveries-saved", "A change of a delivery is committed, and nothing was sent.", false)
    case .hostBeforeInstancesSaved:
      ("host.before-instances-saved", "A start or end of a process instance is not committed.", true)
    case .hostAfterInstancesSaved:
      ("host.after-instances-saved", "A start or end of a process instance is committed.", false)
    case .hostBeforeTimelinesSaved:
      ("host.before-timelines-saved", "A timeline, reload or budget entry is not committed.", true)
    case .hostAfterTimelinesSaved:
      ("host.after-timelines-saved", "A timeline, reload or budget entry is committed, and not announced.", false)
    case .hostBeforeScreenSaved: ("host.before-screen-saved", "A change of the screen is not committed.", true)
    case .hostAfterScreenSaved: ("host.after-screen-saved", "A change of the screen is committed.", false)
    case .hostBeforePushesSaved: ("host.before-pushes-saved", "A push or a token is not committed.", true)
    case .hostAfterPushesSaved:
      ("host.after-pushes-saved", "A push or a token is committed, and not acknowledged.", false)
    case .hostBeforeSettingsSaved: ("host.before-settings-saved", "A setting of the user is not committed.", true)
    case .hostAfterSettingsSaved:
      ("host.after-settings-saved", "A setting of the user is committed, and has no effect yet.", false)
    case .hostBeforeFilesCopied:
      ("host.before-files-copied", "The files of a delivery are not in the owner's container.", false)
    case .hostAfterFilesCopied:
      ("host.after-files-copied", "The files of a delivery are in the owner's container.", false)
    case .hostWithinTask: ("host.within-task", "A task begins an attempt to load.", false)
    case .hostWithinNotification: ("host.within-notification", "A notification is handled.", false)
    case .hostWithinTimeline: ("host.within-timeline", "The reply to a request for a timeline is handled.", false)
    default: ("host.within-image", "An image of a timeline is read.", false)
    }
  }

  private var agentRow: Row {
    switch self {
    case .agentBeforeInstanceRegistered:
      ("agent.before-instance-registered", "The broker does not know a new process instance.", false)
    case .agentAfterInstanceRegistered:
      ("agent.after-instance-registered", "The broker knows a process instance that is not spawned.", false)
    case .agentBeforeSpawn: ("agent.before-spawn", "The kernel was not asked to spawn a process.", true)
    case .agentAfterSpawn: ("agent.after-spawn", "A process runs, and its start is not reported.", false)
    case .agentBeforeExitReported:
      ("agent.before-exit-reported", "A process was reaped, and its exit is not reported.", false)
    default: ("agent.after-exit-acknowledged", "The host has acknowledged the exit of a process.", false)
    }
  }

  private var pushServerRow: Row {
    switch self {
    case .pushServerBeforePushesSaved:
      ("push-server.before-pushes-saved", "Pushes or their steps are not committed.", true)
    case .pushServerAfterPushesSaved:
      ("push-server.after-pushes-saved", "Pushes or their steps are committed, and not answered or sent.", false)
    case .pushServerBeforeTokensSaved:
      ("push-server.before-tokens-saved", "A device token is not committed.", true)
    default: ("push-server.after-tokens-saved", "A device token is committed, and not announced.", false)
    }
  }

  private var peerRow: Row {
    switch self {
    case .authorBeforeEventsHandled:
      ("author.before-events-handled", "The events of a session have arrived at their owner.", false)
    case .authorAfterEventsHandled:
      ("author.after-events-handled", "The owner has handled the events of a session.", false)
    case .peerBeforeAnswer:
      ("peer.before-answer", "A request or an event is handled, and its reply is not sent; each process.", false)
    default: ("peer.after-answer", "A reply or an acknowledgement is passed to the socket; each process.", false)
    }
  }
}
