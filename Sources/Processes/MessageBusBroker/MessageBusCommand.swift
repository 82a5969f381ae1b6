// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Cluster
import FaultPoints
import Glibc
import Journal
package import Logging
import Messages
import PrometheusMetrics
package import StandingProcesses
import ZeroMQ

/// The command `message-bus`.
package struct MessageBusCommand: StandingProcessCommand {
  package static let configuration = CommandConfiguration(
    commandName: "message-bus",
    abstract: "The message broker of a WidgetLab cluster.",
    discussion: """
      Routes envelopes by address, stamps them with their source and its generation, writes each to the journal before \
      it is forwarded, and publishes all of them on the tap. `widgetlab up` starts it; by hand:

        widgetlab keys make --instance DIR
        message-bus --instance DIR
        widgetlab tail --instance DIR

      DIR/known contains the permitted keys, DIR/keys/message-bus the broker's own, DIR/journal all messages and the \
      state that a new broker restores, DIR/bus/bus.json the endpoints. The broker may be killed at any moment: \
      restarted with the same DIR it listens at the same port, keeps all keys and generations, and continues numbering.

      While the journal cannot be written, such as on a full disk, nothing is forwarded and peers get `busy`; the \
      broker continues when there is room.

      Exits with 0 on SIGTERM or SIGINT, 64 for wrong arguments, 69 when the endpoint or the instance is in use, 74 \
      when a folder or the journal cannot be used, 78 when keys are missing or --config cannot be used.
      """)

  @OptionGroup package var options: StandingProcessOptions
  @OptionGroup var metrics: MetricsOption

  @Option(help: "Where peers connect: tcp://HOST:PORT; the port * uses that of the last broker, or a free one.")
  var listen = "tcp://127.0.0.1:*"

  @Option(help: "Where observers subscribe, with the operator's key.")
  var tap = "tcp://127.0.0.1:*"

  @Option(help: "The host name to announce, required when --listen is every interface (0.0.0.0).")
  var advertise: String?

  @Option(help: "A widgetlab.yaml: its `bus` section sets the limits without an option here.", completion: .file())
  var config: String?

  @Option(
    help: "The size limit of the journal: bytes, or with KiB, MiB or GiB. The oldest segments are removed beyond it.")
  var journalLimit: ByteCount?

  @Flag(
    help: "Wait for the disk before each batch of messages is forwarded, so that the journal survives a power failure.")
  var journalSync = false

  @Option(help: "The maximum number of connected peers.")
  var peerLimit: Int?

  @Option(help: "The number of seconds that a standing key is still accepted after its successor was used.")
  var keyGrace: Double?

  package init() {}

  package func validate() throws {
    if let peerLimit, peerLimit < 1 { throw ValidationError("--peer-limit must be at least 1") }
    if let keyGrace, !(0...86_400).contains(keyGrace) {
      throw ValidationError("--key-grace must be a number of seconds, 0 to 86400")
    }
    _ = try endpoints()
  }

  private func endpoints() throws -> (listen: Endpoint, tap: Endpoint) {
    guard let listen = Endpoint(listen) else {
      throw ValidationError("--listen \(self.listen) is not an endpoint such as tcp://127.0.0.1:7701")
    }
    guard let tap = Endpoint(tap) else {
      throw ValidationError("--tap \(self.tap) is not an endpoint such as tcp://127.0.0.1:7702")
    }
    guard advertise != nil || !(listen.isWildcard || tap.isWildcard) else {
      throw ValidationError("--listen or --tap on every interface requires --advertise HOST")
    }
    return (listen, tap)
  }

  private func limits() throws -> BusLimits {
    var limits = try config.map { path throws(ClusterError) in try ClusterConfiguration.load(path).bus } ?? BusLimits()
    if let journalLimit { limits.journal = journalLimit }
    if journalSync { limits.synchronizesJournal = true }
    if let peerLimit { limits.peers = peerLimit }
    if let keyGrace { limits.keyGrace = .seconds(keyGrace) }
    limits.metrics = metrics.endpoint ?? limits.metrics
    return limits
  }

  private func settings(_ limits: BusLimits) throws -> BrokerSettings {
    let (listen, tap) = try endpoints()
    var settings = BrokerSettings(
      instance: options.folder, listen: listen, tap: tap, advertise: advertise, limits: limits)
    if limits.metrics != nil { settings.metrics = BrokerMetrics() }
    return settings
  }

  package func serve(_ logger: Logger) async throws { try await serve(logger) { try Broker($0) } }

  /// Runs the broker that `makeBroker` returns.
  package func serve(_ logger: Logger, makeBroker: (BrokerSettings) throws -> Broker) async throws {
    try options.joinFaultPoints(as: .messageBus)
    let signals = await EndSignals()
    StandingProcess.raiseDescriptorLimit()
    // With SIGXFSZ ignored, a file size limit is a write error with a code and does not kill the broker.
    signal(SIGXFSZ, SIG_IGN)
    let limits = try limits()
    let settings = try settings(limits)
    let broker = try makeBroker(settings)
    _ = try await broker.start()
    let metricsServer = try metrics.serve(
      limits.metrics, as: .messageBus, advertise: advertise, in: options.folder, logger: logger
    ) { settings.metrics?.families ?? [] }
    defer { metricsServer?.stop() }
    let ending = await signals.first()
    logger.info("terminating", metadata: ["signal": "\(ending)"])
    await broker.stop()
  }

  package static func exitCode(of error: any Error) -> StandingProcessExit? {
    switch error {
    case is JournalError: .io
    case let error as BrokerError: error.code == .lock ? .io : .unavailable
    default: nil
    }
  }
}

extension ByteCount: ExpressibleByArgument {}
