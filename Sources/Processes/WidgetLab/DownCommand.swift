import ArgumentParser
import Foundation
import Glibc

/// `widgetlab down`.
struct DownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "down",
    abstract: "Stops the `widgetlab up` of an instance, as Ctrl-C in its terminal would, and waits for its end.",
    discussion: """
      Exit code 0 when it ended, and also when none was running. What the device stored stays in the instance's folder.

      EXAMPLES
        widgetlab down
        widgetlab down --instance other
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: "Seconds to wait; then it is killed, and with it all its processes.")
  var timeout = 20.0

  func run() async throws {
    try await reporting {
      let folder = try options.folder()
      guard let pid = InstanceLock.holder(in: folder) else {
        Output.say("nothing is up in \(folder)")
        return
      }
      kill(pid, SIGTERM)
      let clock = ContinuousClock()
      let deadline = clock.now + .seconds(timeout)
      while InstanceLock.holder(in: folder) == pid {
        if clock.now > deadline {
          kill(pid, SIGKILL)
          throw Complaint(
            Exit.broken, "`widgetlab up` (pid \(pid)) did not end within \(timeout) s and was killed", at: folder,
            advice: "its processes died with it; read \(folder)/logs")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
      Output.say("\(folder) is down")
    }
  }
}
