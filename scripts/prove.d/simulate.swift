// SPDX-License-Identifier: Apache-2.0

// The command of scripts/prove --simulate: simulations without the tool.

import Foundation
import ModelChecking

var plan = SimulationPlan(seed: 1)
var seeds: ClosedRange<UInt64> = 1...1
var journal: FileHandle?
for argument in CommandLine.arguments.dropFirst() {
  let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
  guard parts.count == 2 else { refuse("\(argument): an option and a value are expected, such as --seeds=1-100") }
  let value = parts[1]
  switch parts[0] {
  case "--seeds":
    let ends = value.split(separator: "-").map { UInt64($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
      refuse("\(argument): a range A-B is expected, such as 1-100")
    }
    seeds = first...last
  case "--hours":
    guard let hours = Double(value), (0.1...87_600).contains(hours) else {
      refuse("\(argument): 0.1 to 87600 is expected")
    }
    plan.hours = hours
  case "--kills":
    guard let kills = Int(value), kills >= 0 else { refuse("\(argument): a whole number is expected") }
    plan.kills = kills
  case "--only": plan.only = value == "none" ? [] : value.split(separator: ",").map { number(argument, String($0)) }
  case "--until": plan.until = number(argument, value)
  case "--plant":
    guard let mistake = SimulatedMistake(rawValue: value) else {
      refuse("\(argument): there are \(SimulatedMistake.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    plan.mistake = mistake
  case "--journal":
    guard FileManager.default.createFile(atPath: value, contents: nil), let file = FileHandle(forWritingAtPath: value)
    else { refuse("\(argument): the file cannot be written") }
    journal = file
  default:
    refuse("no option is named \(parts[0]); there are --seeds, --hours, --kills, --only, --until, --plant, --journal")
  }
}
let clock = ContinuousClock()
let begin = clock.now
var (hours, kills) = (0.0, 0)
var isRight = true
for seed in seeds {
  plan.seed = seed
  let start = clock.now
  let result = Simulation(plan).run(write: { bytes in journal?.write(Data(bytes)) })
  hours += result.seconds / 3600
  kills += result.kills.values.reduce(0, +)
  for line in SimulationText.lines(result, clock.now - start, isBrief: seeds.count > 1, isColored: false) { show(line) }
  if let next = result.next { show("next: step \(result.steps + 1), \(next)") }
  guard let breach = result.breach else { continue }
  isRight = false
  for line in SimulationText.lines(breach, of: result, command: "widgetlab simulate") { show(line) }
  let smaller = SimulationShrinking(result).run()
  if let found = smaller.breach, found.kills.count < breach.kills.count {
    show("smaller:")
    for line in SimulationText.lines(found, of: smaller, command: "widgetlab simulate") { show(line) }
  }
}
if seeds.count > 1 {
  show("\(hours) device hours, \(kills) kills: \(SimulationText.speed(hours, kills, clock.now - begin))")
}
exit(isRight ? 0 : 1)
