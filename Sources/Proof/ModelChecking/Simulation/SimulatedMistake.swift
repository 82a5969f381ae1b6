// SPDX-License-Identifier: Apache-2.0

import Messages

/// A mistake that a simulation makes on purpose, by the name that it has in Documentation/planted-faults.md. It wraps what
/// is around the state machines, or what is written of them; the state machines are the real ones.
package enum SimulatedMistake: String, CaseIterable, Sendable {
  case misrouted
  case unlaunched
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
  case pushAcknowledgementsLost = "push-acknowledgements-lost"
  case progressLost = "progress-lost"
  case swappedDestination = "swapped-destination"
  case pushToAnotherDevice = "push-to-another-device"
  case answeredBeforeSaved = "answered-before-saved"
  case deliveredWhenSent = "delivered-when-sent"
  case sentAgain = "sent-again"
  case loggedTwice = "logged-twice"

  /// Where the broker forwards an envelope; `nil`: to its destination.
  func receiver(of header: EnvelopeHeader) -> Address? {
    switch self {
    case .pushAcknowledgementsLost where header.kind == DeliverPush.kind.answered(.acknowledged),
      .progressLost where header.kind == PushProgress.kind:
      .journal
    case .swappedDestination where header.kind == SessionEvents.kind && header.destination.role == .widgetExtension:
      SimulatedCluster.app
    default: nil
    }
  }
}
