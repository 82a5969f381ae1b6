// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Foundation
import Glibc
import Synchronization

/// Announces that a journal may have grown. Any thread; one consumer, which calls `looked` after each announcement.
///
/// While the journal is quiet the kernel reports a write in the folder (inotify). Each report costs the writer as much as
/// a fifth of its work for a message, so it is not requested while the journal grows: `JournalWatchPace`.
package final class JournalWatch: Sendable {
  /// An element for each announcement, several at once as one.
  package let announcements: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let path: String
  private let descriptor: Int32
  private let pace = Mutex(JournalWatchPace())
  // No data race: set once in `init`, and the methods of dispatch sources are safe on any thread.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer
  // No data race: as above.
  private nonisolated(unsafe) let reader: (any DispatchSourceRead)?

  /// - Parameter folder: may be missing yet.
  package init(folder: URL) {
    path = folder.path(percentEncoded: false)
    let (announcements, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    (self.announcements, self.continuation) = (announcements, continuation)
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    self.descriptor = descriptor
    let queue = DispatchQueue(label: "journal-watch")
    timer = DispatchSource.makeTimerSource(queue: queue)
    reader = descriptor >= 0 ? DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue) : nil
    reader?.setEventHandler { [weak self] in self?.notified() }
    reader?.setCancelHandler { close(descriptor) }
    reader?.resume()
    timer.setEventHandler { continuation.yield() }
    timer.resume()
    watch()
    continuation.yield()
  }

  deinit { end() }

  /// Ends the announcements.
  package func end() {
    timer.cancel()
    reader?.cancel()
    continuation.finish()
  }

  /// Reports whether a look found something, which determines the next one.
  package func looked(foundSomething: Bool) {
    let next = pace.withLock { $0.looked(foundSomething: foundSomething) }
    if next.arms { watch() }
    timer.schedule(
      deadline: .now() + .milliseconds(next.milliseconds), leeway: .milliseconds(next.milliseconds / 10))
  }

  /// Has the kernel report the next write, and no further one. The folder may be another one than before.
  private func watch() {
    guard descriptor >= 0 else { return }
    _ = inotify_add_watch(descriptor, path, UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE) | IN_ONESHOT)
  }

  private func notified() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(descriptor, &buffer, buffer.count) > 0 {}
    pace.withLock { $0.notified() }
    continuation.yield()
  }
}

/// When a watch looks next, and whether the kernel reports a write until then.
struct JournalWatchPace {
  private enum Phase {
    /// The report was requested, and what was written before is looked for.
    case arming
    /// The next write is reported.
    case waiting
    /// The journal grows: looks at intervals. Milliseconds since that began, and since a look found something.
    case busy(age: Int, quiet: Int)
  }

  /// The intervals of looks while the journal grows: at the beginning, which shows the result of an action without
  /// delay, and after `beginning`.
  private static let (short, long, beginning) = (10, 25, 200)
  /// After this time without a find the report is requested again.
  private static let lull = 200
  /// A mounted folder may deliver no reports, so there are looks also while one is expected.
  private static let (usual, withoutReports) = (500, 20)

  private var phase = Phase.arming
  private var wasNotified = false
  private var hasReports = true

  mutating func notified() {
    wasNotified = true
    hasReports = true
  }

  /// - Returns: the milliseconds until the next look, and whether to request the report of a write before.
  mutating func looked(foundSomething: Bool) -> (milliseconds: Int, arms: Bool) {
    defer { wasNotified = false }
    let idle = hasReports ? Self.usual : Self.withoutReports
    switch phase {
    case .arming where !foundSomething:
      phase = .waiting
      return (idle, false)
    case .waiting where !foundSomething && wasNotified:
      // The report is used up.
      phase = .arming
      return (0, true)
    case .waiting where !foundSomething:
      // The folder may have been made in the meantime.
      return (idle, true)
    case .waiting where !wasNotified:
      hasReports = false
      fallthrough
    case .arming, .waiting:
      phase = .busy(age: 0, quiet: 0)
      return (Self.short, false)
    case .busy(let age, let quiet):
      let interval = age < Self.beginning ? Self.short : Self.long
      let silence = foundSomething ? 0 : quiet + interval
      guard silence < Self.lull else {
        phase = .arming
        return (0, true)
      }
      let next = age + interval
      phase = .busy(age: next, quiet: silence)
      return (next < Self.beginning ? Self.short : Self.long, false)
    }
  }
}
