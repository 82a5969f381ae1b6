import CZeroMQ
import Glibc

/// Something with ZeroMQ sockets that a loop serves and keeps alive until it is closed. Confined to the loop's thread.
protocol Polled: AnyObject {
  /// One for each socket, always the same: readable when ZeroMQ has news for it. It tells once, and whatever is called on
  /// the socket after that may have taken the news: then `hasMore` knows of it.
  var descriptors: [Int32] { get }
  /// Whether there is something to serve that no descriptor need tell of. Throws `ETERM`.
  func hasMore() throws(ZMQError) -> Bool
  /// Takes what there is. May close this or any other socket of the loop.
  func serve()
  func closeAtStop()
}

/// What belongs to a loop's thread: sockets, timers and the list for `poll`.
///
/// Not `zmq_poll`, which asks every socket twice in every turn, at two system calls each: here only those are asked that
/// were used.
final class LoopState {
  var timers = Timers()
  private var polled: [any Polled] = []
  private var isChanged = true
  /// The wake descriptor, then those of `collected`, whose numbers stand in `counts`.
  private var items: [pollfd] = []
  private var collected: [any Polled] = []
  private var counts: [Int] = []
  /// Which of `collected` have something to serve.
  private var isDue: [Bool] = []
  private let wakeDescriptor: Int32

  init(wakeDescriptor: Int32) { self.wakeDescriptor = wakeDescriptor }

  func add(_ new: any Polled) {
    polled.append(new)
    isChanged = true
  }

  func remove(_ old: any Polled) {
    polled.removeAll { $0 === old }
    isChanged = true
  }

  /// Waits for a socket, a wake-up or a timer; without `maySleep` it only looks.
  func poll(maySleep: Bool) {
    // ZeroMQ tells nothing of what came before the first look.
    let isNew = isChanged
    if isNew { collect() }
    do throws(ZMQError) {
      for (index, one) in collected.enumerated() { isDue[index] = try one.hasMore() || isNew }
    } catch {
      // A context was terminated under open sockets (ETERM): they are of no use any more.
      return closeSockets()
    }
    let timeout = maySleep && !isDue.contains(true) ? millisecondsToNextTimer() : 0
    guard Glibc.poll(&items, nfds_t(items.count), timeout) == -1 else { return }
    precondition(errno == EINTR, "poll: \(String(cString: strerror(errno)))")
    for index in items.indices { items[index].revents = 0 }
  }

  func serveSockets() {
    if items[0].revents != 0 {
      var count: eventfd_t = 0
      _ = eventfd_read(wakeDescriptor, &count)
    }
    // The list of this turn: handlers may open and close sockets, for which `isChanged` makes the next list.
    var start = 1
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
    items = [pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)]
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
    // Rounded up: rounded down, the poll would return early and spin through the last millisecond.
    return Int32(min((deadline - now - 1) / 1_000_000 + 1, UInt64(Int32.max)))
  }
}

extension Duration {
  /// Whole nanoseconds; 0 for a negative duration, and the greatest number for one beyond it.
  var nanoseconds: UInt64 {
    guard self > .zero else { return 0 }
    let (seconds, attoseconds) = components
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowOfSum) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || overflowOfSum ? .max : sum
  }

  /// Whole milliseconds as ZeroMQ takes them, rounded up; 0 for a negative duration.
  var milliseconds: Int32 { Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)) }
}
