import ArgumentParser
import Conversations
import Foundation
import Glibc
import MessageBus

/// `widgetlab kill`.
struct KillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kill",
    abstract: "Sends a real signal, SIGKILL unless told otherwise, to one process of the cluster.",
    discussion: """
      The extension and the app are killed by their agent, which is their parent. A standing process is killed by the pid \
      that `up` wrote down, if that pid runs its executable on this machine; in another container it is asked over the bus \
      to signal itself. Nothing is ever killed by its name.

      EXAMPLES
        widgetlab kill extension              the widget extension
        widgetlab kill host                   the host system; `up` starts it again
        widgetlab kill bus                    the broker
        widgetlab kill push-server            what plays APNs
        widgetlab kill agent                  the agent, and with it its children
        widgetlab kill app --signal TERM      another signal
        widgetlab kill host --signal STOP     freezes it; --signal CONT thaws it
        widgetlab kill com.example.CaffeineTracker.Widget
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(
    help: "extension, app, host, bus, agent, agent/2, provider, push-server, a bundle identifier, or a full address.")
  var process: String

  @Option(help: "The signal: a name such as TERM or SIGSTOP, or a number.")
  var signal = "KILL"

  func run() async throws {
    try await reporting {
      guard let number = ProcessFacts.signal(named: signal) else {
        throw Complaint(
          Exit.usage, "'\(signal)' is no signal", advice: "say KILL, TERM, STOP, CONT, or a number from 1 to 64")
      }
      let cluster = try options.cluster()
      let killed = try await Killing(cluster: cluster).kill(try cluster.address(process), number)
      Output.say("sent \(Ending.name(ofSignal: number)) to \(killed)")
    }
  }
}

/// Brings a signal to a process of the cluster.
struct Killing {
  /// Who got it.
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
  /// - Throws: a complaint when the process does not live or cannot be reached.
  func kill(_ address: Address, _ signal: Int32) async throws -> Done {
    switch address.role {
    case .app, .widgetExtension: try await throughAgent(address, signal)
    case .host, .agent, .messageBus, .provider, .pushServer: try await standing(address, signal)
    case .journal, .operator, .watcher:
      throw Complaint(Exit.usage, "\(address) is no process that can be killed", advice: "see `widgetlab kill --help`")
    }
  }

  /// The agents are asked one after the other; the one that holds the child does it.
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
      throw Complaint(
        Exit.no, "\(address.short) was not killed: \(reasons.joined(separator: "; "))", at: cluster.folder,
        advice: "it may not live just now: see `widgetlab ps`, and wake it with `widgetlab reload --all` or `app open`")
    }
  }

  private func standing(_ address: Address, _ signal: Int32) async throws -> Done {
    let name = ClusterFacts.standingName(of: address)
    let record = StandingProcesses.read(in: cluster.folder)?.processes.first { $0.name == name }
    if let record, let pid = record.pid, ProcessFacts(pid: pid).runs(record.executable) {
      guard Glibc.kill(pid, signal) == 0 else {
        throw Complaint(
          Exit.no, "the kernel did not let this user signal pid \(pid): \(String(cString: strerror(errno)))",
          at: address.text, advice: "run it as the user who runs `widgetlab up`")
      }
      return Done(address: address, generation: nil, pid: pid)
    }
    // Not on this machine, or started by somebody else than `up`: it is asked to do it itself.
    return try await OperatorSession.with(cluster) { session in
      let status = try await session.connection.request(BusStatus(), to: .messageBus)
      let pid: Int32?
      if address == .messageBus {
        pid = status.pid
      } else {
        guard let known = status.registrations.first(where: { $0.address == address }), known.isConnected else {
          throw Complaint(
            Exit.no, "\(address) is not connected to the bus", at: cluster.folder, advice: "see `widgetlab ps`")
        }
        pid = known.pid
      }
      session.connection.notify(RaiseSignal(signal: signal), to: address, story: .none)
      return Done(address: address, generation: nil, pid: pid)
    }
  }
}
