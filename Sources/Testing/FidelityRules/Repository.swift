// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The repository of the tests, which compare what they find with its pages, settings and inputs of fuzzers.
package enum Repository {
  /// The folder of `Package.swift`: three folders above that of this file.
  package static let root = (0..<4).reduce(URL(filePath: #filePath).resolvingSymlinksInPath()) { url, _ in
    url.deletingLastPathComponent()
  }

  /// The inputs that a fuzzer of `scripts/fuzz` begins with.
  package static func corpus(_ name: String) -> URL { root.appending(path: "scripts/fuzz.d/corpus/\(name)") }
}
