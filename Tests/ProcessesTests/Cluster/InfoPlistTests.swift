// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Cluster

@Suite struct `The Info.plist of an extension` {
  private static let head = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    """

  private static func xml(_ body: String) -> Data { Data("\(head)\n<dict>\(body)</dict></plist>".utf8) }

  private static func point(_ name: String) -> String {
    "<key>NSExtension</key><dict><key>NSExtensionPointIdentifier</key><string>\(name)</string></dict>"
  }

  private static let widgetKit = point("com.apple.widgetkit-extension")

  private func read(_ data: Data, isExtension: Bool = true) throws -> InfoPlist {
    let path = FileManager.default.temporaryDirectory.path + "/info-\(UUID().uuidString).plist"
    try data.write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    let read = try InfoPlist(file: path, isExtension: isExtension)
    #expect(FileManager.default.contents(atPath: path) == data)
    return read
  }

  @Test(.rule("BUDGET-10"), arguments: [(nil, false), ("true", true), ("false", false)])
  func `NSWidgetWantsLocation is read from an XML and from a binary Info.plist`(value: String?, wants: Bool) throws {
    let key = value.map { "<key>NSWidgetWantsLocation</key><\($0)/>" } ?? ""
    let text = Self.xml(Self.widgetKit + key)
    #expect(try read(text).wantsLocation == wants)
    let list = try PropertyListSerialization.propertyList(from: text, format: nil)
    let binary = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    #expect(binary.starts(with: Data("bplist".utf8)))
    #expect(try read(binary).wantsLocation == wants)
  }

  @Test(
    .rule("GALLERY-46"),
    arguments: [
      (xml(point("com.apple.share-services")), "is com.apple.share-services, not com.apple.widgetkit-extension"),
      (xml("<key>NSExtension</key><dict/>"), "NSExtension/NSExtensionPointIdentifier is missing"),
      (xml("<key>NSExtension</key><string>x</string>"), "NSExtension/NSExtensionPointIdentifier is missing"),
      (xml(""), "NSExtension is missing: this is not the Info.plist of an extension"),
      (xml(widgetKit + "<key>NSWidgetWantsLocation</key><string>yes</string>"), "NSWidgetWantsLocation: expected true"),
      (Data("\(head)<array/></plist>".utf8), "not a dictionary"),
      (Data("<plist".utf8), "is not a property list (XML or binary)"),
      (Data(), "is not a property list (XML or binary)"),
    ])
  func `an Info.plist that is not a widget extension's is refused with the file and the key`(data: Data, words: String)
    throws
  {
    let error = #expect(throws: ClusterError.self) { try read(data) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("/info-") == true, "\(error?.message ?? "")")
  }

  @Test(.rule("BUNDLE-02")) func `the Info.plist of an app needs no extension point`() throws {
    #expect(throws: Never.self) { try read(Self.xml(""), isExtension: false) }
    #expect(throws: ClusterError.self) { try read(Self.xml(""), isExtension: true) }
  }

  @Test(.rule("GALLERY-46"))
  func `infoPlist is relative to widgetlab.yaml and optional`() throws {
    func configuration(_ app: String, _ widget: String) throws -> ClusterConfiguration {
      try ClusterConfiguration(
        yaml: """
          device: {name: phone}
          apps: [{bundle: com.a, executable: app\(app)}]
          extensions: [{bundle: com.a.Widget, executable: widget\(widget)}]
          """, file: "/somewhere/widgetlab.yaml")
    }
    let named = try #require(try configuration("", ", infoPlist: Widget/Info.plist").extensions.first)
    #expect(named.infoPlist == "/somewhere/Widget/Info.plist")
    #expect(throws: ClusterError.self) { try named.readInfoPlist() }
    let plain = try #require(try configuration("", "").extensions.first)
    #expect(try plain.readInfoPlist() == nil)
    let app = try configuration(", infoPlist: Info.plist", "").apps.first
    #expect(app?.infoPlist == "/somewhere/Info.plist")
  }
}
