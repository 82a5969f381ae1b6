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
}
