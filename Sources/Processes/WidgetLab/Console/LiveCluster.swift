// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Console
import Foundation
import Glibc
import JournalAnalysis
import Messages
import Synchronization
import Timekeeping

/// The running cluster, as the console asks and changes it.
final class LiveCluster: ConsoleOperator {
  let cluster: ClusterFacts
  let session: SharedOperatorSession
  private let actions: ConsoleActions
  let changes: AsyncStream<Set<ConsoleTopic>>
  private let announce: AsyncStream<Set<ConsoleTopic>>.Continuation
  private let tasks = TaskOwner()
  let pictures = ScreenPictures()
  let usage = ProcessUsage()

  // Equal questions of several pages at a time are one question.
  private let processQuestion = SharedQuestion<ProcessReport>()
  private let budgetQuestion = SharedQuestion<ListBudget.Reply>()
  private let screenQuestions = SharedQuestions<String, ScreenAnswer>()
  private let galleryQuestion = SharedQuestion<ListGallery.Reply>()
  private let pushQuestions = SharedQuestions<Int, PushAnswer>()

  init(_ cluster: ClusterFacts, commandSuffix: String) {
    self.cluster = cluster
    session = SharedOperatorSession(cluster)
    actions = ConsoleActions(cluster: cluster, commandSuffix: commandSuffix, session: session)
    (changes, announce) = AsyncStream.makeStream(of: Set<ConsoleTopic>.self, bufferingPolicy: .bufferingNewest(8))
  }

  /// Watches whether the broker runs. It asks the kernel and not the bus.
  func start() {
    tasks.start { [self] in
      var was = await isBusConnected()
      while (try? await Task.sleep(for: .milliseconds(200))) != nil {
        let isConnected = await isBusConnected()
        if isConnected != was { announce.yield([.state, .processes, .screen]) }
        was = isConnected
      }
    }
  }

  func end() async {
    announce.finish()
    await tasks.end()
    await session.leave()
  }

  /// The broker of this machine is a process; of another container's, only an open connection knows.
  func isBusConnected() async -> Bool {
    guard let announcement = try? BusAnnouncement.read(in: cluster.instance) else { return false }
    if let bus = SupervisedProcessList.read(in: cluster.folder)?.processes.first(where: { $0.name == "message-bus" }) {
      return bus.pid.map { $0 == announcement.pid && ProcessFacts(pid: $0).runs(bus.executable) } ?? false
    }
    return await session.isConnected ?? true
  }

  func processes(_ journal: ConsoleJournal) async throws -> [ConsoleProcess] {
    let report = try await answering {
      try await self.processQuestion.ask { try await ProcessReport.gather(self.cluster, through: self.session) }
    }
    return usage.processes(report, of: cluster, await journal.summary())
  }

  func screen(_ location: String?, _ journal: ConsoleJournal) async throws -> ConsoleScreen {
    let name = location.flatMap { WidgetLocationName(rawValue: $0) }
    let answer = try await answering {
      try await self.screenQuestions.ask(location ?? "") { try await ScreenAnswer(self.session, name) }
    }
    return try await pictures.screen(answer, configuration: cluster.configuration, summary: await journal.summary())
  }

  func picture(_ hash: String) async -> [UInt8]? { await pictures.picture(hash) }

  func gallery() async throws -> [ConsoleGalleryItem] {
    let reply = try await answering {
      try await self.galleryQuestion.ask {
        try await self.session.session(within: .seconds(2)).ask(ListGallery(location: nil), within: .seconds(30))
      }
    }
    return ConsoleGalleryItem.all(in: reply)
  }

  func budget() async throws -> ConsoleBudget {
    // No entries: those are in the journal.
    async let budget = answering {
      try await self.budgetQuestion.ask {
        try await self.session.session(within: .seconds(2)).ask(ListBudget(after: .max), within: .seconds(2))
      }
    }
    async let clock = answering {
      try await self.session.session(within: .seconds(2)).ask(SetClock(change: .ask), within: .seconds(2))
    }
    return try await ConsoleBudget(budget, clock, capacity: capacity)
  }

  func pushes(limit: Int) async throws -> ConsolePushes {
    let answer = try await answering {
      try await self.pushQuestions.ask(limit) { try await PushAnswer(self.session, limit) }
    }
    return ConsolePushes(answer)
  }

