import ArgumentParser
import Cluster
import Conversations
import Foundation
import Journal
import MessageBus

/// `widgetlab wait`.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Returns as soon as a condition holds: for scripts, instead of a sleep.",
    discussion: """
      Exit code 0 when it holds, which it may do already; 1 when the time is over; 78, at once and with the cause, when the \
      app or extension that is to be running or suspended cannot be started. The cluster need not be up yet.

      CONDITIONS
        host=ready               host, bus, agent, provider: ready, running or dead
        extension=suspended      app, extension or a bundle identifier: absent,
                                 launching, running, suspended or dying
        session=acknowledged     a session is opened, downloading, downloaded,
                                 delivered or acknowledged
        session:daily=delivered  that session
        'EXPRESSION'             an envelope matches; see `widgetlab tail --help`

      Sessions and expressions look at what was said since this cluster was started, or from --since on. Several --for are \
      waited for one after the other.

      EXAMPLES
        widgetlab up & widgetlab wait --for host=ready
        widgetlab reload --all; widgetlab wait --for session=acknowledged
        widgetlab wait --for extension=suspended --timeout 10
        widgetlab wait --since now --for 'kind == process.exited && address == host'
      """)

  @OptionGroup var options: InstanceOptions

  @Option(name: .customLong("for"), help: ArgumentHelp("What is to hold; may be given again.", valueName: "condition"))
  var conditions: [String]

  @Option(help: "Seconds to wait, for all of it.")
  var timeout = 60.0

  @Option(help: "Look at the journal from here on: \(TailFilter.Moment.forms).")
  var since: String?

  func validate() throws {
    if conditions.isEmpty { throw ValidationError("Say what is to hold: --for host=ready.") }
    if !(0...1e9).contains(timeout) { throw ValidationError("--timeout: seconds, 0 or more.") }
    if let since, TailFilter.Moment(since) == nil {
      throw ValidationError("'\(since)' is no point in the journal; say \(TailFilter.Moment.forms).")
    }
  }

  func run() async throws {
    try await reporting {
      let since = self.since.flatMap { TailFilter.Moment($0)?.fixed(now: .now) }
      let wanted = try conditions.map { text in
        try WaitCondition(text) { try options.cluster().address($0) }
      }
      let folder = try options.folder()
      let what = conditions.joined(separator: ", ")
      let place = options
      try await Deadline.within(.seconds(timeout), "this did not become so: \(what)", at: folder) {
        for condition in wanted { try await Waiting(folder: folder, since: since).wait(condition, place) }
      }
    }
  }
}

/// Waits in one instance.
struct Waiting: Sendable {
  /// Of the instance.
  let folder: String
  let since: TailFilter.Moment?

  /// Returns when the condition holds, and says by what.
  func wait(_ condition: WaitCondition, _ options: InstanceOptions) async throws {
    if case .standing(let address, let state) = condition {
      let cluster = try options.cluster()
      while try await !isStanding(address, state, cluster) { try await Task.sleep(for: .milliseconds(50)) }
      return Output.say("\(address.short) is \(state)")
    }
    let instance = InstanceFolder(folder)
    while !FileManager.default.fileExists(atPath: instance.busAnnouncement) {
      try await Task.sleep(for: .milliseconds(20))
    }
    let match = try await watch(condition, JournalReader(folder: URL(fileURLWithPath: instance.journal)))
    var lines = TailLines(clock: .wall, columns: [.time, .sequence, .kind, .note], isColourful: false)
    Output.say(match.map { lines.line($0) } ?? "it is so, and nobody had to say it")
  }

  /// Follows the journal until the condition holds: of what was there already only the end counts, then each envelope.
  ///
  /// - Returns: the envelope by which it holds.
  /// - Throws: a complaint when it waits for a process whose last launch failed.
  func watch(_ condition: WaitCondition, _ reader: JournalReader) async throws -> Envelope? {
    var watch = WaitWatch(condition)
    let filter = TailFilter(since: start)
    var cursor = reader.cursor(from: filter.start)
    var isThroughThePast = false
    while true {
      while let envelope = try cursor.next() {
        guard filter.place(envelope.header) == .inside else { continue }
        watch.see(envelope)
        if isThroughThePast, watch.holds { return watch.match }
        if isThroughThePast, let failure = watch.failure { throw Complaint(notLaunched: [failure], in: folder) }
      }
      if watch.holds { return watch.match }
      if let failure = watch.failure { throw Complaint(notLaunched: [failure], in: folder) }
      isThroughThePast = true
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Where in the journal to begin: what was said, or when `up` began.
  private var start: TailFilter.Moment? {
    if let since { return since }
    let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/up.json")
    return (attributes?[.modificationDate] as? Date).map { .time(Timestamp($0)) }
  }

  private func isStanding(_ address: Address, _ state: String, _ cluster: ClusterFacts) async throws -> Bool {
    guard state == "ready" else {
      let name = ClusterFacts.standingName(of: address)
      let record = StandingProcesses.read(in: folder)?.processes.first { $0.name == name }
      let lives = record?.pid.map { ProcessFacts(pid: $0).isAlive } ?? false
      return lives == (state == "running")
    }
    guard FileManager.default.fileExists(atPath: cluster.instance.busAnnouncement) else { return false }
    do {
      return try await OperatorSession.with(cluster, within: .seconds(2)) { session in
        try await session.connection.request(Ping(), to: address, within: .seconds(2)).isReady
      }
    } catch is Complaint {
      return false
    }
  }
}
