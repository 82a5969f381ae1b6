// SPDX-License-Identifier: Apache-2.0

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

  /// The file is read in pieces of 65,536 bytes. Each digest is the output of `sha256sum` for bytes of which each is
  /// `31 * index + index / 256`, modulo 256.
  @Test(arguments: [
    (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (65_535, "3debd17e940dd9ad4ad6568e1402dd7818e139c070d334c843997d44ddaf9b0c"),
    (65_536, "1dd334fe06e447d46e556e9c8f958a3ee41eb8e4cdf3cd36af3cdeae98fd7854"),
    (65_537, "71bc4552bbe57b74460b604d6e103173d908fb55910c0f8ddb6f6671917d21cf"),
    (200_000, "9dd3bc1b9376015e4c5c149f6321984ccf13f551f9263d22edcd3b2670baa25a"),
  ])
  func `the hash is that of sha256sum, whatever the number of pieces`(count: Int, sum: String) throws {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    #expect(try digest(of: data) == sum)
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
