// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Messages

/// The inputs that the fuzzer (`scripts/fuzz`) kept, checked against the laws in every test run.
@Suite struct `The envelope corpus` {
  private static func corpus() throws -> [(name: String, bytes: [UInt8])] {
    try FileManager.default.contentsOfDirectory(at: Repository.corpus("envelope"), includingPropertiesForKeys: nil)
      .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
  }

  @Test func `every frame of the corpus and each of its prefixes obeys the wire laws`() throws {
    for (name, bytes) in try Self.corpus() {
      for length in 0...bytes.count {
        let law = WireLaws.broken(by: Array(bytes.prefix(length)))
        #expect(law == nil, "\(name), its first \(length) bytes: \(law ?? "")")
      }
    }
  }

  @Test func `the envelope corpus covers every decoding error and many message types`() throws {
    var reasons: Set<WireError.Code> = []
    var kinds: Set<Kind> = []
    for (_, bytes) in try Self.corpus() {
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
