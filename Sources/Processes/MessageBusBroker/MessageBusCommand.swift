import ArgumentParser
import Cluster
import Glibc
import Journal
import ZeroMQ

/// The command `message-bus`, from its arguments to its exit code.
package func runBroker() async {
  Birth.dieWithParentIfAsked(CommandLine.arguments)
  LineLogHandler.bootstrap()
  await MessageBusCommand.main()
}

struct MessageBusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "message-bus",
    abstract: "The wire between the processes of a WidgetLab cluster.",
    discussion: """
      Routes envelopes by address, stamps who sent them and which life of it, writes each to the journal before it is \
      forwarded, and shows all of them on the tap. `widgetlab up` starts it; by hand:

        widgetlab keys make --instance DIR
        message-bus --instance DIR
        widgetlab tail --instance DIR

      DIR/known holds who may connect, DIR/keys/message-bus the broker's own key, DIR/journal what was said (and what a new broker learns from its predecessor), \
      DIR/bus/bus.json where the bus listens. It may be killed at any moment: started again with the same DIR it \
      listens at the same port, knows every key and generation, and goes on with the next sequence number.

      While the journal cannot be written, such as on a full disk, nothing is forwarded and peers are told `busy`; it \
      goes on when there is room.

      Ends with 0 on SIGTERM or SIGINT, 64 for wrong arguments, 69 when the endpoint or the instance is taken, 74 when \
      the journal cannot be begun, 78 when keys are missing or --config cannot be used.
      """)

  @Option(help: "The cluster's folder.", completion: .directory)
  var instance: String

  @Option(help: "Where peers connect: tcp://HOST:PORT; the port * takes that of the last broker, or a free one.")
  var listen = "tcp://127.0.0.1:*"

  @Option(help: "Where programs subscribe that look on, with the operator's key.")
  var tap = "tcp://127.0.0.1:*"

  @Option(help: "The host name to announce, where --listen names every interface (0.0.0.0).")
  var advertise: String?

  @Option(help: "A widgetlab.yaml: its `bus` has the limits that are not named here.", completion: .file())
  var config: String?

  @Option(
    help: "How long the journal may get: bytes, or with KiB, MiB or GiB. Then its oldest segments go, and it says so.")
  var journalLimit: ByteCount?

  @Option(help: "How many peers may be connected at once.")
  var peerLimit: Int?

  @Option(help: "For how many seconds a standing key is still let in when its successor has spoken.")
  var keyGrace: Double?

  @Option(name: .customLong("die-with-parent"), help: "Ends when its parent does, whose process id this is.")
  var parent: Int32?

  func validate() throws {
    if let peerLimit, peerLimit < 1 { throw ValidationError("--peer-limit is at least 1") }
    if let keyGrace, !(0...86_400).contains(keyGrace) {
      throw ValidationError("--key-grace is a number of seconds, 0 to 86400")
    }
    _ = try endpoints()
  }

  private func endpoints() throws -> (listen: Endpoint, tap: Endpoint) {
    guard let listen = Endpoint(listen) else {
      throw ValidationError("--listen \(self.listen) is no endpoint; one looks like tcp://127.0.0.1:7701")
    }
    guard let tap = Endpoint(tap) else {
      throw ValidationError("--tap \(self.tap) is no endpoint; one looks like tcp://127.0.0.1:7702")
    }
    guard advertise != nil || !(listen.isWildcard || tap.isWildcard) else {
      throw ValidationError("who listens on every interface says with --advertise HOST how others reach it")
    }
    return (listen, tap)
  }

  private func settings() throws -> BrokerSettings {
    let (listen, tap) = try endpoints()
    var limits = try config.map { path throws(ClusterError) in try ClusterConfiguration.load(path).bus } ?? BusLimits()
    if let journalLimit { limits.journal = journalLimit }
    if let peerLimit { limits.peers = peerLimit }
    if let keyGrace { limits.keyGrace = .seconds(keyGrace) }
    return BrokerSettings(
      instance: InstanceFolder(instance), listen: listen, tap: tap, advertise: advertise, limits: limits)
  }

  func run() async throws {
    async let asked = StandingProcess.untilAskedToEnd()
    StandingProcess.raiseDescriptorLimit()
    // A journal at the limit of a file's size is an error with a code, not a death.
    signal(SIGXFSZ, SIG_IGN)
    do {
      let broker = try Broker(settings())
      _ = try await broker.start()
      _ = await asked
      await broker.stop()
    } catch {
      complain("\(error)")
      throw ExitCode(code(of: error))
    }
  }

  private func code(of error: any Error) -> Int32 {
    switch error {
    case is JournalError: EX_IOERR
    case let error as ClusterError: [.key, .configuration].contains(error.code) ? EX_CONFIG : EX_IOERR
    case is BrokerError: EX_UNAVAILABLE
    default: EX_SOFTWARE
    }
  }
}

extension ByteCount: ExpressibleByArgument {}

private func complain(_ text: String) {
  let line = Array("message-bus: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
}
