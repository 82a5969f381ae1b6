// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import Messages
import Synchronization

/// One call of an author's delegate. Detects whether the delegate implements the method, which Swift cannot determine
/// before the call.
final class DelegateMethod: Sendable {
  @TaskLocal private static var current: DelegateMethod?
  private let missing = Atomic(false)

  /// Called by the default implementation of a method.
  static func isMissing() { current?.missing.store(true, ordering: .relaxed) }

  /// Calls a method. Returns `false` when the delegate does not implement it.
  static func callDelegate(_ call: () -> Void) -> Bool {
    let method = DelegateMethod()
    $current.withValue(method, operation: call)
    return !method.missing.load(ordering: .relaxed)
  }

  /// Calls a method with a result. Returns `nil` when the delegate does not implement it.
  static func ask<Answer>(_ call: () async -> Answer) async -> Answer? {
    let method = DelegateMethod()
    let answer = await $current.withValue(method, operation: call)
    return method.missing.load(ordering: .relaxed) ? nil : answer
  }

  /// Transfers the current call to another thread.
  static func carried(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let method = current
    return { $current.withValue(method, operation: work) }
  }
}

/// Transfers a stream from the delegate to its reader.
struct BodyStream: Sendable {
  // Passed on once. The sender does not keep a reference.
  nonisolated(unsafe) let stream: InputStream?
}

extension URLSession {
  /// Calls the completion handler form of a delegate's method on the delegate queue.
  func onDelegateQueue<Answer: Sendable>(
    _ call: @escaping @Sendable (_ done: @escaping @Sendable (Answer) -> Void) -> Void
  ) async -> Answer {
    let (core, context) = (core, HostedProcess.currentContext)
    return await withCheckedContinuation { continuation in
      core.queue.addOperation(
        DelegateMethod.carried {
          core.process.asCurrent(context) { call { continuation.resume(returning: $0) } }
        })
    }
  }
}
