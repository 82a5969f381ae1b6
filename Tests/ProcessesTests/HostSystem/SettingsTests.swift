// SPDX-License-Identifier: Apache-2.0

import Device
import DeviceRules
import FidelityRules
import Messages
import Testing

@testable import Cluster
@testable import HostSystem

/// The settings of `widgetlab.yaml` reach the modules and the processes.
@Suite struct `Settings of rules that Apple does not document` {
  private typealias Settings = ClusterConfiguration.Settings

  /// What the settings are copied to.
  private struct Copies: Equatable {
    let transfers: TransferSettings
    let timelines: TimelineSettings
    let processes: ProcessRules
    let gallery: WidgetDevice.Options
    let activities: ActivityLimits
    let space: TransferSpace

    init(_ configuration: ClusterConfiguration, _ disk: DiskSpace) {
      let settings = configuration.settings
      transfers = TransferSettings(settings)
      timelines = TimelineSettings(settings)
      processes = settings.processRules
      gallery = WidgetDevice(configuration).options
      activities = ActivityLimits(settings)
      space = TransferSpace(disk, settings)
    }
  }

  /// Settings that are an argument of a service, or read where they are used. A test of each has its effect.
  private static let arguments: Set<String> = [
    "advancePatience", "budget", "crashBackoffFirst", "crashBackoffMax", "endIdleAfter", "extensionMemoryLimit",
    "intentDeadline", "memoryInterval", "placesEachKind", "pushReloadsAllWidgets", "suspendAfter",
  ]

  @Test func `settings that the file omits have the defaults of the modules`() throws {
    #expect(TransferSettings(Settings()) == TransferSettings())
    #expect(Settings().processRules == ProcessRules())
    #expect(TimelineSettings(Settings()) == TimelineSettings())
    #expect(ActivityLimits(Settings()) == ActivityLimits())
    #expect(WidgetDevice(try configuration("")).options == WidgetDevice.Options())
  }

  @Test(
    .rule("PUSH-02", "ACTIVITY-13"),
    arguments: [
      ("17.1", false, false), ("17.2", true, false), ("18.0", true, false), ("25.9", true, false), ("26.0", true, true),
    ])
  func `a system has push-to-start tokens from 17,2 on and widget pushes from 26 on`(
    version: String, hasStarts: Bool, hasWidgetPushes: Bool
  ) throws {
    let configuration = try ClusterConfiguration(yaml: "device: {name: phone, version: \"\(version)\"}")
    #expect(configuration.hasActivityStartTokens == hasStarts)
    #expect(configuration.hasWidgetPushes == hasWidgetPushes)
  }

  @Test(.rule("TIMELINE-10"), arguments: DeviceModel.all)
  func `Pro models from iPhone 14 on and all of iPhone 17 have an Always-On display`(model: DeviceModel) {
    let pros = [14, 15, 16].flatMap { ["iPhone \($0) Pro", "iPhone \($0) Pro Max"] }
    #expect(model.hasAlwaysOn == (pros.contains(model.name) || model.name.hasPrefix("iPhone 17")), "\(model.name)")
  }

  @Test(arguments: Settings.table.map(\.key.name))
  func `each setting reaches a module or the rules of the processes, or is an argument of a service`(
    name: String
  ) throws {
    let key = try #require(Settings.table.first { $0.key.name == name }?.key)
    let disk = try #require(DiskSpace(at: "/dev/shm"))
    let usual = Copies(try configuration(""), disk)
    let changed = Copies(try configuration("\(name): \(Self.otherValue(of: key))"), disk)
    #expect((changed != usual) != Self.arguments.contains(name))
  }

  @Test(.rule("TRANSFER-62")) func `the reserve of the disk is that of the configuration, or of the disk`() throws {
    let disk = try #require(DiskSpace(at: "/dev/shm"))
    #expect(TransferSpace(disk, try settings("diskReserve: 3")).reserve == 3 << 20)
    #expect(TransferSpace(disk, try settings("")).reserve == disk.reserve)
    #expect(TransferSpace(disk, try settings("")).free == disk.free)
  }

  @Test func `a setting of two modules reaches both`() throws {
    for line in ["concurrentTimelines: 2", "requestsTimelinesTwice: true"] {
      #expect(try settings(line).processRules != ProcessRules())
      #expect(TimelineSettings(try settings(line)) != TimelineSettings())
    }
    let line = "developerMode: true"
    #expect(TimelineSettings(try settings(line)) != TimelineSettings())
    #expect(ActivityLimits(try settings(line)) != ActivityLimits())
    #expect(WidgetDevice(try configuration(line)).options != WidgetDevice.Options())
  }

  /// A value that the key may have, and that is not its default: a lower number, if there is one.
  private static func otherValue(of key: SettingKey) throws -> String {
    switch (key.values, key.initial) {
    case (.flag, .flag(let flag)): return "\(!flag)"
    case (.count(let range), let initial), (.number(let range), let initial), (.seconds(let range), let initial):
      guard case .number(let number) = initial else { return SettingRange.text(range.least) }
      return SettingRange.text(range.contains(number - 1) ? number - 1 : number + 1)
    case (.choice(let names), let initial): return try #require(names.first { .text($0) != initial })
    case (.path, _): return "file"
    default:
      Issue.record("\(key.name): add another value for its kind")
      return ""
    }
  }

  private func configuration(_ line: String) throws -> ClusterConfiguration {
    try ClusterConfiguration(yaml: "device: {name: iphone}\nsettings: {\(line)}")
  }

  private func settings(_ line: String) throws -> Settings { try configuration(line).settings }
}
