// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Messages

private let widget = Address.widgetExtension("phone", "com.example.App.Widget")

/// The wire format of an envelope: golden bytes, and a decoder that must not trap on any input.
@Suite struct `The wire format` {
  static let golden = Envelope(
    header: {
      var header = EnvelopeHeader(
        kind: "timeline.reload", sentAt: Timestamp(microseconds: 1_700_000_000_000_000),
        id: UUID(
          uuid: (0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff)),
        cause: nil,
        correlation: UUID(
          uuid: (0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00)),
        source: .operator("7"),
        destination: .host("phone"), attempt: 2)
      header.sequence = 0x0102_0304_0506_0708
      header.sourceGeneration = 3
      header.destinationGeneration = 4
      return header
    }(), body: Array("{}".utf8))

  static let goldenBytes =
    "01" + "74696d656c696e652e72656c6f6164" + String(repeating: "00", count: 16) + "0807060504030201"
    + "00401e18240a0600" + "00112233445566778899aabbccddeeff" + String(repeating: "00", count: 16)
    + "ffeeddccbbaa99887766554433221100" + "03000000" + "04000000" + "0a00" + "1100" + "02000000" + "0200"
    + "000000000000" + "6f70657261746f722f37" + "6465766963652f70686f6e652f686f7374" + "7b7d"

  @Test func `an envelope has the documented layout, byte for byte`() throws {
    let bytes = try Self.golden.encoded()
    #expect(bytes.map { String(format: "%02x", $0) }.joined() == Self.goldenBytes)
    #expect(try Envelope(decoding: bytes) == Self.golden)
  }

  @Test func `a header decodes to the same value whatever source is expected`() throws {
    let bytes = try Self.golden.encoded()
    let header = Self.golden.header
    for source in [nil, header.source, header.destination] {
      #expect(try EnvelopeHeader(decoding: bytes, expecting: source) == header)
    }
  }

  @Test func `the broker's stamp changes sequence and generations in place`() throws {
    var bytes = try Self.golden.encoded()
    EnvelopeHeader.stamp(&bytes, sequence: 9, sourceGeneration: 10, destinationGeneration: 11)
    let header = try EnvelopeHeader(decoding: bytes)
    #expect(header.sequence == 9)
    #expect(header.sourceGeneration == 10)
    #expect(header.destinationGeneration == 11)
    #expect(try Envelope(decoding: bytes).body == Self.golden.body)
  }

  @Test func `decoding a truncated envelope throws, and decoding a damaged one never traps`() throws {
    let bytes = try Self.golden.encoded()
    for length in 0..<bytes.count {
      #expect(throws: WireError.self) { try Envelope(decoding: Array(bytes.prefix(length))) }
    }
    for index in bytes.indices {
      for value in [0, 1, 0x7f, 0x80, 0xff] as [UInt8] {
        var damaged = bytes
        damaged[index] = value
        _ = try? Envelope(decoding: damaged)
      }
    }
    #expect(throws: WireError(.lengthMismatch)) { try Envelope(decoding: bytes + [0]) }
  }

  @Test func `encoding a body over the limit fails`() {
    let envelope = Envelope(header: Self.golden.header, body: Array(repeating: 0, count: Wire.bodyLimit + 1))
    #expect(throws: WireError(.bodyTooLong)) { try envelope.encoded() }
  }
}

@Suite struct `The message table` {
  func refusal(_ kind: Kind, from source: Address, to destination: Address) -> String? {
    MessageTable.refusal(of: EnvelopeHeader(kind: kind, source: source, destination: destination))
  }

  @Test func `session events may be sent from the host to an extension and be acknowledged`() {
    #expect(refusal(SessionEvents.kind, from: .host("phone"), to: widget) == nil)
    #expect(refusal(SessionEvents.kind.answered(.acknowledged), from: widget, to: .host("phone")) == nil)
  }

  @Test(.rule("DELIVERY-12")) func `an extension may not send session events to the app`() {
    #expect(refusal(SessionEvents.kind, from: widget, to: .app("phone", "com.example.App")) == "not-in-table")
  }

  @Test func `a message from one device to another is refused`() {
    #expect(refusal(SessionEvents.kind, from: .host("pad"), to: widget) == "other-device")
  }

  @Test func `undeclared message types and replies that their style does not have are refused`() {
    #expect(refusal("session.steal", from: widget, to: .host("phone")) == "not-in-table")
    #expect(refusal(OpenSession.kind.answered(.acknowledged), from: .host("phone"), to: widget) == "not-in-table")
  }

  @Test func `each message type has one table entry, and its name is short enough for a reply suffix`() {
    #expect(Set(MessageTable.all.map(\.kind)).count == MessageTable.all.count)
    for entry in MessageTable.all {
      #expect(!entry.routes.isEmpty && !entry.summary.isEmpty)
      #expect(entry.kind.name.utf8.count + "/failed".utf8.count <= Kind.maximumLength, "\(entry.kind)")
    }
  }
}

@Suite struct `Addresses` {
  @Test(
    arguments: ["", "device/phone", "device//host", "device/phone/agent/x", "operator", "device/phone/app/a/b", "a b"]
  )
  func `a text of another shape is not an address`(text: String) {
    #expect(Address(text) == nil)
  }

  @Test func `an address has a role, a device and a bundle identifier`() {
    #expect(widget.role == .widgetExtension)
    #expect(widget.device == "phone")
    #expect(widget.bundleIdentifier == "com.example.App.Widget")
    #expect(Address(widget.text) == widget)
  }

  @Test func `an address matches only the pattern of its key`() {
    #expect(AddressPattern("operator/*").matches(.operator("12")))
    #expect(!AddressPattern("operator/*").matches(.messageBus))
    #expect(!AddressPattern(widget).matches(.host("phone")))
  }

  @Test func `what explains a crash that may follow is sent at once`() {
    #expect(DelegateCalled(session: "a", method: "didCompleteWithError", taskIdentifier: 1).maySendLater)
    #expect(!DelegateCalled(session: "a", method: "urlSessionDidFinishEvents").maySendLater)
    for fault in FaultNoticed.Fault.allCases {
      #expect(FaultNoticed(fault, subject: "", details: "").maySendLater == (fault == .fileLeftBehind))
    }
  }

  @Test func `a random UUID is of version 4, and no two are equal`() {
    let found = (0..<1_000).map { _ in UUID.random() }
    #expect(Set(found).count == 1_000)
    for id in found {
      #expect(id.uuid.6 >> 4 == 4)
      #expect(id.uuid.8 >> 6 == 2)
    }
  }

  @Test func `a session has the same message context in every process instance`() {
    #expect(
      MessageContext.correlation(ofSession: "daily", of: widget)
        == MessageContext.correlation(ofSession: "daily", of: widget))
    #expect(
      MessageContext.correlation(ofSession: "daily", of: widget)
        != MessageContext.correlation(ofSession: "daily", of: .app("phone", "x")))
    #expect(
      MessageContext.correlation(ofSession: "daily", of: widget)
        != MessageContext.correlation(ofSession: "weekly", of: widget))
  }
}
