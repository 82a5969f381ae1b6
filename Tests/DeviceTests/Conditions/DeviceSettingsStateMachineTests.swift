// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = Address.app("iphone", "com.example.App")
private let widget = Address.widgetExtension("iphone", "com.example.App.Widget")

@Suite struct `Settings of a device` {
  private typealias Stored = DeviceSettingsStateMachine.Stored
  private var stateMachine = DeviceSettingsStateMachine(
    DeviceSettings(locale: "de_DE", timeZone: "Europe/Berlin"),
    overrides: [widget: DeviceSettingsStateMachine.Override(timeZone: "Asia/Tokyo")])

  /// The actions of a change that the user made.
  private mutating func change(_ change: ChangeSetting.Change) throws -> [DeviceSettingsStateMachine.Action] {
    guard let next = try stateMachine.changed(by: change) else { return [] }
    return stateMachine.handle(.stored(next))
  }

  @Test(.rule("SETTING-01"), arguments: [("xLarge", TextSizeName.xLarge), ("accessibility3", .accessibility3)])
  mutating func `a change is recorded and announced, and the same value again changes nothing`(
    value: String, size: TextSizeName
  ) throws {
    var settings = stateMachine.settings
    settings.textSize = size
    #expect(
      try change(.set(.textSize, value)) == [
        .record(settings, .textSize),
        .asks(.settingChanged(SettingChange(name: .textSize, revision: 1), settings)),
      ])
    #expect(stateMachine.changed == [.textSize])
    #expect(try change(.set(.textSize, value)).isEmpty)
    #expect(try change(.set(.boldText, "off")).isEmpty)
  }

  @Test(.rule("SETTING-01")) mutating func `a reset restores the value of the configuration`() throws {
    _ = try change(.set(.locale, "ar"))
    #expect(stateMachine.settings.locale == "ar" && stateMachine.settings.isRightToLeft)
    let reset = SettingChange(name: .locale, revision: 2)
    #expect(try change(.reset(.locale)).last == .asks(.settingChanged(reset, stateMachine.settings)))
    #expect(stateMachine.settings.locale == "de_DE" && stateMachine.changed.isEmpty)
    #expect(try change(.reset(.locale)).isEmpty)
  }

  @Test mutating func `a value that the setting does not have is refused`() {
    for (name, value) in [(SettingName.textSize, "huge"), (.boldText, "yes"), (.locale, "xx"), (.timeZone, "Bern")] {
      let error = #expect(throws: BusError.self) { try stateMachine.changed(by: .set(name, value)) }
      #expect(error?.code == .malformed && error?.message.contains(value) == true)
    }
  }

  @Test(.rule("SETTING-02"))
  mutating func `a change whose reloads are not recorded is announced again by the next host, another one is not`()
    throws
  {
    _ = try change(.set(.textSize, "xLarge"))
    _ = try change(.set(.contrast, "increased"))
    let size = SettingChange(name: .textSize, revision: 1)
    let contrast = SettingChange(name: .contrast, revision: 2)
    let saved = stateMachine.handle(.announced(size))
    guard case .save(let storedSettings)? = saved.first else {
      Issue.record("nothing is saved")
      return
    }
    #expect(storedSettings.pending == [contrast])
    #expect(stateMachine.handle(.announced(size)).isEmpty)
    var next = DeviceSettingsStateMachine(DeviceSettings(), stored: storedSettings)
    #expect(next.settings.textSize == .xLarge && next.settings.increasesContrast)
    #expect(next.handle(.began(running: [:])) == [.asks(.settingChanged(contrast, next.settings))])
  }

  @Test(.rule("SETTING-02")) mutating func `a second change of a setting is not announced by the first one`() throws {
    _ = try change(.set(.textSize, "small"))
    _ = try change(.set(.textSize, "large"))
    #expect(stateMachine.handle(.announced(SettingChange(name: .textSize, revision: 1))).isEmpty)
    #expect(stateMachine.storedSettings.pending == [SettingChange(name: .textSize, revision: 2)])
  }

  @Test(.rule("SETTING-06"))
  mutating func `a running process receives each change, a suspended one the last state when it is resumed`() throws {
    // Launched with the settings of the configuration.
    #expect(stateMachine.handle(.runs(app, generation: 1)).isEmpty)
    let sentActions = try change(.set(.timeZone, "Asia/Kolkata"))
    #expect(sentActions.contains(.send(stateMachine.settings, to: app)))
    _ = stateMachine.handle(.suspended(app, generation: 1))
    #expect(try !change(.set(.timeZone, "Europe/Paris")).contains { if case .send = $0 { true } else { false } })
    _ = try change(.set(.timeZone, "Europe/Rome"))
    #expect(stateMachine.handle(.runs(app, generation: 1)) == [.send(stateMachine.settings, to: app)])
    #expect(stateMachine.handle(.runs(app, generation: 1)).isEmpty)
    // Launched before or after the change: it may have older settings.
    _ = stateMachine.handle(.ended(app, generation: 1))
    #expect(stateMachine.handle(.runs(app, generation: 2)) == [.send(stateMachine.settings, to: app)])
  }

  @Test(.rule("SETTING-07")) mutating func `the environment of a product takes precedence over the settings`() throws {
    _ = stateMachine.handle(.runs(widget, generation: 1))
    #expect(stateMachine.settings(of: widget).timeZone == "Asia/Tokyo")
    let sent = try change(.set(.timeZone, "Europe/Paris"))
    #expect(!sent.contains { if case .send = $0 { true } else { false } }, "nothing has changed for it")
    #expect(stateMachine.settings(of: widget).timeZone == "Asia/Tokyo")
    #expect(stateMachine.settings(of: app).timeZone == "Europe/Paris")
  }

  @Test(
    .rule("PUSH-25"),
    arguments: [
      (nil, "allowed", AskNotificationAccess.Status.notDetermined, "not shown: the app has not asked"),
      (4, "allowed", .authorized, "shown"), (4, "denied", .denied, "not shown: the user has denied"),
      (4, "unanswered", .notDetermined, "not shown: the user has not answered"),
      (68, "unanswered", .provisional, "shown quietly"), (68, "denied", .denied, "not shown: the user has denied"),
    ] as [(UInt?, String, AskNotificationAccess.Status, String)])
  mutating func `what an app asked and what the user answers decide whether an alert is shown`(
    options: UInt?, answer: String, status: AskNotificationAccess.Status, text: String
  ) throws {
    if let options {
      let next = try #require(stateMachine.asked("com.example.App", options: options))
      #expect(stateMachine.handle(.stored(next)).isEmpty)
      #expect(stateMachine.asked("com.example.App", options: options) == nil)
    }
    _ = try change(.set(.notificationAccess, answer))
    #expect(stateMachine.notificationAccess(of: "com.example.App").status == status)
    #expect(stateMachine.notificationAccess(of: "com.example.Other").status == .notDetermined)
    let showing = stateMachine.showing(to: "com.example.App")
    #expect(showing.1.hasPrefix(text))
    #expect(showing.0 == (text.hasPrefix("shown") ? .handled : .discarded))
  }

  @Test(
    .rule("PUSH-25"),
    arguments: [(4, 68, 4), (68, 4, 4), (4, 0, 4), (4, 2, 6), (68, 66, 70)] as [(UInt, UInt, UInt)])
  mutating func `an app that asks again extends its permission, and never lowers it`(
    first: UInt, second: UInt, result: UInt
  ) throws {
    for options in [first, second] {
      guard let next = stateMachine.asked("com.example.App", options: options) else { continue }
      #expect(stateMachine.handle(.stored(next)).isEmpty)
    }
    #expect(stateMachine.notificationAccess(of: "com.example.App").options == result)
  }
}
