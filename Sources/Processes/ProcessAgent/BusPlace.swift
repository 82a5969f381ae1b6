// SPDX-License-Identifier: Apache-2.0

/// The broker's address, for a child's launch context.
package struct BusPlace: Sendable, Hashable {
  /// Such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// The broker's key, z85.
  package let serverKey: String

  package init(endpoint: String, serverKey: String) {
    self.endpoint = endpoint
    self.serverKey = serverKey
  }
}
