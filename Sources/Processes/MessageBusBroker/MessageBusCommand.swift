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

        widgetlab keys --instance DIR
        message-bus --instance DIR
        widgetlab tail --instance DIR

      DIR/keys holds who may connect, DIR/journal what was said (and what a new broker learns from its predecessor), \
      DIR/bus/bus.json where the bus listens. It may be killed at any moment: started again with the same DIR it \
      listens at the same port, knows every key and generation, and goes on with the next sequence number.

      While the journal cannot be written, such as on a full disk, nothing is forwarded and peers are told `busy`; it \
      goes on when there is room.

      Ends with 0 on SIGTERM or SIGINT, 64 for wrong arguments, 69 when the endpoint or the instance is taken, 74 when \
      the journal cannot be begun, 78 when keys are missing.
      """)

  @Option(help: "The cluster's folder.", completion: .directory)
  var instance: String

  @Option(help: "Where peers connect: tcp://HOST:PORT; the port * takes that of the last broker, or a free one.")
  var listen = "tcp://127.0.0.1:*"

  @Option(help: "Where programs subscribe that look on, with the operator's key.")
  var tap = "tcp://127.0.0.1:*"

  @Option(help: "The host name to announce, where --listen names every interface (0.0.0.0).")
  var advertise: String?

  @Option(
    help: "How long the journal may get: bytes, or with KiB, MiB or GiB. Then its oldest segments go, and it says so.")
  var journalLimit = ByteCount(bytes: JournalWriter.defaultLimit)

  @Option(help: "How many peers may be connected at once.")
  var peerLimit = 4096

  @Option(name: .customLong("die-with-parent"), help: "Ends when its parent does, whose process id this is.")
  var parent: Int32?

  func validate() throws { _ = try settings() }

  private func settings() throws -> BrokerSettings {
    guard let listen = Endpoint(listen) else {
      throw ValidationError("--listen \(self.listen) is no endpoint; one looks like tcp://127.0.0.1:7701")
    }
    guard let tap = Endpoint(tap) else {
      throw ValidationError("--tap \(self.tap) is no endpoint; one looks like tcp://127.0.0.1:7702")
    }
    guard advertise != nil || !(listen.isWildcard || tap.isWildcard) else {
      throw ValidationError("who listens on every interface says with --advertise HOST how others reach it")
    }
    var settings = BrokerSettings(instance: InstanceFolder(instance), listen: listen, tap: tap, advertise: advertise)
    guard peerLimit > 0 else { throw ValidationError("--peer-limit is at least 1") }
    settings.peerLimit = peerLimit
    settings.journalLimit = journalLimit.bytes
    return settings
  }

  func run() async throws {
    async let asked = StandingProcess.untilAskedToEnd()
    raiseDescriptorLimit()
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
    case let error as ClusterError: error.code == .key ? EX_CONFIG : EX_IOERR
    case is BrokerError: EX_UNAVAILABLE
    default: EX_SOFTWARE
    }
  }
}

/// A length as it is written on a command line: `65536`, `64MiB`, `1GiB`.
struct ByteCount: ExpressibleByArgument, Hashable, CustomStringConvertible {
  let bytes: Int

  private static let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

  init(bytes: Int) { self.bytes = bytes }

  /// Nil when the text is none, or shorter than a journal can be of use: 64 KiB.
  init?(argument: String) {
    let (suffix, unit) = Self.units.first { argument.hasSuffix($0.0) } ?? ("", 1)
    guard let count = Int(argument.dropLast(suffix.count)) else { return nil }
    let (bytes, isOver) = count.multipliedReportingOverflow(by: unit)
    guard !isOver, bytes >= 1 << 16 else { return nil }
    self.bytes = bytes
  }

  var description: String {
    guard let (suffix, unit) = Self.units.first(where: { bytes % $0.1 == 0 }) else { return "\(bytes)" }
    return "\(bytes / unit)\(suffix)"
  }
  var defaultValueDescription: String { description }
}

/// Each peer needs a descriptor, and so does each knock.
private func raiseDescriptorLimit() {
  var limit = rlimit()
  guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
  limit.rlim_cur = limit.rlim_max
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

private func complain(_ text: String) {
  let line = Array("message-bus: \(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
}
