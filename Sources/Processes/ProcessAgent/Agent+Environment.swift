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
    ]
    let bundle = request.address.bundleIdentifier ?? ""
    base[BundleFolder.variable] = try bundles?.make(bundle, executable: executable)
    return base.merging(request.environment) { $1 }
  }
}
