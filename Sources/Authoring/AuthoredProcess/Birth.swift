package import Archive
import CProcess
import Conversations
import Foundation
import Glibc
import MessageBus
import ZeroMQ

extension HostedProcess {
  /// The first act of an author's `main()`: binds this process to the agent that spawned it, reads the birth certificate
  /// from standard input and closes that. Started by hand, it says how it is meant to be started and exits with 64.
  package static func begin() -> HostedProcess {
    guard process_set_parent_death_signal(SIGKILL) == 0 else {
      leave(70, "the kernel does not end this process with its parent: \(String(cString: strerror(errno)))")
    }
    guard isatty(STDIN_FILENO) == 0, let certificate = readCertificate(from: STDIN_FILENO) else {
      leave(64, howToStart)
    }
    // The agent may have ended before the kernel was asked: then no signal will ever come.
    guard getppid() == certificate.agentPid else {
      leave(0, "the agent \(certificate.agentPid) that spawned this process is gone")
    }
    let nothing = open("/dev/null", O_RDONLY)
    if nothing >= 0 {
      dup2(nothing, STDIN_FILENO)
      close(nothing)
    }
    // Lines reach the agent as they are printed, and not when the process ends: it may be killed.
    _ = process_print_by_line()
    let connection = Connection.zeroMQ(
      address: certificate.address, endpoint: certificate.endpoint, serverKey: certificate.serverKey,
      keys: CurveKeyPair(publicKey: certificate.publicKey, secretKey: certificate.secretKey), heartbeats: false)
    // The handshake and the author's own beginning take their time together.
    connection.prepare()
    let process = HostedProcess(certificate, connection: connection)
    process.install()
    return process
  }

  /// The certificate that an agent wrote: one line of JSON. `nil` when there is none, or nothing comes for ten seconds.
  static func readCertificate(from descriptor: Int32) -> BirthCertificate? {
    var line: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while line.count < 65_536, !line.contains(UInt8(ascii: "\n")) {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) > 0 else { return nil }
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      line += chunk[..<count]
    }
    return try? BodyCoding.decode(BirthCertificate.self, from: line)
  }

  /// Connects, tells the host that the author's code is in place, and runs the main run loop for ever. The main thread
  /// keeps running it, so that the process's figures stand under its own pid.
  ///
  /// - Parameter widgets: what an extension says of its widgets; none for an app. Made beside the main thread.
  package func run(widgets: @escaping @Sendable () async -> [WidgetDeclaration] = { [] }) -> Never {
    let end: @Sendable (BusError) -> Void = {
      HostedProcess.leave(69, "\(self.address.short): this life is over: \($0)")
    }
    Task.detached {
      do throws(BusError) {
        try await self.announce(widgets: await widgets(), end: end)
      } catch {
        end(error)
      }
    }
    while true { RunLoop.main.run() }
  }

  /// Says goodbye to the bus and ends the process.
  package func leave() async -> Never {
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
      \(name) is a widget extension or an app of a WidgetLab device. It is not started by hand: the device's agent starts
      it when the host system needs it, and hands it its identity on standard input. Name it in widgetlab.yaml, then run
        widgetlab up
      in the project's folder, and `widgetlab reload <kind>` to have an extension asked for a timeline.
      """
  }
}

/// Where this process's code lies.
func executablePath() -> String {
  (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments.first ?? ""
}

/// One write for a line, so that lines of several threads do not mix. A line that cannot be written is lost.
func writeLine(_ text: String) {
  let bytes = Array("\(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
