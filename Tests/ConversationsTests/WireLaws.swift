@testable import Conversations

/// What holds for any bytes whatever, of a frame that arrives on the bus. The corpus is held against it here, and
/// `scripts/fuzz` holds a million inputs more.
enum WireLaws {
  /// The law that the bytes break; `nil` when they break none. A trap is the fuzzer's to find.
  static func broken(by bytes: [UInt8]) -> String? {
    let header = Result { () throws(WireError) in try EnvelopeHeader(decoding: bytes) }
    let whole = Result { () throws(WireError) in try Envelope(decoding: bytes) }
    switch (header, whole) {
    case (.failure(let one), .failure(let other)):
      return one == other ? nil : "the header is \(one), and the envelope \(other)"
    case (.success, .failure(let error)): return "the header can be read, and the envelope not: \(error)"
    case (.failure(let error), .success): return "the envelope can be read, and its header not: \(error)"
    case (.success(let header), .success(let envelope)):
      guard header == envelope.header else { return "routing reads another header than the receiver" }
      return broken(by: envelope, of: bytes) ?? brokenByStamp(envelope, bytes) ?? broken(by: header)
    }
  }

  private static func broken(by envelope: Envelope, of bytes: [UInt8]) -> String? {
    // There is one form and no other, so that a hash of the bytes is a hash of the envelope.
    guard let again = try? envelope.encoded() else { return "what was read cannot be written" }
    guard again == bytes else { return "what was read is written with other bytes" }
    let kind = envelope.header.kind.name.utf8
    for length in 0...kind.count where !bytes.starts(with: [Wire.version] + kind.prefix(length)) {
      return "a subscription to the kind's first \(length) bytes misses it"
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
    return (try? Envelope(decoding: stamped)) == expected ? nil : "a stamp changes what it should not"
  }

  /// What the broker asks of a header before it knows whether to trust it.
  private static func broken(by header: EnvelopeHeader) -> String? {
    for address in [header.source, header.destination] {
      guard let again = Address(address.text), again == address, again.role == address.role else {
        return "the text of \(address) is another address than its bytes"
      }
    }
    let isOther = header.source.device.flatMap { device in header.destination.device.map { $0 != device } } ?? false
    guard header.source.isOnAnotherDevice(than: header.destination) == isOther else {
      return "\(header.source) and \(header.destination) are on one device, or on two, according to who asks"
    }
    guard Kind(header.kind.name) == header.kind else { return "the kind's name is no kind" }
    if ConversationTable.refusal(of: header) == nil, ConversationTable[header.kind] == nil {
      return "\(header.kind) may be said, and has no line in the table"
    }
    return nil
  }
}
