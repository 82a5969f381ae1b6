// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import Messages

/// The inputs that the fuzzer (`scripts/fuzz`) kept, checked against the laws in every test run.
@Suite struct `The envelope corpus` {
  @Test func `every frame of the corpus and each of its prefixes obeys the wire laws`() throws {
    try Corpus("envelope").expectLawful(.everyPrefix, moreThan: 40) { WireLaws.broken(by: $0) }
  }

  @Test func `the envelope corpus covers every decoding error and many message types`() throws {
    var reasons: Set<WireError.Code> = []
    var kinds: Set<Kind> = []
    for (_, bytes) in try Corpus("envelope").inputs {
      do throws(WireError) {
        kinds.insert(try Envelope(decoding: bytes).header.kind)
      } catch {
        reasons.insert(error.code)
      }
    }
    let expected: Set<WireError.Code> = [
      .tooShort, .unknownVersion, .malformedKind, .malformedAddress, .lengthMismatch, .bodyTooLong, .reservedNotZero,
    ]
    #expect(reasons == expected)
    #expect(kinds.count > 40)
  }
}
