// SPDX-License-Identifier: Apache-2.0

package import Archive
import CPlatform
import FaultPoints
import Foundation
import Glibc
import MessageBus
import Messages
import OwnedTasks
import ZeroMQ

extension HostedProcess {
  /// The first call of an author's `main()`: requests a parent-death signal for the agent that spawned this process,
  /// and reads the launch context from standard input and closes it. A process that was not spawned by an agent prints
  /// how to start it and exits with code 64.
  package static func begin() -> HostedProcess {
    guard process_set_parent_death_signal(SIGKILL) == 0 else {
      leave(70, "cannot set the parent-death signal: \(String(cString: strerror(errno)))")
    }
    guard isatty(STDIN_FILENO) == 0, let launchContext = readLaunchContext(from: STDIN_FILENO) else {
      leave(64, howToStart)
    }
    // The agent may have exited before the signal was requested. Then the signal is never sent.
    guard getppid() == launchContext.agentPid else {
      leave(0, "the agent \(launchContext.agentPid) that spawned this process has exited")
    }
    if let page = launchContext.faultPoints {
      do throws(FaultPointError) {
        try FaultPointPage.join(page, as: launchContext.address)
      } catch {
        writeLine("\(error)")
      }
    }
    let nothing = open("/dev/null", O_RDONLY)
    if nothing >= 0 {
      dup2(nothing, STDIN_FILENO)
      close(nothing)
    }
    // Output reaches the agent line by line, not when the process exits: the process may be killed.
    _ = process_print_by_line()
    let connection = Connection.zeroMQ(
      address: launchContext.address, endpoint: launchContext.endpoint, serverKey: launchContext.serverKey,
      keys: CurveKeyPair(publicKey: launchContext.publicKey, secretKey: launchContext.secretKey), heartbeats: false)
    let process = HostedProcess(launchContext, connection: connection)
    // In parallel with the author's initialization, which may already wait for a reply.
    process.connect()
    process.install()
    return process
  }

  /// Connects to the bus before the author's code runs. What the host sends before `announce` is handled after it,
  /// unless its handler is set.
  package func connect() {
    followSettings()
    connection.onPresence { _ = self.hasHostAppeared(by: $0) }
    connection.connect()
  }

  /// The launch context from the agent: one line. `nil` when it is missing, or when no byte arrives for ten
  /// seconds.
  static func readLaunchContext(from descriptor: Int32) -> LaunchContext? {
    var line: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while line.count < 65_536, !line.contains(UInt8(ascii: "\n")) {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) > 0 else { return nil }
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      line += chunk[..<count]
    }
    guard line.contains(UInt8(ascii: "\n")) else { return nil }
    return LaunchContext(line: line)
  }

  /// Connects, announces to the host that the author's code is ready, and runs the main run loop forever. The loop runs
  /// on the main thread, so that the process's resource figures are reported under its own pid.
  ///
  /// - Parameter widgets: an extension's widget declarations; empty for an app. Runs off the main thread.
  package func run(widgets: @escaping @Sendable () async -> [WidgetDeclaration] = { [] }) -> Never {
    let end: @Sendable (BusError) -> Void = {
      HostedProcess.leave(69, "\(self.address.short): this process instance is no longer accepted: \($0)")
    }
    tasks.start {
      do throws(BusError) {
        try await self.announce(widgets: await widgets(), end: end)
      } catch {
        if !Task.isCancelled { end(error) }
      }
    }
    while true { RunLoop.main.run() }
  }

  /// Cancels the tasks of this process, leaves the bus and exits. None of these tasks may call it. It does not wait
  /// for the author's code, which may block.
  package func leave() async -> Never {
    tasks.cancel()
    await connection.leave()
    exit(0)
  }

  private static func leave(_ status: Int32, _ reason: String) -> Never {
    writeLine(reason)
    exit(status)
  }

  private static var howToStart: String {
    let name = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "this program"
    return """
      \(name) is a widget extension or an app of a WidgetLab device. Do not start it by hand: the device's agent starts
      it when the host system needs it, and passes its identity on standard input. Add it to widgetlab.yaml, then run
        widgetlab up
      in the project's folder, and `widgetlab reload <kind>` to request a timeline from an extension.
      """
  }
}

/// The path of this process's executable.
func executablePath() -> String {
  (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments.first ?? ""
}

/// Writes each line with one write call, so that lines of several threads do not mix. A line that cannot be written is
/// lost.
func writeLine(_ text: String) {
  let bytes = Array("\(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
