// SPDX-License-Identifier: Apache-2.0

package import Messages

/// What the lifecycle of the apps requests from the rest of the host, in order.
package enum AppLifecycleOutput: Sendable, Equatable {
  /// Cancel the transfers of an app that the user force-quit.
  case cancelTransfers(Address)
  /// End the processes and launch none of them until `allowLaunches`. Report each that does not run.
  case preventLaunches([Address], why: String)
  case allowLaunches([Address])
}
