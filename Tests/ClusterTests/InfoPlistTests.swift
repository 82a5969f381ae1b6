import Foundation
import Testing

@testable import Cluster

@Suite struct `an extension's Info.plist` {
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

  private func read(_ data: Data) throws -> InfoPlist {
    let path = FileManager.default.temporaryDirectory.path + "/info-\(UUID().uuidString).plist"
    try data.write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    let read = try InfoPlist(file: path)
    #expect(FileManager.default.contents(atPath: path) == data)
    return read
  }

  @Test(arguments: [(nil, false), ("true", true), ("false", false)])
  func `says whether its widgets want the location, in XML and in binary`(value: String?, wants: Bool) throws {
    let key = value.map { "<key>NSWidgetWantsLocation</key><\($0)/>" } ?? ""
    let text = Self.xml(Self.widgetKit + key)
    #expect(try read(text).wantsLocation == wants)
    let list = try PropertyListSerialization.propertyList(from: text, format: nil)
    let binary = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    #expect(binary.starts(with: Data("bplist".utf8)))
    #expect(try read(binary).wantsLocation == wants)
  }

  @Test(arguments: [
    (xml(point("com.apple.share-services")), "is com.apple.share-services, so this is no widget extension"),
    (xml("<key>NSExtension</key><dict/>"), "NSExtension/NSExtensionPointIdentifier is missing"),
    (xml("<key>NSExtension</key><string>x</string>"), "NSExtension/NSExtensionPointIdentifier is missing"),
    (xml(""), "NSExtension is missing: this is no extension's Info.plist"),
    (xml(widgetKit + "<key>NSWidgetWantsLocation</key><string>yes</string>"), "NSWidgetWantsLocation: true or false"),
    (Data("\(head)<array/></plist>".utf8), "no dictionary of keys"),
    (Data("<plist".utf8), "is no property list, neither XML nor binary"),
    (Data(), "is no property list, neither XML nor binary"),
  ])
  func `of another extension, or of none, is refused with the file and the key`(data: Data, words: String) throws {
    let error = #expect(throws: ClusterError.self) { try read(data) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("/info-") == true, "\(error?.message ?? "")")
  }

  @Test func `lies beside widgetlab.yaml, is an extension's alone, and may be left out`() throws {
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
    let error = #expect(throws: ClusterError.self) { try configuration(", infoPlist: Info.plist", "") }
    #expect(error?.message.contains("infoPlist: is of an extension") == true, "\(error?.message ?? "")")
  }
}
