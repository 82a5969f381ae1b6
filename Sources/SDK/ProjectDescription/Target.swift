// SPDX-License-Identifier: Apache-2.0

public enum Platform: String, CaseIterable, Sendable { case iOS, macOS, watchOS, tvOS, visionOS }

public typealias Destinations = Set<Destination>

public enum Destination: String, CaseIterable, Sendable {
  case iPhone, iPad, mac, macWithiPadDesign, macCatalyst, appleWatch, appleTv, appleVision, appleVisionWithiPadDesign

  public var platform: Platform {
    switch self {
    case .iPhone, .iPad, .macWithiPadDesign, .macCatalyst, .appleVisionWithiPadDesign: .iOS
    case .mac: .macOS
    case .appleWatch: .watchOS
    case .appleTv: .tvOS
    case .appleVision: .visionOS
    }
  }
}

extension Set<Destination> {
  public static let iOS: Destinations = [.iPhone, .iPad, .macWithiPadDesign, .appleVisionWithiPadDesign]
  public static let macOS: Destinations = [.mac]
  public static let watchOS: Destinations = [.appleWatch]
  public static let tvOS: Destinations = [.appleTv]
  public static let visionOS: Destinations = [.appleVision]

  public var platforms: Set<Platform> { Set<Platform>(map(\.platform)) }
}

public struct DeploymentTargets: Equatable, Sendable {
  public var iOS: String?
  public var macOS: String?
  public var watchOS: String?
  public var tvOS: String?
  public var visionOS: String?

  public static func iOS(_ version: String) -> DeploymentTargets { DeploymentTargets(iOS: version) }
  public static func macOS(_ version: String) -> DeploymentTargets { DeploymentTargets(macOS: version) }
  public static func watchOS(_ version: String) -> DeploymentTargets { DeploymentTargets(watchOS: version) }
  public static func tvOS(_ version: String) -> DeploymentTargets { DeploymentTargets(tvOS: version) }
  public static func visionOS(_ version: String) -> DeploymentTargets { DeploymentTargets(visionOS: version) }
  public static func multiplatform(
    iOS: String? = nil, macOS: String? = nil, watchOS: String? = nil, tvOS: String? = nil, visionOS: String? = nil
  ) -> DeploymentTargets {
    DeploymentTargets(iOS: iOS, macOS: macOS, watchOS: watchOS, tvOS: tvOS, visionOS: visionOS)
  }

  var description: Description {
    .keys([
      "iOS": iOS.map { .text($0) }, "macOS": macOS.map { .text($0) }, "watchOS": watchOS.map { .text($0) },
      "tvOS": tvOS.map { .text($0) }, "visionOS": visionOS.map { .text($0) },
    ])
  }
}

/// The lowest system, in the form of Tuist 3.
public enum DeploymentTarget: Equatable, Sendable {
  case iOS(targetVersion: String, devices: DeploymentDevice, supportsMacDesignedForIOS: Bool = true)
  case macOS(targetVersion: String)
  case watchOS(targetVersion: String)
  case tvOS(targetVersion: String)

  var targets: DeploymentTargets {
    switch self {
    case .iOS(let version, _, _): .iOS(version)
    case .macOS(let version): .macOS(version)
    case .watchOS(let version): .watchOS(version)
    case .tvOS(let version): .tvOS(version)
    }
  }
}

public struct DeploymentDevice: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public static let iphone = DeploymentDevice(rawValue: 1)
  public static let ipad = DeploymentDevice(rawValue: 2)
  public static let mac = DeploymentDevice(rawValue: 4)
  public static let vision = DeploymentDevice(rawValue: 8)
}

/// The type of a target. The raw value is the ending of Xcode's type.
public enum Product: String, CaseIterable, Sendable {
  case app = "application"
  case appClip = "application.on-demand-install-capable"
  case staticLibrary = "library.static"
  case dynamicLibrary = "library.dynamic"
  case framework = "framework"
  case staticFramework = "framework.static"
  case unitTests = "bundle.unit-test"
  case uiTests = "bundle.ui-testing"
  case bundle = "bundle"
  case commandLineTool = "tool"
  case appExtension = "app-extension"
  case extensionKitExtension = "extensionkit-extension"
  case watch2App = "application.watchapp2"
  case watch2Extension = "watchkit2-extension"
  case tvTopShelfExtension = "tv-app-extension"
  case messagesExtension = "app-extension.messages"
  case stickerPackExtension = "app-extension.messages-sticker-pack"
  case xpc = "xpc-service"
  case systemExtension = "system-extension"
  case macro = "macro"
}

