// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The configuration corpus` {
  @Test func `every widgetlab.yaml of the corpus obeys the configuration laws`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: Repository.corpus("configuration"), includingPropertiesForKeys: nil)
    #expect(files.count > 15)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      for input in [bytes, bytes.dropLast(), Array(bytes.prefix(bytes.count / 2))] {
        let law = ConfigurationLaws.broken(by: Array(input))
        #expect(law == nil, "\(file.lastPathComponent), its first \(input.count) bytes: \(law ?? "")")
      }
    }
  }
}
