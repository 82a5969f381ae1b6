// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The payload corpus` {
  @Test func `every payload of the corpus and each of its prefixes obeys the payload laws`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: Repository.corpus("payload"), includingPropertiesForKeys: nil)
    #expect(files.count > 15)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      for length in 0...bytes.count {
        let law = PayloadLaws.broken(by: Array(bytes.prefix(length)))
        #expect(law == nil, "\(file.lastPathComponent), its first \(length) bytes: \(law ?? "")")
      }
    }
  }
}
