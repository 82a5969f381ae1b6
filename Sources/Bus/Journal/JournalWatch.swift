// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Foundation
import Glibc
import Synchronization

/// Announces that a journal may have grown. Any thread; one consumer.
///
/// The kernel reports writes in the folder (inotify). Since a mounted folder may deliver no notifications, it also
/// announces at intervals: each 500 ms, or each 20 ms when an interval found what no notification had announced.
package final class JournalWatch: Sendable {
  private struct State {
    /// A notification arrived since the last look.
    var wasNotified = false
    var isShort = false
  }

  /// An element for each announcement, several at once as one.
  package let announcements: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let path: String
  private let descriptor: Int32
  private let state = Mutex(State())
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
    watch()
    timer.setEventHandler { [weak self] in self?.ticked() }
    schedule(isShort: false)
    timer.resume()
    continuation.yield()
  }

  deinit { end() }

  /// Ends the announcements.
  package func end() {
    timer.cancel()
    reader?.cancel()
    continuation.finish()
  }

  /// Reports whether the last look found something, so that the interval suits the folder.
  package func looked(foundSomething: Bool) {
    let change = state.withLock { state -> Bool? in
      defer { state.wasNotified = false }
      guard foundSomething, state.isShort == state.wasNotified else { return nil }
      state.isShort = !state.wasNotified
      return state.isShort
    }
    if let change { schedule(isShort: change) }
  }

  private func schedule(isShort: Bool) {
    let interval = DispatchTimeInterval.milliseconds(isShort ? 20 : 500)
    timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(isShort ? 2 : 50))
  }

  private func watch() {
    guard descriptor >= 0 else { return }
    let events = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE)
    _ = inotify_add_watch(descriptor, path, events)
  }

  private func notified() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(descriptor, &buffer, buffer.count) > 0 {}
    state.withLock { $0.wasNotified = true }
    continuation.yield()
  }

  private func ticked() {
    // The same folder again is the same watch; one that was removed and made again is another.
    watch()
    continuation.yield()
  }
}
