import Cluster
import Conversations
import Testing
import Transfers

@testable import HostSystem

/// What `widgetlab.yaml` says reaches the rooms and the processes.
@Suite struct `The settings of the rules that Apple does not state` {
  private typealias Settings = ClusterConfiguration.Settings

  @Test func `are, where the file says nothing, those of the rooms and processes themselves`() {
    #expect(TransferSettings(Settings()) == TransferSettings())
    #expect(Settings().processRules == ProcessRules())
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

  private func settings(_ line: String) throws -> Settings {
    try ClusterConfiguration(yaml: "device: {name: iphone}\nsettings: {\(line)}").settings
  }
}
