// SPDX-License-Identifier: Apache-2.0

import Messages

/// The author's sources have code that is compiled for a phone and not here.
struct CodeLeftOut: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "code-left-out", severity: .note, title: "code is compiled for a phone and left out here",
    rule:
      "The sources are compiled for Linux: os(iOS) is false, and canImport of a framework that is missing here is "
      + "false. The compiler leaves out the code without a message.",
    source:
      "documented: The Swift Programming Language, Conditional Compilation Block; ours: found in the sources of an "
      + "executable that SwiftPM built beside them, unless a branch is for Linux",
    advice:
      "Add os(Linux) to the condition where the code also compiles here, and test on a phone what depends on it.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let left = envelope.reading(LeftOutCode.self) else { return [] }
    var files: [String] = []
    for block in left.blocks where !files.contains(block.file) { files.append(block.file) }
    return files.map { file in
      let places = left.blocks.filter { $0.file == file }.map { "line \($0.line): \($0.directive)" }
      return Sighting(
        owner: left.address, subject: file, what: places.joined(separator: ", "), evidence: [Evidence(envelope)])
    }
  }
}
