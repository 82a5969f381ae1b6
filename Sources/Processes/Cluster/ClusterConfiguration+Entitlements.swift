// SPDX-License-Identifier: Apache-2.0

import Messages

extension PushEnvironment {
  /// The value of `aps-environment` in the entitlements of an app or an extension.
  ///
  /// - Throws: `configuration`, with the file and the line.
  init?(reading entitlements: inout ConfigurationReader) throws(ClusterError) {
    guard let text = try entitlements.string("aps-environment") else { return nil }
    guard let environment = PushEnvironment(rawValue: text) else {
      let known = PushEnvironment.allCases.map(\.rawValue).joined(separator: " or ")
      throw entitlements.error("aps-environment", "\"\(text)\" is not an APNs environment; use \(known)")
    }
    self = environment
  }
}
