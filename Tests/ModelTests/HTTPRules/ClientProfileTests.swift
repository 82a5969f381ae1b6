// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@Suite struct `What requests say about their product` {
  private func profile(
    _ info: [String: Any] = [:], version: String = "26.0", languages: [String] = ["en-US"]
  ) -> ClientProfile {
    ClientProfile(infoDictionary: info, processName: "weather-widget", systemVersion: version, languages: languages)
  }

  @Test(
    .rule("NETWORK-10"),
    arguments: [
      ("26.0", "3860.100.1 Darwin/25.0.0"), ("26.1", "3860.200.71 Darwin/25.1.0"),
      ("26.2", "3860.200.71 Darwin/25.2.0"), ("26.3", "3860.400.51 Darwin/25.3.0"),
      ("26.5", "3860.600.12 Darwin/25.5.0"), ("18.0", "1568.100.1 Darwin/24.0.0"), ("17.0", "1474 Darwin/23.0.0"),
      ("17.4.1", "1474 Darwin/23.4.0"), ("16.0", "1390 Darwin/22.0.0"), ("15.2", "1390 Darwin/21.2.0"),
    ])
  func `User-Agent has the bundle's name and version and the system's parts`(version: String, parts: String) {
    let info = ["CFBundleName": "Weather", "CFBundleVersion": "42"]
    #expect(profile(info, version: version).userAgent == "Weather/42 CFNetwork/\(parts)")
  }

  @Test(.rule("NETWORK-10"))
  func `a name in User-Agent is percent-encoded, and a product without one has that of its process`() {
    let parts = "CFNetwork/3860.100.1 Darwin/25.0.0"
    let info = ["CFBundleName": "Wetter für Zürich", "CFBundleVersion": "1"]
    #expect(profile(info).userAgent == "Wetter%20f%C3%BCr%20Z%C3%BCrich/1 \(parts)")
    #expect(profile().userAgent == "weather-widget (unknown version) \(parts)")
  }

  @Test(
    .rule("NETWORK-11"),
    arguments: [
      (["en-US"], "en-US,en;q=0.9"), (["de-CH"], "de-CH,de;q=0.9"), (["ru"], "ru"),
      (["en-GB", "en-US"], "en-GB,en-US;q=0.9,en;q=0.8"), (["zh-Hant-TW"], "zh-Hant-TW,zh-Hant;q=0.9"),
      (["de-DE", "fr-FR", "it-IT", "es-ES"], "de-DE,de;q=0.9,fr-FR;q=0.8,fr;q=0.7,it-IT;q=0.6,it;q=0.5"),
      (["de", "de"], "de"), ([], ""),
    ])
  func `Accept-Language has the languages with descending qualities`(languages: [String], value: String) {
    #expect(profile(languages: languages).acceptLanguage == value)
  }

  @Test(.rule("NETWORK-01")) func `a profile has the security policy of its product and its system`() {
    let info = ["NSAppTransportSecurity": ["NSAllowsArbitraryLoads": true]]
    #expect(profile(info).transportSecurity.allowsArbitraryLoads)
    #expect(!profile().transportSecurity.allowsArbitraryLoads)
    #expect(profile(version: "16.4").transportSecurity.allowsAddresses)
    #expect(!profile(version: "17.0").transportSecurity.allowsAddresses)
  }
}
