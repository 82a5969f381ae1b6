// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages
import SwiftUI
import Synchronization

/// Faults of the views of a process's widgets, each recorded once for a kind.
final class ViewFaults: Sendable {
  // From iOS 17 on. The device sets its version as the Simulator does.
  private let wantsContainerBackground =
    ProcessInfo.processInfo.environment["SIMULATOR_RUNTIME_VERSION"].flatMap { Double($0.prefix { $0 != "." }) } ?? 17
    >= 17
  private let reported = Mutex<Set<String>>([])

  /// Records what the views lack, and views that widgets do not support.
  ///
  /// - Parameter isControl: whether it is the view of a control, which has no container background.
  func notice(_ entries: [ArchivedEntry], of kind: String, isControl: Bool, in process: HostedProcess?) {
    guard let process, let view = entries.first?.view else { return }
    if wantsContainerBackground, !isControl, !view.hasContainerBackground, isFirst("\(kind) background") {
      process.connection.record(
        FaultNoticed(
          .noContainerBackground, subject: kind,
          details: "the view of \(kind) has no containerBackground(for: .widget): it is not shown from iOS 17 on"))
    }
    if UnsimulatedValues.isLuminanceRead {
      process.noticeUnsimulated("isLuminanceReduced", "it is always false: views are archived for full light only")
    }
    for name in view.modifiersWithoutEffect {
      process.noticeUnsimulated(name, "its text is not shown")
    }
    for name in view.unsupportedViews where isFirst("\(kind) \(name)") {
      process.connection.record(
        FaultNoticed(
          .unsupportedView, subject: kind,
          details: "the view of \(kind) has a \(name), which widgets cannot show: a symbol is shown instead"))
    }
    for problem in view.assetProblems where isFirst("\(kind) \(problem)") {
      // Each is a diagnosis for itself.
      process.connection.record(
        FaultNoticed(
          .assetNotUsable, subject: "\(kind): \(problem)", details: "the view of \(kind) cannot show \(problem)"))
    }
  }

  private func isFirst(_ fault: String) -> Bool { reported.withLock { $0.insert(fault).inserted } }
}
