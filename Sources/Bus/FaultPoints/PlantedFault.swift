// SPDX-License-Identifier: Apache-2.0

import CPlatform

/// A mistake that a deliberately broken build makes. It shows that a campaign and the laws find such a mistake.
///
/// Only the test executable `Faults` can plant one: `plant()` is hidden from all others, and a repository test checks
/// that nothing else names it. In every other process `isPlanted` is false, and costs one load and a branch.
package enum PlantedFault: UInt32, CaseIterable, Sendable {
  // 0 means that none is planted.
  case misrouted = 1
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

  /// Whether this process makes any mistake on purpose.
  @inlinable package static var isAnyPlanted: Bool { fault_is_any_planted() != 0 }

  /// Whether this process makes this mistake.
  @inlinable package var isPlanted: Bool { fault_is_planted(rawValue) != 0 }

  /// Makes this process make this mistake, for as long as it runs.
  @_spi(BrokenBuilds) public func plant() { fault_plant(rawValue) }

  /// The mistake with this name.
  package init?(name: String) {
    guard let fault = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = fault
  }
}
