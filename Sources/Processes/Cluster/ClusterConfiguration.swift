// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
package import Messages
package import PrometheusMetrics

/// The contents of `widgetlab.yaml`: the device, its apps and extensions, the provider, the push server, and the
/// settings of rules that Apple does not document.
package struct ClusterConfiguration: Sendable, Hashable {
  package struct Device: Sendable, Hashable {
    /// The device's name on the bus: letters, digits, `-`, `_`, `.`.
    package private(set) var name = ""
    /// The device model. It determines whether the device is a phone or a tablet.
    package private(set) var screen = DeviceModel.all[0]
    /// `iOS` or `iPadOS`.
    package private(set) var platform = "iOS"
    package private(set) var version = "18.0"
    /// Determines the availability of a widget's modifiers, families and locations.
    package private(set) var majorVersion = 18
    package var model: String { screen.name }
    /// Language and region, such as `de_DE`.
    package private(set) var locale = "en_US"
    /// A name such as `Europe/Zurich`; `nil` for the machine's time zone.
    package private(set) var timeZone: String?

    /// Environment variables of the device's processes.
    package var environment: [String: String] {
      // By the model, the SDK chooses the images of a phone or of a tablet.
      var environment = [
        "LANG": "\(locale).UTF-8", "SIMULATOR_DEVICE_NAME": model, "SIMULATOR_RUNTIME_VERSION": version,
        "SIMULATOR_MAINSCREEN_WIDTH": "\(Int(saturating: screen.width * screen.scale))",
        "SIMULATOR_MAINSCREEN_HEIGHT": "\(Int(saturating: screen.height * screen.scale))",
        "SIMULATOR_MAINSCREEN_SCALE": "\(screen.scale)",
      ]
      environment["TZ"] = timeZone
      return environment
    }
  }

  /// The data protection class of an extension's files. Source: `NSFileProtection`.
  package enum DataProtection: String, Sendable, CaseIterable {
    /// The widgets' content is hidden while the device is locked, and no new timeline is requested.
    case complete
    /// Same as `complete`: a locked device here always has a passcode.
    case completeUnlessOpen
    /// Same as `complete` until the device is first unlocked.
    case completeUntilFirstUserAuthentication

    /// Whether the files are inaccessible while the device is locked.
    package var isOfUnlockedDevice: Bool { self != .completeUntilFirstUserAuthentication }
  }

  /// An app or an extension of the device.
  package struct Product: Sendable, Hashable {
    package private(set) var bundle = ""
    /// A name in the folder of the agent's executables, or an absolute path.
    package private(set) var executable = ""
    /// The number of the agent that spawns it.
    package private(set) var agent = 1
    /// Unexpanded; `ClusterConfiguration.environment(of:in:)` expands it.
    package private(set) var environment: [String: String] = [:]
    package fileprivate(set) var isExtension = false
    /// The extension's entitlement `com.apple.developer.default-data-protection`.
    package var dataProtection = DataProtection.completeUntilFirstUserAuthentication
    /// The value of the entitlement `aps-environment`; `nil` without it: then it receives no pushes.
    package var pushEnvironment: PushEnvironment?
    /// The entitlement `keychain-access-groups`: the access groups of the keychain besides that of the bundle and the
    /// app groups. The first is the default.
    package var keychainGroups: [String] = []
    /// The absolute path of the product's own `Info.plist`; `nil`: the entry in the file is enough to make it an app or a
    /// widget extension.
    package var infoPlist: String?
    /// The absolute paths of files and folders that its bundle has besides those of the SwiftPM target, such as asset
    /// catalogs.
    package var resources: [String] = []
    package var description = BundleDescription()

    /// Whether it has the entitlement `aps-environment`.
    var receivesPushes: Bool { pushEnvironment != nil }

    /// Its address on a device.
    package func address(on device: String) -> Address {
      isExtension ? .widgetExtension(device, bundle) : .app(device, bundle)
    }
  }

  /// The developer's own backend.
  package struct Provider: Sendable, Hashable {
    package private(set) var executable = ""
    /// Unexpanded; `ClusterConfiguration.arguments(of:in:)` expands them.
    package private(set) var arguments: [String] = []
  }

  package private(set) var device = Device()
  package private(set) var appGroups: [String] = []
  package private(set) var apps: [Product] = []
  package private(set) var extensions: [Product] = []
  /// `nil` when the backend runs elsewhere.
  package private(set) var provider: Provider?
  /// `nil` when no pushes are used.
  package private(set) var pushServer: PushServer?
  package private(set) var settings = Settings()
  /// The limits of the broker.
  package private(set) var bus = BusLimits()

  init() {}

  /// Apps, then extensions.
  package var products: [Product] { apps + extensions }

  /// The agents that the products name, ascending; agent 1 when there are no products.
  package var agentNumbers: [Int] { Set(products.map(\.agent)).union(products.isEmpty ? [1] : []).sorted() }

  /// Returns the product with a bundle identifier.
  package func product(_ bundle: String) -> Product? { products.first { $0.bundle == bundle } }

  /// Returns an extension's app; `nil` when it is not in the file.
  package func app(ofExtension bundle: String) -> Product? {
    apps.first { app in extensions(ofApp: app.bundle).contains { $0.bundle == bundle } }
  }

  /// Returns an app's extensions: those whose bundle identifiers begin with the app's, as on a device.
  package func extensions(ofApp bundle: String) -> [Product] {
    extensions.filter { product in
      let apps = apps.map(\.bundle).filter { product.bundle.hasPrefix($0 + ".") }
      return apps.max { $0.count < $1.count } == bundle
    }
  }

  /// Reads `widgetlab.yaml`.
  ///
  /// - Throws: `configuration`, with the file, the line and the key.
  package static func load(_ path: String) throws(ClusterError) -> ClusterConfiguration {
    let text: String
    do {
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw ClusterError(
        .configuration,
        "\(path) cannot be read: name another file with --config, or change to the folder of your widgetlab.yaml")
    }
    return try ClusterConfiguration(yaml: text, file: path)
  }

  /// Reads the text of a `widgetlab.yaml`.
  ///
  /// - Parameter file: the file name used in error messages.
  /// - Throws: `configuration`, with the file, the line and the key.
  package init(yaml: String, file: String = "widgetlab.yaml") throws(ClusterError) {
    guard let node = try BoundedYAML.compose(yaml, file: file) else {
      throw ClusterError(.configuration, "\(file) is empty: at least `device:` is required")
    }
    try self.init(reading: ConfigurationReader(node, file: file, path: ""))
    try validate(file)
  }

  private func validate(_ file: String) throws(ClusterError) {
    var seen: Set<String> = []
    for product in products where !seen.insert(product.bundle).inserted {
      throw ClusterError(
        .configuration, "\(file): the bundle identifier \(product.bundle) is used twice; each process needs its own")
    }
    for app in apps {
      let values = Set(extensions(ofApp: app.bundle).compactMap(\.pushEnvironment)).union(
        [app.pushEnvironment].compactMap(\.self))
      guard values.count < 2 else {
        throw ClusterError(
          .configuration,
          "\(file): \(app.bundle) and its extensions must have the same aps-environment, not development and "
            + "production")
      }
    }
  }
}

