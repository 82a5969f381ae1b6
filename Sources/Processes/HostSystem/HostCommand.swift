// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Cluster
import Device
package import DeviceRules
import FaultPoints
import Foundation
package import GRDB
package import Logging
package import MessageBus
import Messages
package import StandingProcesses
import Stores

/// The command `host-system`.
package struct HostCommand: StandingProcessCommand {
  package static let configuration = CommandConfiguration(
    commandName: "host-system",
    abstract: "Simulates a device: launches processes, runs their background transfers, and stores their timelines.")

  @OptionGroup package var options: StandingProcessOptions
  @OptionGroup package var config: ConfigurationOption

  package init() {}

  package static func reading(_ arguments: inout PlainArguments) -> HostCommand? {
    guard let options = StandingProcessOptions(&arguments), let config = ConfigurationOption(&arguments) else {
      return nil
    }
    var command = HostCommand()
    command.options = options
    command.config = config
    return command
  }

  package func serve(_ logger: Logger) async throws { try await serve(logger, parts: HostParts()) }

  /// Runs the host of a device with these parts.
  package func serve(_ logger: Logger, parts: HostParts) async throws {
    let configuration = try config.load()
    let hasFaultPoints = try options.joinFaultPoints(as: .host(configuration.device.name))
    let folder = options.folder
    try folder.create()
    let advice = Self.advice(folder)
    if let loss = advice.loss(since: StoreOpening.path(of: advice.file)) { logger.warning("\(loss)") }
    // The handshake with a bus that runs takes place while the database is opened and read.
    let opening = try StoreOpening.next(of: advice.file)
    let isBusThere = FileManager.default.fileExists(atPath: folder.busAnnouncement)
    let early = isBusThere ? try await connection(configuration, opening) : nil
    early?.prepare()
    let database = try openDatabase(advice)
    if hasFaultPoints { database.addFaultPoints(StoreFaultPoints.host) }
    let connection: Connection
    if let early { connection = early } else { connection = try await self.connection(configuration, opening) }
    StandingProcess.renewKey(.host, on: connection, in: folder)
    let device = try Device(
      configuration, instance: folder, database: database, bus: parts.bus(connection),
      underWay: try UnderWay(path: folder.host + "/under-way", of: opening.store), parts: parts
    ) { reason in
      Self.fail("\(reason). \(advice.text(shortage: DiskSpace(at: folder.path)?.shortage))", .io)
    }
    try parts.database(database)
    try await device.resume()
    let generation = try await connection.start()
    await device.connected()
    logger.info("the device is on the bus", metadata: ["generation": "\(generation)"])
    await StandingProcess.run(connection, logger: logger) { await device.leave() }
    try database.close()
  }

  package static func exitCode(of error: any Error) -> StandingProcessExit? { error is DatabaseError ? .io : nil }

  /// Not started yet: the downloads do not wait for the bus.
  private func connection(_ configuration: ClusterConfiguration, _ opening: StoreOpening) async throws -> Connection {
    try await Cluster.connection(
      as: .host, address: .host(configuration.device.name), instance: options.folder, store: opening)
  }

  private static func advice(_ folder: InstanceFolder) -> DatabaseAdvice {
    DatabaseAdvice(
      file: folder.host + "/host.sqlite", process: "host", content: "the device's downloads, timelines and placements",
      removal: "remove the folder \(folder.host): the device then starts empty")
  }

  private func openDatabase(_ advice: DatabaseAdvice) throws -> DatabasePool {
    do {
      return try DatabasePool.opening(advice.file)
    } catch {
      throw ClusterError(
        .folder,
        "the device's database \(advice.file) cannot be opened: \(error). "
          + advice.text(shortage: DiskSpace(at: advice.file)?.shortage))
    }
  }
}

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
