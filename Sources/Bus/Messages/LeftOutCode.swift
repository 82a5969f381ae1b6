// SPDX-License-Identifier: Apache-2.0

/// The author's code that is compiled for a phone and not here. An agent sends it when it first starts an executable
/// that was built beside its sources.
package struct LeftOutCode: Notice {
  /// The lines between two directives of conditional compilation.
  package struct Block: Codable, Hashable, Sendable {
    /// The path of the source file, relative to the folder of its package.
    package let file: String
    /// The line of the directive, from 1.
    package let line: Int
    /// The directive as it is written, such as `#if os(iOS)`.
    package let directive: String
    package init(file: String, line: Int, directive: String) {
      self.file = file
      self.line = line
      self.directive = directive
    }
  }

  package static let kind: Kind = "process.left-out-code"
  /// The maximum number of blocks in the notice.
  package static let limit = 50
  package let address: Address
  /// The path of the executable.
  package let executable: String
  /// Sorted by target, file and line. At least one.
  package let blocks: [Block]
  /// The number of blocks, including those that are not in `blocks`.
  package let count: Int
  package init(address: Address, executable: String, blocks: [Block], count: Int) {
    self.address = address
    self.executable = executable
    self.blocks = blocks
    self.count = count
  }
}
