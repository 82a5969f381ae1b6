// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

// The manifest of all layers. Documentation/architecture.md lists which layer may import which. Tests/RepositoryTests checks
// it against this file and against the import lines.

import CompilerPluginSupport
import PackageDescription

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The settings of all targets: all upcoming features of this compiler, and warnings as errors.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .treatAllWarnings(as: .error),
  // Documentation/decisions/0028-types-without-searches.md. scripts/shared.sh has it for the other packages.
  .unsafeFlags(
    ["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"], .when(configuration: .release)),
]

/// deploy/Dockerfile sets it to the folder of the Swift runtime's shared libraries, so that the image has one copy of
/// ICU and not eight. The executables then search `../lib` for these libraries.
let sharedRuntime = Context.environment["WIDGETLAB_SHARED_RUNTIME"]
let besideExecutable = ["-Xlinker", "-rpath=$ORIGIN/../lib"]

/// Whether the system has libzmq, SQLite, zlib and C++ as static libraries, as Debian and Ubuntu do. As shared libraries they
/// take 3 to 4 ms of each start of a process: Documentation/decisions/0029-static-libraries.md.
let hasStaticLibraries = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].contains {
  access($0 + "/libzmq.a", R_OK) == 0
}
let zeroMQ: [LinkerSetting] =
  (hasStaticLibraries ? [":libzmq.a", ":libsodium.a", "stdc++"] : ["zmq"]).map { .linkedLibrary($0) }
/// The packages that need the others ask for shared libraries. The linker finds the scripts in this folder first.
let staticLibraries =
  hasStaticLibraries
  ? ["-L\(Context.packageDirectory)/deploy/static-libraries", "-Xclang-linker", "-static-libgcc"] : []

/// Executables link the Swift runtime statically, so that a process starts quickly and an image needs no toolchain. The
/// libraries are listed because `-static-stdlib` at the link does not include Foundation's own, and `swift test` cannot
/// build against the static module folder, which `--static-swift-stdlib` would require. They have a fixed load address,
/// because relocating them takes 75,000 fix-ups in each launch of an extension: 1 to 2 ms. Only ICU, half of such an
/// executable, can be shared at little cost: 0.3 ms.
///
/// Of a static library the linker takes only what is named. The conformances by which Foundation makes objects of values
/// are looked up by type: without them a property list with a list fails, and a keyed archive is empty or traps.
let staticRuntime: [LinkerSetting] = [
  .unsafeFlags(
    ["ayxG", "hyxG"].flatMap { ["-Xlinker", "--undefined=$sS\($0)s21_ObjectiveCBridgeable10FoundationMc"] }
      + [
        "12DateInterval", "12URLQueryItem", "13URLComponents", "14DateComponents", "7Decimal", "9IndexPath",
      ].flatMap { ["-Xlinker", "--undefined=$s20FoundationEssentials\($0)Vs21_ObjectiveCBridgeable0A0Mc"] }),
  .unsafeFlags(
    [
      "-static-stdlib", "-use-ld=lld", "-Xclang-linker", "-no-pie", "-Xlinker", "--start-group", "-lFoundation",
      "-lFoundationInternationalization", "-lFoundationEssentials", "-lCoreFoundation", "-l_FoundationCShims",
      "-l_FoundationCollections", "-lswiftSynchronization", "-lstdc++",
    ] + staticLibraries
      + (sharedRuntime.map { ["-Xlinker", "\($0)/lib_FoundationICU.so"] + besideExecutable } ?? ["-l_FoundationICU"])
      + ["-Xlinker", "--end-group"]),
]

/// `-static-stdlib` exports all 50,000 symbols of an executable, which the loader searches at each start: 0.4 ms. Only
/// authors' executables need some of them, for the libraries that they load.
let unexported: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "--no-export-dynamic"])]

/// A service process starts once, so it can load the whole Swift runtime at its start: 4 to 5 ms. In the image it has no
/// tables for unwinding, a fifth of its size: Swift unwinds nothing, and libzmq throws only when memory is exhausted.
let dynamicRuntime: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-use-ld=lld", "-Xclang-linker", "-no-pie", "-no-toolchain-stdlib-rpath", "-lstdc++", "-Xlinker",
      "--no-eh-frame-hdr", "-Xlinker", "--script=\(Context.packageDirectory)/deploy/service.ld",
    ] + besideExecutable)
]

