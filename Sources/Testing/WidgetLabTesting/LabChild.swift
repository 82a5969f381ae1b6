// SPDX-License-Identifier: Apache-2.0

import ChildProcesses
import Foundation
import Glibc

/// A process that a test started. The kernel kills it when the test's process exits in any way.
package struct LabChild: Sendable {
  private let process: SpawnedProcess

  /// The process id.
  package var pid: Int32 { process.pid }

  /// Starts an executable in a separate process group, with its output in files.
  ///
  /// - Throws: `LabError` with the kernel's reason.
  package static func start(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], output: String, errors: String
  ) async throws -> LabChild {
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let command = ChildCommand(
      executable, arguments, environment: variables, output: .file(output), errors: .file(errors))
    do {
      return LabChild(process: try await SpawnedProcess.start(command))
    } catch {
      throw LabError("\(executable) cannot be started: \(error); build it first")
    }
  }

  /// Waits for the exit. A signal counts as 128 plus its number, as in a shell. Cancellation kills the process, so that a
  /// test that reaches its time limit ends.
  package func ending() async -> Int32 {
    await withTaskCancellationHandler {
      await process.ending().shellStatus
    } onCancel: {
      process.signal(SIGKILL)
    }
  }
}

/// An error in a test's cluster.
public struct LabError: Error, CustomStringConvertible {
  /// What happened, where, and what to do.
  public let description: String
  /// Creates an error with a text: what happened, and what to do.
  public init(_ description: String) { self.description = description }
}
