// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import GRDB
import Glibc
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The developer's backend of CaffeineTracker. It serves the day's caffeine figures over HTTP, as slowly and unreliably
/// as requested, and notifies the app's widgets through APNs when they change. It does not depend on WidgetLab.
@main
struct ProviderServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "provider-server",
    abstract:
      "The developer's backend of CaffeineTracker: serves the day's caffeine figures, and pushes when they change.",
    discussion: """
      GET /figures   today's figures as JSON. Query parameters: size=BYTES (the body has exactly that many),
                     bytesPerSecond=N, holdAt=BYTES (no byte from this one on is sent before POST /figures/release),
                     delay=MILLISECONDS (before the headers), status=CODE, ranges=off (the server cannot resume),
                     seed=STRING (the same seed gives the same bytes; default: today's date, with the drinks that were
                     posted today).
      POST /figures/release  ends all holds, those of later requests too.
      POST /drinks   {"name":"Espresso","milligrams":63}: adds to today's figures, and notifies widgets through APNs.
      PUT, DELETE /subscriptions/INSTALLATION  {"token":"HEX","widgets":[{"kind":"…","family":"…"}]}: the push token of
                     one installation of the app; GET /subscriptions lists all.
      GET /pushes    the last push to each installation: waiting, sent, refused or tokenless.
      GET /counters  bytes and requests served so far, in total and per path.
      GET /health    200 while the server runs.

      With --die-with-parent [PID] the server exits when its parent process does.
      """)

  @Option(help: "The address to listen on.")
  var hostname = "127.0.0.1"

  @Option(help: "The port to listen on; 0 selects a free one.")
  var port = 0

  @Option(help: "A file to write {\"url\":…,\"pid\":…} to once the server listens.")
  var announce: String?

  @Option(help: "The number of seconds for which a client should treat the figures as fresh.")
  var freshFor = 5

  @Option(help: "The SQLite file of the server's state. [default: next to the file of --announce, otherwise in memory]")
  var database: String?

  @OptionGroup(title: "Pushes")
  var apns: APNsOptions

  static func main() async {
    await main(ParentDeath.followIfAsked(CommandLine.arguments))
  }

  func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("--port must be a number from 0 to 65535") }
    guard freshFor >= 0 else { throw ValidationError("--fresh-for must be 0 seconds or more") }
  }

  /// Serves until SIGTERM or SIGINT. Responses in progress then have half a second to complete; after that they are
  /// aborted.
  func run() async throws {
    var logger = Logger(label: "provider-server")
    logger.logLevel = .notice
    let storage = try openStorage()
    let sender = try apns.client().map { PushSender(storage, to: $0, retrying: apns.retries, logger: logger) }
    if sender == nil { logger.notice("no pushes are sent: --apns-url is not given") }
    let server = Application(
      router: routes(of: Figures.Source(freshFor: freshFor, storage: storage), to: sender),
      configuration: ApplicationConfiguration(
        address: .hostname(hostname, port: port), serverName: "provider-server",
        availableConnectionsDelegate: .maximum(ConnectionRoom.connections, logger: logger)),
      onServerRunning: { [logger] channel in announceServer(at: channel.localAddress?.port ?? port, logger: logger) },
      logger: logger)
    let services: [any Service] = [server] + (sender.map { [$0] } ?? [])
    var life = ServiceGroupConfiguration(
      services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    life.maximumGracefulShutdownDuration = .milliseconds(500)
    do {
      try await ServiceGroup(configuration: life).run()
    } catch is CancellationError {
      logger.notice("stopped; the responses still in progress were aborted")
    }
  }

  private func openStorage() throws -> Storage {
    do {
      return try Storage(file: databaseFile)
    } catch let error as DatabaseError {
      let file = databaseFile ?? ""
      let advice =
        switch error.resultCode {
        case .SQLITE_FULL: "There is no space left on its disk. Nothing is lost."
        case .SQLITE_READONLY, .SQLITE_CANTOPEN: "Make it writable for this user. Nothing is lost."
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
          "It is damaged: put back a copy of it, or remove \(file)*. Without it the server has no drinks, subscriptions "
            + "and pushes; apps subscribe again when their tokens are sent again."
        default: "The disk may have an error: see the kernel's log."
        }
      throw UnusableDatabase(description: "the database \(file) cannot be used: \(error). \(advice)")
    }
  }

  private struct UnusableDatabase: Error, CustomStringConvertible { let description: String }

  private var databaseFile: String? {
    database ?? announce.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/provider-server.sqlite" }
  }

  /// Announces the server's URL: on standard output, and in the file of `--announce`, which is written atomically. If
  /// the file cannot be written the process exits with 73, since a reader would otherwise wait for it without end.
  private func announceServer(at port: Int, logger: Logger) {
    let host = ["0.0.0.0", "::"].contains(hostname) ? "127.0.0.1" : hostname
    let url = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    logger.notice("listening", metadata: ["url": "\(url)"])
    guard let announce else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      let announcement = Announcement(url: url, pid: ProcessInfo.processInfo.processIdentifier)
      try encoder.encode(announcement).write(to: URL(fileURLWithPath: announce), options: .atomic)
    } catch {
      logger.critical("cannot write the announcement", metadata: ["file": "\(announce)", "error": "\(error)"])
      Foundation.exit(73)
    }
  }

  private struct Announcement: Encodable {
    let url: String
    let pid: Int32
  }
}