/// Foundation's functions that an author's executable has from WidgetLab: `Locale.current` and the version of
/// `ProcessInfo` are the device's (`Localization`, `FoundationAdditions`), and `contentsOf` loads URLs of the network
/// (`URLSessionAPI`).
let deviceFoundation: [LinkerSetting] = [
  .unsafeFlags(
    [
      "20FoundationEssentials6LocaleV7currentACvgZ", "20FoundationEssentials6LocaleV19autoupdatingCurrentACvgZ",
      "20FoundationEssentials6LocaleV18preferredLanguagesSaySSGvgZ",
      "20FoundationEssentials11ProcessInfoC22operatingSystemVersionAA09OperatingfG0Vvg",
      "20FoundationEssentials11ProcessInfoC24isOperatingSystemAtLeastySbAA0fG7VersionVF",
      "20FoundationEssentials11ProcessInfoC28operatingSystemVersionStringSSvg",
      "SS10FoundationE10contentsOfSS0A10Essentials3URLVh_tKcfC",
      "SS20FoundationEssentialsE10contentsOf12usedEncodingSSAA3URLVh_SSAAE0F0VztKcfC",
    ].flatMap { ["-Xlinker", "--wrap=$s\($0)"] })
]

/// `UserDefaults` and the texts of bundles of an author's executable with a static runtime are the device's:
/// `UserDefaultsAPI` and `Localization` replace the functions that Foundation calls. A dynamic executable needs no flag.
let userDefaults: [LinkerSetting] = [
  .unsafeFlags(
    [
      "BundleCopyLocalizedString", "PreferencesCopyAppValue", "PreferencesSetAppValue", "PreferencesCopyMultiple",
      "PreferencesAppSynchronize", "PreferencesAddSuitePreferencesToApp", "PreferencesRemoveSuitePreferencesFromApp",
    ].flatMap { ["-Xlinker", "--wrap=CF\($0)"] })
]

/// Set by scripts/sanitize: a sanitizer finds the runtime functions that it intercepts only in a shared library.
let sanitizer = Context.environment["WIDGETLAB_SANITIZER"]

/// The settings of authors' targets. A file may import Foundation only, or also FoundationNetworking, and gets our
/// URLSession in both cases: Documentation/authors.md. Modules whose names other packages test with `canImport` have
/// another name here: Documentation/decisions/0025-author-modules.md. A test that imports UIKit would need an overlay of
/// Testing that Linux does not have.
let author: [SwiftSetting] = [
  .unsafeFlags([
    "-Xfrontend", "-import-module", "-Xfrontend", "URLSessionAPI",
    "-Xfrontend", "-disable-cross-import-overlays",
    "-module-alias", "FoundationNetworking=URLSessionAPI",
    "-module-alias", "Combine=CombineAPI",
    "-module-alias", "CoreFoundation=CoreFoundationAPI",
    "-module-alias", "CoreGraphics=CoreGraphicsAPI",
    "-module-alias", "CryptoKit=CryptoKitAPI",
    "-module-alias", "Network=NetworkAPI",
    "-module-alias", "OSLog=OSLogAPI",
    "-module-alias", "Security=SecurityAPI",
    "-module-alias", "os=OSAPI",
  ])
]

/// - Parameter libraries: those of the Swift runtime that an executable with the target links in addition.
func module(
  _ name: String, in layer: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
  resources: [Resource]? = nil, settings: [SwiftSetting] = [], libraries: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(layer)/\(name)", exclude: exclude, resources: resources,
    swiftSettings: strict + settings, linkerSettings: libraries.map { .linkedLibrary($0) })
}

func runtime(isAuthored: Bool) -> [LinkerSetting] {
  if sanitizer != nil { return [] }
  if isAuthored { return staticRuntime }
  return sharedRuntime != nil ? dynamicRuntime : staticRuntime + unexported
}

