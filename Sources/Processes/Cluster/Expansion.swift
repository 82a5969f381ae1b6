import Foundation

/// `${provider.url}` and `${env.NAME}` in the values of `widgetlab.yaml`, replaced at the moment of use.
package enum Expansion {
  /// Replaces every `${…}`.
  ///
  /// - Parameters:
  ///   - provider: what the provider server announced, if it has.
  ///   - environment: where `env.NAME` is looked up.
  /// - Throws: `expansion`, with the name and what to do.
  package static func expand(
    _ text: String, provider: ProviderAnnouncement?, environment: [String: String]
  ) throws(ClusterError) -> String {
    try replace(text) { name throws(ClusterError) in
      if name == "provider.url" {
        guard let provider else {
          throw ClusterError(
            .expansion, "${provider.url} is not known: no provider server has announced itself in provider.json")
        }
        return provider.url
      }
      let variable = String(name.dropFirst(4))
      guard let value = environment[variable] else {
        throw ClusterError(.expansion, "${\(name)} is not known: set \(variable) in the environment of the host system")
      }
      return value
    }
  }

  /// Whether every `${…}` is of a kind that can be known.
  ///
  /// - Throws: `expansion`.
  static func check(_ text: String) throws(ClusterError) {
    _ = try replace(text) { _ throws(ClusterError) in "" }
  }

  private static func replace(
    _ text: String, with value: (String) throws(ClusterError) -> String
  ) throws(ClusterError) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.range(of: "${") {
      guard let end = rest.range(of: "}", range: start.upperBound..<rest.endIndex) else {
        throw ClusterError(.expansion, "\"\(text)\" has a ${ without its }")
      }
      let name = String(rest[start.upperBound..<end.lowerBound])
      guard name == "provider.url" || (name.hasPrefix("env.") && name.count > 4) else {
        throw ClusterError(.expansion, "${\(name)} means nothing; there are ${provider.url} and ${env.NAME}")
      }
      result += rest[..<start.lowerBound] + (try value(name))
      rest = rest[end.upperBound...]
    }
    return result + rest
  }
}

extension ClusterConfiguration {
  /// The environment of a product: the device's, and what the file gives it, expanded with what is known now.
  ///
  /// - Throws: `expansion`, or `instance-folder` when `provider.json` cannot be read.
  package func environment(
    of product: Product, in instance: InstanceFolder,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(ClusterError) -> [String: String] {
    let provider = try ProviderAnnouncement.read(in: instance)
    var result = device.environment
    for (name, value) in product.environment {
      result[name] = try Expansion.expand(value, provider: provider, environment: environment)
    }
    return result
  }
}
