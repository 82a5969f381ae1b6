// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform
import Foundation
import Testing

/// SHA-256 of bytes in memory and of a file, compared with the output of `sha256sum` (GNU coreutils) for the same
/// bytes. FIPS 180-4 pads to whole blocks of 64 bytes, of which the last 8 are the length.
@Suite(.timeLimit(.minutes(1))) struct `The SHA-256 of bytes` {
  /// By the number of bytes, of which each is `31 * index + index / 256`, modulo 256.
  static let published: [(count: Int, digest: String)] = [
    (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
    (3, "94e1c77d23e949c5fe5b5309709054b595ae0ddd29b86b0b4f89ba8a7de870fe"),
    (55, "27d3069ecafb8507f92fa750312a99afe0908525e67b2abe8942b51659945b1b"),
    (56, "3428ab653c0a1ac104ee80fd3bed55135da5556ca4c26da9c781ae56364a6969"),
    (57, "28c22b1d4fc34c26ca51d137ec64373fc16b38e32cef9c6759f910fc628efee1"),
    (63, "b5ec25bd1c4b7c94c9ea9d235272e43f644f561d7c8c7e58ec5fa9aefe95ef07"),
    (64, "a08f82c23e6c13629d8e33d0d2a13005fb104363eb793b5e8842044951d27764"),
    (65, "c0a0263ae1ab4e9dda9cd2ed6c44b23ee6ff75c90c640185f462fad7f24fcd6f"),
    (119, "b4639d08cdba917a7875088b4e05633a7812e14282482de937915c9799b17250"),
    (120, "e4fce14f6aa99657bdffe9f1da59ce85f0398479e9af7e9de6ccf53e174447ab"),
    (65_535, "3debd17e940dd9ad4ad6568e1402dd7818e139c070d334c843997d44ddaf9b0c"),
    (1_000_000, "b96047041d16fe8ee33b276f47c283a470181da2bbf923b84825c7612b086bde"),
  ]

  private func sample(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  }

  @Test(arguments: published) func `the digest of bytes in memory is that of sha256sum`(count: Int, digest: String) {
    #expect(ContentDigest.hexadecimal(of: Data(sample(count))) == digest)
  }

  /// A read of a `SOCK_SEQPACKET` socket returns one packet, so that the pieces are these.
  @Test(arguments: published.filter { $0.count <= 65_535 }, [[1, 63, 64, 65, 1_000], [7], [65_536]])
  func `the digest of a file is that of sha256sum, whatever the pieces in which it is read`(
    sum: (count: Int, digest: String), lengths: [Int]
  ) throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    let (source, target) = (ends[0], ends[1])
    defer { close(source) }
    var pieces: [[UInt8]] = []
    var rest = sample(sum.count)[...]
    while !rest.isEmpty {
      let length = lengths[pieces.count % lengths.count]
      pieces.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    Thread.detachNewThread { [pieces] in
      for piece in pieces where send(target, piece, piece.count, Int32(MSG_NOSIGNAL)) < 0 { break }
      close(target)
    }
    var digest = [UInt8](repeating: 0, count: 32)
    #expect(digest_sha256_of_file(source, Int64(sum.count), &digest) == 0)
    #expect(digest.hexadecimal == sum.digest)
  }
}
