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
      when a law is broken. Ctrl-C ends the faults and reports; a second Ctrl-C kills everything at once.

      Exit code 0 when all laws hold, 1 when one is broken, 2 when none is broken and one is unknown, 64 for a wrong \
      command line, 70 when the campaign itself failed.

      EXAMPLES
        widgetlab chaos                              300 kills, with a seed that is drawn and printed
        widgetlab chaos --seed 7 --kills 1000        repeats the campaign of seed 7
        widgetlab chaos --duration 10m               until the time is over
        widgetlab chaos --faults kill,several        only these faults
        widgetlab chaos --victims host,message-bus   only these processes
        widgetlab chaos --report chaos.html          also a page with plots
        widgetlab chaos --list                       the faults, with a sentence each
      """)

  @OptionGroup var options: ChaosOptions

  @Flag(help: "List the faults, without running anything.")
  var list = false

  func run() async throws {
    try await reporting {
      if list { return printList() }
      let report = try await ChaosSession(options).run()
      try CheckCommand.exit(with: report.answer)
    }
  }

  private func printList() {
    for kind in FaultKind.allCases { Output.print("\(kind.rawValue.padded(9)) \(kind.sentence)") }
    Output.print("\nThe points of point, stall and disk (*: a write follows, which can fail):")
    let width = (FaultPoint.allCases.map(\.name.count).max() ?? 0) + 1
    for point in FaultPoint.allCases {
      Output.print("  \((point.name + (point.canFail ? "*" : "")).padded(width)) \(point.summary)")
    }
  }
}

/// The options of a campaign.
struct ChaosOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The seed of the campaign (default: drawn and printed).", valueName: "number"))
  var seed: UInt64?

  @Option(help: ArgumentHelp("End after so many killed processes (default: 300).", valueName: "number"))
  var kills: Int?

  @Option(help: ArgumentHelp("End after this time: 90s, 10m, 2h.", valueName: "duration"))
  var duration: String?

  @Option(help: ArgumentHelp("The faults, separated by commas (default: all; see --list).", valueName: "kinds"))
  var faults: String?

  @Option(
    help: ArgumentHelp("The processes that are disturbed, separated by commas (default: all).", valueName: "names"))
  var victims: String?

  @Option(help: ArgumentHelp("The folder of the executables (default: that of this tool).", valueName: "folder"))
  var executables: String?

  @Option(help: ArgumentHelp("An empty folder for the cluster, which is kept.", valueName: "folder"))
  var instance: String?

  @Option(name: .customLong("report"), help: ChaosReportFile.help, completion: .file())
  var reports: [ChaosReportFile] = []

  @Flag(help: "Keep the temporary folder of the cluster.")
  var keep = false

  func validate() throws {
    if let kills, !(1...1_000_000).contains(kills) { throw ValidationError("--kills: 1 to 1000000.") }
    if let duration, Amount.seconds(duration) == nil {
      throw ValidationError("'\(duration)' is not a duration; use 90s, 10m or 2h.")
    }
    _ = try kinds
    _ = try chosenVictims
  }

  /// Kills end a campaign without other limits.
  var killLimit: Int? { kills ?? (duration == nil ? 300 : nil) }
  var timeLimit: Duration? { duration.flatMap(Amount.seconds).map { .seconds($0) } }

  var kinds: Set<FaultKind> {
    get throws {
      guard let faults else { return Set(FaultKind.allCases) }
      return Set(
        try faults.split(separator: ",").map { word in
          guard let kind = FaultKind(rawValue: String(word)) else {
            throw ValidationError(
              "'\(word)' is not a fault; use: \(FaultKind.allCases.map(\.rawValue).joined(separator: ", ")).")
          }
          return kind
        })
    }
  }

  static let everyVictim: [ChaosVictim] = [
    .messageBus, .host, .agent(1), .pushServer, .provider, .widgetExtension, .app,
  ]

  var chosenVictims: Set<ChaosVictim> {
    get throws {
      guard let victims else { return Set(Self.everyVictim) }
      return Set(
        try victims.split(separator: ",").map { word in
          let victim = ChaosVictim(rawValue: String(word))
          guard Self.everyVictim.contains(victim) else {
            throw ValidationError(
              "'\(word)' is not a process of the campaign; use: "
                + "\(Self.everyVictim.map(\.rawValue).joined(separator: ", ")).")
          }
          return victim
        })
    }
  }
}
