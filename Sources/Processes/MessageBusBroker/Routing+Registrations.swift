// SPDX-License-Identifier: Apache-2.0

import Messages

// How many registrations the broker keeps, and the record with all of them.

extension Routing {
  /// The maximum number of known addresses, which must fit into the first record of a segment.
  static var addressLimit: Int { 480 }

  /// Accepts the keys of the registrations that were restored, and drops registrations beyond the limit.
  mutating func admitRecovered() {
    for registration in registrations.values.sorted(by: { $0.address.text < $1.address.text }) {
      guard let key = registration.publicKey else { continue }
      if registration.isRetired {
        keys.revoke(key)
        retired.append(registration.address)
      } else {
        keys.admit(key, registration.address, generation: registration.generation)
      }
    }
    while registrations.count > Self.addressLimit, dropRetired() {}
  }

  /// Makes room for one more address: drops the registration that was retired first, if there are too many.
  ///
  /// - Returns: `false` when there is no room, since all process instances are still running.
  mutating func makeRoom() -> Bool {
    while registrations.count >= Self.addressLimit {
      guard dropRetired() else { return false }
    }
    return true
  }

  /// Drops one registration of a process instance that has ended.
  private mutating func dropRetired() -> Bool {
    guard let index = retired.firstIndex(where: { line(of: $0) == nil }) else { return false }
    let address = retired.remove(at: index)
    droppedGeneration = max(droppedGeneration, registrations[address]?.generation ?? 0)
    registrations[address] = nil
    return true
  }

  /// Gives the next generation of an address: higher than those before it, also those that are not known any more, so that
  /// address and generation identify one process instance for ever.
  mutating func nextGeneration(after former: Registration?) -> UInt32 {
    let next = max(former?.generation ?? 0, droppedGeneration) + 1
    highestGeneration = max(highestGeneration, next)
    return next
  }

  /// Whether a process instance can have been retired and dropped, or was lost. An agent repeats a request whose reply was
  /// lost.
  func wasDropped(_ address: Address, _ generation: UInt32) -> Bool {
    generation <= droppedGeneration && generation > registrations[address]?.generation ?? 0
  }

  /// The first record of a segment, with the whole state.
  mutating func started() -> [UInt8] {
    let known = registrations.values.filter { !$0.address.role.isPassing }.sorted {
      $0.address.text < $1.address.text
    }
    let (registered, revoked) = keys.recorded
    record(
      BusStarted(
        pid: pid, generation: generation, registrations: known, keys: registered, revoked: revoked,
        droppedGeneration: droppedGeneration, lostFrom: lostFrom.take()),
      to: .journal)
    guard case .record(let frame)? = takeActions().first else {
      preconditionFailure("too many addresses for one record: \(known.count)")
    }
    return frame
  }
}
