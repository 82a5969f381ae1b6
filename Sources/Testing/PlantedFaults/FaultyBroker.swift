// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Journal
package import Messages

/// The mistakes of a broker: with its journal, and with the receivers of envelopes.
package enum FaultyBroker {
  /// Makes the broker that writes this journal make the mistake.
  package static func plant(_ fault: PlantedFault, in journal: JournalWriter) {
    switch fault {
    case .registrationsForgotten:
      journal.recovered.registrations = journal.recovered.registrations.filter { $0.key.bundleIdentifier == nil }
    case .journalAfterForwarding:
      let queue = DispatchQueue(label: "late journal")
      journal.write = { file, bytes, offset throws(JournalError) in
        // A segment begins at once: readers expect its head.
        guard offset > 0 else { return try file.write(bytes, at: offset) }
        queue.asyncAfter(deadline: .now() + .milliseconds(50)) { try? file.write(bytes, at: offset) }
      }
    default: break
    }
  }

  /// Who receives an envelope.
  package static func receiver(of header: EnvelopeHeader, _ fault: PlantedFault) -> Address {
    switch (fault, header.kind) {
    case (.pushAcknowledgementsLost, DeliverPush.kind.answered(.acknowledged)), (.progressLost, PushProgress.kind):
      .journal
    case (.swappedDestination, SessionEvents.kind): header.destination.containingApp
    default: header.destination
    }
  }
}
