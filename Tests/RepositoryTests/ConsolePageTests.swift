// SPDX-License-Identifier: Apache-2.0

import Testing

/// Checks the files of the page of `widgetlab console`, which are written by hand and embedded as they are.
@Suite struct `The page of the console` {
  private static let folder = "Sources/Observability/Console/Resources"
  private static let embedding = "Sources/Observability/CConsolePage/page.c"
  private static let limit = 100 * 1024
  private let files: [(name: String, text: String)]
  private let embedded: String

  init() throws {
    let tree = try Tree()
    files = try tree.files(below: Self.folder, withSuffix: "").map { path in
      (String(path.dropFirst(Self.folder.count + 1)), try tree.read(path))
    }
    embedded = try tree.read(Self.embedding)
  }

  @Test func `its files have at most 100 KB in all`() {
    #expect(files.count > 10, "the files were not found")
    let size = files.reduce(0) { $0 + $1.text.utf8.count }
    #expect(size <= Self.limit, "\(size) bytes: remove something from \(Self.folder)")
  }

  @Test func `each file is embedded in the executable`() {
    for (name, _) in files {
      #expect(
        embedded.contains("#embed \"../Console/Resources/\(name)\"\n"), "\(Self.embedding) does not embed \(name)")
      #expect(embedded.contains("FILE_ROW(\"\(name)\","), "\(Self.embedding) has no row for \(name)")
    }
  }

  @Test func `each file has a licence identifier`() {
    for (name, text) in files {
      #expect(text.prefix(200).contains("SPDX-License-Identifier: Apache-2.0"), "\(name) has no licence identifier")
    }
  }

  @Test func `no file refers to another host`() {
    for (name, text) in files {
      let links = text.split(separator: "http").dropFirst().filter { $0.hasPrefix("://") || $0.hasPrefix("s://") }
      let foreign = links.filter { !$0.hasPrefix("://www.w3.org/2000/svg") }
      #expect(foreign.isEmpty, "\(name) refers to http\(foreign.first?.prefix(40) ?? "")")
    }
  }

  /// The text of an author can be markup: only text nodes and attributes may contain it.
  @Test(arguments: [
    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "Function(",
  ])
  func `no script parses a text as markup or as code`(name: String) {
    for file in files where file.name.hasSuffix(".js") {
      #expect(!file.text.contains(name), "\(file.name) uses \(name)")
    }
  }
}
