// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Console
import Foundation
import Glibc

/// `widgetlab console`.
struct ConsoleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "console",
    abstract: "Serves a page that shows the screen, the processes, the bus, budgets and pushes in a browser.",
    discussion: """
      Prints a link, which contains a secret token: any process that has the link can do what this tool can. The page \
      reads the journal and asks the running processes only when it needs to, so that it also works while they are \
      down. Ctrl-C, SIGTERM and SIGHUP end it.

      A restarted console uses the same port and the same token, so that an open page connects again: both are in the \
      instance folder. --token-file FILE names another file for the token, which is created if it is missing; the \
      environment variable WIDGETLAB_CONSOLE_TOKEN has precedence.

      It listens on 127.0.0.1. With --host ADDRESS, or with ADDRESS:PORT in the environment variable WIDGETLAB_CONSOLE, \
      which `widgetlab up --console` and `widgetlab run --console` use too, other machines can connect, over HTTP \
      without encryption. A browser that uses another name than localhost or an address of this machine needs \
      --allow-host NAME.

      EXAMPLES
        widgetlab console --open
        widgetlab console --read-only
        widgetlab console --journal ~/copied/journal     a copied journal, read-only
        widgetlab console --host 0.0.0.0 --allow-host build.example.com
      """)

  @OptionGroup var options: InstanceOptions
  @OptionGroup var place: JournalLocation

  @Flag(help: "Open the link in a browser (xdg-open).")
  var open = false

  @Option(help: "The port (default: that of the last console of the instance, else a free one).")
  var port: UInt16?

  @Option(help: "The address to listen on (default: 127.0.0.1); 0.0.0.0 for all.")
  var host: String?

  @Option(name: .customLong("allow-host"), help: "A name by which a browser may reach it; may be repeated.")
  var allowedHosts: [String] = []

  @Flag(help: "Perform no actions.")
  var readOnly = false

  @Option(help: ArgumentHelp("The file of the token.", valueName: "file"))
  var tokenFile: String?

  @Flag(help: "Print one JSON object: link, url, port, instance, pid.")
  var json = false

  @Option(name: .customLong("die-with-parent"), help: .hidden)
  var dieWithParent: Int32?

  func run() async throws {
    let signals = Signals()
    try await reporting {
      let plan = try ConsolePlan(self)
      try await plan.run(signals)
    }
  }
}

/// `console.json` of an instance: where its last console listened.
struct ConsoleAnnouncement: Announcement {
  /// The link with the token.
  let link: String
  /// The link without it.
  let url: String
  let port: Int
  let instance: String
  let pid: Int32

  static func path(in instance: InstanceFolder) -> String { instance.path + "/console.json" }
  static func advice(in instance: InstanceFolder) -> String { "see \(instance.logs)/console.log" }
}

/// Where the console listens, as an environment variable says it, such as `0.0.0.0:8099`. In a container the published port
/// must be known before, and a browser on the machine uses the same port.
struct ConsolePlace: Equatable {
  static let variable = "WIDGETLAB_CONSOLE"
  let host: String
  let port: UInt16

  init?(_ text: String?) throws(CommandError) {
    guard let text, !text.isEmpty else { return nil }
    guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
      let port = UInt16(text[text.index(after: colon)...])
    else {
      throw CommandError(
        Exit.usage, "'\(text)' is not an address and a port", at: "the environment variable \(Self.variable)",
        advice: "use ADDRESS:PORT, such as 0.0.0.0:8099")
    }
    (host, self.port) = (String(text[..<colon]).trimmingCharacters(in: ["[", "]"]), port)
  }
}

/// One run of the console: what it shows, where it listens, and its token.
struct ConsolePlan {
  private let command: ConsoleCommand
  private let folder: String
  /// nil for a copied journal.
  private let cluster: ClusterFacts?
  private let facts: ConsoleFacts
  private let journal: ConsoleJournal
  private let token: ConsoleToken
  private let host: String
  /// nil for that of the last console, or a free one.
  private let port: UInt16?

  init(_ command: ConsoleCommand) throws {
    self.command = command
    let place = try ConsolePlace(ProcessInfo.processInfo.environment[ConsolePlace.variable])
    host = command.host ?? place?.host ?? "127.0.0.1"
    port = command.port ?? place?.port
    let journalFolder = try command.place.folder(command.options, reading: false)
    folder = try command.options.folder()
    cluster = command.place.journal == nil ? try command.options.cluster() : nil
    token = try Self.token(command, folder: cluster?.folder)
    facts = try Self.facts(command, cluster: cluster, journalFolder: journalFolder)
    do {
      journal = try ConsoleJournal(folder: URL(fileURLWithPath: journalFolder))
    } catch {
      throw CommandError(Exit.unavailable, "the journal cannot be read: \(error)", at: journalFolder)
    }
  }

