// SPDX-License-Identifier: Apache-2.0

import CPlatform
package import Foundation

/// SHA-256, by which an archive names the bytes of an image. An author's process links no cryptographic library, because
/// it must start fast.
package enum ContentDigest {
  /// The digest of bytes, in 64 hexadecimal digits.
  package static func hexadecimal(of data: Data) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    data.withUnsafeBytes { digest_sha256($0.baseAddress, $0.count, &digest) }
    return digest.hexadecimal
  }
}
