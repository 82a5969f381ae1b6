// SPDX-License-Identifier: Apache-2.0

import Console
import Foundation
import Glibc
import JournalAnalysis
import Messages
import Synchronization

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
    let found = report.processes.map { row in
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
    let pids = Set(found.compactMap(\.pid))
    samples.withLock { samples in samples = samples.filter { pids.contains($0.key) } }
    return found
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
