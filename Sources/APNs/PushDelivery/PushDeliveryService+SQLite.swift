// SPDX-License-Identifier: Apache-2.0

import Foundation
package import GRDB
package import MessageBus
package import Timekeeping

extension PushDeliveryService {
  /// Reads the state left by the previous process instance from a SQLite database.
  ///
  /// - Parameters: those of `init(store:…)`.
  /// - Throws: the database error.
  package init(
    database: any DatabaseWriter, bus: any BusConnection,
    clock: any ControllableClock = AdjustableClock(.running(ahead: 0)),
    settings: PushSettings = PushSettings(), metrics: DeliveryMetrics? = nil,
    broken: @escaping @Sendable (String) -> Void
  ) throws {
    try self.init(
      store: PushDatabase(database, settings: settings), bus: bus, clock: clock, settings: settings, metrics: metrics,
      broken: broken)
  }
}
