import Foundation
import Testing

@testable import Conversations

/// What the fuzzer has found worth keeping (`scripts/fuzz`), held against the laws each time.
@Suite struct `The frames of the corpus` {
  private static func corpus() throws -> [(name: String, bytes: [UInt8])] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../scripts/fuzz.d/corpus/envelope")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
  }

  @Test func `break no law, whole or cut anywhere`() throws {
    for (name, bytes) in try Self.corpus() {
      for length in 0...bytes.count {
        let law = WireLaws.broken(by: Array(bytes.prefix(length)))
        #expect(law == nil, "\(name), its first \(length) bytes: \(law ?? "")")
      }
    }
  }

  @Test func `reach every reason that the decoder has, and many an envelope`() throws {
    var reasons: Set<WireError.Code> = []
    var kinds: Set<Kind> = []
    for (_, bytes) in try Self.corpus() {
      do throws(WireError) {
        kinds.insert(try Envelope(decoding: bytes).header.kind)
      } catch {
        reasons.insert(error.code)
      }
    }
    let expected: Set<WireError.Code> = [
      .tooShort, .unknownVersion, .malformedKind, .malformedAddress, .lengthMismatch, .bodyTooLong, .reservedNotZero,
    ]
    #expect(reasons == expected)
    #expect(kinds.count > 40)
  }
}
