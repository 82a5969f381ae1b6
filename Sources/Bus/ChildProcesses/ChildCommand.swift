// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The program of a child process, and what the child gets at its start.
package struct ChildCommand: Sendable {
  /// Where an output of the child goes.
  package enum Output: Sendable {
    /// A descriptor of this process, which stays open in this process.
    case descriptor(Int32)
    /// A file, which is created if it is missing. The child appends to it.
    case file(String)
  }

  /// The path of the executable, which is not searched for.
  package var executable: String
  /// The arguments after the executable.
  package var arguments: [String]
  /// The complete environment.
  package var environment: [String: String]
  /// The working directory; `nil` for the one of this process.
  package var directory: String?
  /// A descriptor of this process for standard input; `nil` for an empty input.
  package var input: Int32?
  /// Standard output.
  package var output: Output
  /// Standard error.
  package var errors: Output
  /// Whether the child leads a new session. Otherwise it leads a new process group of this session.
  package var leadsSession: Bool

  /// Creates a command. By default, the child has the environment of this process, an empty input, and its standard
  /// error for both outputs.
  package init(
    _ executable: String, _ arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment, directory: String? = nil, input: Int32? = nil,
    output: Output = .descriptor(STDERR_FILENO), errors: Output = .descriptor(STDERR_FILENO),
    leadsSession: Bool = false
  ) {
    self.executable = executable
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.input = input
    self.output = output
    self.errors = errors
    self.leadsSession = leadsSession
  }
}

/// Why a process could not be started. Definite: nothing runs.
package struct SpawnFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// An `errno`.
  package let code: Int32

  /// Creates a failure with an `errno`.
  package init(code: Int32) { self.code = code }

  /// The kernel's text, such as `No such file or directory`.
  package var description: String { String(cString: strerror(code)) }
}

/// How a child process ended.
package enum ChildEnding: Hashable, Sendable {
  /// It called `exit`, or returned from `main`.
  case exited(code: Int32)
  /// A signal ended it.
  case signalled(Int32)

  /// - Parameter status: what `waitpid` reported.
  init(status: Int32) {
    let signal = status & 0x7f
    self = signal == 0 ? .exited(code: (status >> 8) & 0xff) : .signalled(signal)
  }

  /// The exit status as a shell reports it: the exit code, or 128 plus the number of the signal.
  package var shellStatus: Int32 {
    switch self {
    case .exited(let code): code
    case .signalled(let signal): 128 + signal
    }
  }
}
