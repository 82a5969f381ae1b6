import CProcess
import Glibc

/// How a process that `widgetlab up` starts is bound to it: when `up` ends, however it ends, so does the process.
package enum Birth {
  /// The option of every standing process that is followed by the pid of whoever starts it.
  package static let option = "--die-with-parent"

  /// Does what `--die-with-parent PID` asks for, when it is there. The first act of `main`, on the main thread, before any
  /// other option is read, since the parent may be gone by then. Exits with 64 when no pid follows.
  ///
  /// - Parameter arguments: `CommandLine.arguments`.
  package static func dieWithParentIfAsked(_ arguments: [String]) {
    guard let index = arguments.firstIndex(of: option) else { return }
    guard index + 1 < arguments.count, let pid = Int32(arguments[index + 1]), pid > 0 else {
      complain("\(option) is followed by the pid of the process that starts this one")
      exit(64)
    }
    dieWithParent(expecting: pid)
  }

  /// Asks the kernel for `SIGKILL` at the death of the thread that spawned this process. Exits with 0 when the parent
  /// is another already, and with 70 when the kernel refuses or this is not the main thread.
  ///
  /// - Parameter pid: the parent's, as itself knows it. In a container where the parent is outside, this is never met.
  package static func dieWithParent(expecting pid: Int32) {
    guard process_set_parent_death_signal(SIGKILL) == 0 else {
      complain("the kernel does not end this process with its parent: \(String(cString: strerror(errno)))")
      exit(70)
    }
    // The parent may have ended before the kernel was asked: then no signal will ever come.
    guard getppid() == pid else { exit(0) }
  }

  private static func complain(_ text: String) {
    let line = Array("\(CommandLine.arguments.first ?? "process"): \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
