// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import URLSessionAPI

@Suite struct `The hash of a downloaded file` {
  private func digest(of data: Data) throws -> String? {
    let file = FileManager.default.temporaryDirectory.appending(path: "widgetlab-\(UUID().uuidString)")
    try data.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return FileDigest.sha256(ofFile: file.path)
  }

  /// FIPS 180-4 pads to whole blocks of 64 bytes; the file is read in pieces of 65,536.
  @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 119, 65_535, 65_536, 65_537, 200_000])
  func `the hash equals that of the same bytes in memory, whatever their number`(count: Int) throws {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    #expect(try digest(of: data) == ContentDigest.hexadecimal(of: data))
  }

  @Test func `the hash of the example of the standard is the published one`() throws {
    #expect(
      try digest(of: Data("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func `a file that is missing or over the limit has no hash`() throws {
    #expect(FileDigest.sha256(ofFile: "/nonexistent/file") == nil)
    let file = FileManager.default.temporaryDirectory.appending(path: "widgetlab-\(UUID().uuidString)")
    #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
    defer { try? FileManager.default.removeItem(at: file) }
    let handle = try FileHandle(forWritingTo: file)
    // A sparse file.
    try handle.truncate(atOffset: UInt64(FileDigest.limit) + 1)
    try handle.close()
    #expect(FileDigest.sha256(ofFile: file.path) == nil)
  }
}
