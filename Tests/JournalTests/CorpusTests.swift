import Foundation
import Testing

@testable import Journal

/// What the fuzzer has found worth keeping (`scripts/fuzz`), held against the laws each time.
@Suite struct `the pieces of segments in the corpus` {
  @Test func `break no law, whole or cut anywhere`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../scripts/fuzz.d/corpus/segment")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count > 20)
    for file in files {
      let bytes = Array(try Data(contentsOf: file))
      for length in 0...bytes.count {
        let law = SegmentLaws.broken(by: Array(bytes.prefix(length)))
        #expect(law == nil, "\(file.lastPathComponent), its first \(length) bytes: \(law ?? "")")
      }
    }
  }
}
