// swift-tools-version: 6.3

// One manifest for every wing of the house. Which wing may import which is written in Documentation/architecture.md
// and held by Tests/HouseTests against this file and against the import lines.

import CompilerPluginSupport
import PackageDescription

/// What every target of ours is compiled with: all upcoming features of this compiler, and no warning.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .treatAllWarnings(as: .error),
]

/// deploy/Dockerfile sets it to the folder of the Swift runtime's shared libraries, so that the image has one copy of ICU
/// and not eight. The executables then look for these libraries in `../lib`.
let sharedRuntime = Context.environment["WIDGETLAB_SHARED_RUNTIME"]
let besideExecutable = ["-Xlinker", "-rpath=$ORIGIN/../lib"]

/// Executables carry the Swift runtime, so that a process starts quickly and an image needs no toolchain. The libraries
/// are named because `-static-stdlib` at the link alone does not bring Foundation's own, and `swift test` cannot build
/// against the static module folder, which `--static-swift-stdlib` would ask of it. They lie at a fixed address, since at
/// another one 75,000 places would have to be written anew, in each of an extension's lives: 1 to 2 ms. Only ICU, half of
/// such an executable, can be shared at little cost: 0.3 ms.
let staticRuntime: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-static-stdlib", "-use-ld=lld", "-Xclang-linker", "-no-pie", "-Xlinker", "--start-group", "-lFoundation",
      "-lFoundationInternationalization", "-lFoundationEssentials", "-lCoreFoundation", "-l_FoundationCShims",
      "-l_FoundationCollections", "-lswiftSynchronization", "-lstdc++",
    ] + (sharedRuntime.map { ["-Xlinker", "\($0)/lib_FoundationICU.so"] + besideExecutable } ?? ["-l_FoundationICU"])
      + ["-Xlinker", "--end-group"])
]

/// A standing process starts once, and so it can load the whole Swift runtime at its start: 4 to 5 ms.
let dynamicRuntime: [LinkerSetting] = [
  .unsafeFlags(
    ["-use-ld=lld", "-Xclang-linker", "-no-pie", "-no-toolchain-stdlib-rpath", "-lstdc++"] + besideExecutable)
]

/// `Locale.current` of an author's executable is the device's: `Localization` stands in the place of Foundation's getters.
let deviceLocale: [LinkerSetting] = [
  .unsafeFlags(
    ["7currentACvgZ", "19autoupdatingCurrentACvgZ", "18preferredLanguagesSaySSGvgZ"].flatMap {
      ["-Xlinker", "--wrap=$s20FoundationEssentials6LocaleV\($0)"]
    })
]

/// Set by scripts/sanitize: what a sanitizer intercepts in the runtime, it finds only in a shared library.
let sanitizer = Context.environment["WIDGETLAB_SANITIZER"]

/// What an author's targets are compiled with, so that a file may import Foundation alone, or FoundationNetworking beside
/// it, and means our URLSession all the same: Documentation/authors.md.
let author: [SwiftSetting] = [
  .unsafeFlags([
    "-Xfrontend", "-import-module", "-Xfrontend", "BackgroundURLSession",
    "-module-alias", "FoundationNetworking=BackgroundURLSession",
  ])
]

func room(_ name: String, in wing: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/\(wing)/\(name)", swiftSettings: house)
}

func runtime(isAuthored: Bool) -> [LinkerSetting] {
  if sanitizer != nil { return [] }
  return sharedRuntime != nil && !isAuthored ? dynamicRuntime : staticRuntime
}

func process(
  _ name: String, in wing: String, _ dependencies: [Target.Dependency], isAuthored: Bool = false,
  resources: [Resource]? = nil
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/\(wing)/\(name)", resources: resources,
    swiftSettings: house + (isAuthored ? author : []),
    linkerSettings: runtime(isAuthored: isAuthored) + (isAuthored ? deviceLocale : []))
}

