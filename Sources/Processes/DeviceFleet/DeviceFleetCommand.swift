// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Cluster
import GRDB
import Glibc
package import Logging
import MessageBus
import Messages
import PrometheusMetrics
package import StandingProcesses
import Stores

/// The command `device-fleet`.
package struct DeviceFleetCommand: StandingProcessCommand {
  package static let configuration = CommandConfiguration(
    commandName: "device-fleet",
    abstract: "Simulates many light devices for the load test of a push backend.",
    discussion: """
      A light device has device tokens of all push types, a day with and without a network, and no app: what it receives is \
      counted. All devices of a fleet share one process and one connection to the bus. Tokens are registered with the \
      backend that the profile names. `widgetlab fleet up` starts it; manually, beside a running cluster with a push server:

        device-fleet --instance DIR --name load --devices 100000 --profile day.yaml
        widgetlab fleet status --instance DIR

      The same name, seed, number of devices and profile give the same sequence of events. DIR/fleet/NAME has the database, \
      from which a fleet continues. On SIGTERM or SIGINT it exits with 0.
      """)

  @OptionGroup package var options: StandingProcessOptions
  @OptionGroup var metrics: MetricsOption

  @Option(help: "The name of the fleet: letters, digits, `-`, `_`, `.`.")
  var name = "load"

  @Option(help: "The number of devices.")
  var devices: Int

  @Option(help: "The seed of the devices' days.")
  var seed: UInt64 = 1

  @Option(help: "The profile, a YAML file. Without it: the default day, and no registration.", completion: .file())
  var profile: String?

  package init() {}

  package func validate() throws {
    guard FleetDevice.isName(name) else {
      throw ValidationError("'\(name)' is not the name of a fleet: use letters, digits, `-`, `_`, `.`, at most 40")
    }
    guard (1...Int(DeviceSet.limit)).contains(devices) else {
      throw ValidationError("--devices must be 1 to \(DeviceSet.limit), not \(devices)")
    }
  }

  package func serve(_ logger: Logger) async throws {
    StandingProcess.raiseDescriptorLimit()
    let day = try profile.map { file throws(ClusterError) in try FleetProfile(file: file) } ?? FleetProfile()
    let instance = options.folder
    try instance.createFleet(name)
    let lock = try FleetLock(name, in: instance)
    let plan = FleetPlan(name: name, seed: seed, devices: devices, profile: day)
    let file = instance.fleet(name) + "/fleet.sqlite"
    let advice = DatabaseAdvice(
      file: file, process: "fleet", content: "the fleet's devices, tokens and figures",
      removal: "remove \(file)*: the fleet then starts empty, with new devices")
    let database: FleetDatabase
    do {
      database = try FleetDatabase(file)
    } catch let error as ClusterError {
      throw ClusterError(error.code, "\(error.message). \(advice.text(shortage: DiskSpace(at: file)?.shortage))")
    }
    let connection = try await Cluster.connection(as: .fleet, address: .fleet(name), instance: instance)
    let counted = metrics.endpoint.map { _ in FleetMetrics() }
    let service = try FleetService(
      plan: plan, profileName: profile ?? "default day", database: database, bus: connection,
      registrar: try Registrar(plan), logger: logger, metrics: counted
    ) { reason, isConfiguration in
      if isConfiguration { Self.fail(reason, .configuration) }
      Self.fail("\(reason). \(advice.text(shortage: DiskSpace(at: file)?.shortage))", .io)
    }
    StandingProcess.answerPeers(on: connection) { await service.isReady ? [] : ["tokens"] }
    service.listen()
    connection.onTurnedAway { error in Self.fail("\(error)", .configuration) }
    let generation = try await connection.start()
    await service.begin()
    let metricsServer = try metrics.serve(nil, as: .fleet(name), in: instance, logger: logger) {
      counted?.families ?? []
    }
    defer { metricsServer?.stop() }
    try FleetAnnouncement(name: name, devices: devices, seed: seed, profile: profile, pid: getpid()).write(in: instance)
    logger.info("the fleet is on the bus", metadata: ["generation": "\(generation)", "devices": "\(devices)"])
    await StandingProcess.run(connection, logger: logger) { await service.leave() }
    try database.close()
    withExtendedLifetime(lock) {}
  }

  package static func exitCode(of error: any Error) -> StandingProcessExit? { error is DatabaseError ? .io : nil }
}
