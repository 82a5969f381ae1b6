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
