import Foundation
import Testing

@testable import WidgetLab

@Suite struct `The protocol page` {
  @Test func `in Documentation is what the table of conversations says today`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("Documentation/protocol.md"), encoding: .utf8)
    #expect(page == ProtocolPage.text, "write it anew: widgetlab protocol > Documentation/protocol.md")
  }
}
