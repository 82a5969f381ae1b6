// SPDX-License-Identifier: Apache-2.0

package import Messages

/// What the conditions request from the rest of the host, in order.
package enum DeviceConditionsOutput: Sendable, Equatable {
  /// The network changed.
  case networkChanged(NetworkState)
}
