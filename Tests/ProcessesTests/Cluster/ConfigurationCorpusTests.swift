// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The configuration corpus` {
  @Test func `every widgetlab.yaml of the corpus obeys the configuration laws`() throws {
    try Corpus("configuration").expectLawful(.wholeAndTwoPrefixes, moreThan: 15) { ConfigurationLaws.broken(by: $0) }
  }
}
