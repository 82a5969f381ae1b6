// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Cluster

@Suite(.timeLimit(.minutes(1))) struct ConfigurationTests {
  @Test func `the repository's widgetlab.yaml is read with its products and settings`() throws {
    let configuration = try ClusterConfiguration.load(repositoryFile("widgetlab.yaml"))
    #expect(configuration.device.name == "iphone")
    #expect(configuration.device.version == "26.0")
    #expect(configuration.apps.map(\.bundle) == ["com.example.CaffeineTracker"])
    #expect(configuration.extensions.first?.executable == "widget-extension")
    #expect(configuration.agentNumbers == [1])
    #expect(configuration.provider?.executable == "provider-server")
    #expect(configuration.settings.suspendAfter == .seconds(1))
    #expect(configuration.settings.crashBackoffMax == .seconds(60))
    #expect(configuration.settings.extensionMemoryLimit == 30)
    #expect(configuration.settings.memoryInterval == .milliseconds(250))
    let widget = try #require(configuration.product("com.example.CaffeineTracker.Widget"))
    #expect(widget.address(on: "iphone").text == "device/iphone/extension/com.example.CaffeineTracker.Widget")
  }

  @Test(.rule("WIDGET-21")) func `omitted parts of the configuration have their defaults`() throws {
    let configuration = try ClusterConfiguration(yaml: "device: {name: pad}")
    #expect(configuration.provider == nil)
    #expect(
      configuration.device.environment == [
        "LANG": "en_US.UTF-8", "SIMULATOR_DEVICE_NAME": "iPhone 16", "SIMULATOR_RUNTIME_VERSION": "18.0",
        "SIMULATOR_MAINSCREEN_WIDTH": "1179", "SIMULATOR_MAINSCREEN_HEIGHT": "2556",
        "SIMULATOR_MAINSCREEN_SCALE": "3.0",
      ])
    #expect(configuration.settings == ClusterConfiguration.Settings())
    #expect(configuration.bus == BusLimits())
    #expect(configuration.products.isEmpty)
    #expect(configuration.agentNumbers == [1])
  }

  @Test func `omitted settings have the defaults of the fidelity pages`() {
    let settings = ClusterConfiguration.Settings()
    let times: [Duration] = [
      settings.suspendAfter, settings.completionDeadline, settings.completionGrace, settings.timelineDeadline,
      settings.crashBackoffFirst, settings.crashBackoffMax, settings.redeliverAfter, settings.resumeAfter,
      settings.resumeAfterMax, settings.limiterFirst, settings.limiterMax, settings.keepsResumeData,
      settings.challengeDeadline, .seconds(settings.process.callDeadline), settings.memoryInterval,
      settings.endIdleAfter,
      settings.intentDeadline, .seconds(settings.process.inlineSuspensionLimit),
    ]
    let seconds: [Double] = [1, 30, 5, 30, 1, 60, 60, 1, 60, 60, 86_400, 604_800, 0, 5, 0.25, 600, 30, 5]
    #expect(times == seconds.map { .seconds($0) })
    let figures: [Int] = [
      settings.redeliveries, settings.maximumLoads, settings.countsPerSecond, settings.redirectLimit,
      settings.process.inlineRedirectLimit, settings.resumableFrom, settings.extensionMemoryLimit,
    ]
    #expect(figures == [5, 64, 4, 16, 20, 64, 30] as [Int])
    let yes: [Bool] = [
      settings.discretionaryNeedsWiFi, settings.limiterAppliesToWidgets, settings.delayedRequestLaunches,
      settings.process.separatesContainers,
      settings.listsEndedTasks,
    ]
    #expect(yes.allSatisfy { $0 })
    let no: [Bool] = [
      settings.observedEventOrder, settings.widgetTransfersAreDiscretionary, settings.limiterIsSharedWithApp,
      settings.process.firstCompletionCounts, settings.forceQuitCancelsExtensions, settings.requestsTimelinesTwice,
      settings.pushReloadsAllWidgets,
    ]
    #expect(no.allSatisfy { !$0 })
    #expect(!settings.developerMode && settings.budget == nil)
    let pauses: [Duration] = [
      settings.timelineBackoffFirst, settings.timelineBackoffMax, settings.oneEntryPause, settings.policyFloor,
    ]
    #expect(pauses == [60, 3600, 900, 60].map { .seconds($0) })
    let limits: [Int] = [
      settings.retriesAfterExit, settings.archiveLimit, settings.archiveDepth, settings.entryLimit,
      settings.concurrentTimelines,
    ]
    #expect(limits == [1, 4096, 240, 400, 1] as [Int])
    #expect(settings.imageAreaLimit == 2_121_055.2)
    let gallery = settings.gallery
    #expect(gallery.placesEachKind && gallery.defaultFamiliesIncludeAccessory && gallery.hidesSensitiveContent)
    #expect(gallery.contentMargin == 16 && gallery.smartRotatePause == .seconds(1800))
    #expect(gallery.homeScreenRenderingMode == .fullColor && gallery.standByRenderingMode == .fullColor)
  }

  @Test(arguments: [
    ("model: iPad Pro 11-inch", "iPadOS", true, 18), ("platform: iPadOS", "iPadOS", true, 18),
    ("model: iPhone 8, version: \"16.7\"", "iOS", false, 16), ("model: iPad, platform: iOS", "iPadOS", true, 18),
  ])
  func `a device has the platform of its model and the default or configured version`(
    line: String, platform: String, isPad: Bool, version: Int
  ) throws {
    let device = try ClusterConfiguration(yaml: "device: { name: phone, \(line) }").device
    #expect(device.platform == platform)
    #expect(device.isPad == isPad)
    #expect(device.majorVersion == version)
  }

  @Test(
    .rule("GALLERY-19"),
    arguments: [
      ("model: iPhone 3G", "iPhone 16 Pro"), ("model: iPhone 16, platform: iPadOS", "iOS"),
      ("platform: watchOS", "iOS"), ("version: \"13.0\"", "18.0"), ("version: new", "18.0"),
    ])
  func `an impossible model, platform or version is refused with the possible ones`(line: String, advice: String) {
    #expect {
      _ = try ClusterConfiguration(yaml: "device: { name: phone, \(line) }")
    } throws: {
      "\($0)".contains(advice)
    }
  }

  /// The code has at most as long again to end its task.
  @Test(.rule("PROCESS-27"), arguments: ["0", "0.5"])
  func `a time in the background of less than a second is refused`(seconds: String) {
    #expect(throws: ClusterError.self) {
      try ClusterConfiguration(yaml: "device: {name: phone}\nsettings: {backgroundTime: \(seconds)}")
    }
  }

  @Test(arguments: [
    "homeScreenRenderingMode: vibrant", "standByRenderingMode: accented", "contentMargin: 101", "contentMargin: -1",
  ])
  func `an invalid gallery setting is refused`(line: String) {
    #expect(throws: ClusterError.self) {
      try ClusterConfiguration(yaml: "device: {name: phone}\nsettings: {\(line)}")
    }
  }

  @Test func `an extension may have a data protection class, and an app may not`() throws {
    func configuration(_ what: String, _ value: String) throws -> ClusterConfiguration {
      try ClusterConfiguration(
        yaml: "device: {name: phone}\n\(what): [{ bundle: a.b, executable: c, dataProtection: \(value) }]")
    }
    #expect(try configuration("extensions", "complete").extensions.first?.dataProtection == .complete)
    #expect(throws: ClusterError.self) { try configuration("extensions", "some") }
    #expect(throws: ClusterError.self) { try configuration("apps", "complete") }
  }

  @Test func `the path of the budget policy is relative to the configuration file`() throws {
    let yaml = "device: {name: iphone}\nsettings: {budget: budgets/forty.yaml}"
    let configuration = try ClusterConfiguration(yaml: yaml, file: "/project/widgetlab.yaml")
    #expect(configuration.settings.budget == "/project/budgets/forty.yaml")
  }

  @Test func `agents, environments, settings and bus limits are read from the configuration`() throws {
    let configuration = try ClusterConfiguration(
      yaml: """
        device: {name: iphone}
        apps:
          - {bundle: a.b, executable: app, agent: 1}
        extensions:
          - {bundle: a.b.W, executable: widget, agent: 2, environment: {N: 3}}
        settings: {suspendAfter: 0.25, crashBackoffFirst: 0, redeliveries: 2}
        bus: {journalLimit: 64MiB, peerLimit: 100, keyGrace: 0.5, journalSync: true}
        """)
    #expect(configuration.agentNumbers == [1, 2])
    #expect(configuration.extensions[0].environment == ["N": "3"])
    #expect(configuration.settings.suspendAfter == .milliseconds(250))
    #expect(configuration.settings.crashBackoffFirst == .zero)
    #expect(configuration.settings.redeliveries == 2)
    #expect(configuration.bus.journal.bytes == 64 << 20)
    #expect(configuration.bus.peers == 100)
    #expect(configuration.bus.keyGrace == .milliseconds(500))
    #expect(configuration.bus.synchronizesJournal)
  }

  @Test func `the transfer settings are read from the configuration`() throws {
    let settings = try ClusterConfiguration(
      yaml: """
        device: {name: iphone}
        settings:
          maximumLoads: 8
          discretionaryNeedsWiFi: false
          widgetTransfersAreDiscretionary: true
          limiterFirst: 0
          limiterAppliesToWidgets: false
          limiterIsSharedWithApp: true
          delayedRequestLaunches: false
          countsPerSecond: 0
          keepsResumeData: 60
          forceQuitCancelsExtensions: true
          limiterMax: 7200
          resumeAfterMax: 9
          redirectLimit: 3
          resumableFrom: 0
          expansionLimit: 0
          diskReserve: 12
          challengeDeadline: 4
          listsEndedTasks: false
        """
    ).settings
    #expect(settings.maximumLoads == 8)
    #expect(!settings.discretionaryNeedsWiFi)
    #expect(settings.widgetTransfersAreDiscretionary)
    #expect(settings.limiterFirst == .zero)
    #expect(!settings.limiterAppliesToWidgets)
    #expect(settings.limiterIsSharedWithApp)
    #expect(!settings.delayedRequestLaunches)
    #expect(settings.countsPerSecond == 0)
    #expect(settings.keepsResumeData == .seconds(60))
    #expect(settings.forceQuitCancelsExtensions)
    #expect(settings.limiterMax == .seconds(7200))
    #expect(settings.resumeAfterMax == .seconds(9))
    #expect(settings.redirectLimit == 3)
    #expect(settings.resumableFrom == 0)
    #expect(settings.expansionLimit == 0)
    #expect(settings.diskReserve == 12)
    #expect(settings.challengeDeadline == .seconds(4))
    #expect(!settings.listsEndedTasks)
  }

  @Test func `the process rules are read from the configuration`() throws {
    let settings = try ClusterConfiguration(
      yaml: """
        device: {name: iphone}
        settings: {callDeadline: 2, inlineRedirectLimit: 3, inlineSuspensionLimit: 4, firstCompletionCounts: true}
        """
    ).settings
    #expect(settings.process.callDeadline == 2)
    #expect(settings.process.inlineRedirectLimit == 3)
    #expect(settings.process.inlineSuspensionLimit == 4)
    #expect(settings.process.firstCompletionCounts)
  }

  @Test func `the times and the order of event delivery are read from the configuration`() throws {
    let settings = try ClusterConfiguration(
      yaml: """
        device: {name: iphone}
        settings: {completionDeadline: 1, completionGrace: 2, observedEventOrder: true, timelineDeadline: 3}
        """
    ).settings
    #expect(settings.completionDeadline == .seconds(1))
    #expect(settings.completionGrace == .seconds(2))
    #expect(settings.observedEventOrder)
    #expect(settings.timelineDeadline == .seconds(3))
  }

  @Test(arguments: [
    ("0", 0), ("3", 3), ("0.25", 0.25), (".5", 0.5), ("5.", 5), ("010", 10), ("1e2", 100), ("1_000", 1000),
    ("1:30", 90),
  ])
  func `a number of seconds is read in each spelling of YAML`(spelling: String, seconds: Double) throws {
    let yaml = "device: {name: a}\nsettings: {suspendAfter: \(spelling)}"
    #expect(try ClusterConfiguration(yaml: yaml, file: "f.yaml").settings.suspendAfter == .seconds(seconds))
  }

  @Test(arguments: [
    ("1", 1), ("40", 40), ("010", 8), ("0x10", 16), ("1_000", 1000), ("+5", 5), ("5.0", 5), ("1e3", 1000),
  ])
  func `a whole number is read in each spelling of YAML`(spelling: String, number: Int) throws {
    let yaml = "device: {name: a}\nsettings: {maximumLoads: \(spelling)}"
    #expect(try ClusterConfiguration(yaml: yaml, file: "f.yaml").settings.maximumLoads == number)
  }

  @Test(arguments: [
    ("device: {name: a}\nsettings: {maximumLoads: 0}", "f.yaml:2: settings.maximumLoads: must be at least 1"),
    ("device: {name: a}\nsettings: {redirectLimit: -1}", "f.yaml:2: settings.redirectLimit: must be 0 or more"),
    ("device: {name: a}\nsettings: {diskReserve: -1}", "f.yaml:2: settings.diskReserve: must be 0 to 1073741824 MiB"),
    ("device: {name: a}\nsettings: {expansionLimit: -1}", "f.yaml:2: settings.expansionLimit: must be 0 to 1048576"),
    ("device: {name: a}\nsettings: {resumableFrom: -1}", "f.yaml:2: settings.resumableFrom: must be 0 to 1048576 KiB"),
    ("device: {name: a}\nsettings: {inlineRedirectLimit: -1}", "settings.inlineRedirectLimit: must be 0 or more"),
    ("device: {name: a}\nsettings: {limiterFirst: 2, limiterMax: 1}", "settings.limiterMax: is shorter than"),
    ("device: {name: a}\nsettings: {resumeAfter: 61}", "settings.resumeAfterMax: is shorter than resumeAfter"),
    ("device: {name: a}\nsettings: {timelineBackoffMax: 1}", "settings.timelineBackoffMax: is shorter than"),
    ("device: {name: a}\nsettings: {retriesAfterExit: -1}", "settings.retriesAfterExit: must be 0 or more"),
    ("device: {name: a}\nsettings: {policyFloor: 0}", "settings.policyFloor: must be at least 1 s"),
    ("device: {name: a}\nsettings: {oneEntryPause: 0}", "settings.oneEntryPause: must be at least 1 s"),
    ("device: {name: a}\nsettings: {archiveLimit: 0}", "settings.archiveLimit: must be 1 to 65536 KiB"),
    ("device: {name: a}\nsettings: {archiveDepth: 241}", "settings.archiveDepth: must be 1 to 240"),
    ("device: {name: a}\nsettings: {imageAreaLimit: x}", "settings.imageAreaLimit: expected a number"),
    ("device: {name: a}\nsettings: {entryLimit: 0}", "settings.entryLimit: must be 1 to 10000"),
    ("device: {name: a}\nsettings: {limiterIsSharedWithApp: 7}", "expected true or false"),
    (
      "device: {name: a}\nsettings:\n  suspendafter: 1",
      "f.yaml:3: settings.suspendafter: is not a known key; did you mean suspendAfter?"
    ),
    ("device: {nam: a}", "f.yaml:1: device.nam: is not a known key; did you mean name?"),
    ("device: {name: a}\nsetings: {}", "f.yaml:2: setings: is not a known key; did you mean settings?"),
    ("device: {name: a}\napps: [{bundel: b}]", "apps[0].bundel: is not a known key; did you mean bundle?"),
    ("device: {name: a}\nsettings: {suspendAfter: 2e9}", "settings.suspendAfter: must be less than 1000000000 s"),
    ("device: {name: a}\nsettings: {suspendAfter: -1}", "settings.suspendAfter: must be 0 or more"),
    ("device: {name: a}\nwidgets: []", "f.yaml:2: widgets: is not a known key"),
    (
      "device: {name: a}\ndeveloperMode: true",
      "f.yaml:2: developerMode: is not a known key here; it belongs to settings"
    ),
    (
      "device: {name: a}\napps: [{bundle: b, executable: c, dataProtection: complete}]",
      "apps[0].dataProtection: is not a known key here; it belongs to extensions"
    ),
    (
      "device: {name: a, aps-environment: production}",
      "device.aps-environment: is not a known key here; it belongs to apps.entitlements or extensions.entitlements"
    ),
    ("device: {name: a}\nsettings: {bus: {}}", "settings.bus: is not a known key here; it belongs to the top level"),
    (
      "device: {name: a}\nsettings: {redeliveries: 99999999999999999999}",
      "settings.redeliveries: must be 1 to 9223372036854775807"
    ),
    ("device: {name: a}\nsettings: {entryLimit: 1e30}", "settings.entryLimit: must be 1 to 10000"),
    ("device: {name: a}\nsettings: {maximumLoads: 1.5}", "settings.maximumLoads: expected a whole number"),
    ("device: {name: a}\nsettings: {maximumLoads: '5'}", "settings.maximumLoads: expected a whole number"),
    ("apps: []", "f.yaml:1: device: is missing"),
    ("device:\n  name: a/b", "f.yaml:2: device.name: \"a/b\" is not a device name"),
    ("device: {name: a, locale: de/DE}", "f.yaml:1: device.locale: \"de/DE\" is not a locale"),
    ("device: {name: a, timeZone: Europe/Bern}", "f.yaml:1: device.timeZone: \"Europe/Bern\" is not a time zone"),
    ("device: {name: a}\napps:\n  - bundle: x", "f.yaml:3: apps[0].executable: is missing"),
    ("device: {name: a}\napps: {bundle: x}", "f.yaml:2: apps: expected a list"),
    ("device: {name: a}\nsettings: {extensionMemoryLimit: -1}", "f.yaml:2: settings.extensionMemoryLimit: must be"),
    ("device: {name: a}\nsettings: {memoryInterval: 0}", "f.yaml:2: settings.memoryInterval: must be at least 0.01 s"),
    ("device: {name: a}\nsettings: {suspendAfter: soon}", "f.yaml:2: settings.suspendAfter: expected a number"),
    ("device: {name: a}\nsettings: {suspendAfter: '3'}", "f.yaml:2: settings.suspendAfter: expected a number"),
    ("device: {name: a}\nsettings: {suspendAfter: 1.2.3}", "f.yaml:2: settings.suspendAfter: expected a number"),
    ("device: {name: a}\nsettings: {suspendAfter: .}", "f.yaml:2: settings.suspendAfter: expected a number"),
    (
      "device: {name: a}\napps:\n  - {bundle: x, executable: y}\n  - {bundle: x, executable: z}",
      "the bundle identifier x is used twice"
    ),
    (
      "device: {name: a}\napps:\n  - {bundle: x, executable: y, environment: {U: '${provider.port}'}}",
      "apps[0].environment: U: ${provider.port} is not a known name"
    ),
    ("device: {name: a}\nbus:\n  journalLimit: 1GB", "f.yaml:3: bus.journalLimit: \"1GB\" is not a length"),
    ("device: {name: a}\nbus: {journalLimit: 100}", "bus.journalLimit: \"100\" is not a length of at least 64KiB"),
    ("device: {name: a}\nbus: {peerLimit: 0}", "bus.peerLimit: must be at least 1"),
    ("device: {name: a}\nbus: {keyGrace: -1}", "bus.keyGrace: must be 0 to 86400 s"),
    ("device: {name: a}\nbus: {keyGrace: 100000}", "bus.keyGrace: must be 0 to 86400 s"),
    ("device: {name: a}\nbus: {peers: 3}", "bus.peers: is not a known key"),
    ("device: [", "is not YAML"),
    ("", "is empty"),
  ])
  func `a configuration error names its place and its reason`(yaml: String, expected: String) {
    let error = #expect(throws: ClusterError.self) { try ClusterConfiguration(yaml: yaml, file: "f.yaml") }
    #expect(error?.code == .configuration)
    #expect(error?.message.contains(expected) == true, "\(error?.message ?? "no error")")
  }

  @Test(.rule("WIDGET-21", "SETTING-07")) func `variables in an app's environment are expanded when they are used`()
    async throws
  {
    try await withInstance { instance in
      let configuration = try ClusterConfiguration(
        yaml: """
          device: {name: a, locale: de-CH, timeZone: Europe/Zurich, version: "17.2"}
          apps:
            - bundle: x
              executable: y
              environment: {URL: "${provider.url}/f?a=${env.A}&b=${env.A}", PLAIN: "$5 {}"}
            - {bundle: z, executable: y, environment: {TZ: Asia/Kolkata}}
          """)
      let ownEnvironment = try configuration.environment(
        of: configuration.apps[1], in: instance, DeviceSettings(timeZone: "Asia/Tokyo"), environment: [:])
      #expect(ownEnvironment["TZ"] == "Asia/Kolkata", "its own environment takes precedence")
      let app = configuration.apps[0]
      let early = #expect(throws: ClusterError.self) {
        try configuration.environment(of: app, in: instance, environment: ["A": "1"])
      }
      #expect(early?.code == .expansion)
      try ProviderAnnouncement(url: "http://127.0.0.1:9", pid: 1).write(in: instance)
      let expanded = try configuration.environment(of: app, in: instance, environment: ["A": "1"])
      #expect(
        expanded == [
          "URL": "http://127.0.0.1:9/f?a=1&b=1", "PLAIN": "$5 {}", "LANG": "de_CH.UTF-8", "TZ": "Europe/Zurich",
          "SIMULATOR_DEVICE_NAME": "iPhone 16", "SIMULATOR_RUNTIME_VERSION": "17.2",
          "SIMULATOR_MAINSCREEN_WIDTH": "1179", "SIMULATOR_MAINSCREEN_HEIGHT": "2556",
          "SIMULATOR_MAINSCREEN_SCALE": "3.0",
        ])
      let changed = try configuration.environment(
        of: app, in: instance, DeviceSettings(locale: "ar", timeZone: "Asia/Tokyo"), environment: ["A": "1"])
      #expect(changed["LANG"] == "ar.UTF-8" && changed["TZ"] == "Asia/Tokyo")
      var moved = DeviceSettings()
      moved.location = DeviceLocation("47.5,8.25")
      try moved.set(.battery, to: "15,charging")
      moved.isLowPowerModeOn = true
      let there = try configuration.environment(of: app, in: instance, moved, environment: ["A": "1"])
      #expect(there["SIMULATOR_LOCATION"] == "47.5,8.25" && there["SIMULATOR_LOCATION_ACCESS"] == "allowed")
      #expect(there["SIMULATOR_BATTERY"] == "15,charging" && there["SIMULATOR_LOW_POWER_MODE"] == "on")
      let missing = #expect(throws: ClusterError.self) {
        try configuration.environment(of: app, in: instance, environment: [:])
      }
      #expect(missing?.message.contains("set A in the environment") == true)
    }
  }
}

/// The path of a file in the repository's root.
func repositoryFile(_ name: String) -> String {
  Repository.root.appendingPathComponent(name).path
}

/// Runs a test with a temporary instance folder.
func withInstance(_ body: (InstanceFolder) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cluster-\(UUID().uuidString)").path
  let instance = InstanceFolder(folder)
  try instance.create()
  defer { try? FileManager.default.removeItem(atPath: folder) }
  try await body(instance)
}
