package import Conversations
package import MessageBus

extension StandingKey {
  /// Renews the key of the process that a connection belongs to, while it speaks: makes the next one, registers it,
  /// takes it up, and moves the connection to it. Nothing that is under way is lost.
  ///
  /// The file of the present key changes after the broker has journalled the next one, and in one step; so whoever dies
  /// on the way begins again with a key that the broker lets in, and a repetition finishes what was begun.
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

  /// The same for a key that no process holds for long: its next user takes it up. Within `locked`.
  ///
  /// - Parameters:
  ///   - pattern: whose it is; nil for the key that the connection itself speaks with.
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

  /// Files are not read and written on the thread of a socket.
  @concurrent
  private static func onDisk<T: Sendable>(_ work: @Sendable () throws -> T) async throws -> T { try work() }
}

extension StandingProcess {
  /// Renews the process's key when an operator asks for it. Before the connection is started.
  package static func renewKey(
    _ name: StandingKey.Name, on connection: Connection, in instance: InstanceFolder
  ) {
    connection.onRequest(RenewKey.self) { [weak connection] _, _ in
      guard let connection else { throw BusError(.closed, "the process is ending") }
      return try await StandingKey.renew(name, of: connection, in: instance)
    }
  }
}