  /// The most that an account of the policy's file holds.
  private var capacity: Double? {
    cluster.configuration.settings.budget.flatMap { try? BudgetFile(file: $0) }?.burst
  }

  /// Asks, and turns a failure into an answer for the page.
  private func answering<T: Sendable>(_ ask: @Sendable () async throws -> T) async throws -> T {
    do {
      return try await ask()
    } catch let error as ConsoleError {
      throw error
    } catch let error as CommandError {
      throw ConsoleError(503, error.what, at: error.place, advice: error.advice)
    } catch {
      throw ConsoleError(
        503, "the device does not answer: \(error)", at: folderName, advice: "see the page of processes")
    }
  }

  private var folderName: String { cluster.folder }

  func perform(_ arguments: [String]) async throws -> ConsoleActionResult { try await actions.perform(arguments) }
}

/// Adds what the kernel and the journal know about the processes of this machine to the report of `ps`.
final class ProcessUsage: Sendable {
  private struct Sample {
    let time: ContinuousClock.Instant
    let cpu: Double
    var share: Double?
  }

  /// A share of a shorter time is not meaningful.
  private static let shortest = Duration.milliseconds(200)

  private let samples = Mutex<[Int32: Sample]>([:])

  /// The processes for the page.
  func processes(_ report: ProcessReport, of cluster: ClusterFacts, _ summary: JournalSummary) -> [ConsoleProcess] {
    let standing = SupervisedProcessList.read(in: cluster.folder)?.processes ?? []
    let foundProcesses = report.processes.map { row in
      let address = Address(row.process) ?? Address("device/\(cluster.device)/\(row.process)")
      var process = ConsoleProcess(
        address: address?.text ?? row.process, name: row.process, role: address?.role.rawValue ?? "",
        argument: row.process, state: row.state, why: row.why)
      (process.generation, process.pid, process.memory) = (row.generation, row.pid, row.memory)
      (process.memoryLimit, process.lastEnding) = (row.memoryLimit, row.lastEnding)
      guard let address else { return process }
      let runs = summary.processes.lanes[address] ?? []
      process.lastEnding = process.lastEnding ?? runs.last { $0.ending != nil }?.ending
      if let run = runs.last, run.generation == row.generation { process.since = run.start }
      let name = ClusterFacts.standingName(of: address)
      let executable = standing.first { $0.name == name }?.executable ?? runs.last?.executable
      if let pid = row.pid, let executable, ProcessFacts(pid: pid).runs(executable) { measure(pid, &process) }
      return process
    }
    let pids = Set(foundProcesses.compactMap(\.pid))
    samples.withLock { samples in samples = samples.filter { pids.contains($0.key) } }
    return foundProcesses
  }

  private func measure(_ pid: Int32, _ process: inout ConsoleProcess) {
    guard let facts = Self.kernelFacts(pid) else { return }
    process.cpu = facts.cpu
    process.memory = process.memory ?? facts.memory
    process.since = process.since ?? facts.since
    let now = ContinuousClock.now
    process.cpuShare = samples.withLock { samples in
      guard let earlier = samples[pid] else {
        samples[pid] = Sample(time: now, cpu: facts.cpu)
        return nil
      }
      let passed = now - earlier.time
      guard passed >= Self.shortest else { return earlier.share }
      let share = max(0, facts.cpu - earlier.cpu) / (passed / .seconds(1))
      samples[pid] = Sample(time: now, cpu: facts.cpu, share: share)
      return share
    }
  }

  /// The processor time in seconds, the anonymous memory in bytes, and the start of a process.
  private static func kernelFacts(_ pid: Int32) -> (cpu: Double, memory: Int?, since: Double?)? {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    // The fields after the name: the state is the third of all.
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    guard fields.count > 19, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    let memory = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }?
      .split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    var since: Double?
    if let start = Double(fields[19]), let uptime = try? String(contentsOfFile: "/proc/uptime", encoding: .utf8),
      let seconds = uptime.split(separator: " ").first.flatMap({ Double($0) })
    {
      since = Date.now.timeIntervalSince1970 - seconds + start / ticks
    }
    return ((user + system) / ticks, memory.map { $0 * 1024 }, since)
  }
}
