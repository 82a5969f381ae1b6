// SPDX-License-Identifier: Apache-2.0

// The command of scripts/prove --simulate: simulations without the tool.

import Foundation
import ModelChecking

/// Prints at once, also into a pipe.
func show(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

var plan = SimulationPlan(seed: 1)
var seeds: ClosedRange<UInt64> = 1...1
var journal: FileHandle?
for argument in CommandLine.arguments.dropFirst() {
  let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
  let value = parts.last ?? ""
  switch parts.first {
  case "--seeds":
    let ends = value.split(separator: "-").compactMap { UInt64($0) }
    if let first = ends.first, let last = ends.last, first <= last { seeds = first...last }
  case "--hours": plan.hours = Double(value) ?? plan.hours
  case "--kills": plan.kills = Int(value) ?? plan.kills
  case "--only": plan.only = value.split(separator: ",").compactMap { Int($0) }
  case "--until": plan.until = Int(value)
  case "--plant": plan.mistake = SimulatedMistake(rawValue: value)
  case "--journal":
    _ = FileManager.default.createFile(atPath: value, contents: nil)
    journal = FileHandle(forWritingAtPath: value)
  default:
    show("error: no option \(argument)")
    exit(64)
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
