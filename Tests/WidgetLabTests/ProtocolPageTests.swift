// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalAnalysis
import Testing

@testable import WidgetLab

@Suite struct `The protocol page` {
  @Test func `the protocol page in Documentation matches the message table`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("Documentation/protocol.md"), encoding: .utf8)
    #expect(page == ProtocolPage.text, "generate it again: widgetlab protocol > Documentation/protocol.md")
  }
}
