// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Dispatch
import Foundation
import Glibc
import Messages
import Synchronization

/// The log of a supervised process. This process writes it, so that its length is bounded, and knows its end when the
/// disk is full. Any thread.
///
/// At `limit` bytes the file `NAME.log` becomes `NAME.log.1`, and replaces the former one.
final class ProcessLog: Sendable {
  /// Bytes of one file.
  static let defaultLimit = 10 << 20

  private struct State {
    /// `nil` while no file is open.
    var file: Int32?
    var length = 0
    /// Bytes that could not be written.
    var lost = 0
    /// The last bytes of the output.
    var end: [UInt8] = []
  }

  let path: String
  private let limit: Int
  private let queue = DispatchQueue(label: "process-log")
  private let state = Mutex(State())
  /// The descriptors that are read.
  private let outputs = Mutex<Set<Int32>>([])

  init(_ path: String, limit: Int = ProcessLog.defaultLimit) {
    self.path = path
    self.limit = limit
  }

  deinit {
    if let file = state.withLock(\.file) { close(file) }
  }

  /// Opens a descriptor for the output of a process. The caller closes it when the process has it.
  ///
  /// - Throws: a command error with the kernel's reason.
  func open() throws -> Int32 {
    var ends: [Int32] = [0, 0]
    guard process_pipe(&ends) == 0 else {
      throw CommandError(Exit.broken, "no pipe for a log: \(String(cString: strerror(errno)))", at: path)
    }
    // It exists from the start of the process on.
    state.withLock { if $0.file == nil { openFile(&$0) } }
    let output = ends[0]
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
    // F_SETPIPE_SZ of fcntl.h: a process that writes much does not wait while this one is stopped.
    _ = fcntl(output, 1031, 1 << 20)
    _ = outputs.withLock { $0.insert(output) }
    // Its handlers run on the queue, in order. It exists until it is cancelled.
    nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: output, queue: queue)
    source.setEventHandler { [weak self] in
      if self?.read(output) != true { source.cancel() }
    }
    source.setCancelHandler { close(output) }
    source.resume()
    return ends[1]
  }

  /// Returns when everything is written that processes have written before.
  func drain() async {
    await withCheckedContinuation { continuation in
      queue.async {
        for output in self.outputs.withLock(\.self) { self.read(output) }
        continuation.resume()
      }
    }
  }

  /// The last lines of the output, at most 4 KiB, with control characters escaped.
  var lastLines: [String] {
    let text = String(decoding: state.withLock(\.end), as: UTF8.self)
    return text.split(separator: "\n").map(\.escapingControls)
  }

  /// On the queue.
  ///
  /// - Returns: `false` when no process can write any more.
  @discardableResult
  private func read(_ output: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        if count == 0 { _ = outputs.withLock { $0.remove(output) } }
        return count < 0
      }
      state.withLock { append(buffer[..<count], &$0) }
    }
  }

  private func append(_ bytes: ArraySlice<UInt8>, _ state: inout State) {
    state.end = Array((state.end + bytes).suffix(4 << 10))
    if state.length > 0, state.length + bytes.count > limit, let file = state.file {
      close(file)
      state.file = nil
      rename(path, path + ".1")
    }
    if state.file == nil { openFile(&state) }
    if state.lost > 0 {
      let note = Array("widgetlab: \(state.lost) bytes of this log were lost, because it could not be written\n".utf8)
      guard write(note[...], &state) == note.count else {
        state.lost += bytes.count
        return
      }
      state.lost = 0
    }
    state.lost += bytes.count - write(bytes, &state)
  }

  private func openFile(_ state: inout State) {
    let file = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    var status = file_status()
    guard file >= 0, file_status_of_descriptor(file, &status) == 0 else { return }
    state.file = file
    state.length = Int(status.size)
  }

  /// - Returns: how many bytes were written.
  private func write(_ bytes: ArraySlice<UInt8>, _ state: inout State) -> Int {
    guard let file = state.file else { return 0 }
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    state.length += bytes.count - rest.count
    return bytes.count - rest.count
  }
}
