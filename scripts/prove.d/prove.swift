// SPDX-License-Identifier: Apache-2.0

// The command of scripts/prove: runs searches, and prints their results.

import Foundation
import ModelChecking

var bounds = Bounds()
var names: [String] = []
var tests: String?
var isBrief = false
var isExact = false
for argument in CommandLine.arguments.dropFirst() {
  let value = argument.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
  switch argument {
  case "--brief": isBrief = true
  case "--exact": isExact = true
  case "--list":
    for search in Searches.all { show("\(search.name): \(search.about)") }
    exit(0)
  case _ where argument.hasPrefix("--states="): bounds.states = number(argument, value)
  case _ where argument.hasPrefix("--depth="): bounds.depth = number(argument, value)
  case _ where argument.hasPrefix("--tests="): tests = value
  case _ where argument.hasPrefix("--"):
    refuse("no option is named \(argument); there are --states=N, --depth=N, --tests=FOLDER, --brief and --list")
  default: names.append(argument)
  }
}
/// Whether an argument selects a search: by its name, or by the part of it before a dot.
func isSelected(_ search: String, by name: String, isExact: Bool) -> Bool {
  search == name || !isExact && search.hasPrefix(name + ".")
}
for name in names where !Searches.all.contains(where: { isSelected($0.name, by: name, isExact: isExact) }) {
  refuse("no search is named \(name); there are \(Searches.all.map(\.name).joined(separator: ", "))")
}
let searches = Searches.all.filter { search in
  names.isEmpty || names.contains { isSelected(search.name, by: $0, isExact: isExact) }
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
