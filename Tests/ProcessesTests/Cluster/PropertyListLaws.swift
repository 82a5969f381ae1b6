// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Cluster

/// The laws that hold for any bytes of an `Info.plist`. The tests check the corpus against them, and `scripts/fuzz` a
/// million more inputs.
enum PropertyListLaws {
  private static let file = "/a/Info.plist"
  private static let product: ClusterConfiguration.Product? = {
    let yaml = """
      device: {name: phone}
      extensions: [{bundle: com.a.Widget, executable: /b/My Widget, version: "2.1", buildSettings: {A: Ä b, B: $(A)}}]
      """
    return try? ClusterConfiguration(yaml: yaml, file: "/a/widgetlab.yaml").extensions.first
  }()

  /// The law that the bytes break, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    guard let product else { return "the product cannot be read" }
    let keys: [String: Any]
    do throws(ClusterError) {
      keys = try InfoPlist.keys(in: Data(bytes), of: file)
    } catch {
      return broken(by: error)
    }
    do throws(ClusterError) {
      _ = try InfoPlist(keys: keys, file: file, isExtension: true)
      guard (keys["NSExtension"] as? [String: Any]) != nil else { return "a list without NSExtension is accepted" }
    } catch {
      if let law = broken(by: error) { return law }
    }
    var settings = BuildSettings(of: product)
    do throws(BuildSettings.Fault) {
      guard let inserted = try settings.insert(into: keys) as? [String: Any], inserted.count == keys.count else {
        return "a key was lost"
      }
      return brokenByWriting(inserted, isSame: !bytes.contains(UInt8(ascii: "$")), keys)
    } catch {
      return bytes.contains(UInt8(ascii: "$")) ? nil : "a build setting is missing without a reference"
    }
  }

  private static func broken(by error: ClusterError) -> String? {
    guard error.code == .configuration else { return "the error has the code \(error.code)" }
    return error.message.hasPrefix(file) ? nil : "the error does not name the file: \(error)"
  }

  /// The agent writes the list into the bundle, where the author's process reads it.
  private static func brokenByWriting(_ list: [String: Any], isSame: Bool, _ keys: [String: Any]) -> String? {
    guard
      let data = try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0),
      let again = try? InfoPlist.keys(in: data, of: file)
    else { return "the list of the bundle cannot be written and read" }
    guard again.count == list.count else { return "a key of the bundle's list was lost" }
    return isSame && !(list as NSDictionary).isEqual(to: keys) ? "a list without references has changed" : nil
  }
}
