// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The property list corpus` {
  @Test func `every Info.plist of the corpus obeys the property list laws`() throws {
    try Corpus("plist").expectLawful(.wholeAndTwoPrefixes, moreThan: 15) { PropertyListLaws.broken(by: $0) }
  }
}
