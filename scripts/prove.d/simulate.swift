// SPDX-License-Identifier: Apache-2.0

// The command of scripts/prove --simulate: simulations without the tool.

import ChaosCampaign
import Foundation
import JournalAnalysis
import ModelChecking

var plan = SimulationPlan(seed: 1)
var seeds: [UInt64] = [1]
var only: String?
var journal: SimulatedJournal?
for argument in CommandLine.arguments.dropFirst() {
  let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  guard parts.count == 2 else { refuse("\(argument): an option and a value are expected, such as --seeds=1-100") }
  let value = parts[1]
  switch parts[0] {
  case "--seeds":
    do {
      seeds = try SeedShard(seeds: value, shard: nil, environment: [:]).seeds
    } catch {
      refuse("\(argument): \(error)")
    }
  case "--hours":
    guard let hours = Double(value), (0.1...87_600).contains(hours) else {
      refuse("\(argument): 0.1 to 87600 is expected")
    }
    plan.hours = hours
  case "--kills":
    guard let kills = Int(value), (0...10_000_000).contains(kills) else {
      refuse("\(argument): 0 to 10000000 is expected")
    }
    plan.kills = kills
  case "--only": only = value
  case "--until": plan.until = number(argument, value)
  case "--plant":
    guard let mistake = SimulatedMistake(rawValue: value) else {
      refuse("\(argument): there are \(SimulatedMistake.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    plan.mistake = mistake
  case "--journal":
    do {
      journal = try SimulatedJournal(value)
    } catch {
      refuse("\(argument): \(error)")
    }
  default:
    refuse("no option is named \(parts[0]); there are --seeds, --hours, --kills, --only, --until, --plant, --journal")
  }
}
if let only {
  guard let numbers = SimulationPlan.killNumbers(only, kills: plan.kills) else {
    refuse("--only=\(only): numbers of kills from 1 to \(plan.kills), separated by commas, or none")
  }
  plan.only = numbers
}
if seeds.count > 1, journal != nil || plan.until != nil || plan.only != nil {
  refuse("--journal, --until and --only need one seed")
}
let total = SimulationSeries(plan, seeds: seeds).run(
  show: show, write: { journal?.write($0) }, isContinued: { _ in journal?.failure == nil })
if let failure = journal?.failure { refuse("--journal: \(failure)") }
exit(total.answer == .holds ? 0 : 1)
