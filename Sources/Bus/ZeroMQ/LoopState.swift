// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// An object with ZeroMQ sockets that a loop serves and retains until it is closed. Confined to the loop's thread.
protocol Polled: AnyObject {
  /// One descriptor per socket, constant: readable when ZeroMQ has events for the socket. It is edge-triggered, and any
  /// later call on the socket may have consumed the edge; `hasMore` detects this.
  var descriptors: [Int32] { get }
  /// Whether there is something to serve that no descriptor reports. Throws `ETERM`.
  func hasMore() throws(ZMQError) -> Bool
  /// Receives what is available. May close this or any other socket of the loop.
  func serve()
  func closeAtStop()
}

/// The state of a loop's thread: sockets, timers and the list for `poll`.
///
/// `zmq_poll` is not used: it queries every socket twice in every turn, at two system calls each. Here only the sockets
/// that were used are queried.
final class LoopState {
  var timers = Timers()
  private var polled: [any Polled] = []
  private var isChanged = true
  /// The wake and timer descriptors, then the descriptors of `collected`; `counts` holds the number of each.
  private var items: [pollfd] = []
  private var collected: [any Polled] = []
  private var counts: [Int] = []
  /// For each of `collected`, whether it has something to serve.
  private var isDue: [Bool] = []
  private let wakeDescriptor: Int32
  private let timerDescriptor: Int32

  init(wakeDescriptor: Int32, timerDescriptor: Int32) {
    self.wakeDescriptor = wakeDescriptor
    self.timerDescriptor = timerDescriptor
  }

  func add(_ new: any Polled) {
    polled.append(new)
    isChanged = true
  }

  func remove(_ old: any Polled) {
    polled.removeAll { $0 === old }
    isChanged = true
  }

  /// Waits for a socket, a wake-up or a timer; without `maySleep` it returns at once.
  func poll(maySleep: Bool) {
    // ZeroMQ does not signal what arrived before the first query.
    let isNew = isChanged
    if isNew { collect() }
    do throws(ZMQError) {
      for (index, one) in collected.enumerated() { isDue[index] = try one.hasMore() || isNew }
    } catch {
      // A context was terminated under open sockets (ETERM): they are unusable.
      return closeSockets()
    }
    let timeout = maySleep && !isDue.contains(true) ? millisecondsToNextTimer() : 0
    guard Glibc.poll(&items, nfds_t(items.count), timeout) == -1 else { return }
    precondition(errno == EINTR, "poll: \(String(cString: strerror(errno)))")
    for index in items.indices { items[index].revents = 0 }
  }

  /// Returns whether the timer had fired before the last `poll`.
  func takeTimer() -> Bool {
    guard items[1].revents != 0 else { return false }
    var count: UInt64 = 0
    _ = read(timerDescriptor, &count, MemoryLayout.size(ofValue: count))
    return true
  }

  func serveSockets() {
    if items[0].revents != 0 {
      var count: eventfd_t = 0
      _ = eventfd_read(wakeDescriptor, &count)
    }
    // The list of this turn is fixed: when handlers open or close sockets, `isChanged` rebuilds it for the next turn.
    var start = 2
    for (index, one) in collected.enumerated() {
      let end = start + counts[index]
      if isDue[index] || items[start..<end].contains(where: { $0.revents != 0 }) { one.serve() }
      start = end
    }
  }

  func fireTimers() {
    guard timers.nextDeadline() != nil else { return }
    let now = monotonicNanoseconds()
    while let action = timers.takeDue(now) { action() }
  }

  func closeAll() {
    timers.removeAll()
    closeSockets()
  }

  private func closeSockets() {
    for one in polled { one.closeAtStop() }
    polled = []
    isChanged = true
  }

  private func collect() {
    isChanged = false
    items = [wakeDescriptor, timerDescriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    collected = polled
    isDue = Array(repeating: false, count: collected.count)
    counts.removeAll(keepingCapacity: true)
    for one in polled {
      let descriptors = one.descriptors
      items += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      counts.append(descriptors.count)
    }
  }

  private func millisecondsToNextTimer() -> Int32 {
    guard let deadline = timers.nextDeadline() else { return -1 }
    let now = monotonicNanoseconds()
    guard deadline > now else { return 0 }
    // Rounded up: if rounded down, the poll would return early and spin through the last millisecond.
    return Int32(min((deadline - now - 1) / 1_000_000 + 1, UInt64(Int32.max)))
  }
}

extension Duration {
  /// Whole nanoseconds; 0 for a negative duration, the maximum for an overflow.
  var nanoseconds: UInt64 {
    guard self > .zero else { return 0 }
    let (seconds, attoseconds) = components
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowOfSum) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || overflowOfSum ? .max : sum
  }

  /// Whole milliseconds as ZeroMQ expects them, rounded up; 0 for a negative duration.
  var milliseconds: Int32 { Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)) }
}
