// SPDX-License-Identifier: Apache-2.0

import Messages

/// What a page shows, and reads again after a change.
package enum ConsoleTopic: String, CaseIterable, Sendable, Encodable {
  case screen, processes, history, traces, budget, pushes, diagnoses, state
}

extension ConsoleTopic {
  /// What an envelope changes. The console's own questions and their replies change nothing.
  static func changed(by header: EnvelopeHeader) -> Set<ConsoleTopic> {
    var topics = byKind[header.kind] ?? []
    if header.kind == RegistrationChanged.kind { topics = [.processes, .history, .state] }
    if header.correlation != nil { topics.insert(.traces) }
    return topics
  }

  private static let byKind: [Kind: Set<ConsoleTopic>] = [
    TimelineStored.kind: [.screen, .budget], EntryShown.kind: [.screen], ReloadFailed.kind: [.screen, .budget],
    PlacementChanged.kind: [.screen, .budget], StackTurned.kind: [.screen], ScreenChanged.kind: [.screen],
    SettingChanged.kind: [.screen], ClockChanged.kind: [.screen, .budget, .state],
    BudgetDecided.kind: [.budget, .screen],
    ProcessStarted.kind: [.processes, .history], ProcessExited.kind: [.processes, .history],
    ProcessState.kind: [.processes, .history], AgentStarted.kind: [.processes, .history],
    ProcessReady.kind: [.processes, .screen], BusStarted.kind: [.processes, .history, .state],
    SignalProcess.kind.answered(.ok): [.processes, .history], MemoryExceeded.kind: [.processes],
    PushLogged.kind: [.pushes, .traces], TokenChanged.kind: [.pushes],
    OverrideResponses.kind.answered(.ok): [.pushes],
    SessionAcknowledged.kind: [.traces], SessionEvents.kind: [.traces], TransferProgress.kind: [.traces],
  ]
}
