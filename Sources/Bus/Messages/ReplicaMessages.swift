// SPDX-License-Identifier: Apache-2.0

/// A replica of the push server cannot serve devices, or can again: it has lost the shared database. The broker then maps
/// its senders to another replica.
package struct ReplicaReadiness: Notice {
  package static let kind: Kind = "push.replica"
  package let isReady: Bool
  package init(isReady: Bool) { self.isReady = isReady }
}
