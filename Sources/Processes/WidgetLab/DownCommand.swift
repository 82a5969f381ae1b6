// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import Glibc

/// `widgetlab down`.
struct DownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "down",
    abstract: "Stops the `widgetlab up` of an instance, like Ctrl-C in its terminal, and waits until it has exited.",
    discussion: """
      Exit code 0 when it has exited, or when none was running. The device's data stays in the instance folder.

      EXAMPLES
        widgetlab down
        widgetlab down --instance other
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: "Seconds to wait before it and all its processes are killed.")
  var timeout = 20.0

  func run() async throws {
    try await reporting {
      let folder = try options.folder()
      guard let pid = InstanceLock.holder(in: folder) else {
        Output.print("no cluster is running in \(folder)\(InstanceOptions.adviceToName)")
        return
      }
      kill(pid, SIGTERM)
      let clock = ContinuousClock()
      let deadline = clock.now + .saturating(seconds: timeout)
      while InstanceLock.holder(in: folder) == pid {
        if clock.now > deadline {
          kill(pid, SIGKILL)
          throw CommandError(
            Exit.broken, "`widgetlab up` (pid \(pid)) did not exit within \(timeout) s and was killed", at: folder,
            advice: "its processes were killed too; read \(folder)/logs")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
      Output.print("stopped \(folder)")
    }
  }
}
