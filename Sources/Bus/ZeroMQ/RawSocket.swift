// SPDX-License-Identifier: Apache-2.0

import CZeroMQ
import Glibc

/// ZeroMQ's calls on one socket. Errors are thrown, interrupted calls repeated. Confined like the socket itself.
struct RawSocket {
  let pointer: UnsafeMutableRawPointer
  /// `ZMQ_FD`: readable when ZeroMQ has events for the socket, until the next call on it.
  let descriptor: Int32

  /// Throws `EMFILE` when descriptors or ZeroMQ's 1023 sockets have run out, and `ETERM` after the context was
  /// terminated.
  init(_ context: Context, type: Int32) throws(ZMQError) {
    let pointer = try context.makeSocket(type)
    do throws(ZMQError) {
      descriptor = try pointer.option(ZMQ_FD, "ZMQ_FD")
    } catch {
      zmq_close(pointer)
      throw error
    }
    self.pointer = pointer
  }

  /// The operations that would not block: `ZMQ_POLLIN`, `ZMQ_POLLOUT`. Resets the descriptor's signal.
  func events() throws(ZMQError) -> Int32 { try pointer.option(ZMQ_EVENTS, "ZMQ_EVENTS") }

  func set(_ option: Int32, _ name: String, _ value: Int32) throws(ZMQError) {
    var value = value
    try check("zmq_setsockopt(\(name))") { zmq_setsockopt(pointer, option, &value, MemoryLayout<Int32>.size) }
  }

  func set(_ option: Int32, _ name: String, wide value: Int64) throws(ZMQError) {
    var value = value
    try check("zmq_setsockopt(\(name))") { zmq_setsockopt(pointer, option, &value, MemoryLayout<Int64>.size) }
  }

  func set(_ option: Int32, _ name: String, bytes: [UInt8]) throws(ZMQError) {
    try check("zmq_setsockopt(\(name))") {
      bytes.withUnsafeBytes { zmq_setsockopt(pointer, option, $0.baseAddress, $0.count) }
    }
  }

  /// Sets a key in Z85, with the terminating NUL that ZeroMQ expects.
  func set(_ option: Int32, _ name: String, key: String) throws(ZMQError) {
    guard key.utf8.count == 40 else { throw ZMQError(code: EINVAL, call: "zmq_setsockopt(\(name))") }
    try set(option, name, bytes: Array(key.utf8) + [0])
  }

  func bind(_ endpoint: String) throws(ZMQError) {
    try check("zmq_bind(\(endpoint))") { zmq_bind(pointer, endpoint) }
  }

  func unbind(_ endpoint: String) throws(ZMQError) {
    try check("zmq_unbind(\(endpoint))") { zmq_unbind(pointer, endpoint) }
  }

  func connect(_ endpoint: String) throws(ZMQError) {
    try check("zmq_connect(\(endpoint))") { zmq_connect(pointer, endpoint) }
  }

  func lastEndpoint() throws(ZMQError) -> String {
    var buffer = [UInt8](repeating: 0, count: 512)
    var count = buffer.count
    try check("zmq_getsockopt(ZMQ_LAST_ENDPOINT)") {
      zmq_getsockopt(pointer, ZMQ_LAST_ENDPOINT, &buffer, &count)
    }
    return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Sends a frame without waiting. ZeroMQ copies the bytes.
  func send(_ bytes: UnsafeRawBufferPointer, more: Bool) throws(ZMQError) -> SendResult {
    let flags = more ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
    while zmq_send(pointer, bytes.baseAddress, bytes.count, flags) == -1 {
      if let result = try refusal("zmq_send") { return result }
    }
    return .queued
  }

  /// Sends a message without waiting. If that succeeds, ZeroMQ has its content, and it is empty.
  func send(_ message: UnsafeMutablePointer<zmq_msg_t>) throws(ZMQError) -> SendResult {
    while zmq_msg_send(message, pointer, ZMQ_DONTWAIT) == -1 {
      if let result = try refusal("zmq_msg_send") { return result }
    }
    return .queued
  }

  /// Why the last call did not queue; nil to repeat it.
  private func refusal(_ call: String) throws(ZMQError) -> SendResult? {
    switch zmq_errno() {
    case EINTR: nil
    case EAGAIN: .wouldBlock
    case EHOSTUNREACH: .unroutable
    case let code: throw ZMQError(code: code, call: call)
    }
  }

  func send(_ bytes: [UInt8], more: Bool) throws(ZMQError) -> SendResult {
    // `withUnsafeBytes` does not propagate typed throws from a throwing closure everywhere; a Result does.
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(ZMQError) -> SendResult in try send(bytes, more: more) }
    }.get()
  }

  func close(linger: Duration) {
    var milliseconds = linger.milliseconds
    zmq_setsockopt(pointer, ZMQ_LINGER, &milliseconds, MemoryLayout<Int32>.size)
    zmq_close(pointer)
  }
}

extension UnsafeMutableRawPointer {
  /// Reads an option of the socket that this points to.
  fileprivate func option(_ option: Int32, _ name: String) throws(ZMQError) -> Int32 {
    var value: Int32 = 0
    var count = MemoryLayout<Int32>.size
    try check("zmq_getsockopt(\(name))") { zmq_getsockopt(self, option, &value, &count) }
    return value
  }
}

/// One received frame at a stable address: short frames are stored inside `zmq_msg_t` itself.
struct ZMQFrame: ~Copyable {
  let message: UnsafeMutablePointer<zmq_msg_t>

  init() {
    message = .allocate(capacity: 1)
    zmq_msg_init(message)
  }

  deinit {
    zmq_msg_close(message)
    message.deallocate()
  }

  /// Receives without waiting and replaces the previous content. False when nothing is available, or never will be.
  func receive(from socket: RawSocket) -> Bool { message.receive(from: socket) }

  /// Frees the memory of a long frame.
  func clear() { message.clear() }

  var hasMore: Bool { message.hasMore }

  /// The bytes, valid until the next `receive` or `clear`.
  func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { body(UnsafeRawBufferPointer(message.bytes)) }

  func copy() -> [UInt8] { withBytes { [UInt8]($0) } }
}
