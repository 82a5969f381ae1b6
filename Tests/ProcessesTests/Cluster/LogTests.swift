// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Testing

@testable import Cluster

struct LogTests {
  @Test func `a log message with a newline is written as one line`() {
    var handler = LineLogHandler(label: "process-agent")
    handler.metadata = ["b": "two words"]
    let event = LogEvent(
      level: .warning, message: "first\nsecond", error: nil, metadata: ["a": "1"], source: "", file: "", function: "",
      line: 1)
    #expect(
      handler.line(event, at: Date(timeIntervalSince1970: 0.5))
        == "1970-01-01T00:00:00.500Z warning process-agent: first\\nsecond a=1 b=\"two words\"\n")
  }

  @Test func `control characters of a message and of its metadata are escaped`() {
    let event = LogEvent(
      level: .notice, message: "path \u{1b}]0;T\u{7}\u{9b}2J\u{202e}", error: nil,
      metadata: ["a": "x\ny\u{1b}[2J", "b": "\u{7f}"], source: "", file: "", function: "", line: 1)
    #expect(
      LineLogHandler(label: "p").line(event, at: Date(timeIntervalSince1970: 0.5))
        == #"1970-01-01T00:00:00.500Z notice p: path \u{1b}]0;T\u{7}\u{9b}2J\u{202e} a="x\ny\u{1b}[2J" b="\u{7f}""#
        + "\n")
  }
}
