import Cluster
import Conversations
import Foundation
import Journal
import MessageBus

/// Plays the demo in a running cluster: asks, kills, and holds the journal against the table.
struct DemoPlay {
  let cluster: ClusterFacts
  let victim: Victim
  let widgetKind: String
  let limit: Duration
  /// Whether the processes are this machine's, so that `/proc` can be asked about them.
  let isLocal: Bool
  /// Whether the whole journal belongs to the story: in a cluster of the demo's own.
  let startsWithJournal: Bool
  /// Of the extension's file, when the demo chose it.
  let fileBytes: Int64?
  let watch: StoryWatch

  /// Bytes of the extension's download from which on the victim is killed.
  private var middle: Int64 { fileBytes.map { $0 / 3 } ?? 96 * 1024 }

  /// Plays it, and prints each step as it is seen.
  ///
  /// - Throws: exit code 1 with the missing steps, or 2 with what was forbidden.
  func run() async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    let session = try await OperatorSession.open(cluster, within: .seconds(10))
    let teller = StoryTeller(watch: watch, cluster: cluster, isLocal: isLocal)
    do {
      let first = startsWithJournal ? 0 : try await session.connection.request(BusStatus(), to: .messageBus).sequence
      var cursor = JournalReader(folder: URL(fileURLWithPath: cluster.instance.journal)).cursor()
      teller.tell("killing: \(victim.rawValue); every line below was read from the journal of the bus")
      var asked = try await reload(session)
      var hasOpened = false
      var hasKilled = victim == .none
      while true {
        while let envelope = try cursor.next() { teller.see(envelope, isStory: envelope.header.sequence > first) }
        if teller.isOver { break }
        if !teller.isAccepted, clock.now - asked > Self.patience {
          // In a cluster that was used before, the figures may be fresh still, and no download was needed.
          asked = try await reload(session)
        }
        if !hasOpened, teller.isAccepted {
          hasOpened = true
          try await openApp(session, teller)
        }
        if !hasKilled, teller.isUnderWay, try await isInTheMiddle(session) {
          hasKilled = true
          try await killVictim(teller)
        }
        guard clock.now < deadline else { break }
        try await Task.sleep(for: .milliseconds(20))
      }
      if teller.isComplete {
        // Once more everything up to a moment after the last step, for what is forbidden.
        _ = try? await session.connection.request(
          DeviceStatus(), to: cluster.host, within: .seconds(5), whenUnreachable: .wait)
        while let envelope = try cursor.next() { teller.see(envelope, isStory: envelope.header.sequence > first) }
      }
    } catch {
      await session.connection.leave()
      if let error = error as? BusError {
        throw Complaint(
          Exit.no, "the demo stopped: \(error)", at: "\(cluster.folder)/journal", advice: "`widgetlab tail`")
      }
      throw error
    }
    await session.connection.leave()
    try teller.judge(after: limit)
  }

  /// After this long without a download the extension is asked again.
  private static let patience = Duration.seconds(3)

  /// Opens the app as a person would. One that is open already is ended first, since it begins its own download when it
  /// comes to the front.
  private func openApp(_ session: OperatorSession, _ teller: StoryTeller) async throws {
    let app = watch.facts.cast.app
    if !startsWithJournal, try await isAlive(app, session) {
      let ended = try await Killing(cluster: cluster).kill(app, 9)
      teller.tell("the app was open: \(ended) was ended, so that a new one begins a download of its own")
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

  private func killVictim(_ teller: StoryTeller) async throws {
    guard let address = watch.facts.cast.address(of: victim) else { return }
    teller.willKill(address)
    let killed = try await Killing(cluster: cluster).kill(address, 9)
    teller.tell("SIGKILL to \(killed), in the middle of the download")
  }
}

/// Prints what the watch sees, and has the last word.
final class StoryTeller {
  private var watch: StoryWatch
  private let cluster: ClusterFacts
  private let isLocal: Bool
  private let isColourful = Output.isColourful
  private var start: Timestamp?
  private var last = Timestamp.now

  init(watch: StoryWatch, cluster: ClusterFacts, isLocal: Bool) {
    self.watch = watch
    self.cluster = cluster
    self.isLocal = isLocal
  }

  var isComplete: Bool { watch.isComplete }
  /// Everything was seen, or something that must not be.
  var isOver: Bool { watch.isComplete || !watch.violations.isEmpty }
  var isAccepted: Bool { watch.hasSeen("accepted") }
  /// Both downloads have begun: the victim can be killed.
  var isUnderWay: Bool { ["accepted", "started", "app-started"].allSatisfy(watch.hasSeen) }

  func willKill(_ address: Address) {
    watch.willKill(Life(address: address, generation: watch.facts.generation[address] ?? 0))
  }

  /// A line of the demo's own.
  func tell(_ text: String) { Output.say(Colour.bold("         · \(text)", isColourful)) }

  /// The next envelope of the journal.
  func see(_ envelope: Envelope, isStory: Bool) {
    let sight = watch.see(envelope, isStory: isStory)
    guard isStory else { return }
    let header = envelope.header
    if start == nil { start = header.sentAt }
    let note = EnvelopeNote(envelope)
    if note.mark == .birth || note.mark == .death, sight.steps.isEmpty, header.kind != RegistrationChanged.kind {
      let line = "\(time(header)) \(note.mark.rawValue) \(note.text)"
      Output.say(note.mark == .birth ? Colour.green(line, isColourful) : Colour.red(line, isColourful))
    }
    for step in sight.steps {
      Output.say("\(time(header)) \(Colour.green("✓", isColourful)) \(step.title): \(step.note)  #\(header.sequence)")
    }
    for what in sight.forbidden { Output.say(Colour.red("\(time(header)) ✗ \(what)", isColourful)) }
    lookAtProcess(envelope)
  }

  /// The process that says it is ready is asked for at the kernel: that pid must run what the agent says it started.
  private func lookAtProcess(_ envelope: Envelope) {
    guard isLocal, let ready = envelope.reading(ProcessReady.self), watch.hasSeen("started") else { return }
    let life = Life(address: envelope.header.source, generation: envelope.header.sourceGeneration)
    guard let executable = ProcessFacts(pid: ready.pid).executable else { return }
    let name = watch.facts.executables[life]?.split(separator: "/").last.map(String.init)
    let isExtension = executable == ready.executable && (name == nil || executable.hasSuffix("/\(name ?? "")"))
    guard !isExtension else { return }
    let what =
      "pid \(ready.pid) of \(life) runs \(executable), and not \(watch.facts.executables[life] ?? ready.executable)"
    watch.contradict(what)
    Output.say(Colour.red("         ✗ \(what)", isColourful))
  }

  /// Says how it ended.
  ///
  /// - Throws: exit code 1 or 2.
  func judge(after limit: Duration) throws {
    let journal = "\(cluster.folder)/journal"
    let look = "widgetlab tail --no-follow --instance \(cluster.folder)"
    if !watch.violations.isEmpty {
      throw Complaint(
        Exit.forbidden, "forbidden, and seen:\n" + watch.violations.map { "    ✗ \($0)" }.joined(separator: "\n"),
        at: journal, advice: look)
    }
    guard watch.isComplete else {
      throw Complaint(
        Exit.no,
        "missing after \(limit):\n" + watch.missing.map { "    ✗ \($0)" }.joined(separator: "\n"),
        at: journal, advice: look)
    }
    let app =
      "the app received none of it: of \(watch.envelopesOfApp) envelopes from or to it, none is of the extension's session"
    Output.say("         \(Colour.green("✓", isColourful)) \(app)")
    Output.say(Colour.bold("all \(watch.steps.count) steps were seen, and nothing that is forbidden", isColourful))
  }

  private func time(_ header: EnvelopeHeader) -> String {
    let milliseconds = max(0, (header.sentAt.microseconds - (start?.microseconds ?? 0)) / 1000)
    return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())".aligned(8)
  }
}
