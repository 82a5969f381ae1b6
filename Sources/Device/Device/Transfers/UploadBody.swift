// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// The file of an upload as a request body, in pieces that are read when the connection takes them.
struct UploadBody: AsyncSequence, Sendable {
  /// The size of the file in bytes when it was opened.
  let length: Int64
  private let file: OpenFile
  private let throttle: Throttle
  private let watch: AttemptWatch
  private let report: @Sendable (AttemptEvent) -> Void

  /// - Throws: `TransferFault` -1100 or -1102 when the file cannot be read. The task then fails without another
  ///   attempt.
  init(
    _ path: String, _ throttle: Throttle, _ watch: AttemptWatch, _ report: @escaping @Sendable (AttemptEvent) -> Void
  ) throws(TransferFault) {
    file = try OpenFile(path)
    length = file.length
    self.throttle = throttle
    self.watch = watch
    self.report = report
  }

  func makeAsyncIterator() -> Iterator { Iterator(body: self) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let body: UploadBody
    private var offset: Int64 = 0

    fileprivate init(body: UploadBody) { self.body = body }

    mutating func next() async throws -> ByteBuffer? {
      // The previous piece has been taken.
      body.watch.touch()
      body.report(.sent(offset, of: body.length))
      guard offset < body.length else { return nil }
      let count = Int(Swift.min(body.length - offset, Int64(body.throttle.slice), 1 << 17))
      let (throttle, watch) = (body.throttle, body.watch)
      try await watch.outside { try await throttle.spend(count) }
      let piece = try body.file.read(count, at: offset)
      offset += Int64(piece.readableBytes)
      return piece
    }
  }
}

private final class OpenFile: Sendable {
  private let path: String
  private let descriptor: Int32
  let length: Int64

  init(_ path: String) throws(TransferFault) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      let isMissing = descriptor >= 0 || errno == ENOENT || errno == ENOTDIR
      if descriptor >= 0 { close(descriptor) }
      throw TransferFault(
        isMissing ? .fileDoesNotExist : .noPermissionsToReadFile, "the file to be uploaded cannot be read: \(path)",
        next: .never)
    }
    length = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  func read(_ count: Int, at offset: Int64) throws -> ByteBuffer {
    var buffer = ByteBuffer()
    var failure: Int32 = 0
    let got = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
      let got = pread(descriptor, bytes.baseAddress, count, off_t(offset))
      if got < 0 { failure = errno }
      return max(0, got)
    }
    guard failure == 0 else { throw FileError(path, failure) }
    guard got > 0 else {
      throw TransferFault(.requestBodyStreamExhausted, "the file became shorter while it was uploaded: \(path)")
    }
    return buffer
  }
}
