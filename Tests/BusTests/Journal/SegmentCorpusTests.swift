// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

@testable import Journal

/// The inputs that the fuzzer (`scripts/fuzz`) kept, checked against the laws in every test run.
@Suite struct `The segment corpus` {
  @Test func `every segment of the corpus and each of its prefixes obeys the segment laws`() throws {
    try Corpus("segment").expectLawful(.everyPrefix, moreThan: 20) { SegmentLaws.broken(by: $0) }
  }
}
