// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Compares the table of declarations with the built modules and with the tests that it names.
@Suite struct `The declaration table` {
  @Test func `the declaration table matches the symbol graphs and names existing tests`() throws {
    let tree = try Tree()
    // The test executable is in the build folder.
    let build = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent().path
    #expect(FileManager.default.fileExists(atPath: "\(build)/Modules/WidgetKit.swiftmodule"))
    #expect(try tree.run("python3", "scripts/declarations.d/table.py", "--check", "--build", build) != nil)
  }
}
