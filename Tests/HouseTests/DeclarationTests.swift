import Foundation
import Testing

/// The table of declarations, held against the modules that are built and the tests that it names.
@Suite struct `the table of declarations` {
  @Test func `says what the symbol graphs say, and names tests that there are`() throws {
    let tree = try Tree()
    // The tests run in the folder of the build.
    let build = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent().path
    #expect(FileManager.default.fileExists(atPath: "\(build)/Modules/WidgetKit.swiftmodule"))
    #expect(try tree.run("python3", "scripts/declarations.d/table.py", "--check", "--build", build) != nil)
  }
}
