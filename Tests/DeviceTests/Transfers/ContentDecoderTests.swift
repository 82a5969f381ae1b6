// SPDX-License-Identifier: Apache-2.0

import CZlib
import FidelityRules
import Foundation
import Messages
import NIOCore
import NIOHTTP1
import Testing

@testable import Device
@testable import DeviceRules

/// How the device decodes `Content-Encoding`.
@Suite(.timeLimit(.minutes(1))) struct ContentDecoderTests {
  /// `bits`: 31 for gzip, 15 for zlib.
  private func packed(_ bytes: [UInt8], bits: Int32 = 31) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    guard deflateInit2_(&stream, 9, Z_DEFLATED, bits, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
      return []
    }
    defer { deflateEnd(&stream) }
    var (input, output) = (bytes, [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64))
    return input.withUnsafeMutableBufferPointer { input in
      let room = output.count
      return output.withUnsafeMutableBufferPointer { target in
        (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
        (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(room))
        guard deflate(&stream, Z_FINISH) == Z_STREAM_END else { return [] }
        return Array(target[..<(room - Int(stream.avail_out))])
      }
    }
  }

  private func decoded(_ bytes: [UInt8], _ encoding: String, piece: Int) throws -> [UInt8] {
    var decoder = try ContentDecoder(ContentCodings(["Content-Encoding": encoding]))
    var (rest, output) = (ByteBuffer(bytes: bytes), [UInt8]())
    while let piece = rest.readSlice(length: min(piece, rest.readableBytes)), piece.readableBytes > 0 {
      decoder.add(piece)
      while let more = try decoder.next() {
        #expect(more.readableBytes <= (encoding == "identity" ? piece.readableBytes : ContentDecoder.pieceLimit))
        output += more.readableBytesView
      }
    }
    try decoder.finish()
    return output
  }

  /// Text that hardly shrinks, and a long run that shrinks to a thousandth.
  private var content: [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<70_000).map { _ in UInt8.random(in: 0...255, using: &random) }
      + [UInt8](repeating: 0x61, count: 300_000)
  }

  @Test(.rule("TRANSFER-31"), arguments: [1, 7, 100_000])
  func `the decoded body does not depend on where the network cuts it`(piece: Int) throws {
    let content = content
    #expect(try decoded(content, "identity", piece: piece) == content)
    #expect(try decoded(packed(content), "gzip", piece: piece) == content)
    #expect(try decoded(packed(content), "X-GZIP", piece: piece) == content)
    #expect(try decoded(packed(content, bits: 15), "deflate", piece: piece) == content)
    #expect(try decoded(packed(packed(content)), "gzip, identity, gzip", piece: piece) == content)
    #expect(try decoded(packed(packed(content, bits: 15)), "deflate,gzip", piece: piece) == content)
    let two = packed(content) + packed([]) + packed(Array("end".utf8))
    #expect(try decoded(two, "gzip", piece: piece) == content + Array("end".utf8))
  }

  @Test(.rule("TRANSFER-30")) func `a body without a byte is complete, whatever its content coding is`() throws {
    for encoding in ["gzip", "deflate", "gzip, gzip", "br", ""] {
      #expect(try decoded([], encoding, piece: 1) == [])
    }
  }

  @Test func `a coding that the device does not know leaves the body as it is`() throws {
    let body = packed(Array("hello".utf8))
    for encoding in ["br", "br, gzip", "gzip, br", "zstd", "none"] {
      #expect(try decoded(body, encoding, piece: 5) == body)
    }
  }

  @Test(.rule("TRANSFER-59"))
  func `a body that ends too early, goes on too long or has too many codings fails permanently with -1016`() throws {
    let whole = packed(Array("hello hello hello".utf8))
    let layers = (0..<6).reduce(Array("x".utf8)) { bytes, _ in packed(bytes) }
    var wrongSum = whole
    wrongSum[whole.count - 6] ^= 1
    let cases: [([UInt8], String)] = [
      (Array(whole.dropLast()), "gzip"), (whole + Array(whole.dropLast(9)), "gzip"), (whole + [0], "gzip"),
      (whole + Array("more".utf8), "gzip"), (packed([1], bits: 15) + packed([2], bits: 15), "deflate"),
      (wrongSum, "gzip"), (layers, "gzip,gzip,gzip,gzip,gzip,gzip"), (packed(Array(whole.dropLast())), "gzip, gzip"),
      (whole, "gzip, gzip"), ([0x1f], "gzip"),
    ]
    for (index, (bytes, encoding)) in cases.enumerated() {
      for piece in [1, 1000] {
        let fault = #expect(throws: TransferFault.self, "\(index)") { try decoded(bytes, encoding, piece: piece) }
        #expect(fault?.code == -1016 && fault?.next == .never, "\(index)")
      }
    }
  }

  @Test(
    .rule("TRANSFER-30"), arguments: ["204 No Content", "304 Not Modified", "200 OK", "HEAD"])
  func `a response without a body succeeds with Content-Encoding gzip`(status: String) async throws {
    let isHead = status == "HEAD"
    let length = status == "200 OK" ? 0 : 99
    let head = "HTTP/1.1 \(isHead ? "200 OK" : status)\r\nContent-Encoding: gzip\r\nContent-Length: \(length)\r\n\r\n"
    try await withServer({ _ in [.send(head)] }) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url, method: isHead ? "HEAD" : "GET"))
      #expect(result.bytes == 0)
      #expect(result.response.expectedLength == -1)
      #expect(fixture.bytes == [])
    }
  }

  @Test(.rule("TRANSFER-31"), arguments: ["gzip", "gzip, gzip"])
  func `a body of two gzip members or of two layers is decoded from a server`(encoding: String) async throws {
    let hello = Array("hello ".utf8)
    let body = encoding == "gzip" ? packed(hello) + packed(hello) : packed(packed(hello + hello))
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: \(body.count)\r\n\r\n"
    try await withServer({ _ in [.send(head), .bytes(body)] }) { fixture, server in
      let result = try await fixture.attempt(TransferRequest(url: server.url))
      #expect(fixture.bytes == hello + hello)
      #expect(result.sha256 == digest(hello + hello))
      #expect(result.response.expectedLength == -1)
    }
  }
}
