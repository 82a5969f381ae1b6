// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The HTTP/2 corpus` {
  @Test func `the push server obeys the HTTP/2 laws for the bytes of the corpus`() throws {
    try Corpus("http2").expectLawful(.wholeAndTwoPrefixes, moreThan: 15) { HTTP2Laws.broken(by: $0) }
  }
}
