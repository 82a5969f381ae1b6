// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
package import Messages
package import PrometheusMetrics

/// The contents of `widgetlab.yaml`: the device, its apps and extensions, the provider, the push server, and the
/// settings of rules that Apple does not document.
package struct ClusterConfiguration: Sendable, Hashable {
  package struct Device: Sendable, Hashable {
    /// The device's name on the bus: letters, digits, `-`, `_`, `.`.
    package let name: String
    /// The device model. It determines whether the device is a phone or a tablet.
    package let screen: DeviceModel
    /// `iOS` or `iPadOS`.
    package let platform: String
    package let version: String
    /// Determines the availability of a widget's modifiers, families and locations.
    package let majorVersion: Int
    package var model: String { screen.name }
    /// Language and region, such as `de_DE`.
    package let locale: String
    /// A name such as `Europe/Zurich`; `nil` for the machine's time zone.
    package let timeZone: String?

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
    package let bundle: String
    /// A name in the folder of the agent's executables, or an absolute path.
    package let executable: String
    /// The number of the agent that spawns it.
    package let agent: Int
    /// Unexpanded; `ClusterConfiguration.environment(of:in:)` expands it.
    package let environment: [String: String]
    package let isExtension: Bool
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
    package let executable: String
    /// Unexpanded; `ClusterConfiguration.arguments(of:in:)` expands them.
    package let arguments: [String]
  }

  package let device: Device
  package let appGroups: [String]
  package let apps: [Product]
  package let extensions: [Product]
  /// `nil` when the backend runs elsewhere.
  package let provider: Provider?
  /// `nil` when no pushes are used.
  package let pushServer: PushServer?
  package let settings: Settings
  /// The limits of the broker.
  package let bus: BusLimits

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
    var root = try ConfigurationReader(node, file: file, path: "")
    var device = try root.requiredMapping("device")
    self.device = try Device(reading: &device)
    appGroups = try root.strings("appGroups")
    apps = try root.mappings("apps").map { reader throws(ClusterError) in
      try Product(reading: reader, isExtension: false)
    }
    extensions = try root.mappings("extensions").map { reader throws(ClusterError) in
      try Product(reading: reader, isExtension: true)
    }
    provider = try root.mapping("provider").map { reader throws(ClusterError) in try Provider(reading: reader) }
    let pushing = try root.mapping("pushServer").map { reader throws(ClusterError) in try PushServer(reading: reader) }
    let isMeant = root.has("pushServer") || (apps + extensions).contains(where: \.receivesPushes)
    pushServer = pushing ?? (isMeant ? PushServer() : nil)
    settings =
      try root.mapping("settings").map { reader throws(ClusterError) in try Settings(reading: reader) }
      ?? Settings()
    bus = try root.mapping("bus").map { reader throws(ClusterError) in try BusLimits(reading: reader) } ?? BusLimits()
    // With another address, each may run in its own container.
    if let metrics = bus.metrics, metrics.port != 0, metrics == pushServer?.metrics, metrics.isLoopback {
      throw root.error("pushServer", "metrics: has the port of bus: metrics; each process needs its own port")
    }
    try root.finish()
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
    for group in appGroups where !group.isName {
      throw ClusterError(.configuration, "\(file): appGroups: \"\(group)\" is not a group identifier")
    }
  }
}

extension ClusterConfiguration.Device {
  fileprivate init(reading reader: inout ConfigurationReader) throws(ClusterError) {
    name = try reader.requiredString("name")
    guard name.isName else {
      throw reader.error("name", "\"\(name)\" is not a device name; use letters, digits, `-`, `_` and `.`")
    }
    let system = try Self.system(&reader)
    screen = system.screen
    platform = system.platform
    version = system.version
    majorVersion = system.majorVersion
    locale = try reader.string("locale")?.replacingOccurrences(of: "-", with: "_") ?? "en_US"
    guard locale.isName else { throw reader.error("locale", "\"\(locale)\" is not a locale; an example is de_DE") }
    timeZone = try reader.string("timeZone")
    if let timeZone, TimeZone(identifier: timeZone) == nil {
      throw reader.error("timeZone", "\"\(timeZone)\" is not a time zone; an example is Europe/Zurich")
    }
    try reader.finish()
  }
}

