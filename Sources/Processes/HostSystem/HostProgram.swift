import ArgumentParser
import Cluster
import Foundation
import GRDB
import Logging
import MessageBus
import Messages

/// The command `host-system`.
package enum HostProgram {
  /// Runs the host of a device until it is asked to stop, and exits.
  ///
  /// - Parameter faults: the faults of a deliberately broken build.
  package static func main(_ arguments: [String] = CommandLine.arguments, faults: Faults = Faults()) async {
    ParentDeathSignal.exitWithParentIfRequested(arguments)
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
    abstract: "Simulates a device: launches processes, runs their background transfers, and stores their timelines.")

  @Option(help: "The folder of the cluster.")
  var instance: String

  @Option(help: "The configuration file of the device: a widgetlab.yaml.")
  var config: String

  @Option(help: "The process id of the parent; this process exits when the parent exits.")
  var dieWithParent: Int32?

  func run(_ faults: Faults) async throws {
    let logger = Logger(label: "host-system")
    let configuration = try ClusterConfiguration.load(config)
    let folder = InstanceFolder(instance)
    try folder.create()
    let database = try openDatabase(folder)
    // Not started yet: the downloads do not wait for the bus.
    let connection = try await Cluster.connection(
      as: .host, address: .host(configuration.device.name), instance: folder)
    StandingProcess.renewKey(.host, on: connection, in: folder)
    let device = try Device(
      configuration, instance: folder, database: database, bus: connection, faults: faults
    ) { reason in
      FileHandle.standardError.write(
        Data("host-system: \(reason). Is the disk full? After a restart, the host resumes where it was.\n".utf8))
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
          + "\(folder.host): the device then starts empty, without downloads and timelines")
    }
  }
}
