// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The filter corpus` {
  @Test func `every filter of the corpus and each of its prefixes obeys the filter laws`() throws {
    try Corpus("filter").expectLawful(.everyPrefix, moreThan: 15) { FilterLaws.broken(by: $0) }
  }
}
