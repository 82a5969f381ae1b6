// SPDX-License-Identifier: Apache-2.0

/// The numeric limits of the contract. Sources: Documentation/apns.md.
package struct APNsSettings: Hashable, Sendable {
  /// Bytes of a payload. Documented.
  package var payloadLimit = 4096
  /// Bytes of a payload of the type `voip`. Documented.
  package var voipPayloadLimit = 5120
  /// Bytes of a broadcast's payload. Documented.
  package var broadcastPayloadLimit = 5120
  /// Bytes of `apns-collapse-id`. Documented.
  package var collapseIDLimit = 64
  /// Seconds from `iat` during which a provider token is valid. Documented.
  package var providerTokenLifetime = 3600.0
  /// Minimum seconds between two changes of a connection's provider token; 0: no limit. Documented.
  package var providerTokenUpdateInterval = 1200.0
  /// Consecutive requests to one device token on one connection within `consecutiveWindow`; 0: no limit. Apple
  /// documents that a limit exists, but not its value.
  package var consecutiveRequests = 0
  /// Seconds of the window of `consecutiveRequests`.
  package var consecutiveWindow = 60.0

  package init() {}
}
