// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The space of the file system with the part files and the owners' copies. Downloads leave a reserve of it free, so that
/// the databases and the journal can be written.
package struct TransferSpace: Hashable, Sendable {
  package let folder: String
  /// Bytes, the reserve included.
  package let free: Int64
  /// Bytes.
  package let reserve: Int64

  package init(folder: String, free: Int64, reserve: Int64) {
    self.folder = folder
    self.free = free
    self.reserve = reserve
  }

  /// Checks that a body fits beside the reserve: what is missing of it in the part file, and all of it once more in the
  /// copy that the owner gets.
  ///
  /// - Parameters:
  ///   - length: bytes; a server may declare any number.
  ///   - stored: the bytes that the part file has.
  /// - Throws: -3003.
  func require(bodyOf length: Int64, stored: Int64 = 0) throws(TransferFault) {
    try require(length > .max / 2 ? .max : 2 * length - min(stored, length))
  }

  /// Checks that a number of bytes fits beside the reserve.
  ///
  /// - Throws: -3003.
  func require(_ bytes: Int64) throws(TransferFault) {
    guard bytes > 0, free - reserve < bytes else { return }
    throw TransferFault(
      .cannotWriteToFile,
      "no space left on the disk: \(folder) has \(free >> 10) KiB free, of which \(reserve >> 10) KiB are reserved; "
        + "\(bytes >> 10) KiB are needed")
  }
}