  private static func facts(
    _ command: ConsoleCommand, cluster: ClusterFacts?, journalFolder: String
  ) throws -> ConsoleFacts {
    let configuration =
      try cluster?.configuration
      ?? command.options.config.map { try ClusterFacts(folder: journalFolder, configurationPath: $0).configuration }
    let reason: String? =
      cluster == nil
      ? "the journal of \(journalFolder) is shown; no cluster is connected"
      : command.readOnly ? "it was started with --read-only" : nil
    let device = configuration.map(\.device)
    return ConsoleFacts(
      version: WidgetLabTool.configuration.version, instance: cluster?.folder ?? journalFolder,
      configuration: cluster?.configurationPath ?? command.options.config, readOnlyReason: reason,
      commandSuffix: cluster.map { suffix(command, $0) } ?? " --journal \(ConsoleActions.quoted(journalFolder))",
      device: device.map {
        ConsoleFacts.Device(
          name: $0.name, model: $0.model, systemVersion: $0.version, width: $0.screen.width,
          height: $0.screen.height)
      })
  }

  /// What selects the instance in the folder in which the console was started.
  private static func suffix(_ command: ConsoleCommand, _ cluster: ClusterFacts) -> String {
    let plain = InstanceOptions.defaultInstance
    let here = FileManager.default.currentDirectoryPath + "/.widgetlab/"
    if cluster.folder == InstanceFolder(here + plain).path { return "" }
    let name = URL(fileURLWithPath: cluster.folder).lastPathComponent
    if cluster.folder == InstanceFolder(here + name).path { return " --instance \(ConsoleActions.quoted(name))" }
    return " --instance \(ConsoleActions.quoted(cluster.folder))"
  }

  // MARK: The token

  private static func token(_ command: ConsoleCommand, folder: String?) throws -> ConsoleToken {
    let variable = "WIDGETLAB_CONSOLE_TOKEN"
    if let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty {
      return try checked(text, variable)
    }
    guard let file = command.tokenFile ?? folder.map({ $0 + "/console.token" }) else { return .random() }
    if let text = try? String(contentsOfFile: file, encoding: .utf8) {
      return try checked(text.trimmingCharacters(in: .whitespacesAndNewlines), file)
    }
    let token = ConsoleToken.random()
    // Created with its mode, so that no other user can read it for a moment.
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandError(
        Exit.configuration, "the token cannot be stored: \(String(cString: strerror(errno)))", at: file,
        advice: "start the instance with `widgetlab up`, or name another file with --token-file")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: Data((token.text + "\n").utf8))
    return token
  }

  private static func checked(_ text: String, _ place: String) throws -> ConsoleToken {
    guard let token = ConsoleToken(text) else {
      throw CommandError(
        Exit.configuration, "this is not a token", at: place,
        advice: "use 16 to 256 letters, digits, hyphens and underscores, such as the output of `openssl rand -hex 24`")
    }
    return token
  }

  // MARK: Running

  func run(_ signals: Signals) async throws {
    StandingProcess.raiseDescriptorLimit()
    var settings = ConsoleServer.Settings(token: token)
    settings.address = host
    settings.allowedHosts = command.allowedHosts + (isOpen || host.hasPrefix("127.") ? [] : [host])
    settings.port = Int(port ?? earlierPort ?? 0)
    let live = cluster.map { LiveCluster($0, commandSuffix: facts.commandSuffix) }
    live?.start()
    do {
      try await serve(settings, live: live, signals: signals)
    } catch {
      await live?.end()
      throw error
    }
    await live?.end()
  }

  /// Whether it listens on all addresses.
  private var isOpen: Bool { ["0.0.0.0", "::"].contains(host) }

  private var earlierPort: UInt16? {
    guard let cluster, let earlier = try? ConsoleAnnouncement.read(in: cluster.instance) else { return nil }
    return UInt16(exactly: earlier.port)
  }

  private func serve(_ settings: ConsoleServer.Settings, live: LiveCluster?, signals: Signals) async throws {
    let server = ConsoleServer(settings, facts: facts, journal: journal, cluster: live)
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run { port in announce(port) } }
        group.addTask { await signals.next() }
        // The server ends with an error, or a signal ends it.
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch is CancellationError {
      return
    } catch {
      guard settings.port != 0, port == nil else {
        throw CommandError(
          Exit.unavailable, "cannot listen: \(error)", at: "\(settings.address):\(settings.port)",
          advice: "use another --port or --host")
      }
      // The port of the last console is in use.
      var other = settings
      other.port = 0
      try await serve(other, live: live, signals: signals)
    }
  }

  private func announce(_ port: Int) {
    let name = isOpen ? "127.0.0.1" : host.contains(":") ? "[\(host)]" : host
    let url = "http://\(name):\(port)/"
    let announcement = ConsoleAnnouncement(
      link: "\(url)#token=\(token.text)", url: url, port: port, instance: facts.instance, pid: getpid())
    if let cluster { try? announcement.write(in: cluster.instance) }
    if isOpen || !(host.hasPrefix("127.") || ["localhost", "::1"].contains(host)) {
      Output.printError(
        "widgetlab: the console listens on \(host): every machine that reaches it and has the link controls this "
          + "cluster, and HTTP is not encrypted")
    }
    if command.json {
      try? Output.json(announcement)
    } else {
      Output.print("console: \(announcement.link)")
    }
    if command.open { openBrowser(announcement.link) }
  }

  private func openBrowser(_ link: String) {
    for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
      let path = "\(folder)/xdg-open"
      guard access(path, X_OK) == 0 else { continue }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: path)
      process.arguments = [link]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      if (try? process.run()) != nil { return }
    }
    Output.printError("widgetlab: no browser was opened, since there is no xdg-open; open the link yourself")
  }
}