func process(
  _ name: String, in layer: String, _ dependencies: [Target.Dependency], isAuthored: Bool = false,
  resources: [Resource]? = nil
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/\(layer)/\(name)", resources: resources,
    swiftSettings: strict + (isAuthored ? author : []),
    linkerSettings: runtime(isAuthored: isAuthored) + (isAuthored ? deviceFoundation + userDefaults : []))
}

/// - Parameter isOptimized: also optimise a debug build, for tests with long computations.
func tests(_ name: String, _ dependencies: [Target.Dependency], isOptimized: Bool = false) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)",
    swiftSettings: strict + (isOptimized ? [.unsafeFlags(["-O"])] : []))
}

let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let jwtKit: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let openCombine: Target.Dependency = .product(name: "OpenCombine", package: "OpenCombine")
let openCombineDispatch: Target.Dependency = .product(name: "OpenCombineDispatch", package: "OpenCombine")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHPACK: Target.Dependency = .product(name: "NIOHPACK", package: "swift-nio-http2")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

let package = Package(
  name: "WidgetLab",
  defaultLocalization: "en",
  products: [
    // What authors import, by the name in their `import`.
    .library(name: "AVFAudio", targets: ["AVFAudio"]),
    .library(name: "AVFoundation", targets: ["AVFoundation"]),
    .library(name: "Accelerate", targets: ["Accelerate"]),
    .library(name: "ActivityKit", targets: ["ActivityKit"]),
    .library(name: "AlarmKit", targets: ["AlarmKit"]),
    .library(name: "AppIntents", targets: ["AppIntents"]),
    .library(name: "AudioToolbox", targets: ["AudioToolbox"]),
    .library(name: "Charts", targets: ["Charts"]),
    .library(name: "Combine", targets: ["CombineAPI"]),
    .library(name: "CoreAudioTypes", targets: ["CoreAudioTypes"]),
    .library(name: "CoreData", targets: ["CoreData"]),
    .library(name: "CoreFoundation", targets: ["CoreFoundationAPI"]),
    .library(name: "CoreGraphics", targets: ["CoreGraphicsAPI"]),
    .library(name: "CoreLocation", targets: ["CoreLocation"]),
    .library(name: "CoreText", targets: ["CoreText"]),
    .library(name: "DeviceActivity", targets: ["DeviceActivity"]),
    .library(name: "EventKit", targets: ["EventKit"]),
    .library(name: "CryptoKit", targets: ["CryptoKitAPI"]),
    .library(name: "HealthKit", targets: ["HealthKit"]),
    .library(name: "ImageIO", targets: ["ImageIO"]),
    .library(name: "Intents", targets: ["Intents"]),
    .library(name: "MapKit", targets: ["MapKit"]),
    .library(name: "MediaPlayer", targets: ["MediaPlayer"]),
    .library(name: "Network", targets: ["NetworkAPI"]),
    .library(name: "OSLog", targets: ["OSLogAPI"]),
    .library(name: "Security", targets: ["SecurityAPI"]),
    .library(name: "StoreKit", targets: ["StoreKit"]),
    .library(name: "SwiftData", targets: ["SwiftData"]),
    .library(name: "SwiftUI", targets: ["SwiftUI"]),
    .library(name: "UIKit", targets: ["UIKit"]),
    .library(name: "UniformTypeIdentifiers", targets: ["UniformTypeIdentifiers"]),
    .library(name: "UserNotifications", targets: ["UserNotifications"]),
    .library(name: "WatchConnectivity", targets: ["WatchConnectivity"]),
    .library(name: "WidgetKit", targets: ["WidgetKit"]),
    .library(name: "os", targets: ["OSAPI"]),
    .library(name: "WidgetLabTesting", targets: ["WidgetLabTesting"]),
    .executable(name: "message-bus", targets: ["MessageBusBrokerMain"]),
    .executable(name: "process-agent", targets: ["ProcessAgentMain"]),
    .executable(name: "host-system", targets: ["HostSystemMain"]),
    .executable(name: "push-server", targets: ["PushServerMain"]),
    .executable(name: "device-fleet", targets: ["DeviceFleetMain"]),
    .executable(name: "widgetlab", targets: ["WidgetLabMain"]),
    .executable(name: "containing-app", targets: ["ContainingApp"]),
    .executable(name: "widget-extension", targets: ["WidgetExtension"]),
    .executable(name: "provider-server", targets: ["ProviderServer"]),
  ],
  dependencies: [
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // One trait: SwiftPM passes several in random order, and then recompiles Hummingbird after each `swift test`.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    // Bus: the transport, all messages, and the values that they contain: those of Archive. It depends on no other
    // layer.
    .target(name: "CZeroMQ", path: "Sources/Bus/CZeroMQ", linkerSettings: zeroMQ),
    .target(name: "CPlatform", path: "Sources/Bus/CPlatform"),
    module("Archive", in: "Bus", ["CPlatform"]),
    module("ZeroMQ", in: "Bus", ["CZeroMQ"]),
    module("Messages", in: "Bus", ["Archive", "CPlatform"]),
    module("FaultPoints", in: "Bus", ["CPlatform", "Messages"]),
    module("Journal", in: "Bus", ["Archive", "FaultPoints", "Messages"]),
    module("MessageBus", in: "Bus", ["FaultPoints", "Messages", "ZeroMQ"]),
    // Model: what several layers share, above the bus. Authors' processes have Timekeeping, DefaultsLog and CLazy; the
    // host and the tool have Layout, and the tool Pictures; only services have Stores.

    // Libraries that are loaded at first use. No header of them is needed.
    .target(name: "CLazy", path: "Sources/Model/CLazy"),
    module(
      "Layout", in: "Model", ["Archive", "CLazy"], resources: [.process("Resources")], libraries: ["_FoundationICU"]),
    module("Pictures", in: "Model", ["Archive", "CLazy", "Layout"]),
    module("PrometheusMetrics", in: "Model", ["CPlatform"]),
    module("Timekeeping", in: "Model", ["CPlatform"]),
    module("DefaultsLog", in: "Model", ["Messages"]),
    module(
      "Stores", in: "Model",
      ["Archive", "CPlatform", "FaultPoints", "Messages", "Timekeeping", crypto, grdb, grdbSQLite, nioCore, nioHTTP1]),

    // SDK: the modules that an author's code imports. These targets use no server stack.
    module(
      "AuthorRuntime", in: "SDK",
      [
        "Archive", "CAuthorProcess", "CPlatform", "FaultPoints", "Localization", "MessageBus", "Messages",
        "Timekeeping", "ZeroMQ",
      ]),
    module("Localization", in: "SDK", ["Archive", "CAuthorProcess"]),
    module("FoundationAdditions", in: "SDK", ["AuthorRuntime"]),
    module("OSAPI", in: "SDK"),
    module("OSLogAPI", in: "SDK", ["OSAPI"]),
    module("CombineAPI", in: "SDK", ["URLSessionAPI", openCombine, openCombineDispatch]),
    module("CryptoKitAPI", in: "SDK", [crypto]),
    module("CoreGraphicsAPI", in: "SDK", ["Archive"]),
    module("CoreLocation", in: "SDK", ["Archive", "AuthorRuntime"]),
    module("Intents", in: "SDK", ["Archive", "AuthorRuntime", "UIKit", "URLSessionAPI"]),
    module("UserNotifications", in: "SDK", ["Archive", "AuthorRuntime", "MessageBus", "Messages", "Timekeeping"]),
    module("CoreFoundationAPI", in: "SDK", ["AuthorRuntime"]),
    module("CoreAudioTypes", in: "SDK", ["CoreFoundationAPI"]),
    module("AudioToolbox", in: "SDK", ["AuthorRuntime", "CoreAudioTypes"]),
    module("AVFAudio", in: "SDK", ["AuthorRuntime", "CoreAudioTypes"]),
    module("AVFoundation", in: "SDK", ["AVFAudio"]),
    module("SecurityAPI", in: "SDK", ["AuthorRuntime", "CoreFoundationAPI", "Messages"]),
    module("HealthKit", in: "SDK", ["AuthorRuntime"]),
    module("EventKit", in: "SDK", ["AuthorRuntime", "CoreGraphicsAPI"]),
    module("ImageIO", in: "SDK", ["Archive", "AuthorRuntime", "CoreFoundationAPI", "CoreGraphicsAPI"]),
    module("UniformTypeIdentifiers", in: "SDK"),
    module("WatchConnectivity", in: "SDK", ["AuthorRuntime"]),
    // What replaces functions of the C library and of CoreFoundation in every author's process.
    .target(name: "CAuthorProcess", dependencies: ["CPlatform"], path: "Sources/SDK/CAuthorProcess"),
    module(
      "UserDefaultsAPI", in: "SDK",
      ["AuthorRuntime", "CAuthorProcess", "DefaultsLog", "Localization", "MessageBus", "Messages"]),
    module(
      "URLSessionAPI", in: "SDK",
      [
        "Archive", "AuthorRuntime", "CLazy", "CPlatform", "DefaultsLog", "FaultPoints", "FoundationAdditions",
        "Localization", "MessageBus", "Messages", "UserDefaultsAPI",
      ]),
    module("NetworkAPI", in: "SDK", ["AuthorRuntime", "Messages", "URLSessionAPI"]),
    module(
      "AppIntents", in: "SDK", ["Archive", "AuthorRuntime", "MessageBus", "Messages", "Timekeeping", "URLSessionAPI"]),
    module(
      "UIKit", in: "SDK",
      [
        "AppIntents", "Archive", "AuthorRuntime", "CLazy", "CoreGraphicsAPI", "MessageBus", "Messages",
        "URLSessionAPI",
      ]),
    module(
      "SwiftUI", in: "SDK",
      ["AppIntents", "Archive", "AuthorMacros", "AuthorRuntime", "Messages", "UIKit", "URLSessionAPI", openCombine]),
    module("CoreData", in: "SDK", ["AuthorRuntime", "SwiftUI"]),
    module("CoreText", in: "SDK", ["CoreFoundationAPI", "CoreGraphicsAPI", "UIKit"]),
    module("MapKit", in: "SDK", ["CoreLocation", "UIKit"]),
    module("Accelerate", in: "SDK"),
    module("MediaPlayer", in: "SDK", ["AuthorRuntime", "UIKit"]),
    module("StoreKit", in: "SDK", ["AuthorRuntime"]),
    module("DeviceActivity", in: "SDK", ["AuthorRuntime", "SwiftUI"]),
    module("AlarmKit", in: "SDK", ["ActivityKit", "AppIntents", "Archive", "AuthorRuntime", "SwiftUI"]),
    module("Charts", in: "SDK", ["Archive", "SwiftUI", "URLSessionAPI"]),
    module("ProjectDescription", in: "SDK"),
    module("SwiftData", in: "SDK", ["AuthorMacros", "AuthorRuntime", "CLazy", "SwiftUI", "URLSessionAPI"]),
    module("MacroExpansion", in: "SDK"),
    .macro(
      name: "AuthorMacros", dependencies: ["MacroExpansion"], path: "Sources/SDK/AuthorMacros", swiftSettings: strict),
    module(
      "ActivityKit", in: "SDK", ["Archive", "AuthorRuntime", "MessageBus", "Messages", "URLSessionAPI"]),
    module(
      "WidgetKit", in: "SDK",
      [
        "ActivityKit", "AppIntents", "Archive", "AuthorMacros", "AuthorRuntime", "Intents",
        "MessageBus", "Messages", "SwiftUI", "URLSessionAPI",
      ]),

    // Device: the device of the host system. DeviceRules decides and has no bus, database, file or clock.
    module("DeviceRules", in: "Device", ["Archive", "Messages", crypto, heap]),
    .systemLibrary(name: "CZlib", path: "Sources/Device/CZlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    module(
      "Device", in: "Device",
      [
        "Archive", "CZlib", "DefaultsLog", "DeviceRules", "FaultPoints", "MessageBus", "Messages", "Stores",
        "Timekeeping", asyncHTTPClient, crypto, grdb, nioCore, nioHTTP1, nioPosix, nioSSL,
      ]),

    // APNs: Apple's push servers. PushRules decides and has no bus, database, file or clock. APNs and PushDelivery do not
    // use sockets, APNsServer does not use a database.
    module("PushRules", in: "APNs", ["Messages", heap]),
    module("APNs", in: "APNs", ["Archive", "Messages", asn1, crypto, x509]),
    module(
      "PushDelivery", in: "APNs",
      [
        "Archive", "FaultPoints", "MessageBus", "Messages", "PrometheusMetrics", "PushRules", "Stores", "Timekeeping",
        grdb, grdbSQLite,
      ]),
    // The store that several push servers share. Only this target uses libpq, and only the push server uses this target.
    module(
      "PostgresStore", in: "APNs",
      ["Archive", "CLazy", "CPlatform", "FaultPoints", "Messages", "PushDelivery", "PushRules", "Timekeeping"]),
    module(
      "APNsServer", in: "APNs",
      ["APNs", "Archive", "Messages", asn1, nioCore, nioHPACK, nioPosix, nioSSL, nioTLS, x509]),

    // Observability: analysis of the journal, without connections and terminals.
    module("JournalAnalysis", in: "Observability", ["Archive", "Journal", "Messages"]),
    module("ChaosCampaign", in: "Observability", ["Archive", "FaultPoints", "JournalAnalysis", "Messages"]),
    // The web server of `widgetlab console`. CConsolePage embeds the files of its page in the executable.
    .target(name: "CConsolePage", path: "Sources/Observability/CConsolePage"),
    module(
      "Console", in: "Observability",
      [
        "Archive", "CConsolePage", "Journal", "JournalAnalysis", "Messages", "Timekeeping", crypto, hummingbird,
        hummingbirdCore, lifecycle, logging, nioCore,
      ],
      exclude: ["Resources"]),

    // Proof: searches and simulations of the state machines of the device and of the push server, with models of their
    // environment, and the laws as judges. No service of them. scripts/prove builds it alone.
    module(
      "ModelChecking", in: "Proof",
      [
        "Archive", "ChaosCampaign", "DeviceRules", "Journal", "JournalAnalysis", "Messages", "PushRules", crypto, heap,
      ],
      exclude: ["Mutations"]),

    // Processes: each is a library, which its tests can link, and a short main. Other targets do not import
    // the libraries, except those that Testing/Faults breaks on purpose.
    // Cluster is what they share: the instance folder, widgetlab.yaml, the stored keys, and the start and exit of a
    // process.
    module(
      "Cluster", in: "Processes",
      [
        "Archive", "CPlatform", "FaultPoints", "MessageBus", "Messages", "PrometheusMetrics", "ZeroMQ", logging,
        unixSignals, yams,
      ]),
    // StandingProcesses is what the commands of broker, agent, host and push server share.
    module(
      "StandingProcesses", in: "Processes",
      ["Cluster", "CPlatform", "FaultPoints", "Messages", "PrometheusMetrics", arguments, logging]),
    module(
      "MessageBusBroker", in: "Processes",
      [
        "Archive", "Cluster", "FaultPoints", "Journal", "Messages", "PrometheusMetrics", "StandingProcesses", "ZeroMQ",
        arguments,
        logging,
      ]),
    process("MessageBusBrokerMain", in: "Processes", ["MessageBusBroker", "StandingProcesses"]),
    module(
      "ProcessAgent", in: "Processes",
      [
        "Archive", "Cluster", "CPlatform", "DefaultsLog", "FaultPoints", "MessageBus", "Messages", "StandingProcesses",
        "Timekeeping", "ZeroMQ", arguments, logging,
      ]),
    process("ProcessAgentMain", in: "Processes", ["ProcessAgent", "StandingProcesses"]),
    module(
      "HostSystem", in: "Processes",
      [
        "Archive", "Cluster", "DefaultsLog", "Device", "DeviceRules", "FaultPoints", "Layout", "MessageBus", "Messages",
        "StandingProcesses", "Stores", "Timekeeping", arguments, grdb, logging,
      ],
      settings: sanitizer == nil ? [] : [.define("SANITIZED")]),
    process("HostSystemMain", in: "Processes", ["HostSystem", "StandingProcesses"]),
    module(
      "PushServer", in: "Processes",
      [
        "APNs", "APNsServer", "Cluster", "FaultPoints", "MessageBus", "Messages", "PostgresStore", "PrometheusMetrics",
        "PushDelivery", "PushRules", "StandingProcesses", "Stores", arguments, grdb, logging,
      ]),
    process("PushServerMain", in: "Processes", ["PushServer", "StandingProcesses"]),
    module(
      "DeviceFleet", in: "Processes",
      [
        "Archive", "Cluster", "DeviceRules", "MessageBus", "Messages", "PrometheusMetrics", "StandingProcesses",
        "Stores", "Timekeeping", arguments, asyncHTTPClient, grdb, heap, logging, nioCore, nioHTTP1,
      ]),
    process("DeviceFleetMain", in: "Processes", ["DeviceFleet", "StandingProcesses"]),
    // What the tool knows of an author's project. Only the tool imports it.
    module("AuthorProjects", in: "Processes", [yams]),
    module(
      "WidgetLab", in: "Processes",
      [
        "APNs", "Archive", "AuthorProjects", "ChaosCampaign", "Cluster", "Console", "CPlatform", "FaultPoints",
        "Journal", "JournalAnalysis", "Layout", "MessageBus", "Messages", "ModelChecking", "Pictures",
        "PrometheusMetrics", "Timekeeping", arguments,
      ]),
    process("WidgetLabMain", in: "Processes", ["WidgetLab"]),
    // The executables that the demo starts. SwiftPM links the executables that a target depends on before it compiles the
    // target, so `swift build --target DemoExecutables` builds these eight and nothing else.
    module(
      "DemoExecutables", in: "Processes",
      [
        "ContainingApp", "HostSystemMain", "MessageBusBrokerMain", "ProcessAgentMain", "ProviderServer",
        "PushServerMain", "WidgetExtension", "WidgetLabMain",
      ]),

    // Samples: the sample that an author copies.
    process("ContainingApp", in: "Samples", ["UIKit"], isAuthored: true),
    process("WidgetExtension", in: "Samples", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process(
      "ProviderServer", in: "Samples",
      [
        arguments, asyncHTTPClient, grdb, hummingbird, jwtKit, lifecycle, logging, nioCore, nioHTTP1, nioSSL,
        unixSignals,
      ]),

    // Testing: test support and the executables of the tests.
    module("FidelityRules", in: "Testing"),
    module(
      "BusTesting", in: "Testing",
      ["Archive", "Journal", "JournalAnalysis", "MessageBus", "Messages", "Timekeeping", "ZeroMQ", grdb]),
    module("WidgetLabTesting", in: "Testing", ["Cluster", "Journal", "Messages"]),
    process("FixtureExtension", in: "Testing", ["CPlatform", "SwiftUI", "WidgetKit"], isAuthored: true),
    process(
      "FixtureHandlers", in: "Testing",
      ["ActivityKit", "AppIntents", "NetworkAPI", "SecurityAPI", "SwiftUI", "WidgetKit", grdb], isAuthored: true,
      resources: [.process("Resources")]),
    process(
      "FixtureModules", in: "Testing",
      [
        "AVFoundation", "Accelerate", "ActivityKit", "AlarmKit", "AppIntents", "Charts", "CombineAPI", "CoreData",
        "CoreGraphicsAPI", "CoreLocation", "CoreText", "CryptoKitAPI", "DeviceActivity", "EventKit", "HealthKit",
        "ImageIO", "Intents",
        "MapKit", "MediaPlayer", "NetworkAPI", "OSAPI", "OSLogAPI", "SecurityAPI", "StoreKit", "SwiftData", "SwiftUI",
        "UIKit", "UniformTypeIdentifiers", "UserNotifications", "WatchConnectivity", "WidgetKit",
      ],
      isAuthored: true),
    process(
      "FixtureWidgets", in: "Testing",
      ["ActivityKit", "AppIntents", "Charts", "SwiftUI", "UIKit", "UserNotifications", "WidgetKit"],
      isAuthored: true, resources: [.process("Resources")]),
    process("PictureTimes", in: "Testing", ["Archive", "Layout", "Messages", "Pictures"]),
    process(
      "Faults", in: "Testing",
      [
        "BusTesting", "Device", "DeviceRules", "HostSystem", "MessageBusBroker", "ProcessAgent", "PushServer",
        "StandingProcesses", "Timekeeping",
      ]),

    tests("BusTests", ["BusTesting", "FaultPoints", "FidelityRules", "Journal", "MessageBus", "Messages", "ZeroMQ"]),
    tests(
      "ModelTests",
      ["Archive", "CPlatform", "DefaultsLog", "FidelityRules", "Messages", "Stores", "Timekeeping", grdb]),
    tests("PicturesTests", ["Archive", "FidelityRules", "Layout", "Pictures"]),
    tests(
      "SDKTests",
      [
        "Accelerate", "ActivityKit", "AlarmKit", "AppIntents", "Archive", "AudioToolbox", "AuthorRuntime", "AVFAudio",
        "BusTesting", "CAuthorProcess", "Charts", "CombineAPI", "CoreData", "CoreFoundationAPI", "CoreGraphicsAPI",
        "CoreLocation",
        "CoreText", "DefaultsLog", "DeviceActivity", "EventKit", "FidelityRules",
        "FoundationAdditions", "HealthKit", "ImageIO", "Intents", "Localization", "MacroExpansion", "MapKit",
        "MediaPlayer", "MessageBus", "Messages", "NetworkAPI", "OSAPI", "SecurityAPI", "StoreKit", "SwiftData",
        "SwiftUI", "Timekeeping", "UIKit", "UniformTypeIdentifiers", "URLSessionAPI", "UserDefaultsAPI",
        "UserNotifications", "WatchConnectivity", "WidgetKit", "WidgetLabTesting", openCombine,
      ]),
    tests(
      "DeviceTests",
      [
        "Archive", "BusTesting", "Cluster", "CZlib", "DefaultsLog", "Device", "DeviceRules", "FidelityRules",
        "MessageBus", "Messages", "ModelChecking", "Stores", "Timekeeping", "ZeroMQ", asyncHTTPClient, crypto, grdb,
        nioCore, nioEmbedded, nioHTTP1, nioPosix, nioSSL,
      ]),
    tests(
      "APNsTests",
      [
        "APNs", "APNsServer", "BusTesting", "FidelityRules", "MessageBus", "Messages", "PostgresStore", "PushDelivery",
        "PushRules", "Stores", "Timekeeping", "WidgetLabTesting", asn1, crypto, grdb, nioCore, nioHPACK, nioPosix,
        nioSSL, x509,
      ]),
    tests(
      "ProcessesTests",
      [
        "APNs", "Archive", "BusTesting", "Cluster", "DefaultsLog", "Device", "DeviceFleet", "DeviceRules",
        "FaultPoints", "FidelityRules", "HostSystem", "Journal", "MessageBus", "MessageBusBroker", "Messages",
        "ProcessAgent", "PrometheusMetrics", "PushDelivery", "PushRules", "PushServer", "StandingProcesses", "Stores",
        "Timekeeping", "WidgetLabTesting", "ZeroMQ", arguments, grdb, logging,
      ]),
    tests(
      "WidgetLabTests",
      [
        "Archive", "AuthorProjects", "BusTesting", "ChaosCampaign", "Cluster", "FidelityRules", "Journal",
        "JournalAnalysis", "Layout", "Messages", "ModelChecking", "Pictures", "ProjectDescription", "WidgetLab",
        arguments,
      ]),
    tests(
      "ObservabilityTests",
      [
        "Archive", "BusTesting", "ChaosCampaign", "Console", "FaultPoints", "FidelityRules", "Journal",
        "JournalAnalysis", "Messages", "Timekeeping", "WidgetLabTesting",
      ]),
    tests("RepositoryTests", [], isOptimized: true),
    tests(
      "LiveTests",
      [
        "Archive", "ChaosCampaign", "Cluster", "DefaultsLog", "FaultPoints", "FidelityRules", "Journal",
        "JournalAnalysis", "MessageBus", "Messages", "WidgetLabTesting", "ZeroMQ", grdb,
      ]),
  ],
  swiftLanguageModes: [.v6]
)
