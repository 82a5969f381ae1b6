// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Terminates this process when its parent exits, for a parent that runs it as a part of a cluster.
enum ParentDeath {
  /// The option that requests it, alone or followed by the parent's pid.
  static let option = "--die-with-parent"

  /// Handles `--die-with-parent [PID]`, if given: requests `SIGKILL` from the kernel for the exit of the thread that
  /// spawned this process. `main` calls it first, before any other option is read, since the parent may have exited
  /// already. Exits with 70 when the kernel refuses, and with 0 when the parent has exited.
  ///
  /// - Parameter arguments: the command line, including the program's name.
  /// - Returns: the arguments that are left for the parser, without the name.
  static func followIfAsked(_ arguments: [String]) -> [String] {
    var rest = Array(arguments.dropFirst())
    guard let index = rest.firstIndex(of: option) else { return rest }
    rest.remove(at: index)
    var parent = getppid()
    if index < rest.count, let named = pid_t(rest[index]) {
      rest.remove(at: index)
      parent = named
    }
    guard askForKill() else {
      perror("provider-server: cannot set the parent-death signal")
      exit(70)
    }
    // If the parent exited before the request, the kernel never sends the signal.
    guard parent != 1, getppid() == parent else { exit(0) }
    return rest
  }

  /// `prctl(PR_SET_PDEATHSIG, SIGKILL)`. The function is variadic, and Swift does not import variadic functions; it is
  /// called with the five machine words that it passes to the kernel.
  private static func askForKill() -> Bool {
    let parentDeathSignal: CInt = 1  // PR_SET_PDEATHSIG of <linux/prctl.h>
    typealias ProcessControl = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
    guard let address = dlsym(nil, "prctl") else { return false }
    let processControl = unsafeBitCast(address, to: ProcessControl.self)
    return processControl(parentDeathSignal, CUnsignedLong(SIGKILL), 0, 0, 0) == 0
  }
}