extension ClusterConfiguration: SettingsPart {
  /// All keys of `widgetlab.yaml`.
  package static var keys: [SettingKey] { table.map(\.key) }

  /// The mappings of the file that have a key with this name, such as `settings` and `apps.entitlements`.
  static func places(of name: String) -> [String] {
    func places(_ keys: [SettingKey], _ path: [String]) -> [String] {
      let own = keys.contains { $0.name == name } ? [path.isEmpty ? "the top level" : path.joined(separator: ".")] : []
      return own
        + keys.flatMap { key -> [String] in
          switch key.values {
          case .part(let keys), .parts(let keys): places(keys, path + [key.name])
          case .flag, .count, .number, .seconds, .text, .version, .path, .length, .endpoint, .choice, .texts, .paths,
            .dictionary:
            []
          }
        }
    }
    return places(keys, [])
  }

  static let table: [Setting<Self>] = [
    .part("device", \.device, isRequired: true, "The device."),
    .texts("appGroups", \.appGroups, of: .name(), "The identifiers of the app groups.") {
      $0.isName ? nil : "\"\($0)\" is not a group identifier"
    },
    .parts("apps", \.apps, Product.table, "The apps."),
    .parts(
      "extensions", \.extensions, Product.extensionTable,
      "The widget extensions. An extension's bundle identifier begins with its app's."),
    .optionalPart(
      "provider", \.provider, without: "none",
      "Your backend, which `widgetlab up` starts; omit it if it runs elsewhere. From its second start on it gets "
        + "`--port` with the port of the first, which stored downloads contain, unless `arguments` has one."),
    .optionalPart(
      "pushServer", \.pushServer, without: "none, or `{}` if a product has `aps-environment`",
      "The push server, in the place of Apple's. `{}` starts one with the defaults. Its rules are in "
        + "[apns](fidelity/apns.md)."),
    .part("settings", \.settings, "Rules that Apple does not document. The device follows them."),
    .part("bus", \.bus, "Limits of the message bus."),
  ]

