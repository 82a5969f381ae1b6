// SPDX-License-Identifier: Apache-2.0

/// The 64-bit hash FNV-1a. It names files, because it is the same in each run; it protects against nothing.
///
/// Source: Fowler, Noll and Vo, *The FNV Non-Cryptographic Hash Algorithm*.
enum FNV1a {
  /// - Parameter start: the hash of the bytes before these.
  static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
    bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
