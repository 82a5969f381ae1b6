// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The state that a new broker restores from the journal of its predecessors.
package struct JournalRecovery: Hashable, Sendable {
  /// The highest number that may have been given; 0 for a new journal.
  package var lastSequence: UInt64 = 0
  /// The generation of the last broker; 0 when there was none.
  package var busGeneration: UInt32 = 0
  /// The registration of each address. None is connected, since the broker has ended.
  package var registrations: [Address: Registration] = [:]
  /// Standing keys that were registered over the bus, by public key.
  package var standingKeys: [String: StandingKeyFacts] = [:]
  /// Rejected keys, in the order of their rejection: revoked ones, and those of process instances that a later instance
  /// of the same address replaced.
  package var formerKeys: [String] = []

  /// The highest generation of a registration that is not known any more: a broker has dropped it, or it was lost.
  package var droppedGeneration: UInt32 = 0
  /// The first number that was lost with the end of the journal; nil when nothing was lost.
  package var lostFrom: UInt64?
  /// The highest generation of any address, the bus included.
  package var highestGeneration: UInt32 {
    registrations.values.reduce(max(busGeneration, droppedGeneration)) { max($0, $1.generation) }
  }

  package init() {}

  /// Reads the last segment that begins with `bus.started`, and everything after it. Unreadable records are skipped:
  /// the broker must start nevertheless, and readers report the damage.
  ///
  /// - Throws: `notReadable`, `notAJournal`.
  package static func read(folder: URL) throws(JournalError) -> JournalRecovery {
    let folder = SegmentFolder(folder)
    let segments = try folder.segments()
    var begin = segments.startIndex
    for index in segments.indices.reversed() {
      begin = index
      if try folder.firstEnvelope(ofSegment: segments[index])?.header.kind == BusStarted.kind { break }
    }
    var recovery = JournalRecovery()
    for segment in segments[begin...] {
      recovery.lastSequence = max(recovery.lastSequence, segment - 1)
      try folder.forEachReadable(inSegment: segment) { recovery.apply($0) }
    }
    for address in recovery.registrations.keys { recovery.registrations[address]?.isConnected = false }
    return recovery
  }

  /// The end of the journal is lost: continues with numbers and generations above all that may have been given.
  mutating func lost(sequence: UInt64, generation: UInt32) {
    lostFrom = lastSequence + 1
    lastSequence = max(lastSequence, sequence)
    busGeneration = max(busGeneration, generation)
    droppedGeneration = max(droppedGeneration, generation)
  }

  /// Applies one record.
  package mutating func apply(_ envelope: Envelope) {
    lastSequence = max(lastSequence, envelope.header.sequence)
    guard envelope.header.source == .messageBus else { return }
    switch envelope.header.kind {
    case BusStarted.kind:
      guard let started = try? BodyCoding.decode(BusStarted.self, from: envelope.body) else { return }
      busGeneration = max(busGeneration, started.generation)
      formerKeys = started.revoked + formerKeys.filter { !started.revoked.contains($0) }
      standingKeys = Dictionary(started.keys.map { ($0.publicKey, $0) }, uniquingKeysWith: { $1 })
      droppedGeneration = max(droppedGeneration, started.droppedGeneration)
      for registration in started.registrations { put(registration) }
    case RegistrationChanged.kind:
      guard let changed = try? BodyCoding.decode(RegistrationChanged.self, from: envelope.body) else { return }
      put(changed.registration)
    case KeyChanged.kind:
      guard let changed = try? BodyCoding.decode(KeyChanged.self, from: envelope.body) else { return }
      put(changed)
    default: break
    }
  }

  private mutating func put(_ registration: Registration) {
    let previous = registrations.updateValue(registration, forKey: registration.address)
    if let key = previous?.publicKey, key != registration.publicKey { formerKeys.append(key) }
  }

  private mutating func put(_ changed: KeyChanged) {
    let name = changed.key.publicKey
    switch changed.change {
    case .registered: standingKeys[name] = changed.key
    case .used: if standingKeys[name] != nil { standingKeys[name] = changed.key }
    case .revoked:
      standingKeys[name] = nil
      formerKeys.append(name)
    }
  }
}
