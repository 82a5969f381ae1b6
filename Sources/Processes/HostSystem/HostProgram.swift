import ArgumentParser
import Cluster
import Conversations
import Foundation
import GRDB
import Logging
import MessageBus

/// The command `host-system`.
package enum HostProgram {
  /// Runs the host of a device until it is asked to end, and ends the process.
  ///
  /// - Parameter faults: what a broken build does wrong.
  package static func main(_ arguments: [String] = CommandLine.arguments, faults: Faults = Faults()) async {
    Birth.dieWithParentIfAsked(arguments)
    LineLogHandler.bootstrap()
    let command = HostCommand.parseOrExit(Array(arguments.dropFirst()))
    do {
      try await command.run(faults)
    } catch {
      FileHandle.standardError.write(Data("host-system: \(error)\n".utf8))
      Foundation.exit(1)
    }
  }
}

struct HostCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "host-system",
    abstract: "Plays a device: launches its processes, downloads for them, and keeps their timelines.")

  @Option(help: "The folder of the cluster.")
  var instance: String

  @Option(help: "What the device has: a widgetlab.yaml.")
  var config: String

  @Option(help: "The process that must be our parent: we end when it ends.")
  var dieWithParent: Int32?

  func run(_ faults: Faults) async throws {
    let logger = Logger(label: "host-system")
    let configuration = try ClusterConfiguration.load(config)
    let folder = InstanceFolder(instance)
    try folder.create()
    let database = try openDatabase(folder)
    // Not started yet, so that the downloads need not wait for the bus.
    let connection = try await Cluster.connection(
      as: .host, address: .host(configuration.device.name), instance: folder)
    StandingProcess.renewKey(.host, on: connection, in: folder)
    let device = try Device(
      configuration, instance: folder, database: database, bus: connection, faults: faults
    ) { reason in
      FileHandle.standardError.write(
        Data("host-system: \(reason). Is the disk full? Started again, the host goes on where it was.\n".utf8))
      Foundation.exit(1)
    }
    try await device.resume()
    let generation = try await connection.start()
    await device.connected()
    logger.info("the device is on the bus", metadata: ["generation": "\(generation)"])
    await StandingProcess.run(connection, logger: logger) { await device.leave() }
    try database.close()
  }

  private func openDatabase(_ folder: InstanceFolder) throws -> DatabasePool {
    let path = folder.host + "/host.sqlite"
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      return try DatabasePool(path: path, configuration: configuration)
    } catch {
      throw ClusterError(
        .folder,
        "the device's database \(path) cannot be opened: \(error). If it is damaged, remove the folder "
          + "\(folder.host): the device then begins anew, without its downloads and timelines")
    }
  }
}
