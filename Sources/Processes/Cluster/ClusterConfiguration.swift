// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
package import Messages
import PrometheusMetrics

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
