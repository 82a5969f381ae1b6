// SPDX-License-Identifier: Apache-2.0

// The table of the mistakes.

extension PlantedFault {
  /// The name, such as `deleted-when-sent`.
  package var name: String { row.name }

  /// The executable that makes it.
  package var executable: String { row.executable }

  /// The code of the law that is expected to find it; `nil` when only the demo finds it.
  package var law: String? { row.law }

  /// One sentence: what is wrong.
  package var summary: String { row.summary }

  private typealias Row = (name: String, executable: String, law: String?, summary: String)

  private static let host = "host-system"
  private static let agent = "process-agent"
  private static let bus = "message-bus"
  private static let pushServer = "push-server"

  private var row: Row {
    switch self {
    case .falsePid, .exitReportedTwice, .exitOfAnother: agentRow
    case .registrationsForgotten, .journalAfterForwarding, .pushAcknowledgementsLost, .progressLost,
      .swappedDestination:
      busRow
    case .pushToAnotherDevice, .answeredBeforeSaved, .deliveredWhenSent, .sentAgain, .loggedTwice: pushServerRow
    default: hostRow
    }
  }

  private var hostRow: Row {
    switch self {
    case .misrouted:
      ("misrouted", Self.host, "no-misrouting", "The events of the extension's session are sent to the containing app.")
    case .unlaunched:
      ("unlaunched", Self.host, "liveness", "An owner that does not run is never launched for its events.")
    case .deletedWhenSent:
      (
        "deleted-when-sent", Self.host, "no-loss",
        "Events are deleted when they are sent, before they are acknowledged."
      )
    case .acceptedBeforeSaved:
      (
        "accepted-before-saved", Self.host, "nothing-after-acknowledgement",
        "A task is accepted 2 s before it is in the database."
      )
    case .loadedAgain:
      ("loaded-again", Self.host, "event-order", "The end of a task is in memory and not in the database.")
    case .endReportedTwice: ("end-reported-twice", Self.host, "event-order", "The end of a transfer is reported twice.")
    case .acknowledgementForgotten:
      (
        "acknowledgement-forgotten", Self.host, "nothing-after-acknowledgement",
        "Acknowledged events are deleted in memory and not in the database."
      )
    case .deliveredTwice:
      (
        "delivered-twice", Self.host, "nothing-after-acknowledgement",
        "Acknowledged events are delivered once more under another id."
      )
    case .truncatedCopy:
      ("truncated-copy", Self.host, "files-intact", "The owner's copy of a file lacks its last byte.")
    case .overdrawn:
      ("overdrawn", Self.host, "budget-kept", "Each reload is paid, also when the balance is 0.")
    default: ("ledger-gap", Self.host, "budget-kept", "Each seventh line of the ledger of the budgets is lost.")
    }
  }

  private var agentRow: Row {
    switch self {
    case .falsePid: ("false-pid", Self.agent, nil, "The agent reports a process id other than the child's.")
    case .exitReportedTwice:
      ("exit-reported-twice", Self.agent, "no-orphan", "The exit of a process is reported under two ids.")
    default: ("exit-of-another", Self.agent, "no-orphan", "With each exit, that of the next generation is reported.")
    }
  }

  private var busRow: Row {
    switch self {
    case .registrationsForgotten:
      (
        "registrations-forgotten", Self.bus, "no-orphan",
        "A broker that restarts forgets the registrations of the author's processes."
      )
    case .journalAfterForwarding:
      (
        "journal-after-forwarding", Self.bus, "pushes-settled",
        "Envelopes are forwarded 50 ms before they are in the journal."
      )
    case .pushAcknowledgementsLost:
      (
        "push-acknowledgements-lost", Self.bus, "pushes-settled",
        "Acknowledgements of pushes are recorded and not forwarded."
      )
    case .progressLost:
      ("progress-lost", Self.bus, "liveness", "The progress of pushes is recorded and not forwarded.")
    default:
      (
        "swapped-destination", Self.bus, "no-misrouting",
        "Events for an extension are forwarded to the app that contains it."
      )
    }
  }

  private var pushServerRow: Row {
    switch self {
    case .pushToAnotherDevice:
      (
        "push-to-another-device", Self.pushServer, "no-misrouting",
        "A push is sent to a device that does not have its token."
      )
    case .answeredBeforeSaved:
      (
        "answered-before-saved", Self.pushServer, "pushes-settled",
        "A push is answered with 200 up to 0.2 s before it is in the delivery log."
      )
    case .deliveredWhenSent:
      ("delivered-when-sent", Self.pushServer, "pushes-settled", "A push counts as delivered when it is sent.")
    case .sentAgain:
      (
        "sent-again", Self.pushServer, "nothing-after-acknowledgement",
        "A push that was acknowledged is sent once more."
      )
    default: ("logged-twice", Self.pushServer, "pushes-settled", "The delivery of a push is logged twice.")
    }
  }
}
