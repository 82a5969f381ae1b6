// SPDX-License-Identifier: Apache-2.0

/// The configuration of the sample's cluster, for the demo, for campaigns and for tests: its app, its widget extension
/// and the developer's server.
package struct SampleCluster {
  /// The URLs of the downloads; empty for none.
  package var (app, widget) = ("", "")
  /// The version of the device.
  package var version = "26.0"
  /// Whether it has a push server, to which the developer's server sends pushes.
  package var hasPushes = true
  /// More arguments of the developer's server.
  package var arguments: [String] = []
  /// Lines of `name: value`.
  package var settings: [String] = []

  package init() {}

  /// The text of its `widgetlab.yaml`.
  package var yaml: String {
    let entitlements = hasPushes ? "\n    entitlements: {aps-environment: development}" : ""
    let server = hasPushes ? "\n      CAFFEINE_SERVER_URL: ${provider.url}" : ""
    let apns = [
      "--apns-url=${pushServer.url}", "--apns-ca=${pushServer.ca}", "--apns-key=${pushServer.key}",
      "--apns-key-id=${pushServer.keyID}", "--apns-team-id=${pushServer.teamID}", "--apns-retry=1", "--apns-pause=1",
    ]
    return """
      device:
        name: iphone
        model: iPhone 16
        platform: iOS
        version: "\(version)"
      appGroups:
        - group.com.example.CaffeineTracker
      apps:
        - bundle: com.example.CaffeineTracker
          executable: containing-app\(entitlements)
          environment:
            CAFFEINE_FIGURES_URL: "\(app)"
      extensions:
        - bundle: com.example.CaffeineTracker.Widget
          executable: widget-extension\(entitlements)
          environment:
            CAFFEINE_FIGURES_URL: "\(widget)"\(server)
      provider:
        executable: provider-server
        arguments:\((arguments + (hasPushes ? apns : [])).map { "\n    - \($0)" }.joined())
      \(hasPushes ? "pushServer: {}\n" : "")settings:
        developerMode: true
      """ + settings.map { "\n  \($0)" }.joined()
  }
}
