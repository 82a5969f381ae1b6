// SPDX-License-Identifier: Apache-2.0

extension TreeRules {
  /// The symbols that a page of a DocC catalog lists and that no file of its module declares.
  static func declared(_ path: String, _ text: String, in files: [SourceFile]) -> [Finding] {
    let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]
    var declared: Set<Substring> = []
    for words in files.lazy.flatMap(\.code).map(\.identifiers) {
      for (keyword, name) in zip(words, words.dropFirst()) where keywords.contains(keyword) { declared.insert(name) }
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return zip(1..., lines).compactMap { number, line in
      guard line.hasPrefix("- ``"), let name = line.identifiers.first, !declared.contains(name) else { return nil }
      return Finding(path: path, line: number, advice: "the module does not declare \(name); correct this name")
    }
  }
}
