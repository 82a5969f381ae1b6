// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import DefaultsLog
import Device
import DeviceRules
import Foundation
import Messages
import Timekeeping

// User actions on the device.

extension Device {
  /// Brings an app to the foreground.
  ///
  /// - Returns: its address.
  @discardableResult
  func open(_ bundle: String, _ context: MessageContext) throws -> Address {
    let app = try core.state.apps.app(bundle).address
    let _: DeviceScreen = try core.ask(.gallery(.open(app: bundle, context)))
    core.handle(.apps(.opened(app)))
    return app
  }

  /// An update replaces these products, of which none runs. The next instances of the extensions may have other widgets:
  /// the next reload of all widgets launches them. If the replacement fails, the same widgets are learned again.
  func replaced(_ products: [Address]) {
    let extensions = products.filter { $0.role == .widgetExtension }
    gallery.outdate(extensions)
    core.handle(.timelines(.kindsForgotten(extensions)))
  }

  /// Terminates the app and cancels its transfers; only the user can relaunch it. Its extensions continue (ours).
  func forceQuit(_ request: ForceQuitApp) async throws {
    let app = try core.state.apps.app(request.bundle).address
    core.handle(.apps(.forceQuit(app)))
    try core.record(.launching(.quit(app)))
    try await transfers.forceQuit(app)
  }
}

// Reports of failed launches.

extension Device {
  func outcome(of request: AwaitLaunch) async -> [LaunchFailure] {
    let deadline = ContinuousClock.now + .saturating(seconds: request.limit)
    var failures: [LaunchFailure] = []
    for address in addresses(of: request) {
      let left = max(.zero, deadline - .now)
      if let error = await launcher.launchOutcome(of: address, within: left) {
        failures.append(LaunchFailure(address: address, error: error))
      }
    }
    return failures
  }

  private func addresses(of request: AwaitLaunch) -> [Address] {
    let name = configuration.device.name
    if let bundle = request.bundle { return configuration.product(bundle).map { [$0.address(on: name)] } ?? [] }
    let known = core.state.gallery.state.declarations
    let extensions = configuration.extensions.filter { product in
      guard let kind = request.widgetKind, let widgets = known[product.bundle] else { return true }
      return widgets.contains { $0.kind == kind }
    }
    return extensions.map { $0.address(on: name) }.sorted { $0.text < $1.text }
  }

  /// The extensions whose last launch failed.
  var failedExtensions: [LaunchFailure] {
    failures(of: configuration.extensions.map { $0.address(on: configuration.device.name) })
  }

  /// Why the last launch of each of these processes failed. A process that runs or was never launched is left out.
  func failures(of addresses: [Address]) -> [LaunchFailure] {
    addresses.compactMap { address in
      launcher.launchFailure(of: address).map { LaunchFailure(address: address, error: $0) }
    }
  }

  /// Keeps a process running during `work`, which begins after the launch, or when the time for a timeline is over.
  ///
  /// - Throws: why the process cannot be launched, before `work` begins; errors of `work`.
  func withLaunched<T>(
    _ address: Address, because assertion: Assertion, _ work: () async throws(BusError) -> T
  ) async throws(BusError) -> T {
    launcher.want(address, because: assertion)
    let result: Result<T, BusError>
    if let failure = await launcher.launchOutcome(of: address, within: configuration.settings.timelineDeadline) {
      result = .failure(failure)
    } else {
      do throws(BusError) {
        result = .success(try await work())
      } catch {
        result = .failure(error)
      }
    }
    launcher.release(address, because: assertion)
    return try result.get()
  }
}

// The operator's access to the user defaults of the device's processes.

extension Device {
  func read(_ request: ReadDefaults) throws -> ReadDefaults.Reply {
    guard let domain = request.domain else { return ReadDefaults.Reply(domains: try defaults.domains) }
    let values = try defaults.values(of: domain, key: request.key)
    return ReadDefaults.Reply(values: values)
  }

  func write(_ request: WriteDefaults) throws {
    switch request.change {
    case .set(let key, let value):
      try defaults.file(of: request.domain).append(.value(key, try value.propertyList()))
    case .remove(let key):
      _ = try defaults.values(of: request.domain, key: key)
      try defaults.file(of: request.domain).append(.removal(key))
    case .clear:
      _ = try defaults.values(of: request.domain, key: nil)
      try defaults.file(of: request.domain).append(.clear)
    }
  }
}

