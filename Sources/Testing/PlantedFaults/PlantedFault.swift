// SPDX-License-Identifier: Apache-2.0

/// A mistake that a deliberately broken build makes. It shows that a campaign and the laws find such a mistake.
///
/// Production code makes none of them and names none of them, as a repository test checks. The test executable `Faults`
/// assembles a standing process with a part that makes the mistake: a connection to the bus (`FaultyConnection`), triggers
/// in a database (`FaultyDatabase`), the broker's journal and routing (`FaultyBroker`), or another rule.
package enum PlantedFault: CaseIterable, Sendable {
  case misrouted
  case unlaunched
  case falsePid
  case deletedWhenSent
  case acceptedBeforeSaved
  case loadedAgain
  case endReportedTwice
  case acknowledgementForgotten
  case deliveredTwice
  case truncatedCopy
  case overdrawn
  case ledgerGap
  case exitReportedTwice
  case exitOfAnother
  case registrationsForgotten
  case journalAfterForwarding
  case pushAcknowledgementsLost
  case progressLost
  case swappedDestination
  case pushToAnotherDevice
  case answeredBeforeSaved
  case deliveredWhenSent
  case sentAgain
  case loggedTwice

  /// The mistake with this name.
  package init?(name: String) {
    guard let fault = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = fault
  }
}
