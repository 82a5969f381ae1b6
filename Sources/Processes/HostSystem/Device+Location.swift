// SPDX-License-Identifier: Apache-2.0

import Cluster

// Which widgets use the location. `widgetlab device location` sets where the device is, and that it has moved far.

extension ClusterConfiguration {
  /// The extensions whose widgets use the location, according to their `Info.plist`.
  ///
  /// - Throws: `configuration`, with the file and the key.
  func bundlesWantingLocation() throws(ClusterError) -> Set<String> {
    var bundles: Set<String> = []
    for product in extensions where try product.readInfoPlist()?.wantsLocation == true {
      bundles.insert(product.bundle)
    }
    return bundles
  }
}