/// The domains of user defaults of a device, by the names that an operator uses: see `ReadDefaults`.
struct DefaultsDomains: Sendable {
  /// The apps and extensions.
  let bundles: [String]
  /// The folders of the app groups, by identifier.
  let groups: [String: String]
  /// The container of an app or an extension.
  let container: @Sendable (String) -> String?

  /// The domains that have a value.
  var domains: [String] {
    get throws {
      var names = groups.keys.filter { DefaultsFile.domains(in: groups[$0] ?? "").contains($0) }.sorted()
      for bundle in bundles.sorted() {
        let suites = container(bundle).map { DefaultsFile.domains(in: $0) } ?? []
        names += suites.map { $0 == bundle ? bundle : "\(bundle)/\($0)" }
      }
      return try names.filter { try !file(of: $0).values().isEmpty }
    }
  }

  /// The file of a domain, which need not exist. It is opened for this request only, so that it can be compacted.
  ///
  /// - Throws: `no-such-domain`.
  func file(of domain: String) throws(BusError) -> DefaultsFile {
    if let folder = groups[domain] { return DefaultsFile(DefaultsFile.path(of: domain, in: folder)) }
    let parts = domain.split(separator: "/", maxSplits: 1).map(String.init)
    guard let bundle = parts.first, bundles.contains(bundle), let folder = container(bundle) else {
      let known = groups.keys.sorted() + bundles.sorted()
      throw BusError(
        .noSuchDomain,
        "there is no domain \(domain); the app groups and bundles of this device: \(known.joined(separator: ", "))")
    }
    return DefaultsFile(DefaultsFile.path(of: parts.count > 1 ? parts[1] : bundle, in: folder))
  }

  /// The values of a domain, or of one key.
  ///
  /// - Throws: `no-such-domain`, also when it has no value; `no-such-key`.
  func values(of domain: String, key: String?) throws -> [String: DefaultsValue] {
    let values = try file(of: domain).values()
    guard !values.isEmpty else { throw BusError(.noSuchDomain, "the domain \(domain) has no values") }
    if let key, values[key] == nil { throw BusError(.noSuchKey, "the domain \(domain) has no key \(key)") }
    return values.filter { key == nil || $0.key == key }.compactMapValues { DefaultsValue(propertyList: $0) }
  }
}

// Pictures of widgets that are not placed.

extension Device {
  /// The views of a widget that is not placed. Its extension is launched for them.
  func archive(_ request: ArchiveWidget) async throws(BusError) -> ArchiveWidget.Reply {
    if request.bundle == nil { try core.state.gallery.requireOneBundle(of: request.widgetKind) }
    let (machine, location) = try core.state.gallery.showing(
      request.widgetKind, of: request.bundle, request.family, in: request.renderingMode)
    @Sendable func placed(_ placement: Placement) -> Placement {
      Placement(
        id: placement.id, bundle: placement.bundle, kind: placement.kind, family: request.family, location: location)
    }
    @DeviceActor func settings(_ placement: Placement) -> DeviceSettings {
      var values: [SettingName: String] = [:]
      values[.textSize] = request.textSize?.rawValue
      values[.locale] = request.locale
      let address = Address.widgetExtension(configuration.device.name, placement.bundle)
      return core.state.settings.settings(of: address).applying(values)
    }
    let foundEntries = try await timelines.entries(
      of: request.widgetKind, from: request.bundle, request.family, request.entries == .snapshot ? .snapshot : .timeline
    ) {
      var environment = machine.environment(of: placed($0))
      environment.settings = settings($0)
      return environment
    }
    let ownSettings = settings(foundEntries.placement)
    let entries = foundEntries.entries.prefix(request.entries == .all ? foundEntries.entries.count : 1)
      .map { machine.entry($0, of: placed(foundEntries.placement), locale: ownSettings.locale) }
    let shown = Set(entries.flatMap { [$0.light.view, $0.dark?.view].compactMap(\.self).flatMap(\.imageDigests) })
    return ArchiveWidget.Reply(
      entries: entries, settings: ownSettings, tint: machine.device.tint(at: location),
      images: foundEntries.images.filter { shown.contains($0.key) })
  }
}

extension ClusterConfiguration {
  /// The properties of the products that concern pushes.
  var pushProducts: [PushProduct] {
    products.map { product in
      let app = apps.first { app in extensions(ofApp: app.bundle).contains(product) }
      return PushProduct(
        address: product.address(on: device.name), app: app?.bundle ?? product.bundle,
        environment: product.pushEnvironment)
    }
  }

  /// Source: the availability of `WidgetPushHandler`.
  var hasWidgetPushes: Bool { device.majorVersion >= 26 }
}
