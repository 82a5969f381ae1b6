import AuthoredProcess
import Conversations
import Foundation
import Synchronization

/// One call of an author's delegate: whether the delegate has the method, which Swift cannot tell beforehand.
final class DelegateMethod: Sendable {
  @TaskLocal private static var current: DelegateMethod?
  private let missing = Atomic(false)

  /// Said by the method that stands in for the author's.
  static func isMissing() { current?.missing.store(true, ordering: .relaxed) }

  /// Calls a method. `false` when the delegate has none.
  static func tell(_ call: () -> Void) -> Bool {
    let method = DelegateMethod()
    $current.withValue(method, operation: call)
    return !method.missing.load(ordering: .relaxed)
  }

  /// Calls a method that answers. `nil` when the delegate has none.
  static func ask<Answer>(_ call: () async -> Answer) async -> Answer? {
    let method = DelegateMethod()
    let answer = await $current.withValue(method, operation: call)
    return method.missing.load(ordering: .relaxed) ? nil : answer
  }

  /// Carries the call that is made now to another thread.
  static func carried(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let method = current
    return { $current.withValue(method, operation: work) }
  }
}

/// A stream on its way from the delegate to whoever reads it.
struct BodyStream: Sendable {
  // Handed on once, and never kept by the one who had it.
  nonisolated(unsafe) let stream: InputStream?
}

extension URLSession {
  /// Calls the form of a delegate's method that has a completion handler, where the author expects it.
  func onDelegateQueue<Answer: Sendable>(
    _ call: @escaping @Sendable (_ done: @escaping @Sendable (Answer) -> Void) -> Void
  ) async -> Answer {
    let (core, story) = (core, HostedProcess.currentStory)
    return await withCheckedContinuation { continuation in
      core.queue.addOperation(
        DelegateMethod.carried {
          core.process.asCurrent(story) { call { continuation.resume(returning: $0) } }
        })
    }
  }
}