public struct Target: Equatable, Sendable {
  public var name: String
  public var destinations: Destinations
  public var product: Product
  public var productName: String?
  public var bundleId: String
  public var deploymentTargets: DeploymentTargets?
  public var infoPlist: InfoPlist?
  public var sources: SourceFilesList?
  public var resources: ResourceFileElements?
  public var buildableFolders: [BuildableFolder]
  public var entitlements: Entitlements?
  public var scripts: [TargetScript]
  public var dependencies: [TargetDependency]
  public var settings: Settings?

  public static func target(
    name: String, destinations: Destinations, product: Product, productName: String? = nil, bundleId: String,
    deploymentTargets: DeploymentTargets? = nil, infoPlist: InfoPlist? = .default, sources: SourceFilesList? = nil,
    resources: ResourceFileElements? = nil, buildableFolders: [BuildableFolder] = [],
    copyFiles: [CopyFilesAction]? = nil, headers: Headers? = nil, entitlements: Entitlements? = nil,
    scripts: [TargetScript] = [], dependencies: [TargetDependency] = [], settings: Settings? = nil,
    coreDataModels: [CoreDataModel] = [], environmentVariables: [String: EnvironmentVariable] = [:],
    launchArguments: [LaunchArgument] = [], additionalFiles: [FileElement] = [], buildRules: [BuildRule] = [],
    mergedBinaryType: MergedBinaryType = .disabled, mergeable: Bool = false,
    onDemandResourcesTags: OnDemandResourcesTags? = nil, metadata: TargetMetadata = .default
  ) -> Target {
    Target(
      name: name, destinations: destinations, product: product, productName: productName, bundleId: bundleId,
      deploymentTargets: deploymentTargets, infoPlist: infoPlist, sources: sources, resources: resources,
      buildableFolders: buildableFolders, entitlements: entitlements, scripts: scripts, dependencies: dependencies,
      settings: settings)
  }

  var description: Description {
    .keys([
      "name": .text(name), "destinations": .texts(destinations.map(\.rawValue).sorted()),
      "platforms": .texts(destinations.platforms.map(\.rawValue).sorted()), "product": .text(product.rawValue),
      "productName": productName.map { .text($0) }, "bundleId": .text(bundleId),
      "deploymentTargets": deploymentTargets?.description, "infoPlist": infoPlist?.description,
      "sources": .list((sources?.globs ?? []).map(\.description)),
      "resources": .list((resources?.elements ?? []).map(\.description)),
      "folders": .list(buildableFolders.map(\.description)), "entitlements": entitlements?.description,
      "scripts": .texts(scripts.map(\.name)), "dependencies": .list(dependencies.map(\.description)),
      "settings": settings?.description,
    ])
  }
}

extension Target {
  /// The form of Tuist 3, with one platform.
  public init(
    name: String, platform: Platform, product: Product, productName: String? = nil, bundleId: String,
    deploymentTarget: DeploymentTarget? = nil, infoPlist: InfoPlist? = .default, sources: SourceFilesList? = nil,
    resources: ResourceFileElements? = nil, copyFiles: [CopyFilesAction]? = nil, headers: Headers? = nil,
    entitlements: Entitlements? = nil, scripts: [TargetScript] = [], dependencies: [TargetDependency] = [],
    settings: Settings? = nil, coreDataModels: [CoreDataModel] = [], environment: [String: String] = [:],
    launchArguments: [LaunchArgument] = [], additionalFiles: [FileElement] = [], buildRules: [BuildRule] = []
  ) {
    let all = Destination.allCases.filter { $0.platform == platform }
    self.init(
      name: name, destinations: Set(all), product: product, productName: productName, bundleId: bundleId,
      deploymentTargets: deploymentTarget?.targets, infoPlist: infoPlist, sources: sources, resources: resources,
      buildableFolders: [],
      entitlements: entitlements, scripts: scripts, dependencies: dependencies, settings: settings)
  }

