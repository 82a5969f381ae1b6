// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Messages

extension RouteBytes {
  fileprivate init(ofFrame frame: [UInt8]) { self = frame.withUnsafeBytes { RouteBytes(of: $0) } }
  fileprivate func isMatched(by frame: [UInt8]) -> Bool { frame.withUnsafeBytes { matches($0) } }
  fileprivate static func hash(ofFrame frame: [UInt8]) -> UInt64? { frame.withUnsafeBytes { hash(of: $0) } }
}

@Suite struct `The bytes that decide a route` {
  private func frame(
    _ kind: Kind = "timeline.reload", from source: Address = .operator("7"), to destination: Address = .host("phone"),
    body: String = "{}"
  ) throws -> [UInt8] {
    try Envelope(header: EnvelopeHeader(kind: kind, source: source, destination: destination), body: Array(body.utf8))
      .encoded()
  }

  @Test func `an envelope with the same kind and addresses matches, whatever else it has`() throws {
    let bytes = RouteBytes(ofFrame: try frame())
    var other = try frame(body: "[1, 2, 3]")
    EnvelopeHeader.stamp(&other, sequence: 9, sourceGeneration: 10, destinationGeneration: 11)
    let hash = RouteBytes.hash(ofFrame: try frame())
    for same in [try frame(), try frame(body: ""), other] {
      #expect(bytes.isMatched(by: same))
      #expect(RouteBytes.hash(ofFrame: same) == hash)
    }
  }

  @Test func `an envelope with another kind or address does not match`() throws {
    let bytes = RouteBytes(ofFrame: try frame())
    let others = [
      try frame("timeline.reloaf"), try frame("timeline.reload/ok"), try frame(from: .operator("8")),
      try frame(from: .operator("77")), try frame(to: .host("phonf")), try frame(to: .host("phones")),
    ]
    let hash = RouteBytes.hash(ofFrame: try frame())
    for other in others {
      #expect(!bytes.isMatched(by: other))
      #expect(RouteBytes.hash(ofFrame: other) != hash)
    }
    // The same text of both addresses together, divided in another place.
    var shifted = try frame()
    shifted[Wire.sourceLengthOffset] += 1
    shifted[Wire.sourceLengthOffset + 2] -= 1
    #expect(!bytes.isMatched(by: shifted))
  }

  /// Decoding is the judge: what matches must decode, to the same kind and addresses.
  @Test func `a damaged envelope matches only if it decodes to the same kind and addresses`() throws {
    let whole = try frame()
    let bytes = RouteBytes(ofFrame: whole)
    let header = try EnvelopeHeader(decoding: whole)
    for index in whole.indices {
      for value in [0, 1, 0x2f, 0x7f, 0x80, 0xff] as [UInt8] {
        var damaged = whole
        damaged[index] = value
        let decoded = try? EnvelopeHeader(decoding: damaged)
        let isSame = decoded.map {
          $0.kind == header.kind && $0.source == header.source && $0.destination == header.destination
        }
        #expect(bytes.isMatched(by: damaged) == (isSame ?? false), "\(value) at \(index)")
        _ = RouteBytes.hash(ofFrame: damaged)
      }
    }
  }

  @Test func `a truncated or longer frame does not match`() throws {
    let whole = try frame()
    let bytes = RouteBytes(ofFrame: whole)
    for length in 0..<whole.count {
      #expect(!bytes.isMatched(by: Array(whole.prefix(length))))
      _ = RouteBytes.hash(ofFrame: Array(whole.prefix(length)))
    }
    #expect(!bytes.isMatched(by: whole + [0]))
    #expect(RouteBytes.hash(ofFrame: []) == nil)
    let long = RouteBytes.hash(ofFrame: Array(repeating: 0xff, count: 200))
    #expect(long == nil, "the addresses are longer than the frame")
  }

  @Test func `a body over the limit does not match`() throws {
    let whole = try frame()
    var long = whole
    long[Wire.bodyLengthOffset + 2] = 4  // 256 KiB and 2 bytes
    long += Array(repeating: 0, count: Wire.bodyLimit)
    #expect(throws: WireError(.bodyTooLong)) { try EnvelopeHeader(decoding: long) }
    #expect(!RouteBytes(ofFrame: whole).isMatched(by: long))
  }
}
