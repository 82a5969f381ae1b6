// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Reads the bytes of an image of a stored timeline, which are too many for the message with the views.
package struct ReadImage: Request {
  package static let kind: Kind = "image.read"
  /// The most bytes of one reply.
  package static let pieceLimit = 128 << 10

  /// The SHA-256 of the bytes in hexadecimal digits, as the archived views have it.
  package let digest: String
  /// The first byte of the piece.
  package let offset: Int
  package init(digest: String, offset: Int = 0) {
    self.digest = digest
    self.offset = offset
  }

  package struct Reply: Codable, Hashable, Sendable {
    package let piece: Data
    /// Bytes of the whole image.
    package let count: Int
    package init(piece: Data, count: Int) {
      self.piece = piece
      self.count = count
    }
  }
}

extension BusError.Code {
  /// No stored timeline has an image with these bytes; it was replaced by a newer timeline. Definite.
  package static let noSuchImage = BusError.Code("no-such-image")
}
