// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import MessageBus
import Messages

/// `widgetlab suspend`.
struct SuspendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "suspend",
    abstract: "Stops one process of the cluster (SIGSTOP), as the system does when it suspends it.",
    discussion: """
      The extension and the app are stopped by their agent, a standing process in the same way as by `kill`. A stopped \
      process has not exited: its connection stays open, and messages for it are queued.

      EFFECT ON THE HOST
      The host is not notified. It learns of a stop that it did not order when an agent next lists its children, and \
      until then it assumes the process's former state.
        idle      the host suspends it itself soon, and wakes it for its next events
        busy      it does not reply until you resume it, or until the host's deadline
                  ends the process; the next generation receives everything again

      EXAMPLES
        widgetlab suspend extension          then `widgetlab ps` and `widgetlab tail`
        widgetlab resume extension
        widgetlab suspend host                 stops the device and its downloads
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: .process)
  var process: String

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      let done = try await Suspension(cluster: cluster).set(try cluster.process(process), isStopped: true)
      Output.print("suspended \(done)")
    }
  }
}

/// `widgetlab resume`.
struct ResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Continues a suspended process of the cluster (SIGCONT).",
    discussion: """
      Also works for a process that the system suspended, but the host still regards it as suspended and sends it \
      nothing that it would not send otherwise. A standing process can only be resumed on the machine or in the \
      container where it runs: while it is stopped, it cannot receive messages.

      EXAMPLES
        widgetlab resume extension
        widgetlab resume host
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: .process)
  var process: String

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      let done = try await Suspension(cluster: cluster).set(try cluster.process(process), isStopped: false)
      Output.print("resumed \(done)")
    }
  }
}

/// Stops or continues a process, and verifies that the kernel did so.
struct Suspension {
  let cluster: ClusterFacts
  private static let patience = Duration.seconds(2)

  /// Sends the signal and waits for its effect.
  ///
  /// - Throws: a command error when the process is not running, cannot be reached, or has not changed its state within
  ///   2 s.
  func set(_ address: Address, isStopped: Bool) async throws -> Killing.Done {
    let done = try await Killing(cluster: cluster).kill(address, isStopped ? SIGSTOP : SIGCONT)
    let deadline = ContinuousClock.now + Self.patience
    while try await self.isStopped(done) != isStopped {
      guard ContinuousClock.now < deadline else {
        throw CommandError(
          Exit.no,
          "\(done) was sent \(isStopped ? "SIGSTOP" : "SIGCONT") and is not \(isStopped ? "stopped" : "running")",
          at: cluster.folder, advice: "see `widgetlab ps`")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    return done
  }

  /// The state reported by the agent for its child, or by the kernel for a process of this machine.
  private func isStopped(_ done: Killing.Done) async throws -> Bool {
    guard done.address.role == .app || done.address.role == .widgetExtension else {
      let record = SupervisedProcessList.read(in: cluster.folder)?.processes.first { $0.pid == done.pid }
      guard let record, let pid = done.pid, ProcessFacts(pid: pid).runs(record.executable) else {
        throw CommandError(
          Exit.no, "\(done) was sent the signal, but is not on this machine: its state is unknown",
          at: cluster.folder, advice: "`widgetlab ping` shows whether it replies; resume it where it runs")
      }
      return ProcessFacts(pid: pid).state == "stopped"
    }
    return try await OperatorSession.with(cluster) { session in
      for agent in cluster.agents {
        let reply = try? await session.connection.request(ListProcesses(), to: agent, within: .seconds(2))
        let child = reply?.children.first { $0.address == done.address && $0.generation == done.generation }
        if let child { return child.isStopped }
      }
      throw CommandError(Exit.no, "\(done) has ended", at: cluster.folder, advice: "see `widgetlab ps`")
    }
  }
}
