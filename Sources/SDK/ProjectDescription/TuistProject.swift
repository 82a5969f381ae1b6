// SPDX-License-Identifier: Apache-2.0

public struct Project: Equatable, Sendable {
  public var name: String
  public var targets: [Target]
  public var packages: [Package]
  public var settings: Settings?

  /// A manifest makes one project. It prints the description then, when WidgetLab runs it.
  public init(
    name: String, organizationName: String? = nil, classPrefix: String? = nil, options: Options = .options(),
    packages: [Package] = [], settings: Settings? = nil, targets: [Target] = [], schemes: [Scheme] = [],
    fileHeaderTemplate: FileHeaderTemplate? = nil, additionalFiles: [FileElement] = [],
    resourceSynthesizers: [ResourceSynthesizer] = .default
  ) {
    self.name = name
    self.targets = targets
    self.packages = packages
    self.settings = settings
    if CommandLine.arguments.contains(Self.argument) { print(description.json) }
  }

  /// By this argument the manifest prints its project.
  package static let argument = "--print-description"

  package var description: Description {
    .keys([
      "name": .text(name), "targets": .list(targets.map(\.description)),
      "packages": .list(packages.map(\.description)), "settings": settings?.description,
    ])
  }

  // MARK: Accepted without effect

  public struct Options: Equatable, Sendable {
    public static func options(
      automaticSchemesOptions: AutomaticSchemesOptions = .enabled(), defaultKnownRegions: [String]? = nil,
      developmentRegion: String? = nil, disableBundleAccessors: Bool = false,
      disableShowEnvironmentVarsInScriptPhases: Bool = false,
      disableSynthesizedResourceAccessors: Bool = false, textSettings: TextSettings = .textSettings(),
      xcodeProjectName: String? = nil
    ) -> Options { Options() }

    public struct AutomaticSchemesOptions: Equatable, Sendable {
      public static func enabled(
        targetSchemesGrouping: TargetSchemesGrouping = .singleScheme, codeCoverageEnabled: Bool = false,
        testingOptions: [String] = [], testLanguage: String? = nil, testRegion: String? = nil
      ) -> AutomaticSchemesOptions { AutomaticSchemesOptions() }
      public static var disabled: AutomaticSchemesOptions { AutomaticSchemesOptions() }
      public enum TargetSchemesGrouping: Sendable { case singleScheme, notGrouped }
    }

    public struct TextSettings: Equatable, Sendable {
      public static func textSettings(
        usesTabs: Bool? = nil, indentWidth: UInt? = nil, tabWidth: UInt? = nil, wrapsLines: Bool? = nil
      ) -> TextSettings { TextSettings() }
    }
  }
}

public struct Scheme: Equatable, Sendable {
  init() {}

  /// The form of Tuist 3.
  public init(
    name: String, shared: Bool = true, hidden: Bool = false, buildAction: BuildAction? = nil,
    testAction: TestAction? = nil, runAction: RunAction? = nil, archiveAction: ArchiveAction? = nil,
    profileAction: ProfileAction? = nil, analyzeAction: AnalyzeAction? = nil
  ) {}

  public static func scheme(
    name: String, shared: Bool = true, hidden: Bool = false, buildAction: BuildAction? = nil,
    testAction: TestAction? = nil, runAction: RunAction? = nil, archiveAction: ArchiveAction? = nil,
    profileAction: ProfileAction? = nil, analyzeAction: AnalyzeAction? = nil
  ) -> Scheme { Scheme() }
}

public struct TargetReference: ExpressibleByStringInterpolation, Equatable, Sendable {
  public static func target(_ name: String) -> TargetReference { TargetReference(stringLiteral: name) }
  public static func project(path: Path, target: String) -> TargetReference { TargetReference(stringLiteral: target) }
  public init(stringLiteral value: String) {}
}

public struct BuildAction: Equatable, Sendable {
  public static func buildAction(
    targets: [TargetReference], preActions: [ExecutionAction] = [], postActions: [ExecutionAction] = []
  ) -> BuildAction { BuildAction() }
}

