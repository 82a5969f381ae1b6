// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Cluster

@Suite struct `The property list of a bundle` {
  /// - Parameter keys: further keys of the product.
  private func product(_ keys: String, isExtension: Bool = true) throws -> ClusterConfiguration.Product {
    let app = isExtension ? "" : ", \(keys)"
    let widget = isExtension ? ", \(keys)" : ""
    let configuration = try ClusterConfiguration(
      yaml: """
        device: {name: phone}
        apps: [{bundle: com.a, executable: bin/app\(app)}]
        extensions: [{bundle: com.a.Widget, executable: widget\(widget)}]
        """, file: "/somewhere/widgetlab.yaml")
    #expect(configuration.app(ofExtension: "com.a.Widget")?.bundle == "com.a")
    #expect(configuration.app(ofExtension: "com.b.Widget") == nil)
    return try #require(configuration.product(isExtension ? "com.a.Widget" : "com.a"))
  }

  /// The information of a product with an `Info.plist` of these keys.
  private func read(_ list: [String: Any], _ keys: String = "version: 1.0", isExtension: Bool = false) throws
    -> [String: Any]
  {
    let path = FileManager.default.temporaryDirectory.path + "/info-\(UUID().uuidString).plist"
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    try data.write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    return try product("\(keys), infoPlist: \(path)", isExtension: isExtension).bundleInformation()
  }

  @Test(.rule("BUNDLE-02", "BUNDLE-03"), arguments: [true, false])
  func `without an Info.plist the keys are those of widgetlab yaml`(isExtension: Bool) throws {
    let plain = try product("version: 1.0", isExtension: isExtension).bundleInformation()
    #expect(plain["CFBundleIdentifier"] as? String == (isExtension ? "com.a.Widget" : "com.a"))
    #expect(plain["CFBundleExecutable"] as? String == (isExtension ? "widget" : "app"))
    #expect(plain["CFBundleName"] as? String == (isExtension ? "widget" : "app"))
    #expect(plain["CFBundleDisplayName"] as? String == (isExtension ? "widget" : "app"))
    #expect(plain["CFBundlePackageType"] as? String == (isExtension ? "XPC!" : "APPL"))
    #expect((plain["NSExtension"] != nil) == isExtension)
    #expect(plain["CFBundleShortVersionString"] as? String == "1.0" && plain["CFBundleVersion"] as? String == "1")
    let named = try product("displayName: Wetter, version: 2.10, build: 42", isExtension: isExtension)
    let keys = try named.bundleInformation()
    #expect(keys["CFBundleDisplayName"] as? String == "Wetter")
    #expect(keys["CFBundleShortVersionString"] as? String == "2.10" && keys["CFBundleVersion"] as? String == "42")
  }

  @Test(.rule("BUNDLE-02", "BUNDLE-04"))
  func `the Info plist has precedence, with the values of build settings`() throws {
    let list: [String: Any] = [
      "CFBundleIdentifier": "$(PRODUCT_BUNDLE_IDENTIFIER)", "CFBundleName": "${PRODUCT_NAME:upper}",
      "CFBundleShortVersionString": "$(MARKETING_VERSION)", "CFBundleVersion": "$(CURRENT_PROJECT_VERSION).1",
      "CFBundleExecutable": "other", "List": ["$(CITY)", 3, ["Deep": "a $(CITY) b ${CITY:lower}"]],
      "Name": "$(FULL:rfc1034identifier) $(FULL:c99extidentifier)", "Price": "5 $ $(", "Flag": true,
    ]
    let read = try read(list, "version: 2.0, build: 7, buildSettings: {CITY: Zürich, FULL: a b.c}")
    #expect(read["CFBundleIdentifier"] as? String == "com.a")
    #expect(read["CFBundleName"] as? String == "APP" && read["CFBundleExecutable"] as? String == "app")
    #expect(read["CFBundleShortVersionString"] as? String == "2.0" && read["CFBundleVersion"] as? String == "7.1")
    let elements = try #require(read["List"] as? [Any])
    #expect(elements.first as? String == "Zürich" && elements[1] as? Int == 3)
    #expect((elements.last as? [String: String])?["Deep"] == "a Zürich b zürich")
    #expect(read["Name"] as? String == "a-b-c a_b_c")
    #expect(read["Price"] as? String == "5 $ $(" && read["Flag"] as? Bool == true)
  }

  @Test(
    .rule("BUNDLE-04"),
    arguments: [
      (["Key": "$(API_KEY)"], "Key: there is no build setting API_KEY: add it to buildSettings of com.a"),
      (["Key": "$(PRODUCT_NAME:base)"], "there is no build setting PRODUCT_NAME:base"),
      (["CFBundleIdentifier": "com.b"], "CFBundleIdentifier is com.b, and `bundle:` is com.a"),
    ])
  func `a build setting without a value and another identifier are refused with the file`(
    list: [String: String], words: String
  ) throws {
    let error = #expect(throws: ClusterError.self) { try read(list) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("/info-") == true, "\(error?.message ?? "")")
  }
}
