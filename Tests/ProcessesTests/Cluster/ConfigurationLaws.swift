// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

@testable import Cluster

/// The laws that hold for any text of a `widgetlab.yaml`. The tests check the corpus against them, and `scripts/fuzz` a
/// million more inputs.
enum ConfigurationLaws {
  /// The law that the text breaks, or `nil`. The fuzzer finds traps.
  static func broken(by bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    let configuration: ClusterConfiguration
    do throws(ClusterError) {
      configuration = try ClusterConfiguration(yaml: text, file: "/a/widgetlab.yaml")
    } catch {
      guard error.code == .configuration else { return "the error has the code \(error.code)" }
      return error.message.contains("/a/widgetlab.yaml") ? nil : "the error does not name the file: \(error)"
    }
    return broken(by: configuration.device) ?? broken(by: configuration)
  }

  private static func broken(by device: ClusterConfiguration.Device) -> String? {
    guard Address(Address.host(device.name).text) == .host(device.name) else { return "the device has no address" }
    return device.environment.contains { $0.value.utf8.contains(0) } ? "a variable has a NUL character" : nil
  }

  private static func broken(by configuration: ClusterConfiguration) -> String? {
    var bundles: Set<String> = []
    for product in configuration.products {
      let address = product.address(on: configuration.device.name)
      guard Address(address.text) == address else { return "\(product.bundle) has no address" }
      guard bundles.insert(product.bundle).inserted else { return "\(product.bundle) is given twice" }
      guard !product.executable.utf8.contains(0) else { return "an executable has a NUL character" }
      for (name, value) in product.environment {
        guard !name.isEmpty, !name.contains("="), !name.utf8.contains(0), !value.utf8.contains(0) else {
          return "\(name) is not a variable"
        }
      }
      guard product.infoPlist?.hasPrefix("/") ?? true, product.resources.allSatisfy({ $0.hasPrefix("/") }) else {
        return "a path of \(product.bundle) is not absolute"
      }
      guard !product.name.isEmpty else { return "\(product.bundle) has no name" }
      if product.infoPlist == nil, (try? product.bundleInformation()) == nil { return "the bundle has no information" }
    }
    for app in configuration.apps {
      for own in configuration.extensions(ofApp: app.bundle)
      where configuration.app(ofExtension: own.bundle) != app {
        return "\(own.bundle) is an extension of two apps"
      }
    }
    guard configuration.agentNumbers == Set(configuration.agentNumbers).sorted(), !configuration.agentNumbers.isEmpty
    else { return "the agents are not in order" }
    return configuration.settings.suspendAfter >= .zero && configuration.bus.peers > 0 ? nil : "a setting is negative"
  }
}
