// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc
import Synchronization

/// ZeroMQ's context: one I/O thread, and the name space of `inproc://`. One per process is enough.
///
/// Every socket retains its context. A context is therefore terminated after its last socket was closed: by
/// `terminate()`, or when the last reference is released. Termination waits while the linger of the closed sockets
/// allows sending.
package final class Context: Sendable {
  // ZeroMQ documents a context as safe to use from any thread, and the pointer never changes.
  private nonisolated(unsafe) let raw: UnsafeMutableRawPointer
  private let isTerminated = Mutex(false)
  private let monitors = Atomic<UInt64>(0)

  /// Throws `EMFILE` and similar errors. A `Socket` counts as three of the sockets that ZeroMQ allows here, an
  /// `Authenticator` as one.
  package init(maximumSockets: Int32 = 1023) throws(ZMQError) {
    guard let raw = zmq_ctx_new() else { throw .last("zmq_ctx_new") }
    self.raw = raw
    // Without this, a socket closed without its own linger could block termination forever.
    try check("zmq_ctx_set(ZMQ_BLOCKY)") { zmq_ctx_set(raw, ZMQ_BLOCKY, 0) }
    try check("zmq_ctx_set(ZMQ_IO_THREADS)") { zmq_ctx_set(raw, ZMQ_IO_THREADS, 1) }
    try check("zmq_ctx_set(ZMQ_MAX_SOCKETS)") { zmq_ctx_set(raw, ZMQ_MAX_SOCKETS, maximumSockets) }
  }

  deinit {
    guard isTerminated.withLock({ !$0 }) else { return }
    terminateNow(raw)
  }

  /// Waits, on a separate thread, until all sockets are closed and their linger has passed. Call it after the loop was
  /// stopped and before the process exits, or queued frames are lost. Idempotent.
  package func terminate() async {
    let isFirst = isTerminated.withLock { terminated in
      defer { terminated = true }
      return !terminated
    }
    guard isFirst else { return }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      startThread(name: "zmq-terminate", detached: true) { [self] in
        terminateNow(raw)
        continuation.resume()
      }
    }
  }

  /// Runs under the lock, since a terminated context is freed memory.
  func makeSocket(_ type: Int32) throws(ZMQError) -> UnsafeMutableRawPointer {
    var pointer: UnsafeMutableRawPointer?
    let code = isTerminated.withLock { terminated in
      guard !terminated else { return ETERM }
      pointer = zmq_socket(raw, type)
      return pointer == nil ? zmq_errno() : 0
    }
    guard let pointer else { throw ZMQError(code: code, call: "zmq_socket") }
    return pointer
  }

  /// Returns a name for a socket monitor that is unique in this context.
  func nextMonitorEndpoint() -> String {
    "inproc://monitor-\(monitors.add(1, ordering: .relaxed).newValue)"
  }
}

private func terminateNow(_ raw: UnsafeMutableRawPointer) {
  while zmq_ctx_term(raw) == -1, zmq_errno() == EINTR {}
}

/// A failed call to ZeroMQ, or to the kernel on its behalf.
package struct ZMQError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The `errno` of the call: one of the system's or one of ZeroMQ's own (`ETERM`, `EFSM`).
  package let code: Int32
  /// The failed call, named as in ZeroMQ's manual.
  package let call: String

  /// For callers that report a failure as ZeroMQ does.
  package init(code: Int32, call: String) {
    self.code = code
    self.call = call
  }

  package var description: String { "\(call): \(String(cString: zmq_strerror(code))) (\(code))" }

  /// The failure of the last call on this thread.
  static func last(_ call: String) -> ZMQError { ZMQError(code: zmq_errno(), call: call) }
}

/// Repeats a call while a signal interrupts it, and throws for every other failure.
@discardableResult
func check(_ call: @autoclosure () -> String, _ body: () -> Int32) throws(ZMQError) -> Int32 {
  while true {
    let result = body()
    if result != -1 { return result }
    let code = zmq_errno()
    if code != EINTR { throw ZMQError(code: code, call: call()) }
  }
}
