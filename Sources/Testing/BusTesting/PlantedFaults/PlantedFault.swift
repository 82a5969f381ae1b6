// SPDX-License-Identifier: Apache-2.0

/// A mistake that a deliberately broken build makes. It shows that a campaign and the laws find such a mistake.
///
/// Production code makes none of them and names none of them, as a repository test checks. The test executable `Faults`
/// assembles a standing process with a part that makes the mistake: a connection to the bus (`FaultyConnection`), triggers
/// in a database (`FaultyDatabase`), the broker's journal and routing (`FaultyBroker`), or another rule.
package enum PlantedFault: String, CaseIterable, Sendable {
  case misrouted
  case unlaunched
  case falsePid = "false-pid"
  case deletedWhenSent = "deleted-when-sent"
  case acceptedBeforeSaved = "accepted-before-saved"
  case loadedAgain = "loaded-again"
  case endReportedTwice = "end-reported-twice"
  case acknowledgementForgotten = "acknowledgement-forgotten"
  case deliveredTwice = "delivered-twice"
  case truncatedCopy = "truncated-copy"
  case overdrawn
  case ledgerGap = "ledger-gap"
  case exitReportedTwice = "exit-reported-twice"
  case exitOfAnother = "exit-of-another"
  case registrationsForgotten = "registrations-forgotten"
  case journalAfterForwarding = "journal-after-forwarding"
  case pushAcknowledgementsLost = "push-acknowledgements-lost"
  case progressLost = "progress-lost"
  case swappedDestination = "swapped-destination"
  case pushToAnotherDevice = "push-to-another-device"
  case answeredBeforeSaved = "answered-before-saved"
  case deliveredWhenSent = "delivered-when-sent"
  case sentAgain = "sent-again"
  case loggedTwice = "logged-twice"

  /// The name, such as `deleted-when-sent`.
  package var name: String { rawValue }

  /// The executable that makes it.
  package var executable: String {
    switch self {
    case .misrouted, .unlaunched, .deletedWhenSent, .acceptedBeforeSaved, .loadedAgain, .endReportedTwice,
      .acknowledgementForgotten, .deliveredTwice, .truncatedCopy, .overdrawn, .ledgerGap:
      "host-system"
    case .falsePid, .exitReportedTwice, .exitOfAnother: "process-agent"
    case .registrationsForgotten, .journalAfterForwarding, .pushAcknowledgementsLost, .progressLost,
      .swappedDestination:
      "message-bus"
    case .pushToAnotherDevice, .answeredBeforeSaved, .deliveredWhenSent, .sentAgain, .loggedTwice: "push-server"
    }
  }

  /// The code of the law that is expected to find it; `nil` when only the demo finds it.
  package var law: String? {
    switch self {
    case .falsePid: nil
    case .misrouted, .swappedDestination, .pushToAnotherDevice: "no-misrouting"
    case .unlaunched, .progressLost: "liveness"
    case .deletedWhenSent: "no-loss"
    case .acceptedBeforeSaved, .acknowledgementForgotten, .deliveredTwice, .sentAgain: "nothing-after-acknowledgement"
    case .loadedAgain, .endReportedTwice: "event-order"
    case .truncatedCopy: "files-intact"
    case .overdrawn, .ledgerGap: "budget-kept"
    case .exitReportedTwice, .exitOfAnother, .registrationsForgotten: "no-orphan"
    case .journalAfterForwarding, .pushAcknowledgementsLost, .answeredBeforeSaved, .deliveredWhenSent, .loggedTwice:
      "pushes-settled"
    }
  }

  /// One sentence: what is wrong.
  package var summary: String {
    switch self {
    case .misrouted: "The events of the extension's session are sent to the containing app."
    case .unlaunched: "An owner that does not run is never launched for its events."
    case .falsePid: "The agent reports a process id other than the child's."
    case .deletedWhenSent: "Events are deleted when they are sent, before they are acknowledged."
    case .acceptedBeforeSaved: "A task is accepted 2 s before it is in the database."
    case .loadedAgain: "The end of a task is in memory and not in the database."
    case .endReportedTwice: "The end of a transfer is reported twice."
    case .acknowledgementForgotten: "Acknowledged events are deleted in memory and not in the database."
    case .deliveredTwice: "Acknowledged events are delivered once more under another id."
    case .truncatedCopy: "The owner's copy of a file lacks its last byte."
    case .overdrawn: "Each reload is paid, also when the balance is 0."
    case .ledgerGap: "Each seventh line of the ledger of the budgets is lost."
    case .exitReportedTwice: "The exit of a process is reported under two ids."
    case .exitOfAnother: "When a process exits, the exit of its next instance is reported too."
    case .registrationsForgotten: "A broker that restarts forgets the registrations of the author's processes."
    case .journalAfterForwarding: "Envelopes are forwarded 50 ms before they are in the journal."
    case .pushAcknowledgementsLost: "Acknowledgements of pushes are recorded and not forwarded."
    case .progressLost: "The progress of pushes is recorded and not forwarded."
    case .swappedDestination: "Events for an extension are forwarded to the app that contains it."
    case .pushToAnotherDevice: "A push is sent to a device that does not have its token."
    case .answeredBeforeSaved: "A push is answered with 200 up to 0.2 s before it is in the delivery log."
    case .deliveredWhenSent: "A push counts as delivered when it is sent."
    case .sentAgain: "A push that was acknowledged is sent once more."
    case .loggedTwice: "The delivery of a push is logged twice."
    }
  }
}
