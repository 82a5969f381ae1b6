// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import JournalAnalysis

/// Written reports, for tests.
enum RecordedCampaign {
  /// The verdicts of laws that have seen nothing.
  static var laws: [CampaignReport.LawResult] { LawChecker().verdicts().map(CampaignReport.LawResult.init) }

  /// - Parameter times: milliseconds until the host was back after each of its kills; `nil` when it was killed again.
  static func report(
    seed: UInt64 = 7, times: [Double?] = [50], laws: [CampaignReport.LawResult] = laws,
    checks: [CampaignReport.Check] = [], quietAfter: Double? = 1.5
  ) -> CampaignReport {
    var record = CampaignRecord()
    for (index, time) in times.enumerated() {
      let fault = ChaosFault.kill(victims: [.host])
      record.begin(CampaignStep(number: index + 1, actions: [], delay: 0, fault: fault, waits: true))
      let kill = CampaignEvent.Kill(victim: .host, state: index == 0 ? "host.before-tasks-saved" : "idle")
      record.took(
        CampaignEvent(step: index + 1, kind: .kill, text: fault.text, time: Double(index + 1), kills: [kill]))
      if let time { record.recovered(.host, step: index + 1, after: time) }
    }
    let answer = CampaignReport.answer(laws, checks, isQuiet: quietAfter != nil)
    return CampaignReport(
      command: "widgetlab chaos --seed \(seed)", version: "1",
      machine: MachineFacts(system: "Linux 6", processor: "A <processor>", cores: 2, memory: 1024, load: 0.5),
      date: "2026-11-25T07:30:00Z",
      run: CampaignReport.Run(
        seed: seed, answer: answer, kills: record.kills, seconds: 3600, quietAfter: quietAfter, envelopes: 100,
        wasInterrupted: false), record: record, work: CampaignWork(), laws: laws, checks: checks)
  }
}
