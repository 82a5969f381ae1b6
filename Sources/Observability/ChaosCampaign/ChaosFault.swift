// SPDX-License-Identifier: Apache-2.0

/// The kinds of faults, as `--faults` names them.
package enum FaultKind: String, Sendable, Codable, CaseIterable {
  case kill
  case several
  case stop
  case journal
  case network
  case clock

  /// What happens, in one sentence.
  package var sentence: String {
    switch self {
    case .kill: "SIGKILL ends one process at a random time."
    case .several: "SIGKILL ends two or three processes at the same time."
    case .stop: "SIGSTOP stops one process for up to \(ChaosLimits.longestStop) ms, then SIGCONT continues it."
    case .journal: "The broker is killed, and its journal ends with a half-written or a damaged record when it restarts."
    case .network: "The device has no network for up to \(ChaosLimits.longestOutage) ms."
    case .clock: "The device's clock jumps by up to \(ChaosLimits.longestJump) s."
    }
  }

  /// How often it is drawn, relative to the others. Kills are the measure of a campaign's length.
  var weight: Int {
    switch self {
    case .kill: 60
    case .several: 16
    case .stop: 8
    case .journal: 4
    case .network: 4
    case .clock: 4
    }
  }
}

/// Figures of the faults.
package enum ChaosLimits {
  /// Milliseconds for which a process is stopped.
  package static let longestStop = 900
  /// Milliseconds without a network.
  package static let longestOutage = 800
  /// Seconds by which the device's clock jumps.
  package static let longestJump = 900
}

/// How the end of the journal is damaged while the broker is dead. What the broker had written stays: a crash in the
/// middle of a write leaves this, and nothing else, on a disk that keeps its promises.
package enum JournalDamage: String, Sendable, Codable, CaseIterable {
  /// The first half of another record follows the last one.
  case half
  /// The head of a record follows, and bytes that do not match its checksum.
  case garbage
  /// A segment was created, and its first record was not written.
  case draft
}

/// One fault with its details.
package enum ChaosFault: Hashable, Sendable, Codable {
  case kill(victims: [ChaosVictim])
  case stop(victim: ChaosVictim, milliseconds: Int)
  case journal(damage: JournalDamage)
  case network(milliseconds: Int)
  case clock(seconds: Int)

  /// Its kind.
  package var kind: FaultKind {
    switch self {
    case .kill(let victims): victims.count > 1 ? .several : .kill
    case .stop: .stop
    case .journal: .journal
    case .network: .network
    case .clock: .clock
    }
  }

  /// The processes that it kills.
  package var killed: [ChaosVictim] {
    switch self {
    case .kill(let victims): victims
    case .journal: [.messageBus]
    case .stop, .network, .clock: []
    }
  }

  /// A short description for a list.
  package var text: String {
    switch self {
    case .kill(let victims): "kill \(victims.map(\.rawValue).joined(separator: " + "))"
    case .stop(let victim, let milliseconds): "stop \(victim) for \(milliseconds) ms"
    case .journal(let damage): "kill message-bus, journal ends with \(damage.text)"
    case .network(let milliseconds): "network off for \(milliseconds) ms"
    case .clock(let seconds): "clock + \(seconds) s"
    }
  }
}

extension JournalDamage {
  var text: String {
    switch self {
    case .half: "half a record"
    case .garbage: "a damaged record"
    case .draft: "an empty segment"
    }
  }
}
