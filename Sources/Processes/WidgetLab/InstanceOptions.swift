import ArgumentParser
import Cluster
import Conversations
import Foundation

/// How every command finds its instance.
struct InstanceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The instance: a name (its folder is .widgetlab/NAME beside the configuration; else that of a running cluster, see `widgetlab list`), or a path.",
      valueName: "name-or-path"))
  var instance = InstanceOptions.defaultInstance

  @Option(
    help: ArgumentHelp(
      "The configuration; by default the one that the instance was started with, else ./widgetlab.yaml.",
      valueName: "file"))
  var config: String?

  /// The instance's folder, absolute; it need not exist.
  func folder() throws -> String {
    let isPath = instance.contains("/") || instance == "." || instance == ".."
    if isPath || isFolder(instance) { return InstanceFolder(instance).path }
    guard !instance.isEmpty, !instance.hasPrefix("-") else {
      throw Complaint(
        Exit.usage, "'\(instance)' is no name for an instance", advice: "take letters and digits, or a path")
    }
    let home = URL(fileURLWithPath: config ?? Self.defaultConfiguration).deletingLastPathComponent().path
    let local = InstanceFolder("\(home)/.widgetlab/\(instance)").path
    // Whoever stands in a project means that project's cluster, also when it is not running.
    let isHere = config != nil || isFolder(local) || instance == Self.defaultInstance && hasConfiguration
    return isHere ? local : try running(in: .ofThisUser) ?? local
  }

  /// The folder of the running cluster of that name; `nil` when there is none.
  ///
  /// - Throws: a complaint when there are several.
  func running(in book: AddressBook) throws -> String? {
    let found = try book.running().filter { $0.name == instance }
    guard found.count < 2 else {
      let folders = found.map(\.instance).joined(separator: "\n         ")
      throw Complaint(
        Exit.usage, "\(found.count) running clusters are named '\(instance)'",
        advice: "name the folder of one with --instance:\n         \(folders)")
    }
    return found.first?.instance
  }

  private var hasConfiguration: Bool { FileManager.default.fileExists(atPath: Self.defaultConfiguration) }

  static let defaultInstance = "default"

  static let defaultConfiguration = "widgetlab.yaml"

  /// The path of the configuration: what was said, what the instance was started with, or ./widgetlab.yaml.
  func configurationPath() throws -> String {
    let recorded = StartedWith.read(in: try folder())?.configuration
    let path = config ?? recorded ?? Self.defaultConfiguration
    let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
    guard FileManager.default.fileExists(atPath: absolute) else {
      throw Complaint(
        Exit.configuration, "there is no configuration", at: absolute,
        advice: "go to the folder of your widgetlab.yaml, or name it with --config FILE")
    }
    return absolute
  }

  /// The instance with its configuration.
  func cluster() throws -> ClusterFacts {
    try ClusterFacts(folder: try folder(), configurationPath: try configurationPath())
  }

  private func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}

/// `up.json` of an instance: what its `up` was started with, so that later commands need not be told again.
struct StartedWith: Codable {
  let configuration: String

  static func read(in folder: String) -> StartedWith? { try? JSONFile.read(StartedWith.self, at: folder + "/up.json") }
  func write(in folder: String) throws { try JSONFile.write(self, to: folder + "/up.json") }
}

/// An instance and its configuration: who is who in it.
struct ClusterFacts: Sendable {
  let folder: String
  let configurationPath: String
  let configuration: ClusterConfiguration

  init(folder: String, configurationPath: String) throws {
    self.folder = folder
    self.configurationPath = configurationPath
    do {
      configuration = try ClusterConfiguration.load(configurationPath)
    } catch {
      throw Complaint(Exit.configuration, "\(error)", at: configurationPath)
    }
  }

  var instance: InstanceFolder { InstanceFolder(folder) }
  var device: String { configuration.device.name }
  var host: Address { .host(device) }
  var agents: [Address] { configuration.agentNumbers.map { .agent(device, $0) } }
  var apps: [Address] { configuration.apps.map { .app(device, $0.bundle) } }
  var extensions: [Address] { configuration.extensions.map { .widgetExtension(device, $0.bundle) } }
  /// What `up` keeps alive, in the order in which it is started.
  var standing: [Address] {
    [.messageBus] + agents + [host] + (configuration.pushServer == nil ? [] : [.pushServer])
      + (configuration.provider == nil ? [] : [.provider])
  }

  /// The name of a standing process in `processes.json`, in `logs` and among the keys.
  static func standingName(of address: Address) -> String {
    switch address.role {
    case .agent: "agent-\(address.text.split(separator: "/").last ?? "")"
    default: address.role.rawValue
    }
  }

  /// The address that a person means.
  ///
  /// - Throws: a complaint that lists what there is.
  func address(_ text: String) throws -> Address {
    if let address = try named(text) { return address }
    if let address = Address(text) ?? Address("device/\(device)/\(text)") { return address }
    let all = (standing + apps + extensions).map(\.short).joined(separator: ", ")
    throw Complaint(
      Exit.usage, "'\(text)' is no process of this cluster", at: configurationPath, advice: "name one of: \(all)")
  }

  private func named(_ text: String) throws -> Address? {
    switch text {
    case "bus", "message-bus": return .messageBus
    case "host", "host-system": return host
    case "provider": return .provider
    case "push-server": return .pushServer
    case "agent": return try only(agents, "agent")
    case "app": return try only(apps, "app")
    case "extension": return try only(extensions, "extension")
    default: return (apps + extensions).first { $0.bundleIdentifier == text }
    }
  }

  private func only(_ addresses: [Address], _ word: String) throws -> Address {
    guard let first = addresses.first else {
      throw Complaint(Exit.usage, "this cluster has no \(word)", at: configurationPath)
    }
    guard addresses.count == 1 else {
      throw Complaint(
        Exit.usage, "this cluster has more than one \(word)", at: configurationPath,
        advice: "name one of: \(addresses.map(\.short).joined(separator: ", "))")
    }
    return first
  }

  /// The bundle identifier of an app: the one that is named, or the only one.
  func bundle(ofApp name: String?) throws -> String {
    if let name { return name }
    return try only(apps, "app").bundleIdentifier ?? ""
  }
}
