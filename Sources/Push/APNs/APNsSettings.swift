/// What of the contract is a number. Sources: Documentation/apns.md.
package struct APNsSettings: Hashable, Sendable {
  /// Bytes of a payload. Documented.
  package var payloadLimit = 4096
  /// Bytes of a payload of the type `voip`. Documented.
  package var voipPayloadLimit = 5120
  /// Bytes of a broadcast's payload. Documented.
  package var broadcastPayloadLimit = 5120
  /// Bytes of `apns-collapse-id`. Documented.
  package var collapseIDLimit = 64
  /// Seconds since `iat` for which a provider token is good. Documented.
  package var providerTokenLifetime = 3600.0
  /// Seconds in which a connection may change its provider token once; 0: as often as it likes. Documented.
  package var providerTokenUpdateInterval = 1200.0
  /// Requests in a row to one device token on one connection, within `consecutiveWindow`; 0: as many as one likes. That
  /// there is a limit is documented, and no number.
  package var consecutiveRequests = 0
  /// Seconds in which they are counted.
  package var consecutiveWindow = 60.0

  package init() {}
}
