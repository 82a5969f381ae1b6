// SPDX-License-Identifier: Apache-2.0

package import Cluster

/// The exit codes of standing processes, with the values of `sysexits.h`. `Documentation/operations.md` lists them.
/// After SIGTERM or SIGINT, and when the parent has exited, the code is 0.
package enum StandingProcessExit: Int32, Sendable {
  /// The command line is wrong: `EX_USAGE`.
  case usage = 64
  /// An endpoint, a port or the instance is in use: `EX_UNAVAILABLE`.
  case unavailable = 69
  /// A fault of the process itself: `EX_SOFTWARE`.
  case fault = 70
  /// A file, a folder, the journal or a database cannot be read or written: `EX_IOERR`.
  case io = 74
  /// `widgetlab.yaml`, a key, a certificate or a limit of the process cannot be used: `EX_CONFIG`.
  case configuration = 78

  /// The exit code of an error of the cluster.
  package init(_ code: ClusterError.Code) {
    self =
      switch code {
      case .configuration, .key, .expansion, .limit: .configuration
      case .notThere: .unavailable
      default: .io
      }
  }
}
