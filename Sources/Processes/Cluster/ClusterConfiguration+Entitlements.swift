import Conversations

extension PushEnvironment {
  /// The value of `aps-environment` among an app's or an extension's entitlements.
  ///
  /// - Throws: `configuration`, with the file and the line.
  init?(reading entitlements: inout ConfigurationReader) throws(ClusterError) {
    guard let text = try entitlements.string("aps-environment") else { return nil }
    guard let environment = PushEnvironment(rawValue: text) else {
      let known = PushEnvironment.allCases.map(\.rawValue).joined(separator: " or ")
      throw entitlements.error("aps-environment", "\"\(text)\" is no environment of APNs; it is \(known)")
    }
    self = environment
  }
}
