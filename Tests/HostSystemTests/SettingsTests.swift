import Cluster
import Conversations
import Gallery
import Testing
import Timelines
import Transfers

@testable import HostSystem

/// What `widgetlab.yaml` says reaches the rooms and the processes.
@Suite struct `The settings of the rules that Apple does not state` {
  private typealias Settings = ClusterConfiguration.Settings

  @Test func `are, where the file says nothing, those of the rooms and processes themselves`() throws {
    #expect(TransferSettings(Settings()) == TransferSettings())
    #expect(Settings().processRules == ProcessRules())
    #expect(TimelineSettings(Settings()) == TimelineSettings())
    #expect(try device("").taste == WidgetDevice.Taste())
  }

  @Test(arguments: [
    "defaultFamiliesIncludeAccessory: false", "contentMargin: 11", "homeScreenRenderingMode: accented",
    "standByRenderingMode: vibrant", "hidesSensitiveContent: false", "smartRotatePause: 1799", "developerMode: true",
  ])
  func `reach the gallery`(line: String) throws {
    #expect(try device(line).taste != WidgetDevice.Taste())
  }

  private func device(_ line: String) throws -> WidgetDevice {
    WidgetDevice(try ClusterConfiguration(yaml: "device: {name: iphone}\nsettings: {\(line)}"))
  }

  @Test(arguments: [
    "completionDeadline: 29", "completionGrace: 4", "observedEventOrder: true", "redeliverAfter: 59", "redeliveries: 4",
    "resumeAfter: 2", "resumeAfterMax: 59", "maximumLoads: 63", "discretionaryNeedsWiFi: false",
    "widgetTransfersAreDiscretionary: true", "limiterFirst: 59", "limiterMax: 86399", "limiterAppliesToWidgets: false",
    "limiterIsSharedWithApp: true", "delayedRequestLaunches: false", "countsPerSecond: 3", "keepsResumeData: 604799",
    "forceQuitCancelsExtensions: true", "redirectLimit: 15", "resumableFrom: 63", "challengeDeadline: 1",
    "listsEndedTasks: false",
  ])
  func `reach the transfers`(line: String) throws {
    #expect(TransferSettings(try settings(line)) != TransferSettings())
  }

  @Test(arguments: ["callDeadline: 4", "inlineRedirectLimit: 19", "firstCompletionCounts: true"])
  func `reach the processes`(line: String) throws {
    #expect(try settings(line).processRules != ProcessRules())
  }

  @Test(arguments: [
    "developerMode: true", "timelineDeadline: 29", "timelineBackoffFirst: 59", "timelineBackoffMax: 3599",
    "retriesAfterDeath: 0", "oneEntryPause: 899", "policyFloor: 59", "archiveLimit: 4095", "archiveDepth: 239",
    "imageAreaLimit: 2000000", "entryLimit: 399",
  ])
  func `reach the timelines`(line: String) throws {
    #expect(TimelineSettings(try settings(line)) != TimelineSettings())
  }

  private func settings(_ line: String) throws -> Settings {
    try ClusterConfiguration(yaml: "device: {name: iphone}\nsettings: {\(line)}").settings
  }
}
