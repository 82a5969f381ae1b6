// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import ChaosCampaign
import Foundation
import JournalAnalysis

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
    let given: [(String, String?)] = [
      ("--seed", seed.map(String.init)), ("--seeds", seed == nil ? seeds : nil), ("--shard", seed == nil ? shard : nil),
      ("--compose", compose), ("--kills", kills.map(String.init)), ("--steps", steps.map(String.init)),
      ("--duration", duration), ("--faults", faults), ("--behaviours", behaviours),
      ("--victims", victims),
      ("--longest-stop", longestStopText), ("--within", within == 30 ? nil : "\(within)"),
    ]
    return (["widgetlab chaos"] + given.compactMap { name, value in value.map { "\(name) \($0)" } })
      .joined(separator: " ")
  }
}
