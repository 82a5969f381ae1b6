// SPDX-License-Identifier: Apache-2.0

/// A situation that looks like a broken law, and is none. A law that is wrong once is not believed again, so each of these
/// has a test.
package enum LawSituation: String, Sendable, CaseIterable {
  case killed, awayLong, absent, suspended, clockForward, clockBack, clockOfOne, deviceClock, asleep, trimmed, lostEnd
  case emptyHost, olderHost, emptyPushServer, emptyBroker, replicas, fleets, lostResult, operators, keys, update
  case forceQuit, offline

  /// The situation.
  package var what: String {
    switch self {
    case .killed: "the owner is killed while it handles its events, and gets them again"
    case .awayLong: "a destination is away for longer than the limit, and is back"
    case .absent: "a process is killed before its hello, again and again"
    case .suspended: "a destination is stopped for longer than the limit, and its connection ends"
    case .clockForward: "the machine's clock is set forward by an hour, a day or 400 days"
    case .clockBack: "the machine's clock is set back by an hour or a day"
    case .clockOfOne: "one process has another clock than the others"
    case .deviceClock: "the device's clock is set back, and gets to the same time again"
    case .asleep: "the machine sleeps for an hour while work is open"
    case .trimmed: "the journal has lost its beginning (journalLimit)"
    case .lostEnd: "the journal has lost its end"
    case .emptyHost: "the folder of the host was removed: task and placement numbers begin again"
    case .olderHost: "an older copy of the host's folder was restored"
    case .emptyPushServer: "the database of the push server was removed"
    case .emptyBroker: "the folder of the bus was removed: generations begin again"
    case .replicas: "a replica answers what was sent to the push server, and notices of two replicas overtake"
    case .fleets: "a push is delivered to a device of a fleet"
    case .lostResult: "push server and bus end together, and the notice of a result is lost"
    case .operators: "a command ends before its reply"
    case .keys: "keys are rotated: each process connects again"
    case .update: "the app is updated: its processes are replaced"
    case .forceQuit: "the user force-quits the app: its events wait"
    case .offline: "the device is offline: its events and pushes wait"
    }
  }

  /// The laws that could take it for a breach; every law when empty.
  private var candidates: [String] {
    switch self {
    case .killed, .update: ["no-loss", "event-order", "nothing-after-acknowledgement", "files-intact", "no-orphan"]
    case .awayLong, .absent, .suspended, .asleep, .operators, .keys, .forceQuit: ["liveness"]
    case .clockForward, .clockBack, .clockOfOne: ["liveness", "no-orphan"]
    case .deviceClock: ["budget-kept"]
    case .trimmed, .lostEnd: []
    case .emptyHost, .olderHost:
      ["no-loss", "no-misrouting", "nothing-after-acknowledgement", "files-intact", "budget-kept", "liveness"]
    case .emptyPushServer: ["nothing-after-acknowledgement", "pushes-settled"]
    case .emptyBroker: ["no-orphan"]
    case .replicas: ["no-misrouting", "pushes-settled", "liveness"]
    case .fleets: ["pushes-settled"]
    case .lostResult: ["pushes-settled"]
    case .offline: ["liveness", "pushes-settled"]
    }
  }

  /// The worst answer that a law may give.
  package var worst: LawVerdict.Answer {
    switch self {
    case .trimmed, .lostEnd, .olderHost, .emptyPushServer, .emptyBroker, .lostResult, .offline: .unknown
    default: .holds
    }
  }

  /// The situations that a law could take for a breach.
  package static func of(_ law: LawDescription) -> [LawSituation] {
    allCases.filter { $0.candidates.isEmpty || $0.candidates.contains(law.code) }
  }
}
