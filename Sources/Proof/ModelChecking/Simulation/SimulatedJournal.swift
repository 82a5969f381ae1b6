// SPDX-License-Identifier: Apache-2.0

import Glibc
import Journal

/// The file of a simulation's journal: one segment. The path keeps what it names: a link, a FIFO or a device is written to,
/// and not replaced.
package final class SimulatedJournal {
  package enum Failure: Error {
    /// The file has something else, which would be lost.
    case isOther
    /// The results are printed to it.
    case isOutput
    /// The file cannot be opened, with the reason.
    case notOpened(String)
    /// The bytes cannot be written, with the reason.
    case notWritten(String)
  }

  private let file: CInt
  /// Why the journal is not complete. Nothing more is written then.
  package private(set) var failure: Failure?
  private var isEnded = false

  /// Opens it, and empties a regular file. Ignores SIGPIPE from then on for a FIFO: the reason of a failure is reported.
  package init(_ path: String) throws(Failure) {
    if Self.hasOther(path) { throw .isOther }
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw .notOpened(Self.reason) }
    var (own, output) = (stat(), stat())
    guard fstat(file, &own) == 0, own.st_mode & S_IFMT != S_IFCHR else { return }
    if fstat(STDOUT_FILENO, &output) == 0, own.st_dev == output.st_dev, own.st_ino == output.st_ino { throw .isOutput }
    guard own.st_mode & S_IFMT == S_IFIFO else { return }
    signal(SIGPIPE, SIG_IGN)
    _ = fcntl(file, F_SETFL, O_WRONLY | O_NONBLOCK)
  }

  deinit { if file >= 0 { Glibc.close(file) } }

  private static var reason: String { String(cString: strerror(errno)) }

  /// Whether it is a regular file with content that is no journal of a simulation. Nothing is read from a FIFO or a device.
  private static func hasOther(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return false }
    let head = SegmentLayout.head(firstSequence: 1)
    let former = open(path, O_RDONLY | O_CLOEXEC)
    guard former >= 0 else { return false }
    defer { Glibc.close(former) }
    var bytes = [UInt8](repeating: 0, count: head.count)
    return read(former, &bytes, head.count) != head.count || bytes != head
  }

  /// Writes all bytes, or sets `failure`.
  ///
  /// - Parameter isContinued: asked while the reader of a FIFO takes nothing. After `false` nothing more is written.
  package func write(_ bytes: [UInt8], while isContinued: () -> Bool = { true }) {
    var written = 0
    while failure == nil, !isEnded, written < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(file, $0.baseAddress?.advanced(by: written), bytes.count - written)
      }
      if count > 0 {
        written += count
      } else if errno == EAGAIN {
        var ready = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        poll(&ready, 1, 100)
        isEnded = !isContinued()
      } else if errno != EINTR {
        failure = .notWritten(Self.reason)
      }
    }
  }
}
