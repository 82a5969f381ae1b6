// SPDX-License-Identifier: Apache-2.0

import APNs
import APNsServer
package import ArgumentParser
import Cluster
import FaultPoints
import Foundation
import GRDB
package import Logging
import Messages
import PushDelivery
package import StandingProcesses

/// The command `push-server`.
package struct PushServerCommand: StandingProcessCommand {
  package static let configuration = CommandConfiguration(
    commandName: "push-server",
    abstract: "Simulates APNs: receives notifications over HTTP/2 and delivers them to the devices on the bus.",
    discussion: """
      Listens on two ports: the development and the production environment. A notification is on disk before its 200 \
      is sent, and is delivered when the device can be reached, even after a restart. `widgetlab up` starts it; manually:

        push-server --instance DIR --config widgetlab.yaml
        widgetlab env --instance DIR       URL, key and CA for a provider
        widgetlab push log --follow        progress of each notification, and why one was refused

      With `--database` it is one of several replicas, `push-server/NAME`, that share a PostgreSQL database. A replica \
      stays while the database is away, and answers pushes with 503 until it returns.

      The defaults of the options are in `pushServer` of widgetlab.yaml. DIR/push-server.json has the addresses. DIR/push-server has the database and, in \
      `credentials/provider`, the files for a provider.

      On SIGTERM or SIGINT it sends GOAWAY to providers, answers open requests, and exits with 0.
      """)

  @OptionGroup package var options: StandingProcessOptions
  @OptionGroup package var config: ConfigurationOption
  @OptionGroup var metrics: MetricsOption

  @Option(help: "The URI of the PostgreSQL database that replicas share, such as postgres://host/widgetlab.")
  var database: String?

  @Option(help: "The name of this replica; needs a PostgreSQL database. 1 by default.")
  var replica: String?

  @Option(help: "The address to listen on.")
  var listen: String?

  @Option(help: "The host name for providers and for the certificate; required with --listen 0.0.0.0.")
  var advertise: String?

  @Option(help: "The port of the development environment; 0 for a free one.")
  var developmentPort: Int?

  @Option(help: "The port of the production environment; 0 for a free one.")
  var productionPort: Int?

  package init() {}

  package func serve(_ logger: Logger) async throws { try await serve(logger, parts: PushServerParts()) }

  /// Runs a push server with these parts.
  package func serve(_ logger: Logger, parts: PushServerParts) async throws {
    var configuration = try config.load().pushServer ?? ClusterConfiguration.PushServer()
    configuration.listen = listen ?? configuration.listen
    configuration.advertise = advertise ?? configuration.advertise
    configuration.developmentPort = developmentPort ?? configuration.developmentPort
    configuration.productionPort = productionPort ?? configuration.productionPort
    configuration.metrics = metrics.endpoint ?? configuration.metrics
    configuration.database = try databaseURL(configuration.database)
    let address = try address(hasDatabase: configuration.database != nil)
    try options.joinFaultPoints(as: address)
    try await PushServerService(
      configuration, metrics, address: address, instance: options.folder, parts: parts, logger: logger
    ).run()
  }

  /// The database of the command line, or else that of the configuration, with expanded variables.
  private func databaseURL(_ configured: String?) throws(ClusterError) -> String? {
    guard let url = database ?? configured else { return nil }
    guard ClusterConfiguration.PushServer.isDatabase(url) else {
      throw ClusterError(.configuration, "--database must begin with postgres:// or postgresql://")
    }
    return try Expansion.expand(url, Announced(), environment: ProcessInfo.processInfo.environment)
  }

  private func address(hasDatabase: Bool) throws(ClusterError) -> Address {
    guard hasDatabase else {
      guard replica == nil else {
        throw ClusterError(
          .configuration, "--replica needs a PostgreSQL database: set `pushServer.database` or --database")
      }
      return .pushServer
    }
    let name = replica ?? "1"
    if let objection = ClusterConfiguration.PushServer.objection(toReplica: name) {
      throw ClusterError(.configuration, "--replica: \(objection)")
    }
    return .pushServer(name)
  }

  package static func exitCode(of error: any Error) -> StandingProcessExit? {
    switch error {
    case is DatabaseError: .io
    case is PushCredentialsError: .configuration
    case is PushStoreError: .configuration
    case let error as APNsServerError: error.code == .endpoint ? .unavailable : .configuration
    default: nil
    }
  }
}
