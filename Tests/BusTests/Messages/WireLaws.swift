// SPDX-License-Identifier: Apache-2.0

@testable import Messages

/// The laws that hold for any bytes of a received frame. The tests check the corpus against them, and `scripts/fuzz` a
/// million more inputs.
enum WireLaws {
  /// The law that the bytes break, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    let header = Result { () throws(WireError) in try EnvelopeHeader(decoding: bytes) }
    let whole = Result { () throws(WireError) in try Envelope(decoding: bytes) }
    switch (header, whole) {
    case (.failure(let one), .failure(let other)):
      return one == other ? nil : "the header fails with \(one), and the envelope with \(other)"
    case (.success, .failure(let error)): return "the header can be decoded, but the envelope cannot: \(error)"
    case (.failure(let error), .success): return "the envelope can be decoded, but its header cannot: \(error)"
    case (.success(let header), .success(let envelope)):
      guard header == envelope.header else {
        return "the header decoded for routing differs from the header of the envelope"
      }
      return broken(by: envelope, of: bytes) ?? brokenByStamp(envelope, bytes) ?? broken(by: header)
    }
  }

  private static func broken(by envelope: Envelope, of bytes: [UInt8]) -> String? {
    // The encoding is canonical, so that a hash of the bytes is a hash of the envelope.
    guard let again = try? envelope.encoded() else { return "the decoded envelope cannot be encoded" }
    guard again == bytes else { return "the decoded envelope is encoded to other bytes" }
    let kind = envelope.header.kind.name.utf8
    for length in 0...kind.count where !bytes.starts(with: [Wire.version] + kind.prefix(length)) {
      return "a subscription to the first \(length) bytes of the message type misses it"
    }
    return nil
  }

  private static func brokenByStamp(_ envelope: Envelope, _ bytes: [UInt8]) -> String? {
    var stamped = bytes
    EnvelopeHeader.stamp(&stamped, sequence: .max, sourceGeneration: 7, destinationGeneration: .max)
    var expected = envelope
    expected.header.sequence = .max
    expected.header.sourceGeneration = 7
    expected.header.destinationGeneration = .max
    return (try? Envelope(decoding: stamped)) == expected ? nil : "a stamp changes other fields"
  }

  /// The checks that the broker makes on a header before it trusts the sender.
  private static func broken(by header: EnvelopeHeader) -> String? {
    for address in [header.source, header.destination] {
      guard let again = Address(address.text), again == address, again.role == address.role else {
        return "the text of \(address) is parsed as another address"
      }
    }
    let isOther = header.source.device.flatMap { device in header.destination.device.map { $0 != device } } ?? false
    guard header.source.isOnAnotherDevice(than: header.destination) == isOther else {
      return "for \(header.source) and \(header.destination), `isOnAnotherDevice` contradicts the device names"
    }
    guard Kind(header.kind.name) == header.kind else { return "the name of the message type is not a message type" }
    if MessageTable.refusal(of: header) == nil, MessageTable[header.kind] == nil {
      return "\(header.kind) is allowed but has no entry in the table"
    }
    return nil
  }
}
