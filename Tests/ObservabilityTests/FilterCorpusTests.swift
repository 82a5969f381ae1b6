// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The filter corpus` {
  @Test func `every filter of the corpus and each of its prefixes obeys the filter laws`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: Repository.corpus("filter"), includingPropertiesForKeys: nil)
    #expect(files.count > 15)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      for length in 0...bytes.count {
        let law = FilterLaws.broken(by: Array(bytes.prefix(length)))
        #expect(law == nil, "\(file.lastPathComponent), its first \(length) bytes: \(law ?? "")")
      }
    }
  }
}
