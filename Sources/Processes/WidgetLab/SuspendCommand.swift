import ArgumentParser
import Conversations
import Foundation
import Glibc
import MessageBus

/// `widgetlab suspend`.
struct SuspendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "suspend",
    abstract: "Stops one process of the cluster where it stands (SIGSTOP), as the system suspends it.",
    discussion: """
      The extension and the app are stopped by their agent, a standing process as `kill` would reach it. A stopped process \
      is not a dead one: its connection stays, and what is sent to it waits.

      WHAT THE HOST MAKES OF IT
      It is not told: it learns of a stop that it did not order when an agent next lists its children, and until then takes \
      the process for what it was.
        idle      the host suspends it itself soon, and wakes it for its next events
        at work   it does not answer until you resume it, or until the host's deadline
                  for it ends the life; a new one is then told everything again

      EXAMPLES
        widgetlab suspend extension            then `widgetlab ps`, and watch the tail
        widgetlab resume extension
        widgetlab suspend host                 the device stands still; downloads too
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(
    help: "extension, app, host, bus, agent, agent/2, provider, a bundle identifier, or a full address.")
  var process: String

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      let done = try await Suspension(cluster: cluster).set(try cluster.address(process), isStopped: true)
      Output.say("suspended \(done)")
    }
  }
}

/// `widgetlab resume`.
struct ResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Lets one process of the cluster go on (SIGCONT) that was suspended.",
    discussion: """
      Also one that the system suspended: the host goes on taking it for suspended, and hands it nothing that it would not \
      hand it otherwise. A standing process can be resumed where it runs, and not from another container: it is stopped, and \
      so hears nothing.

      EXAMPLES
        widgetlab resume extension
        widgetlab resume host
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(
    help: "extension, app, host, bus, agent, agent/2, provider, a bundle identifier, or a full address.")
  var process: String

  func run() async throws {
    try await reporting {
      let cluster = try options.cluster()
      let done = try await Suspension(cluster: cluster).set(try cluster.address(process), isStopped: false)
      Output.say("resumed \(done)")
    }
  }
}

/// Stops a process, or lets it go on, and sees that the kernel did so.
struct Suspension {
  let cluster: ClusterFacts
  private static let patience = Duration.seconds(2)

  /// Sends the signal and waits for its effect.
  ///
  /// - Throws: a complaint when the process does not live, cannot be reached, or is not as it should be within 2 s.
  func set(_ address: Address, isStopped: Bool) async throws -> Killing.Done {
    let done = try await Killing(cluster: cluster).kill(address, isStopped ? SIGSTOP : SIGCONT)
    let deadline = ContinuousClock.now + Self.patience
    while try await self.isStopped(done) != isStopped {
      guard ContinuousClock.now < deadline else {
        throw Complaint(
          Exit.no,
          "\(done) was sent \(isStopped ? "SIGSTOP" : "SIGCONT") and is not \(isStopped ? "stopped" : "running")",
          at: cluster.folder, advice: "see `widgetlab ps`")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    return done
  }

  /// What the agent says of its child, or the kernel of a process of this machine.
  private func isStopped(_ done: Killing.Done) async throws -> Bool {
    guard done.address.role == .app || done.address.role == .widgetExtension else {
      let record = StandingProcesses.read(in: cluster.folder)?.processes.first { $0.pid == done.pid }
      guard let record, let pid = done.pid, ProcessFacts(pid: pid).runs(record.executable) else {
        throw Complaint(
          Exit.no, "\(done) was told, but is not on this machine: whether it obeyed cannot be seen from here",
          at: cluster.folder, advice: "`widgetlab ping` says whether it answers; resume it where it runs")
      }
      return ProcessFacts(pid: pid).state == "stopped"
    }
    return try await OperatorSession.with(cluster) { session in
      for agent in cluster.agents {
        let reply = try? await session.connection.request(ListProcesses(), to: agent, within: .seconds(2))
        let child = reply?.children.first { $0.address == done.address && $0.generation == done.generation }
        if let child { return child.isStopped }
      }
      throw Complaint(Exit.no, "\(done) has ended", at: cluster.folder, advice: "see `widgetlab ps`")
    }
  }
}
