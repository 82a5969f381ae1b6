// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
import FidelityRules
import Messages
import Testing

@testable import HostSystem

/// The settings of `widgetlab.yaml` reach the modules and the processes.
@Suite struct `Settings of rules that Apple does not document` {
  private typealias Settings = ClusterConfiguration.Settings

  @Test func `settings that the file omits have the defaults of the modules`() throws {
    #expect(TransferSettings(Settings()) == TransferSettings())
    #expect(Settings().processRules == ProcessRules())
    #expect(TimelineSettings(Settings()) == TimelineSettings())
    #expect(try device("").options == WidgetDevice.Options())
  }

  @Test(arguments: [
    "defaultFamiliesIncludeAccessory: false", "contentMargin: 11", "homeScreenRenderingMode: accented",
    "standByRenderingMode: vibrant", "hidesSensitiveContent: false", "smartRotatePause: 1799", "developerMode: true",
  ])
  func `each gallery setting reaches the options of the device`(line: String) throws {
    #expect(try device(line).options != WidgetDevice.Options())
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
    "listsEndedTasks: false", "expansionLimit: 199",
  ])
  func `each transfer setting reaches the transfer service`(line: String) throws {
    #expect(TransferSettings(try settings(line)) != TransferSettings())
  }

  @Test(.rule("TRANSFER-62")) func `the reserve of the disk is that of the configuration, or of the disk`() throws {
    let disk = try #require(DiskSpace(at: "/dev/shm"))
    #expect(TransferSpace(disk, try settings("diskReserve: 3")).reserve == 3 << 20)
    #expect(TransferSpace(disk, try settings("")).reserve == disk.reserve)
    #expect(TransferSpace(disk, try settings("")).free == disk.free)
  }

  @Test(arguments: [
    "callDeadline: 4", "inlineRedirectLimit: 19", "firstCompletionCounts: true", "concurrentTimelines: 2",
    "requestsTimelinesTwice: true",
  ])
  func `each process setting reaches the process rules`(line: String) throws {
    #expect(try settings(line).processRules != ProcessRules())
  }

  @Test(arguments: [
    "developerMode: true", "timelineDeadline: 29", "timelineBackoffFirst: 59", "timelineBackoffMax: 3599",
    "retriesAfterExit: 0", "oneEntryPause: 899", "policyFloor: 59", "archiveLimit: 4095", "archiveDepth: 239",
    "imageAreaLimit: 2000000", "entryLimit: 399", "concurrentTimelines: 2", "requestsTimelinesTwice: true",
  ])
  func `each timeline setting reaches the timeline service`(line: String) throws {
    #expect(TimelineSettings(try settings(line)) != TimelineSettings())
  }

  private func settings(_ line: String) throws -> Settings {
    try ClusterConfiguration(yaml: "device: {name: iphone}\nsettings: {\(line)}").settings
  }
}