  mutating func complete(_ reader: inout ConfigurationReader) throws(ClusterError) {
    for index in extensions.indices { extensions[index].isExtension = true }
    if pushServer == nil, reader.has("pushServer") || products.contains(where: \.receivesPushes) {
      pushServer = PushServer()
    }
    // With another address, each may run in its own container.
    if let metrics = bus.metrics, metrics.port != 0, metrics == pushServer?.metrics, metrics.isLoopback {
      throw reader.error("pushServer", "metrics: has the port of bus: metrics; each process needs its own port")
    }
  }
}

extension ClusterConfiguration.Device: SettingsPart {
  static let table: [Setting<Self>] = [
    .text(
      "name", \.name, as: .text(.name()), isRequired: true,
      "The name on the bus: letters, digits, `-`, `_` and `.`.",
      objection: objection(toName:)),
    .dependent(
      "model", .choice(DeviceModel.all.map(\.name)), initial: "iPhone 16",
      "An iPhone or iPad by Apple's name. The default of the platform `iPadOS` is `iPad`."),
    .dependent(
      "platform", .choice(["iOS", "iPadOS"]), without: "depends on the device model", "The operating system."),
    .dependent("version", .version, initial: "18.0", "The version of the system, 14 or later."),
    .text(
      "locale", \.locale, as: .text(.name()), "Language and region. `widgetlab setting locale` changes it.",
      objection: objection(toLocale:)),
    .optionalText(
      "timeZone", \.timeZone, without: "the machine's time zone",
      "Such as `Europe/Zurich`. `widgetlab setting time-zone` changes it.", objection: objection(toTimeZone:)),
  ]

  private static func objection(toName name: String) -> String? {
    name.isName ? nil : "\"\(name)\" is not a device name; use letters, digits, `-`, `_` and `.`"
  }

  private static func objection(toLocale locale: String) -> String? {
    locale.isName ? nil : "\"\(locale)\" is not a locale; an example is de_DE"
  }

  private static func objection(toTimeZone name: String) -> String? {
    TimeZone(identifier: name) != nil ? nil : "\"\(name)\" is not a time zone; an example is Europe/Zurich"
  }

  mutating func complete(_ reader: inout ConfigurationReader) throws(ClusterError) {
    locale = locale.replacing("-", with: "_")
    try completeSystem(&reader)
  }

  /// Reads the model, the platform and the version.
  ///
  /// - Throws: `configuration`, with the valid values.
  private mutating func completeSystem(_ reader: inout ConfigurationReader) throws(ClusterError) {
    let given = try reader.string("platform")
    let model = try reader.string("model") ?? (given == "iPadOS" ? "iPad" : "iPhone 16")
    guard let screen = DeviceModel.named(model) else {
      let known = DeviceModel.all.map(\.name).joined(separator: ", ")
      throw reader.error("model", "\"\(model)\" is not a known model; use one of: \(known)")
    }
    self.screen = screen
    // Apple uses "iOS" for both systems where versions are concerned.
    platform = screen.isPad ? "iPadOS" : "iOS"
    guard [platform, "iOS"].contains(given ?? platform) else {
      throw reader.error("platform", "\"\(given ?? "")\" does not run on \(model); use \(platform)")
    }
    version = try reader.string("version") ?? version
    guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), (14...99).contains(major) else {
      throw reader.error("version", "\"\(version)\" is not an \(platform) version with widgets, such as \"18.0\"")
    }
    majorVersion = major
  }
}

