import CZeroMQ
import Glibc

/// Something with ZeroMQ sockets that a loop polls for and keeps alive until it is closed. Confined to the loop's thread.
protocol Polled: AnyObject {
  /// The sockets to poll and for what: always the same number, in the same order, between two calls of `changed`.
  var interest: [zmq_pollitem_t] { get }
  /// Answers what the poll found, in the order of `interest`. May close this or any other socket of the loop.
  func serve(_ found: ArraySlice<zmq_pollitem_t>)
  func closeAtStop()
}

/// What belongs to a loop's thread: sockets, timers and the list for `zmq_poll`.
final class LoopState {
  var timers = Timers()
  private var polled: [any Polled] = []
  private var isChanged = true
  /// The wake descriptor, then the items of `collected`, whose numbers stand in `itemCounts`.
  private var items: [zmq_pollitem_t] = []
  private var collected: [any Polled] = []
  private var itemCounts: [Int] = []
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

  /// Tells that the interest of some socket is another one now.
  func changed() { isChanged = true }

  /// Waits for a socket, a wake-up or a timer; without `maySleep` it only looks.
  func poll(maySleep: Bool) {
    if isChanged { collect() }
    let timeout = maySleep ? millisecondsToNextTimer() : 0
    guard zmq_poll(&items, Int32(items.count), timeout) == -1 else { return }
    let code = zmq_errno()
    for index in items.indices { items[index].revents = 0 }
    switch code {
    case EINTR: return
    // A context was terminated under open sockets: they are of no use any more and would make the poll spin.
    case ETERM: closeSockets()
    default: preconditionFailure(ZMQError(code: code, call: "zmq_poll").description)
    }
  }

  func serveSockets() {
    if items[0].revents != 0 {
      var count: eventfd_t = 0
      _ = eventfd_read(wakeDescriptor, &count)
    }
    // The list of this turn: handlers may open and close sockets, for which `isChanged` makes the next list.
    let (turn, turnItems) = (collected, items)
    var start = 1
    for (index, one) in turn.enumerated() {
      let end = start + itemCounts[index]
      let found = turnItems[start..<end]
      if found.contains(where: { $0.revents != 0 }) { one.serve(found) }
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
    items = [zmq_pollitem_t(socket: nil, fd: wakeDescriptor, events: Int16(ZMQ_POLLIN), revents: 0)]
    collected = polled
    itemCounts.removeAll(keepingCapacity: true)
    for one in polled {
      let interest = one.interest
      items += interest
      itemCounts.append(interest.count)
    }
  }

  private func millisecondsToNextTimer() -> Int {
    guard let deadline = timers.nextDeadline() else { return -1 }
    let now = monotonicNanoseconds()
    guard deadline > now else { return 0 }
    // Rounded up: rounded down, the poll would return early and spin through the last millisecond.
    return Int(min((deadline - now - 1) / 1_000_000 + 1, UInt64(Int32.max)))
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
