// SPDX-License-Identifier: Apache-2.0

extension TreeRules {
  private static let identifier = "SPDX-License-Identifier: Apache-2.0"

  /// Source files and scripts without the licence identifier among their first three lines.
  static func licensed(_ path: String, _ text: String) -> [Finding] {
    let isSource = [".swift", ".c", ".h", ".py"].contains { path.hasSuffix($0) }
    guard isSource || text.hasPrefix("#!") || path.hasSuffix("Dockerfile") else { return [] }
    let head = text.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
    guard !head.contains(where: { $0.hasSuffix(identifier) }) else { return [] }
    let mark = path.hasSuffix(".py") || text.hasPrefix("#") ? "#" : "//"
    return [Finding(path: path, line: 1, advice: "begin this file with `\(mark) \(identifier)`")]
  }
}
