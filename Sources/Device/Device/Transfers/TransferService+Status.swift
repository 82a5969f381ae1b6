// SPDX-License-Identifier: Apache-2.0

package import Messages

// Reports about the device's sessions.

extension TransferService {
  /// The sessions that `ps` prints.
  ///
  /// - Throws: database errors.
  package func status() throws -> [SessionStatus] { try reports.status() }

  /// `session.list`: as many sessions and tasks as fit in an envelope.
  ///
  /// - Parameter clock: the state of the device's clock, for the reply.
  /// - Throws: database errors.
  package func list(_ request: ListSessions, clock: ClockState) throws -> ListSessions.Reply {
    try reports.list(request, clock: clock)
  }

  private var reports: TransferReports {
    // The database must have what the state machines have.
    scheduler.commit()
    return TransferReports(
      context: context, deliveries: delivery.stateMachine, loading: scheduler.stateMachine,
      configurations: scheduler.configurations)
  }
}
