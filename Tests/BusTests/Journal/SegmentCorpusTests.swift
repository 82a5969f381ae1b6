// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Journal

/// The inputs that the fuzzer (`scripts/fuzz`) kept, checked against the laws in every test run.
@Suite struct `The segment corpus` {
  @Test func `every segment of the corpus and each of its prefixes obeys the segment laws`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: Repository.corpus("segment"), includingPropertiesForKeys: nil)
    #expect(files.count > 20)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      for length in 0...bytes.count {
        let law = SegmentLaws.broken(by: Array(bytes.prefix(length)))
        #expect(law == nil, "\(file.lastPathComponent), its first \(length) bytes: \(law ?? "")")
      }
    }
  }
}
