// SPDX-License-Identifier: Apache-2.0

// The table of the points.

extension FaultPoint {
  /// The name, such as `host.before-tasks-saved`: the process, and what it does there.
  package var name: String { row.name }

  /// One sentence about the state of the process at this point.
  package var summary: String { row.summary }

  /// Whether a write follows the point, so that it can be made to fail.
  package var canFail: Bool { row.canFail }

  /// Whether the process is in the middle of a step that the next point ends.
  package var isBefore: Bool { name.contains(".before-") }

  private typealias Row = (name: String, summary: String, canFail: Bool)

  private var row: Row {
    switch self {
    case .busBeforeJournal, .busAfterJournal, .busAfterForwarding, .busBeforeSegment, .busAfterSegment: busRow
    case .agentBeforeInstanceRegistered, .agentAfterInstanceRegistered, .agentBeforeSpawn, .agentAfterSpawn,
      .agentBeforeExitReported, .agentAfterExitAcknowledged:
      agentRow
    case .pushServerBeforePushesSaved, .pushServerAfterPushesSaved, .pushServerBeforeTokensSaved,
      .pushServerAfterTokensSaved:
      pushServerRow
    case .authorBeforeEventsHandled, .authorAfterEventsHandled, .peerBeforeAnswer, .peerAfterAnswer: peerRow
    default: hostRow
    }
  }

  private var busRow: Row {
    switch self {
    case .busBeforeJournal: ("bus.before-journal", "A batch of envelopes is decided and not written.", true)
    case .busAfterJournal: ("bus.after-journal", "A batch is in the journal, and nothing of it is forwarded.", false)
    case .busBeforeSegment: ("bus.before-segment", "A new segment of the journal is not written.", true)
    case .busAfterSegment: ("bus.after-segment", "The journal has a new segment.", false)
    default: ("bus.after-forwarding", "A batch is in the journal and forwarded.", false)
    }
  }

  private var hostRow: Row {
    switch self {
    case .hostBeforeTasksSaved:
      ("host.before-tasks-saved", "A change of sessions or their tasks is not committed.", true)
    case .hostAfterTasksSaved:
      ("host.after-tasks-saved", "A change of sessions or their tasks is committed, and not announced.", false)
    case .hostBeforeDeliveriesSaved:
      ("host.before-deliveries-saved", "A change of a delivery, or its deletion, is not committed.", true)
    case .hostAfterDeliveriesSaved:
      ("host.after-deliveries-saved", "A change of a delivery is committed, and nothing was sent.", false)
    case .hostBeforeInstancesSaved:
      ("host.before-instances-saved", "A start or end of a process instance is not committed.", true)
    case .hostAfterInstancesSaved:
      ("host.after-instances-saved", "A start or end of a process instance is committed.", false)
    case .hostBeforeTimelinesSaved:
      ("host.before-timelines-saved", "A timeline, reload or budget entry is not committed.", true)
    case .hostAfterTimelinesSaved:
      ("host.after-timelines-saved", "A timeline, reload or budget entry is committed, and not announced.", false)
    case .hostBeforeScreenSaved: ("host.before-screen-saved", "A change of the screen is not committed.", true)
    case .hostAfterScreenSaved: ("host.after-screen-saved", "A change of the screen is committed.", false)
    case .hostBeforePushesSaved: ("host.before-pushes-saved", "A push or a token is not committed.", true)
    case .hostAfterPushesSaved:
      ("host.after-pushes-saved", "A push or a token is committed, and not acknowledged.", false)
    case .hostBeforeSettingsSaved: ("host.before-settings-saved", "A setting of the user is not committed.", true)
    case .hostAfterSettingsSaved:
      ("host.after-settings-saved", "A setting of the user is committed, and has no effect yet.", false)
    case .hostBeforeFilesCopied:
      ("host.before-files-copied", "The files of a delivery are not in the owner's container.", false)
    case .hostAfterFilesCopied:
      ("host.after-files-copied", "The files of a delivery are in the owner's container.", false)
    case .hostWithinTask: ("host.within-task", "A task begins an attempt to load.", false)
    case .hostWithinNotification: ("host.within-notification", "A notification is handled.", false)
    case .hostWithinTimeline: ("host.within-timeline", "The reply to a request for a timeline is handled.", false)
    default: ("host.within-image", "An image of a timeline is read.", false)
    }
  }

  private var agentRow: Row {
    switch self {
    case .agentBeforeInstanceRegistered:
      ("agent.before-instance-registered", "The broker does not know a new process instance.", false)
    case .agentAfterInstanceRegistered:
      ("agent.after-instance-registered", "The broker knows a process instance that is not spawned.", false)
    case .agentBeforeSpawn: ("agent.before-spawn", "The kernel was not asked to spawn a process.", true)
    case .agentAfterSpawn: ("agent.after-spawn", "A process runs, and its start is not reported.", false)
    case .agentBeforeExitReported:
      ("agent.before-exit-reported", "A process was reaped, and its exit is not reported.", false)
    default: ("agent.after-exit-acknowledged", "The host has acknowledged the exit of a process.", false)
    }
  }

  private var pushServerRow: Row {
    switch self {
    case .pushServerBeforePushesSaved:
      ("push-server.before-pushes-saved", "Pushes or their steps are not committed.", true)
    case .pushServerAfterPushesSaved:
      ("push-server.after-pushes-saved", "Pushes or their steps are committed, and not answered or sent.", false)
    case .pushServerBeforeTokensSaved:
      ("push-server.before-tokens-saved", "A device token is not committed.", true)
    default: ("push-server.after-tokens-saved", "A device token is committed, and not announced.", false)
    }
  }

  private var peerRow: Row {
    switch self {
    case .authorBeforeEventsHandled:
      ("author.before-events-handled", "The events of a session have arrived at their owner.", false)
    case .authorAfterEventsHandled:
      ("author.after-events-handled", "The owner has handled the events of a session.", false)
    case .peerBeforeAnswer:
      ("peer.before-answer", "A request or an event is handled, and its reply is not sent; each process.", false)
    default: ("peer.after-answer", "A reply or an acknowledgement is passed to the socket; each process.", false)
    }
  }
}
