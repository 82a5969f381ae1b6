// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import FaultPoints
import Foundation
import JournalAnalysis

/// `widgetlab chaos run`.
struct ChaosRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs a campaign of faults.",
    discussion: """
      Starts a separate cluster of the sample's processes in a temporary folder, with downloads, reloads, pushes and \
      taps in progress. Faults are drawn from the seed among those that are possible at the time. Then the faults end, \
      and when all is quiet, the laws of `widgetlab check` are judged over the whole journal. The campaign ends early \
      when a law is broken; then it looks for fewer faults that break the law, and writes a failure file with them, the \
      journal and the outputs of the processes. Ctrl-C ends the faults and reports; a second Ctrl-C ends everything at once.

      Exit code 0 when all laws hold, 1 when one is broken, 2 when none is broken and one is unknown, 64 for a wrong \
      command line, 70 when the campaign itself failed.

      EXAMPLES
        widgetlab chaos                            300 kills; the seed is drawn
        widgetlab chaos --seed 7 --kills 1000      the campaign of seed 7
        widgetlab chaos --duration 10m             until the time is over
        widgetlab chaos --seeds 1-100 --shard 3/10 a tenth of a hundred
        widgetlab chaos --faults kill,several      only these faults
        widgetlab chaos --faults all --steps 500   also servers, disks, lost data and limits
        widgetlab chaos --victims host,provider    only these processes
        widgetlab chaos --report chaos.html        also a page with plots
        widgetlab chaos --compose widgetlab        a compose project
        widgetlab chaos --list                     what the faults are
      """)

  @OptionGroup var options: ChaosOptions

  @Flag(help: "List the faults, without running anything.")
  var list = false

  func run() async throws {
    try await reporting {
      if list { return printList() }
      var unavailable: Set<FaultKind> = []
      if try options.kinds.contains(.full), let reason = await BoundedDisk.enterNamespace() {
        Output.printError("widgetlab: the fault 'full' is SKIPPED: \(reason)")
        unavailable = [.full]
      }
      let report = try await ChaosSession(options, unavailable: unavailable).run()
      try CheckCommand.exit(with: report.answer)
    }
  }

  private func printList() {
    for kind in FaultKind.allCases { Output.print("\(kind.rawValue.padded(9)) \(kind.sentence)") }
    Output.printText("\nThe behaviours of server (!: the download must fail):")
    let names = ServerBehaviour.all.map { $0.name + ($0.isFinal ? "!" : "") }
    let column = (names.map(\.count).max() ?? 0) + 2
    for start in stride(from: 0, to: names.count, by: 3) {
      Output.print("  " + names[start..<min(start + 3, names.count)].map { $0.padded(column) }.joined())
    }
    Output.printText("\nThe points of point, stall and disk (*: a write follows, which can fail):")
    let width = (FaultPoint.allCases.map(\.name.count).max() ?? 0) + 1
    for point in FaultPoint.allCases {
      Output.print("  \((point.name + (point.canFail ? "*" : "")).padded(width)) \(point.summary)")
    }
  }
}
