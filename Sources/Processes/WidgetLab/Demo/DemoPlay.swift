// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import Journal
import JournalAnalysis
import MessageBus
import Messages

/// Runs the demo in a running cluster: requests, kills, and checks the journal against the table.
struct DemoPlay {
  let cluster: ClusterFacts
  let victim: Victim
  let widgetKind: String
  let limit: Duration
  /// Whether the processes run on this machine, so that `/proc` can be read.
  let isLocal: Bool
  /// Whether the whole journal belongs to the demo, as in the demo's own cluster.
  let startsWithJournal: Bool
  /// The size of the extension's file, when the demo set it.
  let fileBytes: Int64?
  let watch: ScenarioWatch

  /// The victim is killed once this many bytes of the extension's download have arrived.
  private var middle: Int64 { fileBytes.map { $0 / 3 } ?? 96 * 1024 }

  /// Runs the demo, and prints each step as it is seen.
  ///
  /// - Throws: exit code 1 with the missing steps, or 2 with the violations.
  func run() async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    let session = try await OperatorSession.open(cluster, within: .seconds(10))
    let narrator = ScenarioNarrator(watch: watch, cluster: cluster, isLocal: isLocal)
    do {
      if let hindrance = try await hindrance(session) { throw hindrance }
      let first = startsWithJournal ? 0 : try await session.connection.request(BusStatus(), to: .messageBus).sequence
      var cursor = JournalReader(folder: URL(fileURLWithPath: cluster.instance.journal)).cursor()
      narrator.note("killing: \(victim.rawValue); all lines below come from the journal of the bus")
      var askedAt = try await reload(session)
      var hasOpened = false
      var hasKilled = victim == .none
      while true {
        while let envelope = try cursor.next() { narrator.see(envelope, isScenario: envelope.header.sequence > first) }
        if narrator.isOver { break }
        if !narrator.isAccepted, clock.now - askedAt > Self.patience {
          // In a cluster that was used before, the figures may still be fresh, so that no download was needed.
          askedAt = try await reload(session)
        }
        if !hasOpened, narrator.isAccepted {
          hasOpened = true
          try await openApp(session, narrator)
        }
        if !hasKilled, narrator.isUnderWay, try await isInTheMiddle(session) {
          hasKilled = true
          try await killVictim(narrator)
        }
        guard clock.now < deadline else { break }
        try await Task.sleep(for: .milliseconds(20))
      }
      if narrator.isComplete {
        // Reads the journal once more up to a moment after the last step, to find late violations.
        _ = try? await session.connection.request(
          DeviceStatus(), to: cluster.host, within: .seconds(5), whenUnreachable: .wait)
        while let envelope = try cursor.next() { narrator.see(envelope, isScenario: envelope.header.sequence > first) }
      }
    } catch {
      await session.connection.leave()
      if let error = error as? BusError {
        throw CommandError(
          Exit.no, "the demo failed: \(error)", at: "\(cluster.folder)/journal", advice: "see `widgetlab tail`")
      }
      throw error
    }
    let waits = narrator.isOver ? [] : await waits(session)
    await session.connection.leave()
    try narrator.judge(after: limit, waits: waits)
  }

  /// What prevents a download on this device, whatever its app does.
  private func hindrance(_ session: OperatorSession) async throws -> CommandError? {
    let device = try await session.connection.request(
      ListSessions(offset: .max, sessionOffset: .max), to: cluster.host, whenUnreachable: .wait)
    if device.network.path == .off {
      return CommandError(
        Exit.no, "the demo cannot download: the device has no network", at: cluster.folder,
        advice: "run `widgetlab network on`")
    }
    if device.clock.isHeld {
      return CommandError(
        Exit.no, "the demo cannot proceed: the device's clock is held, and with it all waits of the system",
        at: cluster.folder, advice: "run `widgetlab clock run`")
    }
    return nil
  }

  /// What each task waits for.
  private func waits(_ session: OperatorSession) async -> [String] {
    let device = try? await session.connection.request(ListSessions(), to: cluster.host)
    return (device?.tasks ?? []).compactMap { task in
      task.waitsFor.map { "\(task.session) of \(task.owner.short) waits for \($0)" }
    }
  }

  /// After this time without a download, the extension is asked again.
  private static let patience = Duration.seconds(3)

  /// Opens the app, as a user would. An app that is already open is killed first, since it begins a download when it
  /// comes to the foreground.
  private func openApp(_ session: OperatorSession, _ narrator: ScenarioNarrator) async throws {
    let app = watch.facts.cast.app
    if !startsWithJournal, try await isAlive(app, session) {
      let ended = try await Killing(cluster: cluster).kill(app, 9)
      narrator.note("the app was open: killed \(ended), so that a new process begins its own download")
      while try await isAlive(app, session) { try await Task.sleep(for: .milliseconds(20)) }
    }
    try await session.openApp(try cluster.bundle(ofApp: nil))
  }

  private func reload(_ session: OperatorSession) async throws -> ContinuousClock.Instant {
    try await session.reload(widgetKind, within: .seconds(30))
    return .now
  }

  private func isAlive(_ address: Address, _ session: OperatorSession) async throws -> Bool {
    let status = try await session.connection.request(DeviceStatus(), to: cluster.host)
    return status.processes.contains { $0.address == address && $0.pid != nil }
  }

  private func isInTheMiddle(_ session: OperatorSession) async throws -> Bool {
    let status = try await session.connection.request(DeviceStatus(), to: cluster.host)
    guard let own = status.sessions.first(where: { $0.owner == watch.facts.cast.widgetExtension }) else { return false }
    return own.bytesReceived >= middle && own.running > 0
  }

  private func killVictim(_ narrator: ScenarioNarrator) async throws {
    guard let address = watch.facts.cast.address(of: victim) else { return }
    narrator.willKill(address)
    let killed = try await Killing(cluster: cluster).kill(address, 9)
    narrator.note("sent SIGKILL to \(killed) in the middle of the download")
  }
}

