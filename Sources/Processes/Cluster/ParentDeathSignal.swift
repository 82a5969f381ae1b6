// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Glibc

/// Binds a process to the `widgetlab up` that starts it: when `up` exits for any reason, the process is killed.
package enum ParentDeathSignal {
  /// An option of every standing process, followed by the pid of its parent.
  package static let option = "--die-with-parent"

  /// Applies `--die-with-parent PID` if it is present. Must run first in `main`, on the main thread, before other
  /// options are read, because the parent may exit at any time. Exits with 64 when no pid follows.
  ///
  /// - Parameter arguments: `CommandLine.arguments`.
  package static func exitWithParentIfRequested(_ arguments: [String]) {
    guard let index = arguments.firstIndex(of: option) else { return }
    guard index + 1 < arguments.count, let pid = Int32(arguments[index + 1]), pid > 0 else {
      printError("\(option) needs the pid of the parent process")
      exit(64)
    }
    exitWithParent(expecting: pid)
  }

  /// Asks the kernel to send `SIGKILL` when the thread that spawned this process exits. Exits with 0 when the parent
  /// has already changed, and with 70 when the kernel refuses or this is not the main thread.
  ///
  /// - Parameter pid: the parent's, in its own pid namespace. In a container whose parent is outside, it never matches.
  package static func exitWithParent(expecting pid: Int32) {
    guard process_set_parent_death_signal(SIGKILL) == 0 else {
      printError("cannot set the parent-death signal: \(String(cString: strerror(errno)))")
      exit(70)
    }
    // The parent may have exited before the call above. Then the signal would never arrive.
    guard getppid() == pid else { exit(0) }
  }

  private static func printError(_ text: String) {
    let name = CommandLine.arguments.first?.split(separator: "/").last ?? "process"
    let line = Array("\(name): \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
