import Foundation
import Yams

/// One mapping of `widgetlab.yaml`, or of another file of settings, while it is read: it knows its lines, and which of its keys
/// nobody asked for.
package struct ConfigurationReader {
  private let file: String
  private let path: String
  private let line: Int?
  private var values: [String: (key: Node, value: Node)] = [:]
  private var unread: Set<String> = []

  init(_ node: Node, file: String, path: String) throws(ClusterError) {
    self.file = file
    self.path = path
    self.line = node.mark?.line
    guard case .mapping(let mapping) = node else {
      throw ConfigurationReader.error(file, node.mark?.line, path, "a mapping of keys and values is expected")
    }
    for (key, value) in mapping {
      guard let name = key.string else {
        throw ConfigurationReader.error(file, key.mark?.line, path, "a key is not a text")
      }
      guard values.updateValue((key, value), forKey: name) == nil else {
        throw ConfigurationReader.error(file, key.mark?.line, join(path, name), "stands there twice")
      }
      unread.insert(name)
    }
  }

  /// The mapping that a whole file is.
  ///
  /// - Throws: `configuration`, with the file and the line.
  package init(file: String) throws(ClusterError) {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw ClusterError(.configuration, "\(file) cannot be read")
    }
    let node: Node?
    do {
      node = try Yams.compose(yaml: text)
    } catch {
      throw ClusterError(.configuration, "\(file) is not YAML: \(error)")
    }
    guard let node else { throw ClusterError(.configuration, "\(file) is empty") }
    try self.init(node, file: file, path: "")
  }

  /// The path of a file that a value names: beside the file that is read.
  func beside(_ path: String) -> String {
    URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: file).deletingLastPathComponent()).standardizedFileURL
      .path
  }

  // MARK: Values

  package mutating func string(_ name: String) throws(ClusterError) -> String? {
    guard let node = take(name) else { return nil }
    return try text(node, name)
  }

  mutating func requiredString(_ name: String) throws(ClusterError) -> String {
    guard let value = try string(name) else { throw missing(name) }
    return value
  }

  package mutating func integer(_ name: String) throws(ClusterError) -> Int? {
    guard let node = take(name) else { return nil }
    guard let value = node.int else { throw error(name, "a whole number is expected") }
    return value
  }

  package mutating func boolean(_ name: String) throws(ClusterError) -> Bool? {
    guard let node = take(name) else { return nil }
    guard let value = node.bool else { throw error(name, "true or false is expected") }
    return value
  }

  /// A number of seconds, 0 or more.
  mutating func seconds(_ name: String) throws(ClusterError) -> Duration? {
    guard let node = take(name) else { return nil }
    guard let value = node.float, value.isFinite, value >= 0, value < 1e9 else {
      throw error(name, "a number of seconds is expected, 0 or more")
    }
    return .seconds(value)
  }

  /// A finite number.
  package mutating func number(_ name: String) throws(ClusterError) -> Double? {
    guard let node = take(name) else { return nil }
    guard let value = node.float, value.isFinite else { throw error(name, "a number is expected") }
    return value
  }

  /// A list of finite numbers.
  package mutating func numbers(_ name: String) throws(ClusterError) -> [Double]? {
    guard let node = take(name) else { return nil }
    guard case .sequence(let sequence) = node else { throw error(name, "a list of numbers is expected") }
    var result: [Double] = []
    for element in sequence {
      guard let value = element.float, value.isFinite else { throw error(name, "a list of numbers is expected") }
      result.append(value)
    }
    return result
  }

  package mutating func strings(_ name: String) throws(ClusterError) -> [String] {
    guard let node = take(name) else { return [] }
    guard case .sequence(let sequence) = node else { throw error(name, "a list is expected") }
    var result: [String] = []
    for element in sequence { result.append(try text(element, name)) }
    return result
  }

  mutating func dictionary(_ name: String) throws(ClusterError) -> [String: String] {
    guard let node = take(name) else { return [:] }
    guard case .mapping(let mapping) = node else { throw error(name, "a mapping of names and values is expected") }
    var result: [String: String] = [:]
    for (key, value) in mapping { result[try text(key, name)] = try text(value, name) }
    return result
  }

  mutating func mapping(_ name: String) throws(ClusterError) -> ConfigurationReader? {
    guard let node = take(name) else { return nil }
    return try ConfigurationReader(node, file: file, path: join(path, name))
  }

  mutating func requiredMapping(_ name: String) throws(ClusterError) -> ConfigurationReader {
    guard let value = try mapping(name) else { throw missing(name) }
    return value
  }

  mutating func mappings(_ name: String) throws(ClusterError) -> [ConfigurationReader] {
    guard let node = take(name) else { return [] }
    guard case .sequence(let sequence) = node else { throw error(name, "a list is expected") }
    var result: [ConfigurationReader] = []
    for (index, element) in sequence.enumerated() {
      result.append(try ConfigurationReader(element, file: file, path: "\(join(path, name))[\(index)]"))
    }
    return result
  }

  /// Whether the file has the key.
  package func has(_ name: String) -> Bool { values[name] != nil }

  // MARK: Complaints

  /// Complains about the first key that nobody asked for.
  package func finish() throws(ClusterError) {
    let strangers = unread.compactMap { name in values[name].map { (name, $0.key.mark?.line) } }
    guard let (name, _) = strangers.min(by: { ($0.1 ?? 0, $0.0) < ($1.1 ?? 0, $1.0) }) else { return }
    throw error(name, "is not a key that WidgetLab knows")
  }

  /// What is wrong with the value of a key.
  package func error(_ name: String, _ message: String) -> ClusterError {
    ConfigurationReader.error(file, values[name]?.key.mark?.line ?? line, join(path, name), message)
  }

  private func missing(_ name: String) -> ClusterError {
    ConfigurationReader.error(file, line, join(path, name), "is missing")
  }

  private static func error(_ file: String, _ line: Int?, _ path: String, _ message: String) -> ClusterError {
    ClusterError(.configuration, "\(file)\(line.map { ":\($0)" } ?? ""): \(path.isEmpty ? "" : path + ": ")\(message)")
  }

  private mutating func take(_ name: String) -> Node? {
    unread.remove(name)
    guard let node = values[name]?.value, node.null == nil else { return nil }
    return node
  }

  private func text(_ node: Node, _ name: String) throws(ClusterError) -> String {
    guard case .scalar(let scalar) = node else {
      throw ConfigurationReader.error(file, node.mark?.line, join(path, name), "a text is expected")
    }
    return scalar.string
  }
}

private func join(_ path: String, _ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
