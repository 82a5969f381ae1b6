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

extension TreeRules {
  /// Modules that the page of limitations calls missing although they are products, and entries for modules that are none.
  static func modules(in page: String, _ libraries: Set<String>) -> [Finding] {
    let text = page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let missing = text.matches(of: /((?:\x60\w+\x60(?:, | and )?)+) do(?:es)? not exist/)
      .flatMap { String($0.1).quoted }.filter(libraries.contains).map { "\($0) is a product of Package.swift" }
    let entries = text.matches(of: /\*\*(\w+|Core Data):\*\*/).map { $0.1.filter { $0 != " " } }
      .filter { !libraries.contains($0) }.map { "\($0) has an entry and is no product of Package.swift" }
    return (missing + entries).map { Finding(path: "Documentation/limitations.md", line: 1, advice: $0) }
  }
}
