// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import MessageBus

/// The parts of a push server that another program can replace, as a deliberately broken build does.
package struct PushServerParts: Sendable {
  /// Makes the connection of the service from the connection of the process.
  package var bus: @Sendable (any BusConnection) -> any BusConnection = { $0 }
  /// Gets the SQLite database when it has its tables, before anything runs.
  package var database: @Sendable (any DatabaseWriter) throws -> Void = { _ in }

  package init() {}
}
