// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The payload corpus` {
  @Test func `every payload of the corpus and each of its prefixes obeys the payload laws`() throws {
    try Corpus("payload").expectLawful(.everyPrefix, moreThan: 15) { PayloadLaws.broken(by: $0) }
  }
}
