// SPDX-License-Identifier: Apache-2.0

import SecurityAPI
import Testing

/// Core Foundation's numbers of text encodings.
@Suite struct `Text encodings` {
  @Test(arguments: [
    ("utf-8", String.Encoding.utf8, "ä", [0xc3, 0xa4]), ("ISO-8859-1", .isoLatin1, "ä", [0xe4]),
    ("EUC-KR", String.Encoding(rawValue: 0x8000_0940), "한", [0xc7, 0xd1]),
    ("windows-1251", .windowsCP1251, "Д", [0xc4]),
  ])
  func `the name of a text encoding in a header becomes an encoding`(
    name: String, expected: String.Encoding, text: String, bytes: [UInt8]
  ) {
    let encoding = CFStringConvertIANACharSetNameToEncoding(name as CFString)
    let found = String.Encoding(rawValue: CFStringConvertEncodingToNSStringEncoding(encoding))
    #expect(found == expected)
    #expect(String(data: Data(bytes), encoding: found) == text)
    #expect(CFStringConvertNSStringEncodingToEncoding(found.rawValue) == encoding)
  }

  @Test(arguments: [
    ("GB18030", CFStringEncodings.GB_18030_2000), ("EUC-KR", .EUC_KR), ("Big5", .big5), ("KOI8-R", .KOI8_R),
    ("ISO-8859-2", .isoLatin2), ("windows-1250", .windowsLatin2), ("Shift_JIS", .shiftJIS), ("EUC-JP", .EUC_JP),
    ("ISO-8859-15", .isoLatin9), ("ISO-2022-JP", .ISO_2022_JP), ("windows-1253", .windowsGreek),
  ])
  func `an encoding has its number`(name: String, encoding: CFStringEncodings) {
    #expect(CFStringConvertIANACharSetNameToEncoding(name) == CFStringEncoding(encoding.rawValue))
  }

  @Test func `a name that is unknown has no encoding`() {
    #expect(CFStringConvertIANACharSetNameToEncoding("nothing") == kCFStringEncodingInvalidId)
    #expect(CFStringConvertIANACharSetNameToEncoding(nil) == kCFStringEncodingInvalidId)
  }
}
