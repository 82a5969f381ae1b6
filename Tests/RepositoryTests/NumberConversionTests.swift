// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

/// Conversions from `Double` and `Float` that trap on an infinite, too large or missing number. The compiled code has the
/// text of each trap, so that types need not be guessed from the source. Without it, in an optimised build, nothing is
/// looked for.
@Suite struct `Conversions of numbers` {
  /// `Double(exactly:)` of an integer, whose code in the standard library converts back what it has rounded.
  private static let exactOnes = ["Sources/SDK/CombineAPI/DateSchedulers.swift"]

  @Test func `no conversion from a floating-point number to an integer can trap`() throws {
    let tree = try Tree()
    let files = try tree.files(below: "Sources", withSuffix: ".swift").filter {
      !$0.hasPrefix("Sources/Testing/Fixture") && !Self.exactOnes.contains($0)
    }
    var looked = 0
    for path in files {
      guard let object = try? Data(contentsOf: Self.object(of: path), options: .alwaysMapped) else { continue }
      looked += 1
      for type in ["Double", "Float"] where object.has("\(type) value cannot be converted to ") {
        Issue.record(
          """
          \(path): an integer is made from a \(type), which traps on what is infinite, too large or no number; use \
          init(saturating:) of Archive, or init(exactly:)
          """)
      }
    }
    #if DEBUG
    #expect(looked > 500, "the compiled files were not found beside the tests: \(looked) of \(files.count)")
    #endif
  }

  @Test func `the text of a trap is found in the code of a conversion`() throws {
    let own = Self.folder.appending(path: "RepositoryTests.build/NumberConversionTests.swift.o")
    #if DEBUG
    #expect(try Data(contentsOf: own).has("Double value cannot be converted to "))
    #expect(Self.trapping(2.5) == 2)
    #endif
  }

  private static func trapping(_ value: Double) -> Int { Int(value) }

  /// The folder of the test bundle.
  private static let folder: URL = {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? "/proc/self/exe"
    return URL(filePath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
  }()

  /// The compiled file of a source file `Sources/LAYER/MODULE/…`.
  private static func object(of path: String) -> URL {
    let parts = path.split(separator: "/")
    return folder.appending(path: "\(parts[2]).build/\(parts[parts.count - 1]).o")
  }
}

extension Data {
  /// Whether the bytes contain a text, which is not empty.
  fileprivate func has(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    return withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      var place = 0
      while place + wanted.count <= bytes.count {
        let rest = bytes.count - wanted.count + 1 - place
        guard let found = memchr(base + place, Int32(wanted[0]), rest) else { return false }
        if memcmp(found, wanted, wanted.count) == 0 { return true }
        place = UnsafeRawPointer(found) - base + 1
      }
      return false
    }
  }
}