public struct TestAction: Equatable, Sendable {
  public static func targets(
    _ targets: [TestableTarget], arguments: Arguments? = nil, configuration: ConfigurationName = .debug,
    preActions: [ExecutionAction] = [], postActions: [ExecutionAction] = [], options: TestActionOptions = .options()
  ) -> TestAction { TestAction() }
  public static func testPlans(_ testPlans: [Path], configuration: ConfigurationName = .debug) -> TestAction {
    TestAction()
  }
}

public struct TestableTarget: ExpressibleByStringInterpolation, Equatable, Sendable {
  public static func testableTarget(target: TargetReference) -> TestableTarget { TestableTarget(stringLiteral: "") }
  public init(stringLiteral value: String) {}
}

public struct RunAction: Equatable, Sendable {
  public static func runAction(
    configuration: ConfigurationName = .debug, preActions: [ExecutionAction] = [], postActions: [ExecutionAction] = [],
    executable: TargetReference? = nil, arguments: Arguments? = nil, options: RunActionOptions = .options()
  ) -> RunAction { RunAction() }
}

public struct RunActionOptions: Equatable, Sendable {
  public static func options(
    language: String? = nil, region: String? = nil, storeKitConfigurationPath: Path? = nil,
    simulatedLocation: SimulatedLocation? = nil
  ) -> RunActionOptions { RunActionOptions() }

  public struct SimulatedLocation: Equatable, Sendable {
    public static func custom(gpxFile: Path) -> SimulatedLocation { SimulatedLocation() }
  }
}

public struct TestActionOptions: Equatable, Sendable {
  public static func options(
    language: String? = nil, region: String? = nil, coverage: Bool = false, codeCoverageTargets: [TargetReference] = []
  ) -> TestActionOptions { TestActionOptions() }
}

public struct ArchiveAction: Equatable, Sendable {
  public static func archiveAction(configuration: ConfigurationName = .release) -> ArchiveAction { ArchiveAction() }
}

public struct ProfileAction: Equatable, Sendable {
  public static func profileAction(
    configuration: ConfigurationName = .release, executable: TargetReference? = nil
  ) -> ProfileAction { ProfileAction() }
}

public struct AnalyzeAction: Equatable, Sendable {
  public static func analyzeAction(configuration: ConfigurationName = .debug) -> AnalyzeAction { AnalyzeAction() }
}

public struct Arguments: Equatable, Sendable {
  public static func arguments(
    environmentVariables: [String: EnvironmentVariable] = [:], launchArguments: [LaunchArgument] = []
  ) -> Arguments { Arguments() }
}

public struct ExecutionAction: Equatable, Sendable {
  public static func executionAction(
    title: String = "Run Script", scriptText: String, target: TargetReference? = nil
  ) -> ExecutionAction { ExecutionAction() }
}

public enum FileHeaderTemplate: ExpressibleByStringInterpolation, Equatable, Sendable {
  case file(Path)
  case string(String)
  public init(stringLiteral value: String) { self = .string(value) }
}

public struct ResourceSynthesizer: Equatable, Sendable {
  public static func strings() -> ResourceSynthesizer { ResourceSynthesizer() }
  public static func assets() -> ResourceSynthesizer { ResourceSynthesizer() }
  public static func plists() -> ResourceSynthesizer { ResourceSynthesizer() }
  public static func fonts() -> ResourceSynthesizer { ResourceSynthesizer() }
  public static func coreData() -> ResourceSynthesizer { ResourceSynthesizer() }
  public static func interfaceBuilder() -> ResourceSynthesizer { ResourceSynthesizer() }
  public static func json() -> ResourceSynthesizer { ResourceSynthesizer() }
  public static func yaml() -> ResourceSynthesizer { ResourceSynthesizer() }
}

extension [ResourceSynthesizer] {
  public static var `default`: [ResourceSynthesizer] { [] }
}

/// Values of the environment: `TUIST_APP_NAME` is `Environment.appName`. Here each has its default.
@dynamicMemberLookup public enum Environment {
  public enum Value: Equatable, Sendable {
    case string(String)
    case boolean(Bool)
  }

  public static subscript(dynamicMember name: String) -> Value? { nil }
}

extension Environment.Value? {
  public func getString(default value: String) -> String { value }
  public func getBoolean(default value: Bool) -> Bool { value }
}