extension ClusterConfiguration.Product: SettingsPart {
  static let table: [Setting<Self>] = [
    .text(
      "bundle", \.bundle, as: .text(.name(most: 155)), isRequired: true, "The bundle identifier, unique in the file.",
      objection: objection(toBundle:)),
    .text(
      "executable", \.executable, as: .text(.notEmpty), isRequired: true,
      "A path, or a name that is [searched for](authors.md#where-executables-are-looked-for).",
      objection: objection(toExecutable:)),
    .count("agent", \.agent, least: 1, "The number of the agent that spawns it."),
    .dictionary(
      "environment", \.environment, namesOf: TextForm(pattern: "^[^=]+$"),
      "Environment variables. Values may contain `${…}`.",
      objection: objection(toVariable:value:)),
    .group(
      "entitlements",
      [
        .optionalChoice(
          "aps-environment", \.pushEnvironment, of: PushEnvironment.allCases, without: "no pushes",
          "It receives pushes of this environment. All products of an app have the same."),
        .texts(
          "keychain-access-groups", \.keychainGroups, of: .name(most: 200),
          "Access groups of the keychain. The first is the default ([keychain](fidelity/keychain.md)).",
          objection: objection(toAccessGroup:)),
      ], "What it is permitted to do."),
    .path(
      "infoPlist", \.infoPlist, without: "the keys that it needs",
      "The file `Info.plist` of the product."),
    .paths("resources", \.resources, "Files and folders of its bundle, such as `Assets.xcassets`."),
    .optionalText(
      "displayName", \.description.displayName, without: "the name of the executable", "`CFBundleDisplayName`."),
    .text("version", \.description.version, "`CFBundleShortVersionString`."),
    .text("build", \.description.build, "`CFBundleVersion`."),
    .dictionary(
      "buildSettings", \.description.buildSettings,
      "Values of further build settings that the `Info.plist` refers to as `$(NAME)`."),
  ]

  /// The keys of an extension.
  static let extensionTable: [Setting<Self>] = table + [protection]

  private static let protection: Setting<Self> = .choice(
    "dataProtection", \.dataProtection, of: ClusterConfiguration.DataProtection.allCases,
    "Extensions only: the entitlement `com.apple.developer.default-data-protection`.")

  private static func objection(toBundle bundle: String) -> String? {
    bundle.isName && bundle.utf8.count <= 155 ? nil : "\"\(bundle)\" is not a bundle identifier"
  }

  fileprivate static func objection(toExecutable executable: String) -> String? {
    executable.isEmpty ? "must not be empty" : nil
  }

  private static func objection(toAccessGroup group: String) -> String? {
    group.isName && group.utf8.count <= 200 ? nil : "\"\(group)\" is not an access group"
  }

  private static func objection(toVariable name: String, value: String) -> String? {
    guard !name.isEmpty, !name.contains("=") else {
      return "\"\(name)\" is not the name of a variable; it must not be empty or have a ="
    }
    return Expansion.objection(to: value).map { "\(name): \($0)" }
  }
}

extension ClusterConfiguration.Provider: SettingsPart {
  static let table: [Setting<Self>] = [
    .text(
      "executable", \.executable, as: .text(.notEmpty), isRequired: true,
      "Found in the same way as an app's executable.",
      objection: ClusterConfiguration.Product.objection(toExecutable:)),
    .texts(
      "arguments", \.arguments, "Its arguments. They may contain `${…}`.", objection: Expansion.objection(to:)),
  ]
}

extension BusLimits: SettingsPart {
  static let table: [Setting<Self>] = [
    .length(
      "journalLimit", \.journal,
      "Maximum length of the journal. Beyond it, the oldest entries are deleted "
        + "([security](security.md#limits-of-the-broker))."),
    .count("peerLimit", \.peers, least: 1, "Maximum number of connected processes."),
    .seconds("keyGrace", \.keyGrace, most: 86_400, "How long the old key of a renewed one is still accepted."),
    .flag(
      "journalSync", \.synchronizesJournal,
      "`true`: a message is forwarded only when the disk has it, so that the journal survives a "
        + "[power failure](security.md#power-failures)."),
    .endpoint("metrics", \.metrics, "`HOST:PORT` at which the broker exposes [metrics](metrics.md)."),
  ]
}

