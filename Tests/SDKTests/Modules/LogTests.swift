// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import OSAPI

@Suite(.timeLimit(.minutes(1))) struct `Lines of the unified log` {
  private func text(_ message: OSLogMessage) -> String { message.interpolation.text }

  @Test func `a line has its subsystem, category and level`() {
    #expect(
      LogLine.text("a", "error", from: .init(subsystem: "com.example", category: "net")) == "[com.example:net] error: a"
    )
    #expect(LogLine.text("a", OSLogType.debug.name, from: .init()) == "debug: a")
  }

  @Test func `a message formats its values, and hides none`() {
    let secret = "name"
    #expect(text("\(secret, privacy: .private) \(7) \(2.5) \(true)") == "name 7 2.500000 true")
    #expect(text("\(255, format: .hex(includePrefix: true, minDigits: 4))") == "0x00ff")
    #expect(text("\(3.14159, format: .fixed(precision: 2))") == "3.14")
    #expect(text("[\("a", align: .right(columns: 3))|\("b", align: .left(columns: 3))]") == "[  a|b  ]")
    #expect(text("\(false, format: .answer)") == "NO")
    #expect(text("\(Optional(1).debugDescription) \([1, 2])") == "Optional(1) [1, 2]")
  }

  @Test func `a format of C and of Objective-C inserts its arguments`() {
    #expect(LogFormat.text("%{public}@ of %d", ["a", 3]) == "a of 3")
    #expect(LogFormat.text("%.2f%%", [1.25]) == "1.25%")
    #expect(LogFormat.text("%{private, mask.hash}s %ld %x", ["b", 4, 255]) == "b 4 ff")
    #expect(LogFormat.text("%@ %@", ["c"]) == "c (missing)")
    #expect(LogFormat.text("%@", [nil]) == "(null)")
    #expect(LogFormat.text("none", []) == "none")
  }

  @Test func `a lock protects its state`() async {
    let lock = OSAllocatedUnfairLock(initialState: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 1...100 { group.addTask { lock.withLock { $0 += 1 } } }
    }
    #expect(lock.withLock { $0 } == 100)
  }
}
