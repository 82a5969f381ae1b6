// SPDX-License-Identifier: Apache-2.0

import Testing

/// The elements of a document in order. Fails unless each is closed, and the characters are escaped.
func elements(_ text: String) throws -> [(name: String, attributes: [String: String])] {
  var foundElements: [(name: String, attributes: [String: String])] = []
  var open: [String] = []
  for match in text.matches(of: /<([^<>]*)>/) {
    let tag = String(match.1)
    let name = String(tag.trimmingPrefix("/").prefix { $0.isLetter })
    if tag.hasPrefix("/") {
      try #require(open.popLast() == name, "\(tag) closes another element")
      continue
    }
    let attributes = tag.matches(of: /\s([a-zA-Z0-9-]+)="([^"&]|&amp;|&lt;|&gt;|&quot;)*"/)
    foundElements.append(
      (
        name,
        Dictionary(
          attributes.map { (String($0.1), String($0.0.split(separator: "\"", maxSplits: 1).last?.dropLast() ?? "")) }
        ) { $1 }
      ))
    #expect(tag.count { $0 == "\"" } == attributes.count * 2, "\(tag)")
    if !tag.hasSuffix("/") { open.append(name) }
  }
  #expect(open.isEmpty && text.replacing(/<[^<>]*>/, with: "").allSatisfy { $0 == "\n" })
  return foundElements
}

/// The number of decimals of each number in a text.
func decimals(in text: String) -> [Int] { text.matches(of: /\.([0-9]+)/).map { $0.1.count } }
