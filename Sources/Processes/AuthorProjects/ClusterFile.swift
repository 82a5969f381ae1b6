// SPDX-License-Identifier: Apache-2.0

/// The `widgetlab.yaml` of a package for WidgetLab.
package struct ClusterFile {
  private let project: String
  private var groups: [String] = []
  private var apps: [String] = []
  private var extensions: [String] = []

  private let hasBudget: Bool

  /// - Parameters:
  ///   - project: the path of the author's project, relative to the package.
  ///   - hasBudget: whether reloads have the budget and the spacing of a device.
  init(project: String, hasBudget: Bool) {
    self.project = project
    self.hasBudget = hasBudget
  }

  /// The last line of a `widgetlab.yaml` that this tool writes.
  package static func settings(hasBudget: Bool) -> String {
    hasBudget
      ? "settings: {developerMode: false}   # the budget and the spacing of reloads of a device"
      : "settings: {developerMode: true}   # no budget and no spacing of reloads"
  }

  mutating func addApp(_ app: ContainingAppFacts, executable: String, notes: inout [ProjectNote]) {
    var lines = ["bundle: \(Self.literal(app.bundle))", "executable: \(Self.literal(executable))"]
    if let name = app.displayName { lines.append("displayName: \(Self.literal(name))") }
    lines += Self.versions(app.version, app.build)
    lines += entitlements(app.entitlements, of: app.bundle, isExtension: false, &notes)
    apps.append(Self.item(lines))
  }

  mutating func addExtension(
    _ widget: WidgetTarget, executable: String, resources: [String], infoPlist: String?, notes: inout [ProjectNote]
  ) {
    var lines = ["bundle: \(Self.literal(widget.bundle))", "executable: \(Self.literal(executable))"]
    if let name = widget.displayName { lines.append("displayName: \(Self.literal(name))") }
    lines += Self.versions(widget.version, widget.build)
    if let infoPlist { lines.append("infoPlist: \(Self.literal(infoPlist))") }
    let settings = widget.infoPlistSettings.filter { !Self.knownSettings.contains($0.key) }
    if infoPlist != nil, !settings.isEmpty {
      lines.append("buildSettings:")
      lines += settings.sorted { $0.key < $1.key }.map { "  \($0.key): \(Self.literal($0.value, isText: true))" }
    }
    lines += entitlements(widget.entitlements, of: widget.name, isExtension: true, &notes)
    if !resources.isEmpty {
      lines.append("resources:")
      lines += resources.map { "  - \(Self.literal($0))" }
    }
    extensions.append(Self.item(lines))
  }

  /// The build settings that WidgetLab derives from the other lines.
  static let knownSettings: Set<String> = [
    "CURRENT_PROJECT_VERSION", "DEVELOPMENT_LANGUAGE", "EXECUTABLE_NAME", "MARKETING_VERSION",
    "PRODUCT_BUNDLE_IDENTIFIER", "PRODUCT_BUNDLE_PACKAGE_TYPE",
  ]

  private mutating func entitlements(
    _ entitlements: WidgetEntitlements, of name: String, isExtension: Bool, _ notes: inout [ProjectNote]
  ) -> [String] {
    for group in entitlements.groups where !groups.contains(group) {
      if Self.isName(group) {
        groups.append(group)
      } else {
        notes.append(ProjectNote(group, "this is not the identifier of an app group"))
      }
    }
    for other in entitlements.others where isExtension && !Self.ignored.contains(other) {
      notes.append(ProjectNote(other, "this entitlement of \(name) has no effect here"))
    }
    var ownEntitlements: [String] = []
    if let environment = entitlements.pushEnvironment {
      if ["development", "production"].contains(environment) {
        ownEntitlements.append("aps-environment: \(environment)")
      } else {
        notes.append(ProjectNote("aps-environment", "\"\(environment)\" of \(name) is not an environment of APNs"))
      }
    }
    for group in entitlements.keychainGroups where !Self.isName(group) {
      notes.append(ProjectNote(group, "this is not an access group of the keychain"))
    }
    let keychain = entitlements.keychainGroups.filter(Self.isName).map { Self.literal($0) }
    if !keychain.isEmpty { ownEntitlements.append("keychain-access-groups: [\(keychain.joined(separator: ", "))]") }
    var lines = ownEntitlements.isEmpty ? [] : ["entitlements: {\(ownEntitlements.joined(separator: ", "))}"]
    if isExtension, let protection = entitlements.dataProtection { lines.append("dataProtection: \(protection)") }
    return lines
  }

  /// Entitlements of each Mac app, which restrict nothing that a widget does here.
  private static let ignored: Set<String> = [
    "com.apple.security.app-sandbox", "com.apple.security.files.user-selected.read-only",
    "com.apple.security.network.client",
  ]

  private static func versions(_ version: String?, _ build: String?) -> [String] {
    [version.map { "version: \(literal($0, isText: true))" }, build.map { "build: \(literal($0, isText: true))" }]
      .compactMap(\.self)
  }

  private static func item(_ lines: [String]) -> String {
    zip(lines.indices, lines).map { ($0 == 0 ? "  - " : "    ") + $1 + "\n" }.joined()
  }

  var text: String {
    """
    # Written by `widgetlab new --from \(project)`. It is written again when the project changes, unless you change it.
    device: {name: phone, model: iPhone 16, version: "26.0"}
    appGroups: [\(groups.map { Self.literal($0) }.joined(separator: ", "))]
    apps:
    \(apps.joined())\
    extensions:
    \(extensions.joined())\
    \(Self.settings(hasBudget: hasBudget))

    """
  }

  /// Letters, digits, `-`, `_` and `.`.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        let scalar = Character(UnicodeScalar(byte))
        return byte < 0x80 && (scalar.isLetter || scalar.isNumber || "-_.".contains(scalar))
      }
  }

  /// A text as a scalar of YAML.
  ///
  /// - Parameter isText: whether it could be read as a number without quotes.
  private static func literal(_ text: String, isText: Bool = false) -> String {
    let isPlain = isName(text.replacing("/", with: "")) && text.first?.isLetter == true && !isText
    return isPlain && !["true", "false", "null", "yes", "no", "on", "off"].contains(text.lowercased())
      ? text
      : PackageManifest.literal(text).replacing(/\\u\{([0-9a-f]+)\}/) {
        "\\x" + ($0.output.1.count < 2 ? "0" : "") + $0.output.1
      }
  }
}
