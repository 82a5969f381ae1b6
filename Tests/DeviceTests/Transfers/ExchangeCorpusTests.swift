// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The corpus of exchanges` {
  @Test func `a transfer obeys the laws of exchanges for the requests and responses of the corpus`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: Repository.corpus("exchange"), includingPropertiesForKeys: nil)
    #expect(files.count > 30)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      for length in Array(stride(from: 0, to: min(bytes.count, 400), by: 7)) + [bytes.count] {
        let input = Array(bytes.prefix(length))
        let law = ExchangeLaws.broken(by: input)
        #expect(law == nil, "\(file.lastPathComponent), its first \(input.count) bytes: \(law ?? "")")
      }
    }
  }
}