/// Prints what the watch detects, and the verdict.
final class ScenarioNarrator {
  private var watch: ScenarioWatch
  private let cluster: ClusterFacts
  private let isLocal: Bool
  private let isColored = Output.isColored
  private var start: Timestamp?
  private var last = Timestamp.now

  init(watch: ScenarioWatch, cluster: ClusterFacts, isLocal: Bool) {
    self.watch = watch
    self.cluster = cluster
    self.isLocal = isLocal
  }

  var isComplete: Bool { watch.isComplete }
  /// Whether every step was seen, or a violation.
  var isOver: Bool { watch.isComplete || !watch.violations.isEmpty }
  var isAccepted: Bool { watch.hasSeen("accepted") }
  /// Whether both downloads have begun, so that the victim can be killed.
  var isUnderWay: Bool { ["accepted", "started", "app-started"].allSatisfy(watch.hasSeen) }

  func willKill(_ address: Address) {
    watch.willKill(ObservedInstance(address: address, generation: watch.facts.generation[address] ?? 0))
  }

  /// Prints a line of the demo itself.
  func note(_ text: String) { Output.print(TerminalColor.bold("         · \(text)", if: isColored)) }

  /// Processes the next envelope of the journal.
  func see(_ envelope: Envelope, isScenario: Bool) {
    let sight = watch.see(envelope, isScenario: isScenario)
    guard isScenario else { return }
    let header = envelope.header
    if start == nil { start = header.sentAt }
    let note = EnvelopeNote(envelope)
    if note.mark == .launch || note.mark == .exit, sight.steps.isEmpty, header.kind != RegistrationChanged.kind {
      let line = "\(time(header)) \(note.mark.rawValue) \(note.text)"
      Output.print(
        note.mark == .launch ? TerminalColor.green(line, if: isColored) : TerminalColor.red(line, if: isColored))
    }
    for step in sight.steps {
      Output.print(
        "\(time(header)) \(TerminalColor.green("✓", if: isColored)) \(step.title): \(step.note)  #\(header.sequence)")
    }
    for what in sight.forbidden { Output.print(TerminalColor.red("\(time(header)) ✗ \(what)", if: isColored)) }
    lookAtProcess(envelope)
  }

  /// Checks a process that reports ready in `/proc`: its pid must run the executable that the agent reported.
  private func lookAtProcess(_ envelope: Envelope) {
    guard isLocal, let ready = envelope.reading(ProcessReady.self), watch.hasSeen("started") else { return }
    let instance = ObservedInstance(address: envelope.header.source, generation: envelope.header.sourceGeneration)
    guard let executable = ProcessFacts(pid: ready.pid).executable else { return }
    let name = watch.facts.executables[instance]?.split(separator: "/").last.map(String.init)
    let isExtension = executable == ready.executable && (name == nil || executable.hasSuffix("/\(name ?? "")"))
    guard !isExtension else { return }
    let what =
      "pid \(ready.pid) of \(instance) runs \(executable), not \(watch.facts.executables[instance] ?? ready.executable)"
    watch.contradict(what)
    Output.print(TerminalColor.red("         ✗ \(what)", if: isColored))
  }

