// SPDX-License-Identifier: Apache-2.0

import Device
package import DeviceRules
package import GRDB
package import MessageBus

/// The parts of a host that another program can replace, as a deliberately broken build does.
package struct HostParts: Sendable {
  /// Makes the connection of the device from the connection of the process.
  package var bus: @Sendable (any BusConnection) -> any BusConnection = { $0 }
  /// Gets the database when it has the tables of all services, before anything runs.
  package var database: @Sendable (any DatabaseWriter) throws -> Void = { _ in }
  /// Changes the rules of reloads that the settings give.
  package var reloads: @Sendable (inout TimelineSettings, inout BudgetPolicy) -> Void = { _, _ in }
  /// Whether an owner that is not running or is suspended is launched or resumed for its events.
  package var launchesForEvents = true

  package init() {}
}
