import Foundation
import Testing
import WidgetLabTesting

/// An `Info.plist` of a test, in a file of its own.
struct TrialInfoPlist: Sendable {
  let path: String
  let data: Data

  /// - Parameter point: `nil`: it is not an extension's.
  init(point: String? = "com.apple.widgetkit-extension", wantsLocation: Bool = false, isBinary: Bool = false) throws {
    var keys: [String: Any] = ["CFBundleDisplayName": "Trial"]
    if let point { keys["NSExtension"] = ["NSExtensionPointIdentifier": point] }
    if wantsLocation { keys["NSWidgetWantsLocation"] = true }
    data = try PropertyListSerialization.data(
      fromPropertyList: keys, format: isBinary ? .binary : .xml, options: 0)
    path = FileManager.default.temporaryDirectory.path + "/info-\(UUID().uuidString).plist"
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// The line of the extension that names it.
  var line: String { "infoPlist: \(path)" }

  func remove() { unlink(path) }
}

@Suite(.live, .timeLimit(.live)) struct `an extension with an Info.plist of its own` {
  @Test(arguments: [false, true])
  func `is a widget's by the extension point, from XML or binary, and the file stays as it is`(
    isBinary: Bool
  ) async throws {
    let list = try TrialInfoPlist(isBinary: isBinary)
    defer { list.remove() }
    try await GalleryTrial.run("info plist", product: [list.line]) { trial in
      try await trial.add("Plain")
      _ = try await trial.entry(of: 1)
      #expect(FileManager.default.contents(atPath: list.path) == list.data)
    }
  }

  @Test(arguments: [("com.apple.share-services", "is com.apple.share-services, so"), (nil, "NSExtension is missing")])
  func `of another extension point, or of none, is refused before anything is started`(
    point: String?, words: String
  ) async throws {
    let list = try TrialInfoPlist(point: point)
    defer { list.remove() }
    let folder = FileManager.default.temporaryDirectory.path + "/widgetlab-info-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let configuration = """
      device: {name: phone}
      extensions: [{bundle: com.example.Other, executable: TrialWidgets, \(list.line)}]
      """
    try configuration.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    let answer = try await LabCluster.tool(
      ["up", "--instance", folder + "/instance", "--config", folder + "/widgetlab.yaml"],
      executables: try LabCluster.findExecutables(), in: folder)
    #expect(answer.status == 78, "\(answer.errors)")
    for part in [list.path, words, "infoPlist of com.example.Other", "name the Info.plist"] {
      #expect(answer.errors.contains(part), "\(answer.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder + "/instance"))
  }
}
