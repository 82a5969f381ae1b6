// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import FidelityRules
import Foundation
import Messages
import Testing

@testable import WidgetLab

@Suite struct `The setting command` {
  private func reply(_ settings: DeviceSettings, _ changed: [SettingName] = []) -> ChangeSetting.Reply {
    ChangeSetting.Reply(settings: settings, changed: changed, appearance: .dark)
  }

  @Test func `a setting, the appearance and a change without a value are distinguished`() throws {
    #expect(try SettingCommand.parse([]).subject() == nil)
    #expect(try SettingCommand.parse(["text-size", "xLarge"]).subject() == .setting(.textSize))
    #expect(try SettingCommand.parse(["locale", "default"]).subject() == .setting(.locale))
    #expect(try SettingCommand.parse(["appearance", "dark"]).subject() == .appearance)
    #expect(try SettingCommand.parse(["account"]).subject() == .event("account"))
  }

  @Test(arguments: [
    ["weather"], ["text-size", "huge"], ["bold-text", "yes"], ["time-zone", "Bern"], ["appearance", "blue"],
    ["account", "Anna"],
  ])
  func `an unknown setting or value is refused before the device is asked`(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { try SettingCommand.parse(arguments) }
    #expect(error.map { SettingCommand.message(for: $0).contains(arguments[0]) } == true)
  }

  @Test func `without arguments all values are shown, and what the user changed is marked`() throws {
    var settings = DeviceSettings()
    settings.textSize = .xLarge
    let lines = try SettingCommand.parse([]).lines(reply(settings), reply(settings, [.textSize]))
    #expect(lines.count == SettingName.allCases.count + 1)
    #expect(lines.first == "appearance                   dark")
    #expect(lines.contains("text-size                    xLarge  (changed)"))
    #expect(lines.contains("locale                       en_US"))
  }

  @Test func `a change that keeps the value is reported as such`() throws {
    var settings = DeviceSettings()
    settings.textSize = .xLarge
    let command = try SettingCommand.parse(["text-size", "xLarge"])
    let after = reply(settings, [.textSize])
    #expect(try command.lines(reply(DeviceSettings()), after) == ["text-size xLarge: all widgets are reloaded"])
    #expect(try command.lines(after, after) == ["text-size xLarge, as before"])
    #expect(try SettingCommand.parse(["text-size"]).lines(after, after) == ["text-size xLarge"])
  }

  @Test(.rule("SETTING-03", "SETTING-04"))
  func `a screen names the settings that the user changed, and the direction of its layout`() {
    var reply = ShowScreen.Reply(state: DeviceScreen(), location: .homeScreen, tiles: [])
    let head = "homeScreen, unlocked, homeScreen is visible"
    #expect(ScreenPrint(reply: reply, now: .distantPast).lines.first == head)
    #expect(ScreenPrint(reply: reply, now: .distantPast).lines.count == 2)
    reply.settings = DeviceSettings(locale: "ar")
    reply.settings.textSize = .xxxLarge
    reply.changedSettings = [.textSize, .locale]
    #expect(
      ScreenPrint(reply: reply, now: .distantPast).lines.prefix(2) == [
        head, "text-size xxxLarge, locale ar, the layout is from right to left",
      ])
  }
}
