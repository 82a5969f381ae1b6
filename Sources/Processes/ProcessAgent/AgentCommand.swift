// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Cluster
import FaultPoints
import Foundation
import Glibc
package import Logging
package import MessageBus
import Messages
package import StandingProcesses

/// The command `process-agent`.
package struct AgentCommand: StandingProcessCommand {
  package static let configuration = CommandConfiguration(
    commandName: "process-agent",
    abstract: "Starts, stops and reaps the apps and extensions of a device, in its container.",
    discussion: "It is started by `widgetlab up` or as a service of docker-compose.yml, and acts on host requests.")

  @OptionGroup package var options: StandingProcessOptions
  @OptionGroup package var config: ConfigurationOption

  @Option(help: "The number of this agent, which products in widgetlab.yaml refer to.")
  package var number = 1

  @Option(help: "The folder in which executables are looked up first; see `widgetlab up --help`.")
  package var executables: String?

  package init() {}

  package func validate() throws {
    guard number > 0 else { throw ValidationError("--number must be 1 or more") }
  }

  package func serve(_ logger: Logger) async throws { try await serve(logger, bus: { $0 }) }

  /// Runs the process.
  ///
  /// - Parameters:
  ///   - bus: makes the connection of the agent from the connection of the process. It is another one only in a build with a
  ///     deliberate fault.
  ///   - reportedPid: maps a pid to the one that is sent to other processes; likewise.
  package func serve(
    _ logger: Logger, bus: (any BusConnection) -> any BusConnection,
    reportedPid: @escaping @Sendable (Int32) -> Int32 = { $0 }
  ) async throws {
    let configuration = try config.load()
    let instance = options.folder
    let address = Address.agent(configuration.device.name, number)
    let hasFaultPoints = try options.joinFaultPoints(as: address)
    logger.info("waiting for the bus", metadata: ["address": "\(address)", "instance": "\(instance.path)"])
    let executables = ExecutableSearch(configuration: config.path, named: executables)
    let connection = try await Cluster.connection(as: .agent(number), address: address, instance: instance)
    let agent = Agent(
      connection: bus(connection), executables: executables,
      bundles: BundleFolder(configuration, in: instance.device(configuration.device.name)),
      bus: { try AgentCommand.place(in: instance) }, faultPoints: hasFaultPoints ? instance.faultPoints : nil,
      reportedPid: reportedPid)
    agent.listen()
    StandingProcess.answerPeers(on: connection)
    StandingProcess.renewKey(.agent(number), on: connection, in: instance)
    let generation = try await connection.start()
    logger.notice("ready", metadata: ["address": "\(address)", "generation": "\(generation)", "pid": "\(getpid())"])
    await agent.begin()
    await StandingProcess.run(connection, logger: logger) { await agent.end() }
  }

  /// The broker's current address, which may have changed.
  private static func place(in instance: InstanceFolder) throws(ClusterError) -> BusPlace {
    guard let announcement = try BusAnnouncement.read(in: instance) else {
      throw ClusterError(.notThere, "\(instance.busAnnouncement) is missing: is message-bus running?")
    }
    return BusPlace(endpoint: announcement.endpoint, serverKey: announcement.publicKey)
  }
}

/// The broker's address, for a child's launch context.
package struct BusPlace: Sendable, Hashable {
  /// Such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// The broker's key, z85.
  package let serverKey: String

  package init(endpoint: String, serverKey: String) {
    self.endpoint = endpoint
    self.serverKey = serverKey
  }
}
