// SPDX-License-Identifier: Apache-2.0

/// The configuration of a cluster with `FixtureHandlers` as an extension, and on request as its app.
enum TrialCluster {
  /// - Parameters:
  ///   - widget, app: lines of the environments; without lines, there is no app.
  ///   - hasProvider: whether it has the sample's server.
  ///   - settings: lines of `name: value`.
  static func yaml(widget: [String], app: [String] = [], hasProvider: Bool = true, settings: [String]) -> String {
    func product(_ bundle: String, _ environment: [String]) -> String {
      "  - bundle: \(bundle)\n    executable: FixtureHandlers\n    environment:"
        + environment.map { "\n      \($0)" }.joined()
    }
    return """
      device:
        name: \(LiveFixture.device)
      appGroups:
        - \(LiveFixture.group)
      \(app.isEmpty ? "" : "apps:\n\(product("com.example.Trial", app))\n")extensions:
      \(product("com.example.Trial.Widget", widget + ["TRIAL_GROUP: \(LiveFixture.group)"]))
      \(hasProvider ? "provider:\n  executable: provider-server\n" : "")settings:
        developerMode: true
        callDeadline: 60\(settings.map { "\n  \($0)" }.joined())
      """
  }
}