extension ClusterConfiguration.Product {
  fileprivate init(reading mapping: ConfigurationReader, isExtension: Bool) throws(ClusterError) {
    var reader = mapping
    bundle = try reader.requiredString("bundle")
    guard bundle.isName, bundle.utf8.count <= 155 else {
      throw reader.error("bundle", "\"\(bundle)\" is not a bundle identifier")
    }
    executable = try reader.requiredString("executable")
    guard !executable.isEmpty else { throw reader.error("executable", "must not be empty") }
    agent = try reader.integer("agent") ?? 1
    guard agent > 0 else { throw reader.error("agent", "must be at least 1") }
    environment = try reader.dictionary("environment")
    for (name, value) in environment {
      guard !name.isEmpty, !name.contains("=") else {
        throw reader.error("environment", "\"\(name)\" is not the name of a variable; it must not be empty or have a =")
      }
      do {
        try Expansion.check(value)
      } catch {
        throw reader.error("environment", "\(name): \(error.message)")
      }
    }
    self.isExtension = isExtension
    if let text = try reader.string("dataProtection") {
      guard let protection = ClusterConfiguration.DataProtection(rawValue: text), isExtension else {
        let known = ClusterConfiguration.DataProtection.allCases.map(\.rawValue).joined(separator: ", ")
        throw reader.error("dataProtection", "applies to extensions only, and must be one of: \(known)")
      }
      dataProtection = protection
    }
    if var entitlements = try reader.mapping("entitlements") {
      pushEnvironment = try PushEnvironment(reading: &entitlements)
      keychainGroups = try entitlements.strings("keychain-access-groups")
      for group in keychainGroups where !group.isName || group.utf8.count > 200 {
        throw entitlements.error("keychain-access-groups", "\"\(group)\" is not an access group")
      }
      try entitlements.finish()
    }
    infoPlist = try reader.string("infoPlist").map(reader.beside)
    resources = try reader.strings("resources").map(reader.beside)
    description = try BundleDescription(reading: &reader)
    try reader.finish()
  }
}

extension ClusterConfiguration.Provider {
  fileprivate init(reading mapping: ConfigurationReader) throws(ClusterError) {
    var reader = mapping
    executable = try reader.requiredString("executable")
    arguments = try reader.strings("arguments")
    for argument in arguments {
      do {
        try Expansion.check(argument)
      } catch {
        throw reader.error("arguments", error.message)
      }
    }
    try reader.finish()
  }
}

extension BusLimits {
  fileprivate init(reading mapping: ConfigurationReader) throws(ClusterError) {
    var reader = mapping
    self.init()
    if let text = try reader.string("journalLimit") {
      guard let length = ByteCount(argument: text) else {
        throw reader.error("journalLimit", "\"\(text)\" is not a length of at least 64KiB, such as 512MiB")
      }
      journal = length
    }
    peers = try reader.integer("peerLimit") ?? peers
    guard peers > 0 else { throw reader.error("peerLimit", "must be at least 1") }
    keyGrace = try reader.seconds("keyGrace") ?? keyGrace
    guard keyGrace <= .seconds(86_400) else { throw reader.error("keyGrace", "must be at most 86400 (one day)") }
    synchronizesJournal = try reader.boolean("journalSync") ?? synchronizesJournal
    metrics = try reader.metricsEndpoint()
    try reader.finish()
  }
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
  /// Settings of the gallery and the screen that Apple does not document, see Documentation/fidelity/gallery.md.
  package struct GallerySettings: Sendable, Hashable {
    /// One widget of each kind is placed on a screen as soon as its extension announces the kind.
    package var placesEachKind = true
    /// A widget without `supportedFamilies` also supports the accessory families.
    package var defaultFamiliesIncludeAccessory = true
    /// Default content margin of the Home Screen and the Today View, in points.
    package var contentMargin = 16
    /// `accented` for a tinted Home Screen.
    package var homeScreenRenderingMode = RenderingModeName.fullColor
    /// `vibrant` for StandBy in low light.
    package var standByRenderingMode = RenderingModeName.fullColor
    /// Sensitive content is hidden while the device is locked.
    package var hidesSensitiveContent = true
    /// Smart Rotate does not turn a stack for this long after the user turned it; 0 for no limit.
    package var smartRotatePause: Duration = .seconds(1800)

    package init() {}
  }
}

