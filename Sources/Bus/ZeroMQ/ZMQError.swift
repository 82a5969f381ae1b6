import CZeroMQ
import Glibc

/// A call to ZeroMQ (or to the kernel on its behalf) that failed.
package struct ZMQError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The `errno` of the call: one of the system's or one of ZeroMQ's own (`ETERM`, `EFSM`).
  package let code: Int32
  /// The call that failed, as a reader of ZeroMQ's manual would name it.
  package let call: String

  /// For callers that report a failure in ZeroMQ's words.
  package init(code: Int32, call: String) {
    self.code = code
    self.call = call
  }

  package var description: String { "\(call): \(String(cString: zmq_strerror(code))) (\(code))" }

  /// The failure of the call that this thread made last.
  static func last(_ call: String) -> ZMQError { ZMQError(code: zmq_errno(), call: call) }
}

/// Repeats a call for as long as a signal interrupts it, and throws for every other failure.
@discardableResult
func check(_ call: @autoclosure () -> String, _ body: () -> Int32) throws(ZMQError) -> Int32 {
  while true {
    let result = body()
    if result != -1 { return result }
    let code = zmq_errno()
    if code != EINTR { throw ZMQError(code: code, call: call()) }
  }
}
