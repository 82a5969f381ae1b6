// SPDX-License-Identifier: Apache-2.0

package import Messages

/// What the console shows of a whole journal, as far as it was read. A value that receives each envelope once, in order.
/// Its memory is bounded: each part forgets its oldest entries.
package struct JournalSummary: Sendable {
  /// The addresses of all senders and receivers, except tools.
  package private(set) var addresses: Set<Address> = []
  /// The kinds of all messages, including replies.
  package private(set) var kinds: Set<String> = []
  /// The mistakes in authors' code.
  package private(set) var diagnostician = Diagnostician()
  /// The process instances of each address.
  package private(set) var processes = ProcessHistory()
  /// The downloads, uploads and pushes.
  package private(set) var traces = TraceList()
  /// The decisions of the budget.
  package private(set) var ledger = LedgerHistory()
  /// The delivery of pushes.
  package private(set) var pushes = PushHistory()
  /// The placements.
  package private(set) var screen = ScreenHistory()
  /// The time of the first envelope, in seconds since 1970.
  package private(set) var begin: Double?
  /// The time of the last envelope, in seconds since 1970.
  package private(set) var time: Double?
  /// The number of the first envelope.
  package private(set) var first: UInt64?
  /// Whether a host is connected to the bus.
  package private(set) var isHostConnected = false

  /// Creates the summary of an empty journal.
  package init() {}

  /// Processes the next envelope.
  ///
  /// - Returns: whether it shows a new mistake in authors' code.
  package mutating func handle(_ envelope: Envelope) -> Bool {
    let header = envelope.header
    first = first ?? header.sequence
    time = Double(header.sentAt.microseconds) / 1e6
    begin = begin ?? time
    processes.handle(envelope)
    traces.handle(envelope)
    ledger.handle(envelope)
    pushes.handle(envelope)
    screen.handle(envelope)
    kinds.insert(header.kind.name)
    for address in [header.source, header.destination] where !address.role.isPassing { addresses.insert(address) }
    if let changed = envelope.reading(RegistrationChanged.self), changed.registration.address.role == .host {
      isHostConnected = changed.registration.isConnected
    } else if let started = envelope.reading(BusStarted.self) {
      isHostConnected = started.registrations.contains { $0.address.role == .host && $0.isConnected }
    }
    return !diagnostician.handle(envelope).isEmpty
  }
}
