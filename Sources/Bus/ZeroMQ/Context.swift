import CZeroMQ
import Glibc
import Synchronization

/// ZeroMQ's context: one I/O thread, and the name space of `inproc://`. One per process is enough.
///
/// Every socket holds its context, so a context is terminated after its last socket was closed: in `terminate()`, or else
/// when the last reference goes. Termination waits for what the closed sockets' linger still allows to be sent.
package final class Context: Sendable {
  // ZeroMQ documents a context as safe to use from any thread, and the pointer never changes.
  private nonisolated(unsafe) let raw: UnsafeMutableRawPointer
  private let isTerminated = Mutex(false)
  private let monitors = Atomic<UInt64>(0)

  /// Throws `EMFILE` and the like. A `Socket` counts as three of the sockets that ZeroMQ allows here, an `Authenticator` as one.
  package init(maximumSockets: Int32 = 1023) throws(ZMQError) {
    guard let raw = zmq_ctx_new() else { throw .last("zmq_ctx_new") }
    self.raw = raw
    // Without this, a socket closed without a linger of its own could hold up termination for ever.
    try check("zmq_ctx_set(ZMQ_BLOCKY)") { zmq_ctx_set(raw, ZMQ_BLOCKY, 0) }
    try check("zmq_ctx_set(ZMQ_IO_THREADS)") { zmq_ctx_set(raw, ZMQ_IO_THREADS, 1) }
    try check("zmq_ctx_set(ZMQ_MAX_SOCKETS)") { zmq_ctx_set(raw, ZMQ_MAX_SOCKETS, maximumSockets) }
  }

  deinit {
    guard isTerminated.withLock({ !$0 }) else { return }
    terminateNow(raw)
  }

  /// Waits, on a thread of its own, until all sockets are closed and their linger has passed. To be called after the
  /// loop was stopped, before a process exits: what is still queued is lost otherwise. Idempotent.
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

  /// Under the lock, since a terminated context is freed memory.
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

  /// A name for a socket monitor that no other monitor of this context has.
  func nextMonitorEndpoint() -> String {
    "inproc://monitor-\(monitors.add(1, ordering: .relaxed).newValue)"
  }
}

private func terminateNow(_ raw: UnsafeMutableRawPointer) {
  while zmq_ctx_term(raw) == -1, zmq_errno() == EINTR {}
}
