// SPDX-License-Identifier: Apache-2.0

package import MessageBus
package import Messages

extension StandingKey {
  /// Renews the key of a connected process: creates the next key, registers it with the broker, replaces the current
  /// key, and moves the connection to it. No message in progress is lost.
  ///
  /// The file of the current key is replaced atomically, after the broker has journalled the next key. A process that
  /// is killed during the renewal therefore restarts with a key that the broker accepts, and a repeated renewal
  /// completes the first one.
  ///
  /// - Throws: `BusError` of the registration, `key` or `instance-folder`.
  package static func renew(
    _ name: Name, of connection: Connection, in instance: InstanceFolder
  ) async throws -> RenewKey.Reply {
    try await locked(name, in: instance) {
      let reply = try await exchange(name, pattern: nil, over: connection, in: instance)
      try await connection.renewLine()
      return reply
    }
  }

  /// Renews a key that no process holds permanently: its next user reads the new one. Call it within `locked`.
  ///
  /// - Parameters:
  ///   - pattern: the addresses of the key; nil for the connection's own key.
  ///   - connection: an operator's.
  /// - Throws: as `renew`.
  package static func exchange(
    _ name: Name, pattern: AddressPattern?, over connection: any BusConnection, in instance: InstanceFolder
  ) async throws -> RenewKey.Reply {
    let former = try await onDisk { try load(name, in: instance) }
    let successor = try await onDisk { try next(name, in: instance) }
    do {
      let registered = try await connection.request(
        RegisterKey(publicKey: successor.publicKey, pattern: pattern), to: .messageBus, within: .seconds(20),
        whenUnreachable: .wait)
      try await onDisk { try takeNext(name, in: instance) }
      return RenewKey.Reply(
        former: former.publicKey, current: successor.publicKey, graceSeconds: registered.graceSeconds)
    } catch let error as BusError where error.code == .keyInUse {
      dropNext(name, in: instance)
      throw error
    }
  }

  /// Keeps file I/O off the socket's thread.
  @concurrent
  private static func onDisk<T: Sendable>(_ work: @Sendable () throws -> T) async throws -> T { try work() }
}

extension StandingProcess {
  /// Renews the process's key when an operator requests it. Call it before the connection is started.
  package static func renewKey(
    _ name: StandingKey.Name, on connection: Connection, in instance: InstanceFolder
  ) {
    connection.onRequest(RenewKey.self) { [weak connection] _, _ in
      guard let connection else { throw BusError(.closed, "the process is exiting") }
      return try await StandingKey.renew(name, of: connection, in: instance)
    }
  }
}
