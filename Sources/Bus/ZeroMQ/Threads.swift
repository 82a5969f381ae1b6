// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// Starts a thread. A process cannot work without its threads, so failure traps with the reason.
@discardableResult
func startThread(name: String, detached: Bool, _ body: @escaping @Sendable () -> Void) -> pthread_t {
  final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
  let start = Unmanaged.passRetained(Start(name: name, body: body))
  var thread = pthread_t()
  let code = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
      // Linux keeps 15 characters of a thread's name and rejects longer ones.
      _ = String(decoding: start.name.utf8.prefix(15), as: UTF8.self).withCString {
        pthread_setname_np(pthread_self(), $0)
      }
      start.body()
      return nil
    }, start.toOpaque())
  precondition(code == 0, "pthread_create for \(name): \(String(cString: strerror(code)))")
  if detached { pthread_detach(thread) }
  return thread
}

/// Nanoseconds of the clock that `poll` uses. It keeps running while the process is stopped.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
