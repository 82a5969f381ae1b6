// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The HTTP/2 corpus` {
  @Test func `the push server obeys the HTTP/2 laws for the bytes of the corpus`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: Repository.corpus("http2"), includingPropertiesForKeys: nil)
    #expect(files.count > 15)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      for input in [bytes, bytes.dropLast(), Array(bytes.prefix(bytes.count / 2))] {
        let law = HTTP2Laws.broken(by: Array(input))
        #expect(law == nil, "\(file.lastPathComponent), its first \(input.count) bytes: \(law ?? "")")
      }
    }
  }
}
