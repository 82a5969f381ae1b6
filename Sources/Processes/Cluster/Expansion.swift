// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation

/// What the servers of a cluster have announced: their URLs and files.
package struct Announced: Sendable {
  package var provider: ProviderAnnouncement?
  package var pushServer: PushServerAnnouncement?

  package init(provider: ProviderAnnouncement? = nil, pushServer: PushServerAnnouncement? = nil) {
    self.provider = provider
    self.pushServer = pushServer
  }

  /// Reads the announcements that exist now.
  ///
  /// - Throws: `instance-folder` when a file cannot be read.
  package init(in instance: InstanceFolder) throws(ClusterError) {
    self.init(
      provider: try ProviderAnnouncement.read(in: instance), pushServer: try PushServerAnnouncement.read(in: instance))
  }
}

/// Replaces `${provider.url}`, `${pushServer.url}` and similar, and `${env.NAME}` in values of `widgetlab.yaml`, at the
/// time of use.
package enum Expansion {
  /// Values of the push server that a provider of the development environment needs.
  private static let pushServer: [String: @Sendable (PushServerAnnouncement) -> String] = [
    "pushServer.url": \.development, "pushServer.productionURL": \.production,
    "pushServer.ca": \.certificateAuthority, "pushServer.key": \.key, "pushServer.keyID": \.keyID,
    "pushServer.teamID": \.teamID,
  ]

  /// Replaces every `${…}`.
  ///
  /// - Parameters:
  ///   - announced: the announcements of the servers, if any.
  ///   - environment: used to look up `env.NAME`.
  /// - Throws: `expansion`, with the name and what to do.
  package static func expand(
    _ text: String, _ announced: Announced, environment: [String: String]
  ) throws(ClusterError) -> String {
    try replace(text) { name throws(ClusterError) in
      if name == "provider.url" {
        guard let provider = announced.provider else {
          throw ClusterError(
            .expansion, "${provider.url} is not known: no provider server has announced itself in provider.json")
        }
        return provider.url
      }
      if let value = pushServer[name] {
        guard let pushServer = announced.pushServer else {
          throw ClusterError(
            .expansion,
            "${\(name)} is not known: no push server has announced itself in push-server.json; `pushServer: {}` in "
              + "widgetlab.yaml starts one")
        }
        return value(pushServer)
      }
      let variable = String(name.dropFirst(4))
      guard let value = environment[variable] else {
        throw ClusterError(.expansion, "${\(name)} is not known: set \(variable) in the environment of the host system")
      }
      return value
    }
  }

  /// Why a text has an invalid `${…}`; `nil` if all are valid.
  static func objection(to text: String) -> String? {
    do throws(ClusterError) {
      _ = try replace(text) { _ throws(ClusterError) in "" }
      return nil
    } catch {
      return error.message
    }
  }

  private static func replace(
    _ text: String, with value: (String) throws(ClusterError) -> String
  ) throws(ClusterError) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    var result = ""
    var rest = text[...]
    while let start = rest.range(of: "${") {
      guard let end = rest.range(of: "}", range: start.upperBound..<rest.endIndex) else {
        throw ClusterError(.expansion, "\"\(text)\" has a ${ without a closing }")
      }
      let name = String(rest[start.upperBound..<end.lowerBound])
      guard name == "provider.url" || pushServer[name] != nil || (name.hasPrefix("env.") && name.count > 4) else {
        let known = (["provider.url"] + pushServer.keys.sorted()).map { "${\($0)}" }.joined(separator: ", ")
        throw ClusterError(.expansion, "${\(name)} is not a known name; use \(known) or ${env.NAME}")
      }
      result += rest[..<start.lowerBound] + (try value(name))
      rest = rest[end.upperBound...]
    }
    return result + rest
  }
}

extension ClusterConfiguration {
  /// The environment of a product: the device's variables and those of the configuration, expanded with current values.
  ///
  /// - Parameter settings: the settings of the device; `nil` for those of the configuration.
  /// - Throws: `expansion`, or `instance-folder` when an announcement cannot be read.
  package func environment(
    of product: Product, in instance: InstanceFolder, _ settings: DeviceSettings? = nil,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ClusterError) -> [String: String] {
    let announced = try Announced(in: instance)
    var result = device.environment
    if let settings {
      result["LANG"] = "\(settings.locale).UTF-8"
      result["TZ"] = settings.timeZone
      result["SIMULATOR_LOCATION"] = settings.location?.text
      result["SIMULATOR_LOCATION_ACCESS"] = settings[.locationAccess]
      result["SIMULATOR_BATTERY"] = settings[.battery]
      result["SIMULATOR_LOW_POWER_MODE"] = settings[.lowPowerMode]
    }
    for (name, value) in product.environment {
      result[name] = try Expansion.expand(value, announced, environment: environment)
    }
    return result
  }

  /// The arguments of the provider, expanded with current values.
  ///
  /// - Throws: `expansion`, or `instance-folder` when an announcement cannot be read.
  package func arguments(
    of provider: Provider, in instance: InstanceFolder,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ClusterError) -> [String] {
    let announced = try Announced(in: instance)
    var result: [String] = []
    for argument in provider.arguments {
      result.append(try Expansion.expand(argument, announced, environment: environment))
    }
    return result
  }
}
