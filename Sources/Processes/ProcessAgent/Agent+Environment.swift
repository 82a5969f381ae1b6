// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages

extension Agent {
  /// The environment of a child. Makes its bundle.
  ///
  /// - Throws: `configuration` or `instance-folder`.
  func childEnvironment(_ request: SpawnProcess, _ executable: String) throws(ClusterError) -> [String: String] {
    let own = ProcessInfo.processInfo.environment
    var base = [
      "PATH": own["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", "LANG": own["LANG"] ?? "C.UTF-8",
      "TZ": own["TZ"] ?? "UTC", "HOME": request.container, "TMPDIR": request.container + "/tmp",
      "CFFIXED_USER_HOME": request.container,
      // Otherwise the Swift runtime looks for its backtracer before `main`: it searches all symbols of the executable for
      // its own path, 0.2 ms. Without a terminal it does not use it.
      "SWIFT_BACKTRACE": own["SWIFT_BACKTRACE"] ?? "enable=no,swift-backtrace=/dev/null",
    ]
    let bundle = request.address.bundleIdentifier ?? ""
    base[BundleFolder.variable] = try bundles?.make(bundle, executable: executable)
    return base.merging(request.environment) { $1 }
  }
}
