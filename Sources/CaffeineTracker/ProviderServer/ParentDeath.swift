import Glibc

/// The end of this process when its parent ends, for whoever starts it as a part of a cluster.
enum ParentDeath {
  /// The option that asks for it, alone or followed by the parent's pid.
  static let option = "--die-with-parent"

  /// Does what `--die-with-parent [PID]` asks for, when it is there: asks the kernel for `SIGKILL` at the death of the
  /// thread that spawned this process. It is the first act of `main`, before any other option is read, since the parent
  /// may be gone already. Exits with 70 when the kernel refuses and with 0 when the parent is gone.
  ///
  /// - Parameter arguments: the command line, the program's name included.
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
      perror("provider-server: the kernel does not end this process with its parent")
      exit(70)
    }
    // The parent may have ended before the kernel was asked: then no signal will ever come.
    guard parent != 1, getppid() == parent else { exit(0) }
    return rest
  }

  /// `prctl(PR_SET_PDEATHSIG, SIGKILL)`. The function has a variable number of arguments, which Swift does not import;
  /// it is called with the five machine words that it hands on to the kernel.
  private static func askForKill() -> Bool {
    let parentDeathSignal: CInt = 1  // PR_SET_PDEATHSIG of <linux/prctl.h>
    typealias ProcessControl = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
    guard let address = dlsym(nil, "prctl") else { return false }
    let processControl = unsafeBitCast(address, to: ProcessControl.self)
    return processControl(parentDeathSignal, CUnsignedLong(SIGKILL), 0, 0, 0) == 0
  }
}
