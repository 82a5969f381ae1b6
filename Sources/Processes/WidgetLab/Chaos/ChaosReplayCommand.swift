// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Foundation
import JournalAnalysis

/// `widgetlab chaos replay`.
struct ChaosReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Runs the campaign of a failure file again, and compares the verdict.",
    discussion: """
      The same steps and faults are performed in a new cluster, each fault as long after the beginning of its step as \
      before. Processes do not run in lockstep, so the steps are repeated in new clusters until the same law is broken, \
      at most --attempts times.

      Exit code 0 when the verdict is the same, 1 when it is not.

      EXAMPLES
        widgetlab chaos replay chaos-7.tar
        widgetlab chaos replay chaos-7.tar --show           only print the faults
        widgetlab trace --journal chaos-7.tar …             its journal; also tail and check
        tar xf chaos-7.tar                                  its files
      """)

  @Argument(help: "The failure file.", completion: .file())
  var file: String

  @Option(help: "How often the steps are performed at most.")
  var attempts = 10

  @Option(help: ArgumentHelp("The folder of the executables (default: that of this tool).", valueName: "folder"))
  var executables: String?

  @Flag(help: "Print the faults and the verdict of the file, and run nothing.")
  var show = false

  @Flag(help: "Keep the temporary folders of the clusters.")
  var keep = false

  func validate() throws {
    guard (1...1000).contains(attempts) else { throw ValidationError("--attempts: 1 to 1000.") }
  }

  func run() async throws {
    try await reporting {
      let campaign = try ChaosFailure.read(file).campaign
      Output.print(
        "\(file): seed \(campaign.seed), widgetlab \(campaign.version), broken: "
          + campaign.broken.joined(separator: ", "))
      for line in campaign.lines { Output.print("  \(line)") }
      if !show { try await replay(campaign) }
    }
  }

  private func replay(_ campaign: FailureFile.Campaign) async throws {
    var options = try ChaosOptions.parse([])
    options.executables = executables
    options.keep = keep
    if campaign.steps.contains(where: { $0.fault?.kind == .full }), let reason = await BoundedDisk.enterNamespace() {
      throw CommandError(Exit.configuration, "the fault 'full' is not possible here: \(reason)", at: file)
    }
    let interruption = ChaosInterruption()
    let signals = Signals()
    // Cancelled and awaited at the end of this scope.
    async let _ = interruption.watch(signals)
    for attempt in 1...attempts where await !interruption.isSet {
      let trial = ChaosTrial(
        seed: campaign.seed, source: .given(campaign.steps), options: options,
        command: "widgetlab chaos replay \(file)", interruption: interruption, isShown: false)
      let broken = try await trial.run().report.broken
      let isSame = !Set(broken).isDisjoint(with: campaign.broken)
      let found = broken.isEmpty ? "nothing is broken" : "broken: \(broken.joined(separator: ", "))"
      Output.print("attempt \(attempt): \(found)")
      if isSame { return Output.print("the verdict is the same") }
    }
    Output.print("the verdict is not the same")
    throw Exit.no
  }
}
