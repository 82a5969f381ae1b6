// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A feature of WidgetLab for `Pairs of features`: what it adds to the cluster, and what is done with it during the
/// story. Commands are those of `widgetlab`, with a space between two words.
struct Feature: Sendable, CustomStringConvertible {
  let name: String
  /// Keys of the configuration with values in YAML, such as `device.locale`. The first word is `device`, `bus`,
  /// `pushServer`, `settings`, `app` or `extension`.
  var keys: [String: String] = [:]
  /// Further extensions, each a mapping in YAML.
  var extensions: [String] = []
  /// Commands that run beside the story until its end. Each prints a line when it is ready.
  var beside: [String] = []
  /// Commands before the download, when the app was opened.
  var before: [String] = []
  /// Commands while the download is in progress.
  var during: [String] = []
  /// Commands before the rest of the file is sent.
  var after: [String] = []
  /// Commands after the story, before the verdict.
  var last: [String] = []
  /// Whether the folder of the instance has spaces in its path.
  var hasSpaces = false
  /// Whether it needs PostgreSQL.
  var needsPostgres = false
  /// What it is about, such as the network: two features of one topic contradict each other.
  var topics: Set<String> = []

  var description: String { name }

  /// Whether both can be in one cluster.
  func goesWith(_ other: Feature) -> Bool {
    name != other.name && topics.isDisjoint(with: other.topics)
      && keys.allSatisfy { other.keys[$0.key] == nil || other.keys[$0.key] == $0.value }
  }
}

/// Two features in one cluster.
struct FeaturePair: Sendable, CustomStringConvertible {
  let first: Feature
  let second: Feature

  var features: [Feature] { [first, second] }
  var description: String { "\(first) + \(second)" }

  /// All pairs of a table that can be in one cluster.
  static func all(of table: [Feature]) -> [FeaturePair] {
    table.indices.flatMap { index in
      table[(index + 1)...].filter(table[index].goesWith).map { FeaturePair(first: table[index], second: $0) }
    }
  }

  /// Draws different pairs. As long as there are enough, no feature is in two pairs more than another.
  static func drawn<G: RandomNumberGenerator>(_ count: Int, of table: [Feature], by generator: inout G) -> [FeaturePair]
  {
    var uses: [String: Int] = [:]
    var left = all(of: table).shuffled(using: &generator)
    var drawn: [FeaturePair] = []
    while drawn.count < count, !left.isEmpty {
      func cost(_ pair: FeaturePair) -> Int { pair.features.reduce(0) { $0 + 1 << (4 * (uses[$1.name] ?? 0)) } }
      let index = left.indices.min { cost(left[$0]) < cost(left[$1]) } ?? 0
      let pair = left.remove(at: index)
      for feature in pair.features { uses[feature.name, default: 0] += 1 }
      drawn.append(pair)
    }
    return drawn
  }

  /// The text of a `widgetlab.yaml` with both features.
  ///
  /// - Parameters:
  ///   - path: the path and query of the extension's download.
  ///   - database: the URI of a separate PostgreSQL database.
  func configuration(path: String, database: String?) -> String {
    var keys = Self.usual
    for feature in features { keys.merge(feature.keys) { $1 } }
    if let database, features.contains(where: \.needsPostgres) { keys["pushServer.database"] = "'\(database)'" }
    func mapping(_ section: String, _ more: [String] = []) -> String {
      let own = keys.filter { $0.key.hasPrefix(section + ".") }.sorted { $0.key < $1.key }
      return (more + own.map { "\($0.key.dropFirst(section.count + 1)): \($0.value)" }).joined(separator: ", ")
    }
    let download =
      "environment: {TRIAL_URL: \"${provider.url}\(path)\", TRIAL_GROUP: \(LiveFixture.group)}"
    let extensions = features.flatMap(\.extensions).map { "\n  - {\($0)}" }.joined()
    return """
      device: {\(mapping("device", ["name: \(LiveFixture.device)"]))}
      appGroups: [\(LiveFixture.group)]
      apps:
        - {\(mapping("app", ["bundle: com.example.Trial", "executable: FixtureWidgets"]))}
      extensions:
        - {\(mapping("extension", ["bundle: com.example.Trial.Widget", "executable: FixtureExtension", download]))}\(extensions)
      provider: {executable: provider-server}
      bus: {\(mapping("bus"))}
      pushServer: {\(mapping("pushServer"))}
      settings: {\(mapping("settings"))}

      """
  }

  private static let usual = [
    "app.entitlements": "{aps-environment: development}",
    "app.environment": "{TRIAL_FIXTURE: pushes, TRIAL_APP: 'yes'}",
    "settings.suspendAfter": "0.5", "settings.completionDeadline": "300", "settings.callDeadline": "60",
    "settings.advancePatience": "1", "settings.developerMode": "true",
  ]
}
