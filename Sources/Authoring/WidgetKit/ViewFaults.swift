import Archive
import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Synchronization

/// What is wrong with the views of a process's widgets, each told once for a kind.
final class ViewFaults: Sendable {
  // From iOS 17 on. The device says its version as a simulator does.
  private let wantsContainerBackground =
    ProcessInfo.processInfo.environment["SIMULATOR_RUNTIME_VERSION"].flatMap { Double($0.prefix { $0 != "." }) } ?? 17
    >= 17
  private let told = Mutex<Set<String>>([])

  /// Tells what these views lack or have too much.
  func notice(_ entries: [ArchivedEntry], of kind: String, in process: HostedProcess?) {
    guard let process, let view = entries.first?.view else { return }
    if wantsContainerBackground, !view.hasContainerBackground, isFirst("\(kind) background") {
      process.connection.record(
        FaultNoticed(
          .noContainerBackground, subject: kind,
          details: "the view of \(kind) has no containerBackground(for: .widget): from iOS 17 on, none is shown there"))
    }
    for name in view.unsupportedViews where isFirst("\(kind) \(name)") {
      process.connection.record(
        FaultNoticed(
          .unsupportedView, subject: kind,
          details: "the view of \(kind) has a \(name), which widgets cannot show: a sign stands in its place"))
    }
  }

  private func isFirst(_ fault: String) -> Bool { told.withLock { $0.insert(fault).inserted } }
}
