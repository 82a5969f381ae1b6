// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Cluster
import Foundation
import Glibc
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab ps`.
struct PsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ps",
    abstract:
      "Shows every process: generation, pid, state, memory, why it runs and its last exit; and what each widget shows.",
    discussion: """
      Works while the host or the bus is down, and reports that in its row. Memory is the current use of the agents' \
      children (RssAnon), and the limit above which they are evicted.

      EXAMPLES
        widgetlab ps
        widgetlab ps --json
      """)

  @OptionGroup var options: InstanceOptions

  @Flag(help: "Print one JSON object: {\"processes\":[…],\"sessions\":[…],\"placements\":[…]}.")
  var json = false

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster(reading: true)
      let report = try await ProcessReport.gather(cluster)
      if json {
        try Output.json(report)
      } else {
        for line in report.lines { Output.print(line) }
      }
    }
  }
}

/// The output of `ps`, gathered from the supervisor's file, the broker and the host.
struct ProcessReport: Encodable, Sendable {
  struct Row: Encodable, Sendable {
    let process: String
    var generation: UInt32?
    var pid: Int32?
    var state: String
    var why: String
    /// Bytes, for children that an agent reported.
    var memory: Int?
    var memoryLimit: Int?
    var lastEnding: String?
  }

  var processes: [Row] = []
  var sessions: [SessionStatus] = []
  var placements: [TimelineStored] = []

  /// Queries everything that is reachable, at most 2 s each.
  ///
  /// - Throws: `unavailable` when there is neither an `up` nor a bus.
  ///
  /// - Parameter shared: the connection to use; nil to open another one.
  static func gather(_ cluster: ClusterFacts, through shared: SharedOperatorSession? = nil) async throws
    -> ProcessReport
  {
    let standing = SupervisedProcessList.read(in: cluster.folder)
    var bus: BusStatus.Reply?
    var device: DeviceStatus.Reply?
    var children: [ChildProcess] = []
    let isFull = DiskSpace(at: cluster.folder)?.shortage != nil
    var hostError = isFull ? "unknown: no space left on the disk" : "unknown: the bus is down"
    do {
      let session: OperatorSession
      if let shared {
        session = try await shared.session(within: .seconds(2))
      } else {
        session = try await OperatorSession.open(cluster, within: .seconds(2))
      }
      bus = try? await session.connection.request(BusStatus(), to: .messageBus, within: .seconds(2))
      do {
        device = try await session.connection.request(DeviceStatus(), to: cluster.host, within: .seconds(2))
      } catch {
        hostError = "does not reply: \(isFull ? "no space left on the disk" : error.code.rawValue)"
      }
      for agent in cluster.agents {
        let reply = try? await session.connection.request(ListProcesses(), to: agent, within: .seconds(2))
        children += reply?.children ?? []
      }
      if shared == nil { await session.connection.leave() }
    } catch let commandError as CommandError where standing == nil {
      throw commandError
    } catch {
      // Only the rows of the supervisor's file are available. They show what is down.
    }
    var report = ProcessReport()
    report.addStanding(cluster, file: standing, bus: bus)
    if let host = report.processes.firstIndex(where: { $0.process == cluster.host.short }), device == nil {
      report.processes[host].why = hostError
    }
    report.addChildren(cluster, device: device, children: children)
    report.sessions = device?.sessions ?? []
    report.placements = device?.timelines ?? []
    return report
  }

  private mutating func addStanding(_ cluster: ClusterFacts, file: SupervisedProcessList?, bus: BusStatus.Reply?) {
    for address in cluster.standing {
      let record = file?.processes.first { $0.name == ClusterFacts.standingName(of: address) }
      let knownRegistration = bus?.registrations.first { $0.address == address }
      let pid =
        record?.pid ?? (address == .messageBus ? bus?.pid : knownRegistration.flatMap { $0.isConnected ? $0.pid : nil })
      guard record != nil || knownRegistration != nil || pid != nil else { continue }
      let state: String
      if let pid, record?.pid == pid {
        state = ProcessFacts(pid: pid).state ?? "exited"
      } else {
        state = pid == nil ? "exited" : "connected"
      }
      let generation = address == .messageBus ? bus?.generation : knownRegistration?.generation
      processes.append(
        Row(
          process: address.short, generation: generation ?? record.map { UInt32($0.generation) }, pid: pid,
          state: state,
          why: pid == nil ? "to be restarted by up" : record == nil ? "standing" : "supervised by up",
          lastEnding: record?.lastEnding))
    }
  }

  private mutating func addChildren(
    _ cluster: ClusterFacts, device: DeviceStatus.Reply?, children: [ChildProcess]
  ) {
    for process in device?.processes ?? []
    where process.address.role == .app || process.address.role == .widgetExtension {
      let child = children.first { $0.address == process.address && $0.generation == process.generation }
      processes.append(
        Row(
          process: process.address.short, generation: process.generation, pid: process.pid, state: process.state,
          why: process.why, memory: child?.memory, memoryLimit: child?.memoryLimit,
          lastEnding: process.lastEnding?.description))
    }
    for child in children where device == nil {
      processes.append(
        Row(
          process: child.address.short, generation: child.generation, pid: child.pid,
          state: child.isStopped ? "stopped" : "running", why: "unknown: the host is down",
          memory: child.memory, memoryLimit: child.memoryLimit))
    }
  }

  /// The table for the terminal.
  var lines: [String] {
    var table = TextTable(headings: ["PROCESS", "GEN", "PID", "STATE", "MEMORY", "WHY", "LAST EXIT"])
    table.rows = processes.map { row in
      [
        row.process, row.generation.map(String.init) ?? "-", row.pid.map(String.init) ?? "-", row.state,
        row.memoryText, row.why, row.lastEnding ?? "-",
      ]
    }
    return table.lines + sessionLines + placementLines
  }

  private var sessionLines: [String] {
    guard !sessions.isEmpty else { return [] }
    var kept = TextTable(headings: ["SESSION", "OWNER", "RUNNING", "UNDELIVERED", "BYTES"])
    kept.rows = sessions.map {
      [$0.session, $0.owner.short, "\($0.running)", "\($0.undelivered)", "\($0.bytesReceived)"]
    }
    return [""] + kept.lines
  }

  /// What each placed widget shows, and why its last reload failed.
  private var placementLines: [String] {
    guard !placements.isEmpty else { return [] }
    var shown = TextTable(headings: ["PLACEMENT", "KIND", "FAMILY", "ENTRIES", "SHOWS", "NOTE"])
    shown.rows = placements.map {
      [
        "\($0.placement)", $0.widgetKind, $0.family.rawValue, "\($0.entries)",
        String($0.text.joined(separator: " | ").prefix(40)), $0.note ?? "-",
      ]
    }
    return [""] + shown.lines
  }
}

extension ProcessReport.Row {
  /// `12.3 of 30 MiB`.
  fileprivate var memoryText: String {
    guard let memory else { return "-" }
    let limit = memoryLimit.map { "of \(MemoryLimit.mebibytes($0)) " } ?? ""
    return "\(MemoryLimit.mebibytes(memory)) \(limit)MiB"
  }
}

/// A process of this machine, as the kernel reports it.
struct ProcessFacts {
  let pid: Int32

  /// The target of `/proc/PID/exe`; `nil` when the process does not exist or may not be inspected.
  var executable: String? {
    guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe") else { return nil }
    // The kernel appends this when the executable was rebuilt while its process runs.
    return path.hasSuffix(" (deleted)") ? String(path.dropLast(10)) : path
  }

  /// `running`, `stopped` (SIGSTOP) or `zombie`; `nil` when the process does not exist.
  var state: String? {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    switch stat[stat.index(after: end)...].first(where: { $0 != " " }) {
    case "T", "t": return "stopped"
    case "Z", "X": return "zombie"
    default: return "running"
    }
  }

  var isAlive: Bool { state != nil && state != "zombie" }

  /// Whether this process was started from that file. Links are resolved.
  func runs(_ path: String) -> Bool {
    executable.map { $0 == URL(fileURLWithPath: path).resolvingSymlinksInPath().path } ?? false
  }

  /// The executable of this process itself, with all links resolved.
  static var ownExecutable: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
  }

  /// The number of a signal: `KILL`, `SIGKILL` or `9`.
  static func signal(named text: String) -> Int32? {
    if let number = Int32(text) { return (1...64).contains(number) ? number : nil }
    let name = text.uppercased().hasPrefix("SIG") ? text.uppercased() : "SIG\(text.uppercased())"
    return (1...31).first { Ending.name(ofSignal: $0) == name } ?? others[name]
  }

  static func name(ofSignal signal: Int32) -> String { Ending.name(ofSignal: signal) }

  private static let others: [String: Int32] = ["SIGUSR1": SIGUSR1, "SIGUSR2": SIGUSR2, "SIGALRM": SIGALRM]
}