extension String {
  /// Whether the text can be a component of an address and of a path.
  fileprivate var isName: Bool {
    !isEmpty && self != "." && self != ".."
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}

extension ClusterConfiguration {
  /// The push server, which replaces Apple's.
  package struct PushServer: Sendable, Hashable {
    package var executable = "push-server"
    /// The interface that it listens on.
    package var listen = "127.0.0.1"
    /// The host name to announce and to put into the certificate. Needed when it listens on every interface.
    package var advertise: String?
    /// The port that replaces `api.sandbox.push.apple.com`; 0 selects a free port, and keeps it after a restart.
    package var developmentPort = 0
    /// The port that replaces `api.push.apple.com`.
    package var productionPort = 0
    /// Where it exposes its metrics; `nil` for nowhere.
    package var metrics: MetricsEndpoint?
    /// The URI of a PostgreSQL database, which several replicas share; `nil` for its own SQLite database.
    package var database: String?
    /// How many replicas `widgetlab up` starts: `push-server/1`, `push-server/2` …
    package var replicas = 1
    package var rules = PushRules()

    package init() {}
  }

  /// Rules of the push server, see Documentation/fidelity/apns.md. `table` describes them.
  package struct PushRules: Sendable, Hashable {
    package var logAge: Duration = .seconds(7 * 86_400)
    package var logLimit = 100_000
    package var queueLimit = 10_000
    package var inFlight = 32
    package var storageAge: Duration = .seconds(30 * 86_400)
    package var endedTokenAge: Duration = .seconds(30 * 86_400)
    package var journalRate = 1_000
    package var payloadLimit = 4_096
    package var voipPayloadLimit = 5_120
    package var providerTokenLifetime: Duration = .seconds(3_600)
    package var providerTokenUpdateInterval: Duration = .seconds(1_200)
    package var consecutiveRequests = 0
    package var consecutiveWindow: Duration = .seconds(60)
    package var idleTimeout: Duration = .seconds(3_600)
    package var priority5Interval: Duration = .seconds(15)
    package var priority1Interval: Duration = .seconds(60)
    package var backgroundInterval: Duration = .seconds(1_200)
    package var slowedRefusals = 100
    package var slowedStreams = 1
    package var endedRefusals = 1_000
    package var badDeviceTokenWeight = 2

    package init() {}
  }
}

extension ClusterConfiguration.PushServer: SettingsPart {
  static let table: [Setting<Self>] = ownTable + ClusterConfiguration.PushRules.table

