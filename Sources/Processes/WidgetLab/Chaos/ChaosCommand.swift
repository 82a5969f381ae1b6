// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import ChaosCampaign
import FaultPoints
import Foundation
import JournalAnalysis

/// `widgetlab chaos`.
struct ChaosCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Kills and disturbs every process under load, and judges by the laws whether anything was lost.",
    discussion: """
      EXAMPLES
        widgetlab chaos                       300 kills; the seed is drawn
        widgetlab chaos --seed 7 --kills 1000 the campaign of seed 7
        widgetlab chaos --report chaos.html   also a page with plots
        widgetlab chaos --list                the faults
        widgetlab chaos replay chaos-7.tar    runs a failure again
        widgetlab chaos merge shard-*.json    one report of several
        widgetlab chaos run --help            all options
      """,
    subcommands: [ChaosRunCommand.self, ChaosReplayCommand.self, ChaosMergeCommand.self],
    defaultSubcommand: ChaosRunCommand.self)
}

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

/// `widgetlab chaos merge`.
struct ChaosMergeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Merges the JSON reports of several campaigns, such as the shards of several machines.",
    discussion: """
      The exit code is that of a campaign: 0 when all laws hold in all of them, 1 when one is broken, 2 when none is \
      broken and one is unknown.

      EXAMPLES
        widgetlab chaos merge shard-*.json --report chaos.html
      """)

  @Argument(help: "Reports that `chaos run --report FILE.json` wrote.", completion: .file())
  var files: [String]

  @Option(name: .customLong("report"), help: ReportFile.help, completion: .file())
  var reports: [ReportFile] = []

  func run() async throws {
    try await reporting {
      var merged = try read(files[0])
      for file in files.dropFirst() { merged.merge(try read(file)) }
      for file in reports { try file.write(merged) }
      for line in CampaignText.lines(merged, isColored: Output.isColored) { Output.print(line) }
      try CheckCommand.exit(with: merged.answer)
    }
  }

  private func read(_ path: String) throws -> CampaignReport {
    do {
      return try JSONDecoder().decode(CampaignReport.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw CommandError(
        Exit.usage, "this is not a report of a campaign: \(error)", at: path,
        advice: "give the files that `widgetlab chaos --report FILE.json` wrote")
    }
  }
}

