// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

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