  private static let ownTable: [Setting<Self>] = [
    .text(
      "executable", \.executable, as: .text(.notEmpty), "Found in the same way as an app's executable.",
      objection: ClusterConfiguration.Product.objection(toExecutable:)),
    .text("listen", \.listen, "The interface that it listens on."),
    .optionalText(
      "advertise", \.advertise, without: "that of `listen`",
      "The host name to announce and to put into the certificate; required with `listen: 0.0.0.0`."),
    .optionalText(
      "database", \.database, without: "a SQLite database",
      as: .text(TextForm(pattern: #"^(postgres(ql)?://|\$\{env\.)"#)),
      "The URI of a PostgreSQL database that several push servers share.", objection: objection(toDatabase:)),
    .count(
      "replicas", \.replicas, least: 1, most: 64,
      "How many `widgetlab up` starts with the database: `push-server/1`, `push-server/2` …"),
    .count(
      "developmentPort", \.developmentPort, most: 65_535,
      "The port that replaces `api.sandbox.push.apple.com`; 0 selects a free one once, and keeps it in `ports.json` of "
        + "the instance."),
    .count(
      "productionPort", \.productionPort, most: 65_535, "The same for `api.push.apple.com`."),
    .endpoint("metrics", \.metrics, "`HOST:PORT` at which it exposes [metrics](metrics.md)."),
  ]

  private static func objection(toDatabase database: String) -> String? {
    if let reason = Expansion.objection(to: database) { return reason }
    return isDatabase(database) ? nil : "must begin with postgres:// or postgresql://, or be ${env.NAME}"
  }

  func complete(_ reader: inout ConfigurationReader) throws(ClusterError) {
    guard developmentPort == 0 || developmentPort != productionPort else {
      throw reader.error("productionPort", "is the same as developmentPort: each environment needs its own port")
    }
    guard replicas == 1 || database != nil else {
      throw reader.error("replicas", "more than one needs `database`, a PostgreSQL database that they share")
    }
    guard replicas == 1 || (developmentPort == 0 && productionPort == 0) else {
      throw reader.error("replicas", "more than one needs free ports: remove developmentPort and productionPort")
    }
    guard replicas == 1 || metrics?.port ?? 0 == 0 else {
      throw reader.error("metrics", "more than one replica needs free ports: use the port 0")
    }
    for (name, port) in [("developmentPort", developmentPort), ("productionPort", productionPort)] {
      guard port == 0 || metrics.map({ Int($0.port) != port }) ?? true else {
        throw reader.error("metrics", "has the port of \(name): each server needs its own port")
      }
    }
  }
}

extension ClusterConfiguration.PushRules {
  static let table: [Setting<ClusterConfiguration.PushServer>] = [
    .seconds("logAge", \.rules.logAge, "How long entries of the delivery log are kept."),
    .count("logLimit", \.rules.logLimit, least: 100, "Maximum number of requests in the delivery log."),
    .count(
      "queueLimit", \.rules.queueLimit, least: 1,
      "Maximum number of requests that wait to be written. Further requests get `ServiceUnavailable`."),
    .count(
      "inFlight", \.rules.inFlight, least: 1, most: 1_000,
      "Maximum number of notifications of one subject that are in flight to its device."),
    .seconds("storageAge", \.rules.storageAge, "How long a notification without an expiration is stored."),
    .seconds(
      "endedTokenAge", \.rules.endedTokenAge,
      "How long the push server knows a device token after its end. Later, it is unknown."),
    .count(
      "journalRate", \.rules.journalRate,
      "Maximum number of delivery log entries that are written to the journal per second."),
    .count("payloadLimit", \.rules.payloadLimit, least: 1, most: 8_192, unit: "bytes", "Maximum payload size."),
    .count(
      "voipPayloadLimit", \.rules.voipPayloadLimit, least: 1, most: 8_192, unit: "bytes",
      "Maximum size of a VoIP payload."),
    .seconds("providerTokenLifetime", \.rules.providerTokenLifetime, "Maximum age of a provider token."),
    .seconds(
      "providerTokenUpdateInterval", \.rules.providerTokenUpdateInterval,
      "Minimum time between two changes of the provider token on a connection; 0 for any."),
    .count(
      "consecutiveRequests", \.rules.consecutiveRequests,
      "Maximum number of consecutive requests to one device token on a connection; 0 for any number."),
    .seconds("consecutiveWindow", \.rules.consecutiveWindow, "The time window of `consecutiveRequests`."),
    .seconds(
      "idleTimeout", \.rules.idleTimeout, least: 0.001, "A connection without requests is closed after this long."),
    .seconds(
      "priority5Interval", \.rules.priority5Interval,
      "The time from one burst of notifications of priority 5 to the next on a device; 0 for none."),
    .seconds("priority1Interval", \.rules.priority1Interval, "The same for priority 1."),
    .seconds(
      "backgroundInterval", \.rules.backgroundInterval,
      "The time from one background notification of an app to the next on a device; 0 for none."),
    .count(
      "slowedRefusals", \.rules.slowedRefusals,
      "A connection whose refusals outweigh its successes by this number gets few concurrent streams; 0 for never."),
    .count(
      "slowedStreams", \.rules.slowedStreams, least: 1, most: 1_000, "The concurrent streams of such a connection."),
    .count(
      "endedRefusals", \.rules.endedRefusals,
      "A connection whose refusals outweigh its successes by this number is closed; 0 for never."),
    .count(
      "badDeviceTokenWeight", \.rules.badDeviceTokenWeight, least: 1, "How many refusals a BadDeviceToken counts for."),
  ]
}

extension ClusterConfiguration.PushServer {
  /// Whether a text may be the URI of a PostgreSQL database. Its variables are not expanded yet.
  package static func isDatabase(_ text: String) -> Bool {
    ["postgres://", "postgresql://", "${env."].contains { text.hasPrefix($0) }
  }

  /// Why a text cannot be the name of a replica; `nil` if it can.
  package static func objection(toReplica name: String) -> String? {
    let isPermitted = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    return isPermitted && (1...32).contains(name.utf8.count)
      ? nil : "'\(name)' is not a name of 1 to 32 letters, digits, '-' and '.'"
  }
}
