// SPDX-License-Identifier: Apache-2.0

import Foundation
import URLSessionAPI

/// The body of a request, read in parts.
final class BodyReader {
  private enum Source {
    case data(Data)
    case file(FileHandle)
  }

  private let source: Source
  /// In bytes.
  let count: Int64
  /// Bytes that were read.
  private(set) var offset: Int64 = 0

  /// - Throws: `fileDoesNotExist` or `noPermissionsToReadFile`.
  init(_ body: InlineBody) throws(URLError) {
    switch body {
    case .none: (source, count) = (.data(Data()), 0)
    case .data(let data): (source, count) = (.data(data), Int64(data.count))
    case .file(let url):
      do {
        let handle = try FileHandle(forReadingFrom: url)
        count = Int64(try handle.seekToEnd())
        try handle.seek(toOffset: 0)
        source = .file(handle)
      } catch {
        let isThere = FileManager.default.fileExists(atPath: url.path)
        throw URLError(
          isThere ? .noPermissionsToReadFile : .fileDoesNotExist, userInfo: [NSURLErrorFailingURLErrorKey: url])
      }
    }
  }

  var isEmpty: Bool { count == 0 }

  /// Copies the next bytes into a buffer. Returns their number.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(URLError) -> Int {
    let wanted = Int(min(Int64(buffer.count), count - offset))
    guard wanted > 0 else { return 0 }
    switch source {
    case .data(let data):
      let start = data.startIndex + Int(offset)
      data.copyBytes(to: buffer, from: start..<start + wanted)
      offset += Int64(wanted)
      return wanted
    case .file(let handle):
      guard let piece = try? handle.read(upToCount: wanted), !piece.isEmpty else {
        throw URLError(.requestBodyStreamExhausted)
      }
      piece.copyBytes(to: buffer)
      offset += Int64(piece.count)
      return piece.count
    }
  }

  func seek(to offset: Int64) throws(URLError) {
    guard offset >= 0, offset <= count else { throw URLError(.requestBodyStreamExhausted) }
    if case .file(let handle) = source {
      do { try handle.seek(toOffset: UInt64(offset)) } catch { throw URLError(.requestBodyStreamExhausted) }
    }
    self.offset = offset
  }
}
