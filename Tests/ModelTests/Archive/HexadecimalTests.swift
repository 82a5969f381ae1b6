// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@Suite struct `Hexadecimal digits` {
  @Test func `bytes have two lower-case digits each, which are read in both cases`() {
    let bytes = Array(UInt8.min...UInt8.max)
    #expect(bytes.hexadecimal == bytes.map { String(format: "%02x", $0) }.joined())
    #expect(bytes.prefix(2).hexadecimal == "0001" && AnySequence(bytes).hexadecimal == bytes.hexadecimal)
    #expect(Data(hexadecimal: bytes.hexadecimal) == Data(bytes))
    #expect(Data(hexadecimal: bytes.hexadecimal.uppercased()) == Data(bytes))
    #expect(Data(hexadecimal: "") == Data())
  }

  @Test(arguments: ["0", "000", "0g", "+f", "-0", " 0", "é", "٣٣"])
  func `a text of other characters, or with half a byte, has no bytes`(_ text: String) {
    #expect(Data(hexadecimal: text) == nil)
  }
}