  /// Prints the verdict.
  ///
  /// - Parameter waits: what unfinished tasks wait for.
  /// - Throws: exit code 1 or 2.
  func judge(after limit: Duration, waits: [String]) throws {
    let journal = "\(cluster.folder)/journal"
    let look = "widgetlab tail --no-follow --instance \(cluster.folder)"
    if !watch.violations.isEmpty {
      throw CommandError(
        Exit.forbidden, "violations:\n" + watch.violations.map { "    ✗ \($0)" }.joined(separator: "\n"),
        at: journal, advice: look)
    }
    guard watch.isComplete else {
      throw CommandError(
        Exit.no,
        "steps missing after \(limit):\n"
          + (watch.missing.map { "    ✗ \($0)" } + waits.map { "    \($0)" }).joined(separator: "\n"),
        at: journal, advice: look)
    }
    let app =
      "the app received none of it: none of the \(watch.envelopesOfApp) envelopes from or to it is of the extension's "
      + "session"
    Output.print("         \(TerminalColor.green("✓", if: isColored)) \(app)")
    Output.print(TerminalColor.bold("all \(watch.steps.count) steps were seen, without violations", if: isColored))
  }

  private func time(_ header: EnvelopeHeader) -> String {
    let milliseconds = max(0, (header.sentAt.microseconds - (start?.microseconds ?? 0)) / 1000)
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())".aligned(8)
  }
}

/// The demo's cluster: a temporary folder, the sample's configuration with a slow download, and a `widgetlab up` that
/// is killed when this process exits.
final class DemoHome: Sendable {
  /// Bytes of the extension's file. The app's is smaller.
  static let fileBytes: Int64 = 1_572_864
  private static let bytesPerSecond = 409_600

  let instance: String
  private let configurationPath: String
  private let executables: String?
  private let child = ChildOfDemo()

  init(executables: String?) throws {
    self.executables = executables
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(temporary)/widgetlab-demo-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandError(
        Exit.configuration, "cannot create a temporary folder: \(String(cString: strerror(errno)))", at: temporary,
        advice: "set TMPDIR to a writable folder")
    }
    instance = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    configurationPath = instance + "/widgetlab.yaml"
    try Self.configuration.write(toFile: configurationPath, atomically: true, encoding: .utf8)
  }

  /// Starts `widgetlab up` and waits until it is ready.
  func up() async throws -> ClusterFacts {
    let pipe = Pipe()
    var arguments = ["up", "--json", "--instance", instance, "--config", configurationPath]
    arguments += ["--die-with-parent", "\(getpid())"]
    if let executables { arguments += ["--executables", executables] }
    let log = instance + "/up.log"
    let up = try await SpawnedProcess.start(
      ProcessFacts.ownExecutable, arguments, output: pipe.fileHandleForWriting.fileDescriptor, log: log)
    await child.launched(up)
    try pipe.fileHandleForWriting.close()
    let line = await FirstLine.of(pipe.fileHandleForReading)
    guard let line, (try? JSONDecoder().decode(ClusterLifecycle.Ready.self, from: Data(line.utf8))) != nil else {
      let output = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw CommandError(
        Exit.unavailable, "the demo's cluster did not start\n\(output)", at: instance, advice: "read \(instance)/logs")
    }
    return try ClusterFacts(folder: instance, configurationPath: configurationPath)
  }

  /// Stops the cluster, like Ctrl-C.
  func down() async { await child.stop() }

  func remove() { try? FileManager.default.removeItem(atPath: instance) }

  /// The sample's configuration, but with slower and larger downloads, so that a kill hits the middle.
  static var configuration: String {
    let figures = "${provider.url}/figures?bytesPerSecond=\(bytesPerSecond)"
    var sample = SampleCluster()
    (sample.app, sample.widget) = ("\(figures)&size=1048576&seed=app", "\(figures)&size=\(fileBytes)&seed=widget")
    sample.version = "18.0"
    sample.hasPushes = false
    // The figures stay fresh longer than the demo runs, so the reload at its end starts no second download.
    sample.arguments = ["--fresh-for=3600"]
    sample.settings = ["suspendAfter: 1", "completionDeadline: 30"]
    return sample.yaml
  }
}

/// The `widgetlab up` of a demo.
private actor ChildOfDemo {
  private var child: SpawnedProcess?
  private var stopping: Task<Void, Never>?

  func launched(_ child: SpawnedProcess) { self.child = child }

  /// Returns when the child has exited. A second caller waits for the same exit.
  func stop() async {
    guard let child else { return }
    let stopping = stopping ?? Task { _ = await child.stop(within: .seconds(20)) }
    self.stopping = stopping
    await stopping.value
  }
}

/// Reads the first line from a pipe.
enum FirstLine {
  /// Returns `nil` when the other end was closed before a line was complete. Reads on a separate thread.
  static func of(_ handle: FileHandle) async -> String? {
    let descriptor = handle.fileDescriptor
    let line: String? = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
          let count = read(descriptor, &byte, 1)
          if count < 0 && errno == EINTR { continue }
          if count <= 0 { return continuation.resume(returning: nil) }
          if byte == UInt8(ascii: "\n") {
            return continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
          }
          bytes.append(byte)
        }
      }
    }
    // Keep the pipe open until here: a process that writes to it later must not be killed by SIGPIPE.
    _ = handle
    return line
  }
}