extension ClusterConfiguration.Settings {
  mutating func readGallery(_ reader: inout ConfigurationReader) throws(ClusterError) {
    var own = gallery
    own.placesEachKind = try reader.boolean("placesEachKind") ?? own.placesEachKind
    own.defaultFamiliesIncludeAccessory =
      try reader.boolean("defaultFamiliesIncludeAccessory") ?? own.defaultFamiliesIncludeAccessory
    own.contentMargin = try reader.integer("contentMargin") ?? own.contentMargin
    own.hidesSensitiveContent = try reader.boolean("hidesSensitiveContent") ?? own.hidesSensitiveContent
    own.smartRotatePause = try reader.seconds("smartRotatePause") ?? own.smartRotatePause
    let home = try reader.string("homeScreenRenderingMode") ?? own.homeScreenRenderingMode.rawValue
    let standBy = try reader.string("standByRenderingMode") ?? own.standByRenderingMode.rawValue
    guard (0...100).contains(own.contentMargin) else { throw reader.error("contentMargin", "must be 0 to 100 points") }
    guard let homeMode = RenderingModeName(rawValue: home), homeMode != .vibrant else {
      throw reader.error("homeScreenRenderingMode", "must be fullColor or accented")
    }
    guard let standByMode = RenderingModeName(rawValue: standBy), standByMode != .accented else {
      throw reader.error("standByRenderingMode", "must be fullColor or vibrant")
    }
    own.homeScreenRenderingMode = homeMode
    own.standByRenderingMode = standByMode
    gallery = own
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

  /// Rules of the push server, see Documentation/fidelity/apns.md.
  package struct PushRules: Sendable, Hashable {
    /// How long entries of the delivery log are kept.
    package var logAge: Duration = .seconds(7 * 86_400)
    /// Maximum number of requests in the delivery log.
    package var logLimit = 100_000
    /// Maximum number of requests that wait to be written. Further requests get `ServiceUnavailable`.
    package var queueLimit = 10_000
    /// Maximum number of notifications of one subject that are in flight to its device.
    package var inFlight = 32
    /// How long a notification without an expiration is stored.
    package var storageAge: Duration = .seconds(30 * 86_400)
    /// How long the push server knows a device token after its end. Later, it is unknown.
    package var endedTokenAge: Duration = .seconds(30 * 86_400)
    /// Maximum number of delivery log entries that are written to the journal per second.
    package var journalRate = 1_000
    /// Maximum payload size, bytes.
    package var payloadLimit = 4_096
    /// Maximum VoIP payload size, bytes.
    package var voipPayloadLimit = 5_120
    /// Maximum age of a provider token.
    package var providerTokenLifetime: Duration = .seconds(3_600)
    /// Minimum time between two changes of the provider token on a connection; 0 for any.
    package var providerTokenUpdateInterval: Duration = .seconds(1_200)
    /// Maximum number of consecutive requests to one device token on a connection; 0 for any number.
    package var consecutiveRequests = 0
    /// The time window of `consecutiveRequests`.
    package var consecutiveWindow: Duration = .seconds(60)
    /// A connection without requests is closed after this long.
    package var idleTimeout: Duration = .seconds(3_600)
    /// The time from one burst of notifications of priority 5 to the next on a device; 0 for none.
    package var priority5Interval: Duration = .seconds(15)
    /// The same for priority 1.
    package var priority1Interval: Duration = .seconds(60)
    /// The time from one background notification of an app to the next on a device; 0 for none.
    package var backgroundInterval: Duration = .seconds(1_200)
    /// A connection whose refusals outweigh its successes by this number gets few concurrent streams; 0 for never.
    package var slowedRefusals = 100
    /// The concurrent streams of such a connection.
    package var slowedStreams = 1
    /// A connection whose refusals outweigh its successes by this number is closed; 0 for never.
    package var endedRefusals = 1_000
    /// How many refusals a BadDeviceToken counts for.
    package var badDeviceTokenWeight = 2

    package init() {}
  }
}

extension ClusterConfiguration.PushServer {
  init(reading mapping: ConfigurationReader) throws(ClusterError) {
    var reader = mapping
    self.init()
    executable = try reader.string("executable") ?? executable
    listen = try reader.string("listen") ?? listen
    advertise = try reader.string("advertise")
    developmentPort = try reader.integer("developmentPort") ?? developmentPort
    productionPort = try reader.integer("productionPort") ?? productionPort
    for (name, port) in [("developmentPort", developmentPort), ("productionPort", productionPort)] {
      guard (0...65_535).contains(port) else { throw reader.error(name, "must be a port, or 0 for a free port") }
    }
    guard developmentPort == 0 || developmentPort != productionPort else {
      throw reader.error("productionPort", "is the same as developmentPort: each environment needs its own port")
    }
    guard !executable.isEmpty else { throw reader.error("executable", "must not be empty") }
    metrics = try reader.metricsEndpoint()
    database = try reader.string("database")
    replicas = try reader.integer("replicas") ?? replicas
    if let database {
      do { try Expansion.check(database) } catch { throw reader.error("database", "\(error)") }
      guard Self.isDatabase(database) else {
        throw reader.error("database", "must begin with postgres:// or postgresql://, or be ${env.NAME}")
      }
    }
    guard (1...64).contains(replicas) else { throw reader.error("replicas", "must be 1 to 64") }
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
    try rules.read(&reader)
    try reader.finish()
  }
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

extension ClusterConfiguration.PushRules {
  fileprivate mutating func read(_ reader: inout ConfigurationReader) throws(ClusterError) {
    logAge = try reader.seconds("logAge") ?? logAge
    logLimit = try reader.integer("logLimit") ?? logLimit
    queueLimit = try reader.integer("queueLimit") ?? queueLimit
    inFlight = try reader.integer("inFlight") ?? inFlight
    storageAge = try reader.seconds("storageAge") ?? storageAge
    endedTokenAge = try reader.seconds("endedTokenAge") ?? endedTokenAge
    journalRate = try reader.integer("journalRate") ?? journalRate
    payloadLimit = try reader.integer("payloadLimit") ?? payloadLimit
    voipPayloadLimit = try reader.integer("voipPayloadLimit") ?? voipPayloadLimit
    providerTokenLifetime = try reader.seconds("providerTokenLifetime") ?? providerTokenLifetime
    providerTokenUpdateInterval = try reader.seconds("providerTokenUpdateInterval") ?? providerTokenUpdateInterval
    consecutiveRequests = try reader.integer("consecutiveRequests") ?? consecutiveRequests
    consecutiveWindow = try reader.seconds("consecutiveWindow") ?? consecutiveWindow
    idleTimeout = try reader.seconds("idleTimeout") ?? idleTimeout
    priority5Interval = try reader.seconds("priority5Interval") ?? priority5Interval
    priority1Interval = try reader.seconds("priority1Interval") ?? priority1Interval
    backgroundInterval = try reader.seconds("backgroundInterval") ?? backgroundInterval
    try readRefusals(&reader)
    guard logLimit >= 100 else { throw reader.error("logLimit", "must be at least 100") }
    guard queueLimit >= 1 else { throw reader.error("queueLimit", "must be at least 1") }
    guard (1...1_000).contains(inFlight) else { throw reader.error("inFlight", "must be 1 to 1000") }
    guard journalRate >= 0 else { throw reader.error("journalRate", "must be 0 or more") }
    for (name, limit) in [("payloadLimit", payloadLimit), ("voipPayloadLimit", voipPayloadLimit)] {
      guard (1...8_192).contains(limit) else { throw reader.error(name, "must be 1 to 8192 bytes") }
    }
    guard consecutiveRequests >= 0 else { throw reader.error("consecutiveRequests", "must be 0 or more") }
    guard idleTimeout > .zero else { throw reader.error("idleTimeout", "must be more than 0") }
  }

  private mutating func readRefusals(_ reader: inout ConfigurationReader) throws(ClusterError) {
    slowedRefusals = try reader.integer("slowedRefusals") ?? slowedRefusals
    slowedStreams = try reader.integer("slowedStreams") ?? slowedStreams
    endedRefusals = try reader.integer("endedRefusals") ?? endedRefusals
    badDeviceTokenWeight = try reader.integer("badDeviceTokenWeight") ?? badDeviceTokenWeight
    for (name, value) in [("slowedRefusals", slowedRefusals), ("endedRefusals", endedRefusals)] {
      guard value >= 0 else { throw reader.error(name, "must be 0 or more") }
    }
    guard (1...1_000).contains(slowedStreams) else { throw reader.error("slowedStreams", "must be 1 to 1000") }
    guard badDeviceTokenWeight >= 1 else { throw reader.error("badDeviceTokenWeight", "must be at least 1") }
  }
}

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
