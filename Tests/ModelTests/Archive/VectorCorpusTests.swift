// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The vector corpus` {
  @Test func `every SVG document of the corpus and each of its prefixes obeys the vector laws`() throws {
    try Corpus("vector").expectLawful(.everyPrefix, moreThan: 15) { VectorLaws.broken(by: $0) }
  }
}
