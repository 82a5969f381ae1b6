// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JournalAnalysis

@Suite struct `The table of diagnoses` {
  @Test func `the diagnostic table names each mistake once, with a code, a rule, a source and advice`() {
    let all = DiagnosticTable.descriptions
    #expect(Set(all.map(\.code)).count == all.count)
    for description in all {
      #expect(description.code.allSatisfy { $0.isLowercase || $0 == "-" }, "\(description.code)")
      for text in [description.title, description.rule, description.source, description.advice] {
        #expect(!text.isEmpty && !text.contains("|"), "\(description.code)")
      }
      let words = ["documented: ", "observed: ", "ours: "]
      #expect(words.contains { description.source.hasPrefix($0) }, "\(description.code)")
    }
  }
}
