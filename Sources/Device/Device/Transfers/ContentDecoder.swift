// SPDX-License-Identifier: Apache-2.0

import CZlib
import DeviceRules
import Foundation
import NIOCore
import NIOHTTP1

/// The content codings of a response that the device decodes (RFC 9110, section 8.4).
struct ContentCodings: Sendable, Equatable {
  /// The number of layers to decode, all gzip or deflate: their headers tell them apart.
  let layers: Int

  /// As in libcurl, which decodes the requests that authors' processes perform themselves.
  static let limit = 5

  /// Reads all `Content-Encoding` fields. A body with another coding, such as `br`, is stored as it is.
  init(_ headers: HTTPHeaders) {
    let codings = headers["content-encoding"].flatMap { $0.split(separator: ",") }
      .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
      .filter { !$0.isEmpty && $0 != "identity" }
    layers = codings.allSatisfy { ["gzip", "x-gzip", "deflate"].contains($0) } ? codings.count : 0
  }
}

/// Decodes a body, piece by piece. A call of `next` returns at most `pieceLimit` bytes, so that a small input cannot
/// fill the memory.
struct ContentDecoder {
  /// The first one reads what the server sent.
  private let layers: [Inflater]
  /// What was added, if nothing is decoded.
  private var plain: ByteBuffer?

  /// Bytes.
  static let pieceLimit = 64 << 10

  /// - Throws: `TransferFault` -1016 for too many layers.
  init(_ codings: ContentCodings) throws(TransferFault) {
    guard codings.layers <= ContentCodings.limit else {
      throw .undecodable("it has \(codings.layers) content codings, and the limit is \(ContentCodings.limit)")
    }
    var layers: [Inflater] = []
    for _ in 0..<codings.layers { layers.append(try Inflater()) }
    self.layers = layers
  }

  /// Adds bytes that the server sent. All of what they give must be taken with `next` before more is added.
  mutating func add(_ piece: ByteBuffer) {
    if let first = layers.first { first.add(piece) } else { plain = piece }
  }

  /// The next part of the decoded body; `nil` when more input is needed.
  ///
  /// - Throws: `TransferFault` -1016.
  mutating func next() throws(TransferFault) -> ByteBuffer? {
    guard !layers.isEmpty else {
      defer { plain = nil }
      return plain
    }
    return try next(of: layers.count - 1)
  }

  private func next(of layer: Int) throws(TransferFault) -> ByteBuffer? {
    while true {
      if let piece = try layers[layer].next() { return piece }
      guard layer > 0, let more = try next(of: layer - 1) else { return nil }
      layers[layer].add(more)
    }
  }

  /// The server has sent the whole body. One without a byte is complete, whatever its codings are (RFC 9110, 6.4.1).
  ///
  /// - Throws: `TransferFault` -1016 when the end of a coding is missing.
  func finish() throws(TransferFault) {
    guard layers.first?.hasInput ?? false else { return }
    for layer in layers where !layer.isComplete { throw .undecodable("its end is missing") }
  }
}

/// Decodes one layer of gzip or deflate. Gzip may have several members (RFC 1952, section 2.2).
private final class Inflater {
  /// zlib keeps its address.
  private let stream: UnsafeMutablePointer<z_stream>
  private var input = ByteBuffer()
  private(set) var hasInput = false
  private var isGzip = false
  /// A member has ended and no other one has begun.
  private(set) var isComplete = false
  /// The last piece was full: zlib may have more without more input.
  private var isFull = false

  init() throws(TransferFault) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // The largest window, and gzip or zlib, whichever the header says.
    let code = inflateInit2_(stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard code == Z_OK else { throw TransferFault(.unknown, "zlib cannot be initialised: error \(code)") }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  func add(_ piece: ByteBuffer) {
    guard let first = piece.readableBytesView.first else { return }
    if !hasInput { isGzip = first == Inflater.firstOfGzip }
    hasInput = true
    input = piece
  }

  private static let firstOfGzip: UInt8 = 0x1f

  func next() throws(TransferFault) -> ByteBuffer? {
    while isFull || input.readableBytes > 0 {
      if isComplete {
        guard isGzip, input.readableBytesView.first == Inflater.firstOfGzip, inflateReset(stream) == Z_OK else {
          throw .undecodable("bytes follow its end")
        }
        isComplete = false
      }
      let (output, code) = step()
      switch code {
      // Z_BUF_ERROR: zlib needs more input.
      case Z_OK, Z_BUF_ERROR: isFull = output.readableBytes == ContentDecoder.pieceLimit
      case Z_STREAM_END: (isComplete, isFull) = (true, false)
      case Z_MEM_ERROR: throw TransferFault(.unknown, "zlib has no memory")
      default: throw .undecodable("zlib error \(code)")
      }
      if output.readableBytes > 0 { return output }
    }
    return nil
  }

  /// Decodes until the input is used up or a piece is full.
  private func step() -> (output: ByteBuffer, code: Int32) {
    var output = ByteBuffer()
    var code = Z_OK
    input.readWithUnsafeMutableReadableBytes { source in
      let givenLength = UInt32(clamping: source.count)
      stream.pointee.next_in = source.baseAddress?.assumingMemoryBound(to: Bytef.self)
      stream.pointee.avail_in = givenLength
      output.writeWithUnsafeMutableBytes(minimumWritableBytes: ContentDecoder.pieceLimit) { target in
        stream.pointee.next_out = target.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = UInt32(ContentDecoder.pieceLimit)
        code = inflate(stream, Z_NO_FLUSH)
        return ContentDecoder.pieceLimit - Int(stream.pointee.avail_out)
      }
      return Int(givenLength - stream.pointee.avail_in)
    }
    return (output, code)
  }
}

extension TransferFault {
  fileprivate static func undecodable(_ reason: String) -> TransferFault {
    TransferFault(.cannotDecodeContentData, "the body cannot be decoded: \(reason)", next: .never)
  }
}
