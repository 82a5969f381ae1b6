// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import JournalAnalysis
import Testing

@testable import WidgetLab

@Suite struct `The protocol page` {
  @Test func `the protocol page in Documentation matches the message table`() throws {
    let page = try String(contentsOf: Repository.root.appending(path: "Documentation/protocol.md"), encoding: .utf8)
    #expect(page == ProtocolPage.text, "generate it again: widgetlab protocol > Documentation/protocol.md")
  }
}
