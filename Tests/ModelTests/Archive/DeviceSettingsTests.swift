// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Testing

@Suite struct `Device settings` {
  @Test(.rule("SETTING-03")) func `each setting has the values of its table, and returns the one that was set`() throws
  {
    for name in SettingName.allCases {
      let others: [SettingName: [String]] = [
        .locale: ["ar", "de_DE"], .location: ["47.5,8.25", "unknown"], .timeZone: ["Asia/Tokyo", "GMT"],
        .battery: ["0", "80", "80,charging", "100,full"],
      ]
      let values = try #require(name.values ?? others[name])
      for value in values {
        var settings = DeviceSettings()
        try settings.set(name, to: value)
        #expect(settings[name] == value)
        #expect((settings == DeviceSettings()) == (DeviceSettings()[name] == value))
      }
    }
  }

  @Test(.rule("SETTING-10"), arguments: ["", "101", "-1", "80,", "80,empty", "80,full,full", "eighty"])
  func `a text that is no charge is refused`(text: String) {
    var settings = DeviceSettings()
    #expect(throws: SettingRefusal.self) { try settings.set(.battery, to: text) }
  }

  @Test func `a locale may have a hyphen, and a time zone with an offset is refused`() throws {
    var settings = DeviceSettings()
    try settings.set(.locale, to: "pt-BR")
    #expect(settings.locale == "pt_BR")
    for (name, value) in [(SettingName.timeZone, "GMT+3"), (.locale, "../etc"), (.locale, ""), (.contrast, "on")] {
      let error = #expect(throws: SettingRefusal.self) { try settings.set(name, to: value) }
      #expect(error?.description.contains(name.rawValue) == true)
    }
  }

  @Test(.rule("SETTING-04"), arguments: [("ar", true), ("he_IL", true), ("fa", true), ("de_DE", false), ("ja", false)])
  func `the language determines the direction of the layout`(locale: String, isRightToLeft: Bool) {
    #expect(DeviceSettings(locale: locale).isRightToLeft == isRightToLeft)
  }
}