extension ProviderServer {
  /// The router of the paths that the discussion above lists.
  private func routes(of figures: Figures.Source, to sender: PushSender?) -> Router<BasicRequestContext> {
    let served = ServedBytes()
    let router = Router(options: .autoGenerateHeadEndpoints)
    let answer = FiguresAnswer(figures, countedBy: served)
    router.get("figures") { request, _ in try await answer.answer(request) }
    router.post("figures/release") { _, _ in
      answer.release()
      return Response(status: .noContent)
    }
    router.get("counters") { _, _ in try Response(json: served.counters) }
    router.get("health") { _, _ in Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "ok"))) }
    Routes(figures: figures, sender: sender).add(to: router)
    return router
  }
}

/// The number of connections for which this process has descriptors. Without such a limit, the server would try to accept
/// another connection again and again, and use all its time.
enum ConnectionRoom {
  /// Descriptors for the database and for pushes.
  private static let reserve = 16

  static var connections: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    let inUse = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 32
    return max(1, Int(clamping: limit.rlim_cur) - inUse - reserve)
  }
}

/// Terminates this process when its parent exits, for a parent that runs it as a part of a cluster.
enum ParentDeath {
  /// The option that requests it, alone or followed by the parent's pid.
  static let option = "--die-with-parent"

  /// Handles `--die-with-parent [PID]`, if given: requests `SIGKILL` from the kernel for the exit of the thread that
  /// spawned this process. `main` calls it first, before any other option is read, since the parent may have exited
  /// already. Exits with 70 when the kernel refuses, and with 0 when the parent has exited.
  ///
  /// - Parameter arguments: the command line, including the program's name.
  /// - Returns: the arguments that are left for the parser, without the name.
  static func followIfAsked(_ arguments: [String]) -> [String] {
    var rest = Array(arguments.dropFirst())
    guard let index = rest.firstIndex(of: option) else { return rest }
    rest.remove(at: index)
    var parent = getppid()
    if index < rest.count, let named = pid_t(rest[index]) {
      rest.remove(at: index)
      parent = named
    }
    guard askForKill() else {
      perror("provider-server: cannot set the parent-death signal")
      exit(70)
    }
    // If the parent exited before the request, the kernel never sends the signal.
    guard parent != 1, getppid() == parent else { exit(0) }
    return rest
  }

  /// `prctl(PR_SET_PDEATHSIG, SIGKILL)`. The function is variadic, and Swift does not import variadic functions; it is
  /// called with the five machine words that it passes to the kernel.
  private static func askForKill() -> Bool {
    let parentDeathSignal: CInt = 1  // PR_SET_PDEATHSIG of <linux/prctl.h>
    typealias ProcessControl = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
    guard let address = dlsym(nil, "prctl") else { return false }
    let processControl = unsafeBitCast(address, to: ProcessControl.self)
    return processControl(parentDeathSignal, CUnsignedLong(SIGKILL), 0, 0, 0) == 0
  }
}