  /// The form of Tuist 3, with destinations.
  public init(
    name: String, destinations: Destinations, product: Product, productName: String? = nil, bundleId: String,
    deploymentTargets: DeploymentTargets? = nil, infoPlist: InfoPlist? = .default, sources: SourceFilesList? = nil,
    resources: ResourceFileElements? = nil, copyFiles: [CopyFilesAction]? = nil, headers: Headers? = nil,
    entitlements: Entitlements? = nil, scripts: [TargetScript] = [], dependencies: [TargetDependency] = [],
    settings: Settings? = nil, coreDataModels: [CoreDataModel] = [],
    environmentVariables: [String: EnvironmentVariable] = [:], launchArguments: [LaunchArgument] = [],
    additionalFiles: [FileElement] = [], buildRules: [BuildRule] = []
  ) {
    self.init(
      name: name, destinations: destinations, product: product, productName: productName, bundleId: bundleId,
      deploymentTargets: deploymentTargets, infoPlist: infoPlist, sources: sources, resources: resources,
      buildableFolders: [],
      entitlements: entitlements, scripts: scripts, dependencies: dependencies, settings: settings)
  }
}

// MARK: Accepted without effect

public struct TargetScript: Equatable, Sendable {
  let name: String

  public static func pre(
    script: String = "", name: String, inputPaths: [Path] = [], inputFileListPaths: [Path] = [],
    outputPaths: [Path] = [], outputFileListPaths: [Path] = [], basedOnDependencyAnalysis: Bool? = nil,
    runForInstallBuildsOnly: Bool = false, shellPath: String = "/bin/sh", dependencyFile: Path? = nil
  ) -> TargetScript { TargetScript(name: name) }
  public static func post(
    script: String = "", name: String, inputPaths: [Path] = [], inputFileListPaths: [Path] = [],
    outputPaths: [Path] = [], outputFileListPaths: [Path] = [], basedOnDependencyAnalysis: Bool? = nil,
    runForInstallBuildsOnly: Bool = false, shellPath: String = "/bin/sh", dependencyFile: Path? = nil
  ) -> TargetScript { TargetScript(name: name) }
  public static func pre(
    path: Path, arguments: String..., name: String, inputPaths: [Path] = [], outputPaths: [Path] = [],
    basedOnDependencyAnalysis: Bool? = nil
  ) -> TargetScript { TargetScript(name: name) }
  public static func post(
    path: Path, arguments: String..., name: String, inputPaths: [Path] = [], outputPaths: [Path] = [],
    basedOnDependencyAnalysis: Bool? = nil
  ) -> TargetScript { TargetScript(name: name) }
}

public struct CopyFilesAction: Equatable, Sendable {
  public static func resources(name: String, subpath: String? = nil, files: [FileElement]) -> CopyFilesAction {
    CopyFilesAction()
  }
}

public struct Headers: Equatable, Sendable {
  public static func headers(
    public: [FileElement]? = nil, private: [FileElement]? = nil, project: [FileElement]? = nil
  ) -> Headers { Headers() }
}

public struct CoreDataModel: Equatable, Sendable {
  public static func coreDataModel(_ path: Path, currentVersion: String? = nil) -> CoreDataModel { CoreDataModel() }
}

public struct EnvironmentVariable: ExpressibleByStringInterpolation, Equatable, Sendable {
  public static func environmentVariable(value: String, isEnabled: Bool) -> EnvironmentVariable {
    EnvironmentVariable(stringLiteral: value)
  }
  public init(stringLiteral value: String) {}
}

public struct LaunchArgument: Equatable, Sendable {
  public static func launchArgument(name: String, isEnabled: Bool) -> LaunchArgument { LaunchArgument() }
}

public struct BuildRule: Equatable, Sendable {}
public enum MergedBinaryType: Equatable, Sendable {
  case disabled, automatic
  case manual(mergeableDependencies: Set<String>)
}
public struct OnDemandResourcesTags: Equatable, Sendable {}
public struct PrivacyManifest: Equatable, Sendable {
  public static func privacyManifest(
    tracking: Bool, trackingDomains: [String], collectedDataTypes: [[String: PlistValue]],
    accessedApiTypes: [[String: PlistValue]]
  ) -> PrivacyManifest { PrivacyManifest() }
}
public struct TargetMetadata: Equatable, Sendable {
  public static var `default`: TargetMetadata { TargetMetadata() }
  public static func metadata(tags: [String]) -> TargetMetadata { TargetMetadata() }
}
