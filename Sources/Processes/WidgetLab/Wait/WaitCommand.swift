// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import Journal
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab wait`.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Returns as soon as a condition holds. For scripts, instead of a sleep.",
    discussion: """
      Exit code 0 when it holds, or already held; 1 at the timeout; 78, at once and with the cause, when an app or \
      extension that should become running or suspended cannot be started. The cluster need not be up yet.

      CONDITIONS
        host=ready               host, bus, agent, push-server, provider: ready,
                                 running or exited
        extension=suspended      app, extension or a bundle identifier: absent,
                                 launching, running, suspended or dying
        session=acknowledged     a session is opened, downloading, downloaded,
                                 delivered or acknowledged
        session:daily=delivered  that session
        'EXPRESSION'             an envelope matches; see `widgetlab tail --help`

      Sessions and expressions refer to the journal since this cluster was started, or from --since on. Several --for \
      conditions are waited for in order.

      EXAMPLES
        widgetlab up & widgetlab wait --for host=ready
        widgetlab reload --all; widgetlab wait --for session=acknowledged
        widgetlab wait --for extension=suspended --timeout 10
        widgetlab wait --since now --for 'kind == process.exited && address == host'
      """)

  @OptionGroup var options: InstanceOptions

  @Option(name: .customLong("for"), help: ArgumentHelp("The condition; may be repeated.", valueName: "condition"))
  var conditions: [String]

  @Option(help: "Seconds to wait, in total.")
  var timeout = 60.0

  @Option(help: "Read the journal from this point on: \(JournalFilter.Moment.forms).")
  var since: String?

  func validate() throws {
    if conditions.isEmpty { throw ValidationError("Give a condition, such as --for host=ready.") }
    if !(0...1e9).contains(timeout) { throw ValidationError("--timeout: seconds, 0 or more.") }
    if let since, JournalFilter.Moment(since) == nil {
      throw ValidationError("'\(since)' is not a point in the journal; use \(JournalFilter.Moment.forms).")
    }
  }

  func run() async throws {
    try await reporting {
      let since = self.since.flatMap { JournalFilter.Moment($0)?.fixed(now: .now) }
      let wanted = try conditions.map { text in
        try WaitCondition(text) { try options.cluster(reading: true).address($0) }
      }
      let folder = try options.folder(reading: true)
      let what = conditions.joined(separator: ", ")
      let place = options
      try await Deadline.within(.saturating(seconds: timeout), what: "this condition was not met: \(what)", at: folder)
      {
        for condition in wanted { try await Waiting(folder: folder, since: since).wait(condition, place) }
      }
    }
  }
}

/// Waits in one instance.
struct Waiting: Sendable {
  /// The instance folder.
  let folder: String
  let since: JournalFilter.Moment?

  /// Returns when the condition holds, and prints the envelope that fulfilled it.
  func wait(_ condition: WaitCondition, _ options: InstanceOptions) async throws {
    if case .standing(let address, let state) = condition {
      let cluster = try options.cluster(reading: true)
      while try await !isStanding(address, state: state, in: cluster) { try await Task.sleep(for: .milliseconds(50)) }
      return Output.print("\(address.short) is \(state)")
    }
    let instance = InstanceFolder(folder)
    while !FileManager.default.fileExists(atPath: instance.busAnnouncement) {
      try await Task.sleep(for: .milliseconds(20))
    }
    let match = try await watch(condition, JournalReader(folder: URL(fileURLWithPath: instance.journal)))
    var lines = TailLines(clock: .wall, columns: [.time, .sequence, .kind, .note], isColored: false)
    Output.print(match.map { lines.line($0) } ?? "the condition already holds")
  }

  /// Follows the journal until the condition holds. Existing entries are evaluated together at their end, new ones one
  /// by one.
  ///
  /// - Returns: the envelope that fulfilled the condition.
  /// - Throws: a command error when it waits for a process whose last launch failed.
  func watch(_ condition: WaitCondition, _ reader: JournalReader) async throws -> Envelope? {
    var watch = WaitWatch(condition)
    let filter = JournalFilter(since: start)
    var cursor = reader.cursor(from: filter.start)
    var isThroughThePast = false
    while true {
      while let envelope = try cursor.next() {
        guard filter.place(envelope.header) == .inside else { continue }
        watch.see(envelope)
        if isThroughThePast, watch.holds { return watch.match }
        if isThroughThePast, let failure = watch.failure { throw CommandError(notLaunched: [failure], in: folder) }
      }
      if watch.holds { return watch.match }
      if let failure = watch.failure { throw CommandError(notLaunched: [failure], in: folder) }
      isThroughThePast = true
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The start of reading: the option, else the time at which `up` started.
  private var start: JournalFilter.Moment? {
    if let since { return since }
    let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/up.json")
    return (attributes?[.modificationDate] as? Date).map { .time(Timestamp($0)) }
  }

  private func isStanding(_ address: Address, state: String, in cluster: ClusterFacts) async throws -> Bool {
    guard state == "ready" else {
      let name = ClusterFacts.standingName(of: address)
      let record = SupervisedProcessList.read(in: folder)?.processes.first { $0.name == name }
      let isRunning = record?.pid.map { ProcessFacts(pid: $0).isAlive } ?? false
      return isRunning == (state == "running")
    }
    guard FileManager.default.fileExists(atPath: cluster.instance.busAnnouncement) else { return false }
    do {
      return try await OperatorSession.with(cluster, within: .seconds(2)) { session in
        try await session.connection.request(Ping(), to: address, within: .seconds(2)).isReady
      }
    } catch is CommandError {
      return false
    }
  }
}

/// What `widgetlab wait` waits for.
enum WaitCondition: Equatable, Sendable {
  /// An envelope that matches.
  case output(FilterExpression)
  /// The last state of an app or an extension that the host reported.
  case state(Address, String)
  /// The state of a process that `up` supervises: `ready`, `running` or `exited`.
  case standing(Address, String)

  static let states = ["absent", "launching", "running", "suspended", "dying"]
  static let standingStates = ["ready", "running", "exited"]
  private static let sessionSteps = [
    ("opened", "kind == session.open"), ("downloading", "kind == transfer.progress && step == started"),
    ("downloaded", "kind == transfer.progress && step == finished"), ("delivered", "kind == session.events"),
    ("acknowledged", "kind == session.acknowledged"),
  ]

  /// Reads `host=ready`, `extension=suspended`, `session=acknowledged`, `session:daily=acknowledged`, or an expression.
  ///
  /// - Parameter address: resolves a process name.
  /// - Throws: a command error that lists the possible conditions; what `address` throws.
  init(_ text: String, address: (String) throws -> Address) throws {
    if ["==", "!=", "<", ">"].contains(where: text.contains) {
      do {
        self = .output(try FilterExpression(text))
      } catch {
        throw CommandError(Exit.usage, "\(error)")
      }
      return
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard parts.count == 2 else {
      throw CommandError(
        Exit.usage, "'\(text)' is not a condition",
        advice: "use host=ready, extension=suspended, session=acknowledged or similar, or an expression in quotes")
    }
    let (name, state) = (parts[0], parts[1])
    if name == "session" || name.hasPrefix("session:") {
      self = .output(try Self.session(name == "session" ? nil : String(name.dropFirst("session:".count)), state))
      return
    }
    let foundAddress = try address(name)
    let isChild = foundAddress.role == .app || foundAddress.role == .widgetExtension
    let allowed = isChild ? Self.states : Self.standingStates
    guard allowed.contains(state) else {
      throw CommandError(
        Exit.usage, "\(foundAddress.short) has no state '\(state)'",
        advice: "use one of: \(allowed.joined(separator: ", "))")
    }
    self = isChild ? .state(foundAddress, state) : .standing(foundAddress, state)
  }

  private static func session(_ name: String?, _ step: String) throws -> FilterExpression {
    guard let text = sessionSteps.first(where: { $0.0 == step })?.1 else {
      let allowed = sessionSteps.map(\.0).joined(separator: ", ")
      throw CommandError(Exit.usage, "a session has no step '\(step)'", advice: "use one of: \(allowed)")
    }
    let expression = try FilterExpression(text)
    guard let name else { return expression }
    return .and(expression, .comparison(FilterComparison(field: .session, relation: .equal, value: .glob(name))))
  }
}

/// Evaluates a condition over the journal. The result is valid once the existing journal has been read.
struct WaitWatch: Sendable {
  let condition: WaitCondition
  /// The envelope that fulfilled the condition; `nil` while it does not hold.
  private(set) var match: Envelope?
  /// Whether it holds.
  private(set) var holds: Bool
  /// Why the process that should run cannot be started, according to the last report about it.
  private(set) var failure: BusError?

  init(_ condition: WaitCondition) {
    self.condition = condition
    // A process that the journal does not mention was never started.
    if case .state(_, "absent") = condition { holds = true } else { holds = false }
  }

  /// States that a process cannot reach while its launch fails.
  private static let livingStates = ["running", "suspended"]

  mutating func see(_ envelope: Envelope) {
    switch condition {
    case .output(let expression):
      guard !holds, expression.matches(envelope) else { return }
      match = envelope
      holds = true
    case .state(let address, let wanted):
      guard let state = envelope.reading(ProcessState.self), state.address == address else { return }
      failure = Self.livingStates.contains(wanted) ? state.launchFailure : nil
      holds = state.state == wanted
      match = holds ? envelope : nil
    case .standing: return
    }
  }
}
