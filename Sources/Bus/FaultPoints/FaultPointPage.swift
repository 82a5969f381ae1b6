// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Glibc
package import Messages

/// The injector's side of an instance's fault points: a page of memory that it shares with the processes, which map it
/// when they start.
///
/// Armed faults take effect only while the injector runs and has this value: the kernel releases its lock on the file
/// when the injector ends, in whichever way.
package final class FaultPointPage: Sendable {
  /// What happens at a point.
  package enum Action: Hashable, Sendable {
    /// The process ends by SIGKILL.
    case crash
    /// The process ends by a trap (SIGILL, on arm64 SIGTRAP), as by a failed precondition.
    case trap
    /// The thread that reached the point waits.
    case stall(milliseconds: Int)
    /// The write after the point fails, such as with `ENOSPC` or `EIO`. Only for points that can fail.
    case fail(errno: Int32)
  }

  /// What happens to an envelope that the broker forwards, after it has written it to the journal.
  package enum LineAction: Hashable, Sendable {
    /// It, and everything for the same destination after it, is forwarded later.
    case delay(milliseconds: Int)
    /// It is lost with the connection of its destination, which is closed, as if the network had failed.
    case cut
    /// It is forwarded twice, as a sender does that reconnects before it has the reply. Only requests and events: nothing
    /// else is ever sent twice.
    case double
  }

  /// An armed fault. It occupies one of 64 places until it is disarmed.
  package struct Fault: Hashable, Sendable { fileprivate let slot: Int32 }

  /// What a process instance reached last.
  package struct State: Hashable, Sendable {
    package let pid: Int32
    /// `nil` when it has reached none yet.
    package let point: FaultPoint?
    /// How many points it has reached.
    package let count: Int
    /// The time since it reached the point. A process that has been after a write for a while is idle.
    package let age: Duration
  }

  /// The number of faults that can be armed at the same time.
  package static let capacity = Int(fault_slots)

  // The functions of CPlatform use atomic operations on it.
  private nonisolated(unsafe) let page: UnsafeMutableRawPointer
  private let descriptor: Int32

  /// Creates the file of an instance, or takes over one that a former injector left. Processes that start later have
  /// fault points; those that already run do not, unless the file was there when they started.
  ///
  /// - Parameter path: `InstanceFolder.faultPoints`.
  /// - Throws: when the file cannot be created, or another injector uses it.
  package static func create(at path: String) throws(FaultPointError) -> FaultPointPage {
    var descriptor: Int32 = -1
    guard let page = fault_page_create(path, &descriptor) else { throw FaultPointError(path, errno) }
    return FaultPointPage(page, descriptor)
  }

  private init(_ page: UnsafeMutableRawPointer, _ descriptor: Int32) {
    self.page = page
    self.descriptor = descriptor
  }

  deinit {
    munmap(page, Int(fault_page_size))
    close(descriptor)
  }

  // MARK: Faults

  /// Arms a fault at a point.
  ///
  /// - Parameters:
  ///   - process: the only process that it concerns; `nil` for each that has the point.
  ///   - skipping: the number of hits that have no effect first.
  ///   - times: how often it takes effect after that; `nil` until it is disarmed.
  /// - Returns: `nil` when all places are in use.
  package func arm(
    _ action: Action, at point: FaultPoint, of process: Address? = nil, skipping: Int = 0, times: Int? = 1
  ) -> Fault? {
    let (kind, value): (Int, Int) =
      switch action {
      case .crash: (fault_crash, 0)
      case .trap: (fault_trap, 0)
      case .stall(let milliseconds): (fault_stall, milliseconds)
      case .fail(let errno): (fault_fail, Int(errno))
      }
    precondition(kind != fault_fail || point.canFail, "nothing is written at \(point.name), so nothing can fail there")
    return armed(
      fault_page_arm_point(
        page, process?.text ?? "", point.rawValue, UInt32(kind), UInt32(clamping: value),
        UInt32(clamping: skipping), times.map(UInt32.init(clamping:)) ?? .max))
  }

  /// Arms a fault on the lines of the bus. The broker performs it.
  ///
  /// - Parameters:
  ///   - source: the sender; `nil` for each.
  ///   - destination: `nil` for each.
  ///   - type: the name of a message type, such as `session.events` or `session.events/ack`; `nil` for each.
  ///   - skipping, times: as for a point.
  /// - Returns: `nil` when all places are in use.
  package func arm(
    _ action: LineAction, from source: Address? = nil, to destination: Address? = nil, type: String? = nil,
    skipping: Int = 0, times: Int? = 1
  ) -> Fault? {
    let (kind, value): (Int, Int) =
      switch action {
      case .delay(let milliseconds): (fault_delay, milliseconds)
      case .cut: (fault_cut, 0)
      case .double: (fault_double, 0)
      }
    return armed(
      fault_page_arm_line(
        page, source?.text ?? "", destination?.text ?? "", type ?? "", UInt32(kind), UInt32(clamping: value),
        UInt32(clamping: skipping), times.map(UInt32.init(clamping:)) ?? .max))
  }

  private func armed(_ slot: Int32) -> Fault? { slot < 0 ? nil : Fault(slot: slot) }

  /// Ends a fault. A stall that is under way ends within milliseconds.
  package func disarm(_ fault: Fault) { fault_page_disarm(page, fault.slot) }

  /// Ends all faults.
  package func disarmAll() {
    for slot in 0..<Int32(Self.capacity) { fault_page_disarm(page, slot) }
  }

  /// Sets what the processes read as the machine's clock forward by so many seconds, or back. 0 ends it.
  package func jump(seconds: Int) { fault_page_jump(page, Int64(seconds)) }

  /// How often a fault took effect, until it is disarmed.
  package func performed(_ fault: Fault) -> Int { Int(fault_page_performed(page, fault.slot)) }

  /// Ends the injection, as the kernel does when the injector ends: no fault takes effect any more.
  package func release() { fault_page_release(descriptor) }

  // MARK: Processes

  /// What a process reached last, also after it was killed.
  ///
  /// - Parameter pid: selects the current instance or the one before it; `nil` for the last one.
  /// - Returns: `nil` when the process never had the page, or this instance was followed by two others.
  package func state(of process: Address, pid: Int32? = nil) -> State? {
    var state = fault_state()
    guard fault_page_state(page, process.text, pid ?? 0, &state) == 0 else { return nil }
    return State(
      pid: state.pid, point: FaultPoint(rawValue: state.point), count: Int(clamping: state.count),
      age: .nanoseconds(state.age))
  }

  /// What the last instance of a process reached, and the one before it.
  package func lastStates(of process: Address) -> [State] { [0, -1].compactMap { state(of: process, pid: $0) } }

  /// The point that a process reached last; `nil` when it has reached none or never had the page.
  package func lastReached(_ process: Address) -> FaultPoint? { state(of: process)?.point }
}
