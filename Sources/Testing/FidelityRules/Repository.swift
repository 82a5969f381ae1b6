// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Testing

/// The repository of the tests, which compare what they find with its pages, settings and inputs of fuzzers.
package enum Repository {
  /// The folder of `Package.swift`: three folders above that of this file.
  package static let root = (0..<4).reduce(URL(filePath: #filePath).resolvingSymlinksInPath()) { url, _ in
    url.deletingLastPathComponent()
  }
}

/// The inputs that a fuzzer of `scripts/fuzz` begins with, which every test run checks against the same laws.
package struct Corpus {
  /// Each input, by the name of its file.
  package let inputs: [(name: String, bytes: [UInt8])]

  package init(_ fuzzer: String) throws {
    inputs = try FileManager.default.contentsOfDirectory(
      at: Repository.root.appending(path: "scripts/fuzz.d/corpus/\(fuzzer)"), includingPropertiesForKeys: nil
    ).map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
  }

  /// How much of an input is checked: the numbers of its first bytes, by the number of all.
  package struct Lengths {
    fileprivate let all: (Int) -> [Int]

    /// Each prefix.
    package static var everyPrefix: Lengths { Lengths { Array(0...$0) } }
    /// The input, the input without its last byte, and its first half.
    package static var wholeAndTwoPrefixes: Lengths { Lengths { [$0, max($0 - 1, 0), $0 / 2] } }
    /// The input, and prefixes at a distance up to a limit.
    package static func every(_ distance: Int, to limit: Int) -> Lengths {
      Lengths { Array(stride(from: 0, to: min($0, limit), by: distance)) + [$0] }
    }
  }

  /// Expects more than `least` inputs, none of which breaks a law.
  ///
  /// - Parameter law: the law that bytes break; `nil` for none.
  package func expectLawful(
    _ lengths: Lengths, moreThan least: Int, at location: SourceLocation = #_sourceLocation,
    _ law: ([UInt8]) -> String?
  ) {
    #expect(inputs.count > least, sourceLocation: location)
    for (name, bytes) in inputs {
      for length in lengths.all(bytes.count) {
        let broken = law(Array(bytes.prefix(length)))
        #expect(broken == nil, "\(name), its first \(length) bytes: \(broken ?? "")", sourceLocation: location)
      }
    }
  }
}
