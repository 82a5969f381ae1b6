// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Glibc
import MessageBus
import Messages

/// `widgetlab kill`.
struct KillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kill",
    abstract: "Sends a signal, SIGKILL by default, to one process of the cluster.",
    discussion: """
      The extension and the app are killed by their agent, which is their parent. A standing process is killed by the \
      pid that `up` recorded, if that pid runs its executable on this machine; otherwise, as in another container, it \
      is asked over the bus to raise the signal itself. Processes are never selected by name.

      EXAMPLES
        widgetlab kill extension              the widget extension
        widgetlab kill host                   the host system; `up` restarts it
        widgetlab kill bus                    the broker
        widgetlab kill push-server            the push server
        widgetlab kill agent                  the agent and its children
        widgetlab kill app --signal TERM      another signal
        widgetlab kill host --signal STOP     stops it; --signal CONT continues it
        widgetlab kill com.example.CaffeineTracker.Widget
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: .process)
  var process: String

  @Option(help: "The signal: a name such as TERM or SIGSTOP, or a number.")
  var signal = "KILL"

  func run() async throws {
    try await reporting {
      guard let number = ProcessFacts.signal(named: signal) else {
        throw CommandError(
          Exit.usage, "'\(signal)' is not a signal", advice: "use KILL, TERM, STOP, CONT, or a number from 1 to 64")
      }
      let cluster = try options.cluster()
      let killed = try await Killing(cluster: cluster).kill(try cluster.process(process), number)
      Output.print("sent \(Ending.name(ofSignal: number)) to \(killed)")
    }
  }
}

/// Sends a signal to a process of the cluster.
struct Killing {
  /// The process that received the signal.
  struct Done: CustomStringConvertible {
    let address: Address
    var generation: UInt32?
    var pid: Int32?
    var description: String {
      address.short + (generation.map { " generation \($0)" } ?? "") + (pid.map { ", pid \($0)" } ?? "")
    }
  }

  let cluster: ClusterFacts

  /// Sends the signal.
  ///
  /// - Throws: a command error when the process is not running or cannot be reached.
  func kill(_ address: Address, _ signal: Int32) async throws -> Done {
    switch address.role {
    case .app, .widgetExtension: try await throughAgent(address, signal)
    case .host, .agent, .messageBus, .provider, .pushServer, .fleet: try await standing(address, signal)
    case .journal, .operator, .watcher:
      throw CommandError(
        Exit.usage, "\(address) is not a process that can be killed", advice: "see `widgetlab kill --help`")
    }
  }

  /// Asks the agents in order. The one that is the parent of the process sends the signal.
  private func throughAgent(_ address: Address, _ signal: Int32) async throws -> Done {
    try await OperatorSession.with(cluster) { session in
      var reasons: [String] = []
      for agent in cluster.agents {
        do {
          let reply = try await session.connection.request(
            SignalProcess(address: address, generation: nil, signal: signal), to: agent)
          return Done(address: address, generation: reply.generation, pid: reply.pid)
        } catch {
          reasons.append("\(agent.short): \(error)")
        }
      }
      throw CommandError(
        Exit.no, "\(address.short) was not killed: \(reasons.joined(separator: "; "))", at: cluster.folder,
        advice: "it may not be running: see `widgetlab ps`; `widgetlab reload --all` or `app open` launches it")
    }
  }

  private func standing(_ address: Address, _ signal: Int32) async throws -> Done {
    let name = ClusterFacts.standingName(of: address)
    let record = SupervisedProcessList.read(in: cluster.folder)?.processes.first { $0.name == name }
    if let record, let pid = record.pid, ProcessFacts(pid: pid).runs(record.executable) {
      guard Glibc.kill(pid, signal) == 0 else {
        throw CommandError(
          Exit.no, "no permission to signal pid \(pid): \(String(cString: strerror(errno)))",
          at: address.text, advice: "run this command as the user that runs `widgetlab up`")
      }
      return Done(address: address, generation: nil, pid: pid)
    }
    // Not on this machine, or not started by `up`: the process is asked to raise the signal itself.
    return try await OperatorSession.with(cluster) { session in
      let status = try await session.connection.request(BusStatus(), to: .messageBus)
      let pid: Int32?
      if address == .messageBus {
        pid = status.pid
      } else {
        guard let known = status.registrations.first(where: { $0.address == address }), known.isConnected else {
          throw CommandError(
            Exit.no, "\(address) is not connected to the bus", at: cluster.folder, advice: "see `widgetlab ps`")
        }
        pid = known.pid
      }
      session.connection.notify(RaiseSignal(signal: signal), to: address, context: .none)
      return Done(address: address, generation: nil, pid: pid)
    }
  }
}

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
    try await Suspension.set(process, of: options, isStopped: true)
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
    try await Suspension.set(process, of: options, isStopped: false)
  }
}

/// Stops or continues a process, and verifies that the kernel did so.
struct Suspension {
  let cluster: ClusterFacts
  private static let patience = Duration.seconds(2)

  /// Stops or continues the process that a user named, and prints it.
  static func set(_ process: String, of options: InstanceOptions, isStopped: Bool) async throws {
    try await reporting {
      let cluster = try options.cluster()
      let done = try await Suspension(cluster: cluster).set(try cluster.process(process), isStopped: isStopped)
      Output.print("\(isStopped ? "suspended" : "resumed") \(done)")
    }
  }

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
