// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Testing

/// The inputs that the fuzzer (`scripts/fuzz`) begins with, checked against the laws in every test run.
@Suite struct `The corpus of exchanges` {
  @Test func `a transfer obeys the laws of exchanges for the requests and responses of the corpus`() throws {
    try Corpus("exchange").expectLawful(.every(7, to: 400), moreThan: 30) { ExchangeLaws.broken(by: $0) }
  }
}
