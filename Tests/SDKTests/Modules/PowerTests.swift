// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import UIKit

/// What an author's process reads of the battery. Serialized: there is one `UIDevice`.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `The power of a device` {
  private func settings(_ battery: String, _ lowPower: String) throws -> DeviceSettings {
    var settings = DeviceSettings()
    try settings.set(.battery, to: battery)
    try settings.set(.lowPowerMode, to: lowPower)
    return settings
  }

  @MainActor @Test(.rule("SETTING-10"))
  func `the battery is unknown without monitoring, and each change is posted with it`() async throws {
    let (fixture, device) = (try SDKFixture(), UIDevice())
    let power = DevicePower.of(fixture.process)
    try fixture.process.asCurrent { () throws in
      #expect(device.batteryLevel == -1 && device.batteryState == .unknown)
      device.isBatteryMonitoringEnabled = true
      #expect(device.batteryLevel == 0.8 && device.batteryState == .unplugged)
      power.set(try settings("15,charging", "off"))
      #expect(device.batteryLevel == 0.15 && device.batteryState == .charging)
      power.set(try settings("100,full", "off"))
      #expect(device.batteryLevel == 1 && device.batteryState == .full)
      device.isBatteryMonitoringEnabled = false
      #expect(device.batteryLevel == -1 && device.batteryState == .unknown)
    }
  }

  @MainActor @Test(.rule("SETTING-10")) func `a change of the charge is posted by the current device`() async throws {
    let fixture = try SDKFixture()
    let power = DevicePower.of(fixture.process)
    let names = AsyncStream.makeStream(of: String.self)
    let observers = [UIDevice.batteryLevelDidChangeNotification, UIDevice.batteryStateDidChangeNotification].map {
      name in
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
        names.continuation.yield($0.name.rawValue)
      }
    }
    fixture.process.asCurrent { UIDevice.current.isBatteryMonitoringEnabled = true }
    power.set(try settings("70", "off"))
    var lines = names.stream.makeAsyncIterator()
    #expect(await lines.next() == "UIDeviceBatteryLevelDidChangeNotification")
    power.set(try settings("70,charging", "off"))
    #expect(await lines.next() == "UIDeviceBatteryStateDidChangeNotification")
    UIDevice.current.isBatteryMonitoringEnabled = false
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  @Test(.rule("SETTING-10")) func `Low Power Mode is the user's choice, and its change is posted`() throws {
    let fixture = try SDKFixture()
    let power = DevicePower.of(fixture.process)
    let count = Mutex(0)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSProcessInfoPowerStateDidChange, object: nil, queue: nil
    ) { _ in count.withLock { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(observer) }
    try fixture.process.asCurrent { () throws in
      #expect(!ProcessInfo.processInfo.isLowPowerModeEnabled)
      for _ in 1...2 { power.set(try settings("80", "on")) }
      #expect(ProcessInfo.processInfo.isLowPowerModeEnabled)
      #expect(count.withLock { $0 } == 1)
    }
    let environment = ["SIMULATOR_BATTERY": "7", "SIMULATOR_LOW_POWER_MODE": "on"]
    #expect(DevicePower(environment).state.battery.percent == 7 && DevicePower(environment).state.isLowPowerModeOn)
  }

  @Test(.rule("DIAGNOSIS-11")) func `the temperature is nominal, and its use is reported`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent { #expect(ProcessInfo.processInfo.thermalState == .nominal) }
    #expect(await fixture.sent(FaultNoticed.self).map(\.subject) == ["thermalState"])
  }
}
