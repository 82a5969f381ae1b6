// SPDX-License-Identifier: Apache-2.0

// Simulations without the tool: `simulate SEED HOURS KILLS [PLANT] [FILE]`.

import Foundation
import JournalAnalysis
import ModelChecking

func show(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

let arguments = CommandLine.arguments.dropFirst() + []
var plan = SimulationPlan(
  seed: arguments.first.flatMap(UInt64.init) ?? 1, hours: arguments.dropFirst().first.flatMap(Double.init) ?? 24,
  kills: arguments.dropFirst(2).first.flatMap(Int.init) ?? 100)
plan.mistake = arguments.dropFirst(3).first.flatMap(SimulatedMistake.init(rawValue:))
let path = arguments.dropFirst(4).first
let clock = ContinuousClock()
let start = clock.now
if let path { _ = FileManager.default.createFile(atPath: path, contents: nil) }
let handle = path.flatMap { FileHandle(forWritingAtPath: $0) }
let result = Simulation(plan).run(write: { bytes in handle?.write(Data(bytes)) })
let seconds = Double((clock.now - start).components.attoseconds) / 1e18 + Double((clock.now - start).components.seconds)
show("\(result.steps) steps, \(result.decisions) decisions, \(result.seconds / 3600) h, \(result.kills.values.reduce(0, +)) kills, \(seconds) s, digest \(result.digest.prefix(16))")
for line in LawText.lines(result.verdicts, of: result.checker, isColored: false) { show(line) }
if let breach = result.breach { show("broken: \(breach.law) at step \(breach.step), after \(breach.kills.count) kills: \(breach.finding.what)") }
