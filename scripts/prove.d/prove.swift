// SPDX-License-Identifier: Apache-2.0

// The command of scripts/prove: runs searches, and prints their results.

import Foundation
import ModelChecking

/// Prints at once, also into a pipe.
func show(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

var bounds = Bounds()
var names: [String] = []
var tests: String?
var isBrief = false
for argument in CommandLine.arguments.dropFirst() {
  let value = argument.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
  switch argument {
  case "--brief": isBrief = true
  case "--list":
    for search in Searches.all { show("\(search.name): \(search.about)") }
    exit(0)
  case _ where argument.hasPrefix("--states="): bounds.states = Int(value) ?? bounds.states
  case _ where argument.hasPrefix("--depth="): bounds.depth = Int(value) ?? bounds.depth
  case _ where argument.hasPrefix("--tests="): tests = value
  case _ where argument.hasPrefix("--"):
    show("error: no option \(argument)")
    exit(64)
  default: names.append(argument)
  }
}
let searches = Searches.all.filter { search in
  names.isEmpty || names.contains { search.name == $0 || search.name.hasPrefix($0 + ".") }
}
if searches.isEmpty {
  show("error: no search is named \(names.joined(separator: ", ")); --list prints them all")
  exit(64)
}
var states = 0
var duration = Duration.zero
var isRight = true
for search in searches {
  let report = await search.run(bounds, ProcessInfo.processInfo.activeProcessorCount)
  states += report.states
  duration += report.duration
  if report.verdict != "complete", report.verdict != "bounded" || search.states == nil { isRight = false }
  show(isBrief ? report.summary : report.text)
  for (number, example) in zip(1..., report.counterexamples) {
    guard let tests else { break }
    let path = "\(tests)/\(search.name)-\(number).swift"
    try example.test(of: search.name).write(toFile: path, atomically: true, encoding: .utf8)
    show("  the counterexample is written to \(path)")
  }
}
show("in all: \(states) states in \(duration.formatted)")
exit(isRight ? 0 : 1)
