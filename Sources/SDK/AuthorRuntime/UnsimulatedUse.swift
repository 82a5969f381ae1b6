// SPDX-License-Identifier: Apache-2.0

import MessageBus
import Messages
import Synchronization

/// The declarations that an author's code uses and that have no effect here, each reported once in a process.
private final class UnsimulatedUse: Sendable {
  private let reported = Mutex<Set<String>>([])

  func isFirst(_ declaration: String) -> Bool { reported.withLock { $0.insert(declaration).inserted } }
}

extension HostedProcess {
  /// Records that the author's code depends on something that is not simulated, for the diagnosis `not-simulated`. Any
  /// thread.
  ///
  /// - Parameters:
  ///   - declaration: Apple's name, such as `isLuminanceReduced`.
  ///   - details: what happens here instead.
  package func noticeUnsimulated(_ declaration: String, _ details: String) {
    guard part(UnsimulatedUse.self, { _ in UnsimulatedUse() }).isFirst(declaration) else { return }
    connection.record(FaultNoticed(.notSimulated, subject: declaration, details: "\(declaration): \(details)"))
  }
}
