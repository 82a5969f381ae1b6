// SPDX-License-Identifier: Apache-2.0

import BusTesting
import Foundation
import Messages
import Testing

@testable import JournalAnalysis

@Suite struct `The checker of the laws` {
  private func checked(_ envelopes: [Envelope]) -> LawChecker {
    var checker = LawChecker()
    for envelope in envelopes { _ = checker.handle(envelope) }
    return checker
  }

  @Test func `the table names each law once, with a code, a statement, a source, a check and its limits`() {
    let all = LawTable.descriptions
    #expect(all.count == 9)
    #expect(Set(all.map(\.code)).count == all.count)
    for law in all {
      #expect(law.code.allSatisfy { $0.isLowercase || $0 == "-" }, "\(law.code)")
      for text in [law.title, law.statement, law.source, law.check, law.limits] {
        #expect(!text.isEmpty, "\(law.code)")
      }
      #expect(["documented: ", "observed: ", "ours: "].contains { law.source.hasPrefix($0) }, "\(law.code)")
    }
  }

  @Test func `an empty journal obeys every law, without a check`() {
    let verdicts = checked([]).verdicts()
    #expect(verdicts.allSatisfy { $0.answer == .holds && $0.findings.checks == 0 })
    #expect(LawVerdict.answer(verdicts) == .holds)
  }

  @Test func `a gap leaves every law unknown, and what is broken before it broken`() throws {
    var work = try RecordedWork.download()
    try work.deliver(generation: 2)
    try work.send(DeviceStatus(), from: .operator("1"), to: RecordedWork.host)
    try work.send(DeviceStatus(), from: .operator("2"), to: RecordedWork.host)
    work.envelopes.remove(at: work.envelopes.count - 2)
    let verdicts = checked(work.envelopes).verdicts()
    for verdict in verdicts {
      let isBroken = verdict.law.code == "nothing-after-acknowledgement"
      #expect(verdict.answer == (isBroken ? .broken : .unknown), "\(verdict.law.code)")
      #expect(verdict.findings.doubts.contains { $0.what.contains("are missing") }, "\(verdict.law.code)")
    }
    #expect(LawVerdict.answer(verdicts) == .broken)
  }

  @Test func `a body that cannot be read, and damage of the journal, leave every law unknown`() throws {
    var work = try RecordedWork.download()
    try work.progress(.started, 2)
    work.envelopes[work.envelopes.count - 1].body = [0x7b]
    #expect(checked(work.envelopes).verdicts().allSatisfy { $0.answer == .unknown })
    var checker = checked(try RecordedWork.download().envelopes)
    checker.lostTrack("damaged")
    #expect(checker.verdicts().allSatisfy { $0.answer == .unknown })
  }

  @Test func `verdicts can be taken at any time and change nothing`() throws {
    let envelopes = try RecordedWork.download().envelopes
    var checker = LawChecker()
    var answers: Set<LawVerdict.Answer> = []
    for envelope in envelopes {
      _ = checker.handle(envelope)
      answers.insert(LawVerdict.answer(checker.verdicts()))
    }
    #expect(answers == [.holds, .unknown])
    #expect(checker.verdicts() == checked(envelopes).verdicts())
  }

  @Test func `only the first findings are kept, and all are counted`() throws {
    var work = try RecordedWork.download()
    for _ in 1...20 { try work.deliver(generation: 2) }
    let findings = work.verdict("nothing-after-acknowledgement").findings
    #expect(findings.breachCount == 20)
    #expect(findings.breaches.count == LawFindings.limit)
  }

  @Test func `work that is settled is forgotten`() throws {
    var record = LawRecord(LawLimits())
    var work = RecordedWork()
    try work.boot()
    for task in 1...100 {
      let delivery = UUID()
      try work.create(task)
      try work.progress(.finished, task, sha256: "aa")
      try work.deliver([task], id: delivery)
      try work.acknowledge(id: delivery)
      try work.discard([task], id: delivery)
    }
    for envelope in work.envelopes {
      let seen = LawEnvelope(envelope)
      record.begin(seen)
      record.handle(seen)
    }
    #expect(record.tasks.entries.isEmpty)
    #expect(record.tasks.deliveries.isEmpty)
  }

  @Test func `what is remembered of settled work is bounded`() {
    var recent = Recent<Int, Int>(limit: 3)
    for number in 1...1000 { recent[number] = number }
    #expect((1...1000).filter { recent[$0] != nil } == [998, 999, 1000])
    recent[999] = nil
    recent[1001] = 1001
    #expect((1...1001).filter { recent[$0] != nil } == [998, 1000, 1001])
  }

  @Test func `the text has a line for each law, the envelopes of what was found, and a summary`() throws {
    var work = try RecordedWork.download()
    try work.deliver(generation: 2)
    let checker = checked(work.envelopes)
    let lines = LawText.lines(checker.verdicts(), of: checker, isColored: false)
    #expect(lines.first == "holds    no-loss                        1 check")
    #expect(lines.contains("holds    pushes-settled                 nothing to check"))
    let index = try #require(lines.firstIndex { $0.hasPrefix("broken   nothing-after-acknowledgement") })
    #expect(lines[index + 1].hasPrefix("  the events of com.example.Lab.session were delivered after"))
    #expect(lines[index + 3].hasPrefix("    #\(work.envelopes.count)"))
    #expect(lines.last == "\(work.envelopes.count) envelopes, #1 to #\(work.envelopes.count): 8 holds, 1 broken")
  }
}
