// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// What several laws need to know about the journal so far.
struct LawRecord: Sendable {
  let limits: LawLimits
  /// Whether the record contains all envelopes since the start of the bus.
  private(set) var isWhole = false
  /// The latest time of an envelope, by the clock of its sender.
  private(set) var now = Timestamp(microseconds: 0)
  /// The tasks of background sessions.
  private(set) var tasks = TaskLedger()
  /// The time of the last disturbance: a process exited or connected, the network or the clock changed.
  private(set) var disturbed = Timestamp(microseconds: 0)
  /// The envelope that shows it.
  private(set) var disturbance: Mark?
  /// When connections ended or began; a notice that was sent just before that may be lost.
  private var interruptions: [Address: UInt64] = [:]
  /// When a broker began; every notice that was sent just before that may be lost.
  private var busInterruption: UInt64 = 0
  private var busGeneration: UInt32?
  private var generations: [Address: UInt32] = [:]
  /// Devices whose network is off or whose clock is held: their work waits.
  private var offline: Set<String> = []
  private var held: Set<String> = []

  init(_ limits: LawLimits) { self.limits = limits }

  /// Whether a notice from an address may be missing that was sent after this envelope: a notice is not sent again when
  /// its connection ends.
  func mayHaveLost(from address: Address, since sequence: UInt64) -> Bool {
    max(interruptions[address] ?? 0, busInterruption) >= sequence
  }

  /// Whether the work of a device waits for its network or its clock.
  func isWaiting(_ device: String?) -> Bool { device.map { offline.contains($0) || held.contains($0) } ?? false }

  /// The generation of the process instance at an address that last connected; `nil` when none is connected.
  func connected(at address: Address) -> UInt32? { generations[address] }

  /// Whether the time for work that began then is over.
  func isOver(_ began: Timestamp, within seconds: Double) -> Bool {
    Double(now.microseconds - max(began, disturbed).microseconds) > seconds * 1e6
  }

  mutating func advance(to time: Timestamp) { now = max(now, time) }

  mutating func disturb(at time: Timestamp) { disturbed = max(disturbed, time) }

  // MARK: Updating

  /// Before the laws: what is true of the envelope itself.
  mutating func begin(_ seen: LawEnvelope) {
    if seen.header.sequence == 1 { isWhole = true }
    advance(to: seen.header.sentAt)
    // No work could be done while there was no bus or no journal. The laws must not count that time.
    switch seen.body {
    case .busStarted(let started) where isAnotherBroker(started): disturb(by: seen.header)
    default: if seen.header.kind == JournalResumed.kind { disturb(by: seen.header) }
    }
  }

  /// Whether a broker was started. A broker also begins a new segment when the last one is full.
  func isAnotherBroker(_ started: BusStarted) -> Bool {
    busGeneration.map { $0 != started.generation } ?? false
  }

  /// After the laws.
  mutating func handle(_ seen: LawEnvelope) {
    let header = seen.header
    switch seen.body {
    case .busStarted(let started):
      if isAnotherBroker(started) {
        busInterruption = header.sequence
        generations = [:]
      }
      busGeneration = started.generation
      for registration in started.registrations where registration.isConnected {
        generations[registration.address] = registration.generation
      }
    case .registration(let changed): take(changed, header)
    case .exited: disturb(by: header)
    case .network(let changed):
      guard let device = header.source.device else { break }
      let isOff = changed.state.path == .off
      if isOff != offline.contains(device) { disturb(by: header) }
      if isOff { offline.insert(device) } else { offline.remove(device) }
    case .clock(let changed):
      guard let device = header.source.device else { break }
      if changed.state.isHeld { held.insert(device) } else { held.remove(device) }
      disturb(by: header)
    default:
      if header.kind == BusStrained.kind { disturb(by: header) }
    }
    tasks.handle(seen)
  }

  private mutating func take(_ changed: RegistrationChanged, _ header: EnvelopeHeader) {
    let registration = changed.registration
    guard !registration.address.role.isPassing else { return }
    switch changed.change {
    case .connected: generations[registration.address] = registration.generation
    case .disconnected, .left, .retired: generations[registration.address] = nil
    case .registered: return
    }
    interruptions[registration.address] = header.sequence
    disturb(by: header)
  }

  private mutating func disturb(by header: EnvelopeHeader) {
    disturbed = max(disturbed, header.sentAt)
    disturbance = Mark(header)
  }
}
