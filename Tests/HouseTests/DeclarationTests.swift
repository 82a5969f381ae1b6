import Foundation
import Testing

/// The table of declarations, held against the modules that are built and the tests that it names.
@Suite struct `the table of declarations` {
  @Test func `says what the symbol graphs say, and names tests that there are`() throws {
    let tree = try Tree()
    guard tree.has(".build/release/Modules/WidgetKit.swiftmodule") else { return }
    _ = try tree.run("python3", "scripts/declarations.d/table.py", "--check")
  }
}