/// The options of `chaos run`.
struct ChaosOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The seed of the campaign (default: drawn and printed).", valueName: "number"))
  var seed: UInt64?

  @Option(help: ArgumentHelp("A campaign for each of these seeds, A-B.", valueName: "range"))
  var seeds: String?

  @Option(
    help: ArgumentHelp(
      """
      With --seeds: only a part, i/n with i from 1; auto/n or auto: i (and n) from JOB_COMPLETION_INDEX, \
      SLURM_ARRAY_TASK_ID or CI_NODE_INDEX.
      """, valueName: "part"))
  var shard: String?

  @Option(help: ArgumentHelp("End after so many killed processes (default: 300).", valueName: "number"))
  var kills: Int?

  @Option(help: ArgumentHelp("End after this time: 90s, 10m, 2h.", valueName: "duration"))
  var duration: String?

  @Option(help: ArgumentHelp("End after so many steps, each with a fault.", valueName: "number"))
  var steps: Int?

  @Option(
    help: ArgumentHelp(
      "The faults, separated by commas, or all (default: those within the processes; see --list).", valueName: "kinds"))
  var faults: String?

  @Option(
    help: ArgumentHelp(
      "The behaviours of the fault 'server', separated by commas (default: all; see --list).", valueName: "names"))
  var behaviours: String?

  @Option(
    help: ArgumentHelp("The processes that are disturbed, separated by commas (default: all).", valueName: "names"))
  var victims: String?

  @Option(
    name: .customLong("longest-stop"),
    help: ArgumentHelp(
      "How long a process is stopped at most: 5s, 2m (default: \(ChaosLimits.longestStop) ms).", valueName: "duration"))
  var longestStopText: String?

  @Option(
    help: ArgumentHelp("Within how long after the last fault all work must be settled.", valueName: "seconds"))
  var within = 30.0

  @Option(name: .customLong("report"), help: ReportFile.help, completion: .file())
  var reports: [ReportFile] = []

  @Option(
    help: ArgumentHelp("The failure file, if a law is broken (default: chaos-SEED.tar).", valueName: "file"),
    completion: .file())
  var failure: String?

  @Flag(name: .customLong("shrink"), inversion: .prefixedNo, help: "Look for fewer faults that break the same law.")
  var shrinks = true

  @Option(help: ArgumentHelp("How long it looks for them.", valueName: "seconds"))
  var shrinkTime = 300.0

  @Option(
    help: ArgumentHelp(
      "The cluster of a compose project instead of an own one; see `docker compose ls`.", valueName: "project"))
  var compose: String?

  @Option(help: ArgumentHelp("The folder of the executables (default: that of this tool).", valueName: "folder"))
  var executables: String?

  @Option(help: ArgumentHelp("An empty folder for the cluster, which is kept.", valueName: "folder"))
  var instance: String?

  @Flag(help: "Keep the temporary folder of the cluster.")
  var keep = false

  func validate() throws {
    if let steps, !(1...1_000_000).contains(steps) { throw ValidationError("--steps: 1 to 1000000.") }
    if let kills, !(1...1_000_000).contains(kills) { throw ValidationError("--kills: 1 to 1000000.") }
    for text in [duration, longestStopText].compactMap(\.self) where Amount.seconds(text) == nil {
      throw ValidationError("'\(text)' is not a duration; use 90s, 10m or 2h.")
    }
    guard (1...1e5).contains(within), (0...1e5).contains(shrinkTime) else {
      throw ValidationError("--within and --shrink-time: up to 100000 seconds.")
    }
    if seed != nil, seeds != nil { throw ValidationError("Give --seed or --seeds, not both.") }
    if compose != nil, executables != nil { throw ValidationError("--executables and --compose exclude each other.") }
    if shard != nil, seeds == nil { throw ValidationError("--shard needs --seeds.") }
    if seeds != nil, instance != nil || failure != nil {
      throw ValidationError("--instance and --failure need one seed, and not --seeds.")
    }
    _ = try (kinds, chosenVictims, chosenSeeds, chosenBehaviours)
  }

  /// Without other limits, kills end a campaign, or steps where no kind of fault kills.
  var killLimit: Int? { kills ?? (duration == nil && steps == nil && canKill ? 300 : nil) }
  var stepLimit: Int? { steps ?? (duration == nil && kills == nil && !canKill ? 300 : nil) }
  private var canKill: Bool { (try? kinds.contains(where: \.kills)) ?? true }
  var timeLimit: Duration? { duration.flatMap(Amount.seconds).map { .seconds($0) } }
  /// Milliseconds.
  var longestStop: Int {
    longestStopText.flatMap(Amount.seconds).map { max(20, Int(saturating: $0 * 1000)) } ?? ChaosLimits.longestStop
  }

  /// A drawn seed when none is given.
  var chosenSeeds: [UInt64] {
    get throws {
      guard let seeds else { return [seed ?? .random(in: 1...999_999)] }
      do {
        return try SeedShard(seeds: seeds, shard: shard, environment: ProcessInfo.processInfo.environment).seeds
      } catch {
        throw ValidationError("\(error).")
      }
    }
  }

  var kinds: Set<FaultKind> {
    get throws {
      let possible = Self.possible(inContainers: compose != nil)
      guard let faults else { return compose == nil ? FaultKind.usual : possible }
      if faults == "all" { return possible }
      return Set(
        try faults.split(separator: ",").map { word in
          guard let kind = FaultKind(rawValue: String(word)), possible.contains(kind) else {
            let names = FaultKind.allCases.filter(possible.contains).map(\.rawValue)
            throw ValidationError("'\(word)' is not a fault of this cluster; use: \(names.joined(separator: ", ")).")
          }
          return kind
        })
    }
  }

  /// The names of the chosen behaviours of the server.
  var chosenBehaviours: [String] {
    get throws {
      guard let behaviours else { return ServerBehaviour.all.map(\.name) }
      return try behaviours.split(separator: ",").map { word in
        guard let behaviour = ServerBehaviour.named(String(word)) else {
          throw ValidationError("'\(word)' is not a behaviour of the server; `widgetlab chaos --list` lists them.")
        }
        return behaviour.name
      }
    }
  }

  private var allVictims: [ChaosVictim] { compose == nil ? ChaosVictim.sample : ComposeChaosCluster.victims }

  static func possible(inContainers: Bool) -> Set<FaultKind> {
    inContainers ? ComposeChaosCluster.kinds : OwnChaosCluster.kinds
  }

  var chosenVictims: Set<ChaosVictim> {
    get throws {
      guard let victims else { return Set(allVictims) }
      return Set(
        try victims.split(separator: ",").map { word in
          let victim = ChaosVictim(rawValue: String(word))
          guard allVictims.contains(victim) else {
            throw ValidationError(
              "'\(word)' is not a process of the campaign; use: "
                + "\(allVictims.map(\.rawValue).joined(separator: ", ")).")
          }
          return victim
        })
    }
  }

  /// The command line that repeats the campaign of a seed; without one, those of all seeds.
  func command(seed: UInt64?) -> String {
    let givenOptions: [(String, String?)] = [
      ("--seed", seed.map(String.init)), ("--seeds", seed == nil ? seeds : nil), ("--shard", seed == nil ? shard : nil),
      ("--compose", compose), ("--kills", kills.map(String.init)), ("--steps", steps.map(String.init)),
      ("--duration", duration), ("--faults", faults), ("--behaviours", behaviours),
      ("--victims", victims),
      ("--longest-stop", longestStopText), ("--within", within == 30 ? nil : "\(within)"),
    ]
    return (["widgetlab chaos"] + givenOptions.compactMap { name, value in value.map { "\(name) \($0)" } })
      .joined(separator: " ")
  }
}
