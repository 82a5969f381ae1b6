// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// New identifiers: the first ten bytes of a base, then a number. A state machine with an equal source makes equal ones.
package struct IdentifierSource: Sendable {
  private let base: uuid_t
  private var last: UInt64 = 0

  /// - Parameter base: random, so that no other run makes the same identifiers.
  package init(base: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))) { self.base = base.uuid }

  package mutating func next() -> UUID {
    last += 1
    var bytes = base
    bytes.10 = UInt8(truncatingIfNeeded: last >> 40)
    bytes.11 = UInt8(truncatingIfNeeded: last >> 32)
    bytes.12 = UInt8(truncatingIfNeeded: last >> 24)
    bytes.13 = UInt8(truncatingIfNeeded: last >> 16)
    bytes.14 = UInt8(truncatingIfNeeded: last >> 8)
    bytes.15 = UInt8(truncatingIfNeeded: last)
    return UUID(uuid: bytes)
  }
}