/// - Parameter isOptimized: also in a debug build, for tests that compute for long.
func tests(_ name: String, _ dependencies: [Target.Dependency], isOptimized: Bool = false) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)",
    swiftSettings: house + (isOptimized ? [.unsafeFlags(["-O"])] : []))
}

let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let jwtKit: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPCompression: Target.Dependency = .product(name: "NIOHTTPCompression", package: "swift-nio-extras")
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
    .library(name: "AppIntents", targets: ["AppIntents"]),
    .library(name: "SwiftUI", targets: ["SwiftUI"]),
    .library(name: "WidgetKit", targets: ["WidgetKit"]),
    .library(name: "UIKit", targets: ["UIKit"]),
    .library(name: "WidgetLabTesting", targets: ["WidgetLabTesting"]),
    .executable(name: "message-bus", targets: ["MessageBusBrokerMain"]),
    .executable(name: "process-agent", targets: ["ProcessAgentMain"]),
    .executable(name: "host-system", targets: ["HostSystemMain"]),
    .executable(name: "push-server", targets: ["PushServerMain"]),
    .executable(name: "widgetlab", targets: ["WidgetLabMain"]),
    .executable(name: "containing-app", targets: ["ContainingApp"]),
    .executable(name: "widget-extension", targets: ["WidgetExtension"]),
    .executable(name: "provider-server", targets: ["ProviderServer"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // One trait: SwiftPM hands several on in random order, and then compiles Hummingbird anew after each `swift test`.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    // Bus: the wire and everything that is said on it.
    .systemLibrary(
      name: "CZeroMQ", path: "Sources/Bus/CZeroMQ",
      providers: [.apt(["libzmq3-dev"]), .brew(["zeromq"])]),
    .target(name: "CClock", path: "Sources/Bus/CClock"),
    .target(name: "CProcess", path: "Sources/Bus/CProcess"),
    .target(name: "CChecksum", path: "Sources/Bus/CChecksum"),
    room("ZeroMQ", in: "Bus", ["CZeroMQ"]),
    room("Archive", in: "Bus"),
    room("Conversations", in: "Bus", ["Archive", "CClock"]),
    room("Journal", in: "Bus", ["CChecksum", "Conversations"]),
    room("MessageBus", in: "Bus", ["Conversations", "ZeroMQ"]),

    // Authoring: what an author's code sees. No server stack below this line of the manifest.
    room(
      "AuthoredProcess", in: "Authoring",
      ["Archive", "CDeviceClock", "CProcess", "Conversations", "MessageBus", "ZeroMQ"]),
    room("Localization", in: "Authoring"),
    room("BackgroundURLSession", in: "Authoring", ["AuthoredProcess", "Conversations", "Localization", "MessageBus"]),
    .target(name: "CDeviceClock", dependencies: ["CClock"], path: "Sources/Authoring/CDeviceClock"),
    .target(name: "CLazyCurl", path: "Sources/Authoring/CLazyCurl"),
    room(
      "ForegroundURLSession", in: "Authoring",
      ["AuthoredProcess", "BackgroundURLSession", "CLazyCurl", "Conversations", "MessageBus"]),
    room(
      "AppIntents", in: "Authoring",
      ["Archive", "AuthoredProcess", "BackgroundURLSession", "Conversations", "MessageBus"]),
    room(
      "UIKit", in: "Authoring",
      [
        "AppIntents", "Archive", "AuthoredProcess", "BackgroundURLSession", "Conversations", "ForegroundURLSession",
        "MessageBus",
      ]),
    room(
      "SwiftUI", in: "Authoring",
      ["AppIntents", "Archive", "BackgroundURLSession", "Conversations", "PreviewsMacros", "UIKit"]),
    .macro(
      name: "PreviewsMacros", path: "Sources/Authoring/PreviewsMacros", swiftSettings: house),
    room(
      "WidgetKit", in: "Authoring",
      [
        "AppIntents", "Archive", "AuthoredProcess", "BackgroundURLSession", "Conversations", "ForegroundURLSession",
        "MessageBus", "PreviewsMacros", "SwiftUI",
      ]),

    // Device: the rooms of the host system. No room imports another.
    room("Timekeeping", in: "Device", ["CClock"]),
    room("Launching", in: "Device", ["Conversations", "MessageBus", "Timekeeping", grdb]),
    room(
      "Transfers", in: "Device",
      [
        "Conversations", "MessageBus", "Timekeeping", asyncHTTPClient, crypto, grdb, heap, nioCore, nioHTTP1,
        nioHTTPCompression, nioPosix, nioSSL,
      ]),
    room("Timelines", in: "Device", ["Archive", "Conversations", "MessageBus", "Timekeeping", crypto, grdb]),
    room("Gallery", in: "Device", ["Archive", "Conversations", "MessageBus", grdb]),
    room("Pushes", in: "Device", ["Archive", "Conversations", "MessageBus", "Timekeeping", grdb]),

    // Push: what Apple's servers do. Contract and store know no socket, the front no database.
    room("APNs", in: "Push", ["Conversations", asn1, crypto, x509]),
    room("PushStore", in: "Push", ["Conversations", "MessageBus", "Timekeeping", grdb, heap]),
    room("PushFront", in: "Push", ["APNs", asn1, nioCore, nioHPACK, nioPosix, nioSSL, nioTLS, x509]),

    // Processes: each an assembly, which its tests can link, and a main of three lines. Nobody imports one, but for the
    // two that Trial/Faults breaks on purpose.
    // Cluster is what they share: the instance folder, widgetlab.yaml, the standing keys, how a process begins and ends.
    room(
      "Cluster", in: "Processes",
      ["Archive", "CProcess", "Conversations", "MessageBus", "ZeroMQ", logging, unixSignals, yams]),
    room(
      "MessageBusBroker", in: "Processes",
      ["Cluster", "Conversations", "Journal", "ZeroMQ", arguments, logging]),
    process("MessageBusBrokerMain", in: "Processes", ["MessageBusBroker"]),
    room(
      "ProcessAgent", in: "Processes",
      ["CProcess", "Cluster", "Conversations", "MessageBus", "ZeroMQ", arguments, logging]),
    process("ProcessAgentMain", in: "Processes", ["ProcessAgent"]),
    room(
      "HostSystem", in: "Processes",
      [
        "Archive", "Cluster", "Conversations", "Gallery", "Launching", "MessageBus", "Pushes", "Timekeeping",
        "Timelines",
        "Transfers", arguments, grdb, logging,
      ]),
    process("HostSystemMain", in: "Processes", ["HostSystem"]),
    room(
      "PushServer", in: "Processes",
      [
        "APNs", "Cluster", "Conversations", "MessageBus", "PushFront", "PushStore", arguments, grdb, logging,
      ]),
    process("PushServerMain", in: "Processes", ["PushServer"]),
    room(
      "WidgetLab", in: "Processes",
      [
        "APNs", "Archive", "CProcess", "Cluster", "Conversations", "Journal", "MessageBus", arguments,
      ]),
    process("WidgetLabMain", in: "Processes", ["WidgetLab"]),
    // What the demo starts. SwiftPM links the executables that a target depends on before it compiles the target, so that
    // `swift build --target DemoExecutables` builds these eight and nothing else.
    room(
      "DemoExecutables", in: "Processes",
      [
        "MessageBusBrokerMain", "ProcessAgentMain", "HostSystemMain", "PushServerMain", "WidgetLabMain",
        "ContainingApp", "WidgetExtension", "ProviderServer",
      ]),

    // CaffeineTracker: the sample that an author copies.
    process("ContainingApp", in: "CaffeineTracker", ["UIKit"], isAuthored: true),
    process("WidgetExtension", in: "CaffeineTracker", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process(
      "ProviderServer", in: "CaffeineTracker",
      [
        arguments, asyncHTTPClient, grdb, hummingbird, jwtKit, lifecycle, logging, nioCore, nioHTTP1, nioSSL,
        unixSignals,
      ]),

    // Trial: everything that proves it.
    room("WidgetLabTesting", in: "Trial", ["CProcess", "Cluster", "Conversations", "Journal"]),
    process("TrialExtension", in: "Trial", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process("TrialHandlers", in: "Trial", ["AppIntents", "SwiftUI", "WidgetKit"], isAuthored: true),
    process("TrialTraps", in: "Trial", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process("TrialViews", in: "Trial", ["AppIntents", "SwiftUI", "WidgetKit"], isAuthored: true),
    process(
      "TrialWidgets", in: "Trial", ["AppIntents", "SwiftUI", "WidgetKit"], isAuthored: true,
      resources: [.process("Resources")]),
    process("TrialTimelines", in: "Trial", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process("TrialDay", in: "Trial", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process("TrialMistakes", in: "Trial", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process("TrialPushes", in: "Trial", ["SwiftUI", "WidgetKit"], isAuthored: true),
    process("Faults", in: "Trial", ["Conversations", "HostSystem", "ProcessAgent"]),

    tests("ZeroMQTests", ["ZeroMQ"]),
    tests("ConversationsTests", ["Conversations"]),
    tests("JournalTests", ["Conversations", "Journal"]),
    tests("MessageBusTests", ["Conversations", "MessageBus", "ZeroMQ"]),
    tests(
      "MessageBusBrokerTests",
      ["Cluster", "Conversations", "Journal", "MessageBus", "MessageBusBroker", "WidgetLabTesting", "ZeroMQ"]),
    tests(
      "AuthoringTests",
      [
        "AppIntents", "Archive", "AuthoredProcess", "BackgroundURLSession", "Conversations", "Localization",
        "MessageBus",
        "SwiftUI", "UIKit", "WidgetKit",
      ]),
    tests("ArchiveTests", ["Archive"]),
    tests("TimekeepingTests", ["CClock", "Timekeeping"]),
    tests(
      "ForegroundURLSessionTests",
      [
        "AuthoredProcess", "BackgroundURLSession", "Conversations", "ForegroundURLSession", "MessageBus",
        "WidgetLabTesting",
      ]),
    tests("LaunchingTests", ["Conversations", "Launching", "MessageBus", "Timekeeping", "ZeroMQ", grdb]),
    tests(
      "TransfersTests",
      [
        "Conversations", "MessageBus", "Timekeeping", "Transfers", "ZeroMQ", crypto, grdb, nioCore, nioHTTP1, nioPosix,
        nioSSL,
      ]),
    tests("TimelinesTests", ["Archive", "Conversations", "MessageBus", "Timekeeping", "Timelines", "ZeroMQ", grdb]),
    tests("PushesTests", ["Archive", "Conversations", "MessageBus", "Pushes", "Timekeeping", grdb]),
    tests("APNsTests", ["APNs", "Conversations", asn1, crypto, x509]),
    tests("PushStoreTests", ["APNs", "Conversations", "MessageBus", "PushStore", "Timekeeping", grdb]),
    tests(
      "PushFrontTests",
      ["APNs", "PushFront", asn1, crypto, nioCore, nioHPACK, nioPosix, nioSSL, x509]),
    tests("PushServerTests", ["APNs", "Conversations", "PushServer"]),
    tests("GalleryTests", ["Archive", "Conversations", "Gallery", "MessageBus", grdb]),
    tests(
      "HostSystemTests",
      [
        "Archive", "Cluster", "Conversations", "Gallery", "HostSystem", "MessageBus", "Timelines", "Transfers", grdb,
      ]),
    tests("ProcessAgentTests", ["Cluster", "Conversations", "MessageBus", "ProcessAgent"]),
    tests("ClusterTests", ["Archive", "Cluster", "Conversations", logging]),
    tests("WidgetLabTests", ["Archive", "Cluster", "Conversations", "Journal", "WidgetLab", arguments]),
    tests("HouseTests", [], isOptimized: true),
    tests("LiveTests", ["Archive", "Cluster", "Conversations", "Journal", "MessageBus", "WidgetLabTesting", "ZeroMQ"]),
  ],
  swiftLanguageModes: [.v6]
)
