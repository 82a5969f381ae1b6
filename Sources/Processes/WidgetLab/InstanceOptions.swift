// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation
import Messages
import Synchronization

/// The options with which every command finds its instance.
///
/// A command acts on the cluster of its folder, or on the one that `--instance` names. A command that only reads takes
/// the only running cluster instead when its folder has none, and prints which one that is.
struct InstanceOptions: ParsableArguments {
  @Option(
    name: .customLong("instance"),
    help: ArgumentHelp(
      """
      The instance: a path or a name (.widgetlab/NAME next to the configuration, or see `widgetlab list`; default: \
      \(InstanceOptions.defaultInstance)).
      """,
      valueName: "name-or-path"))
  var named: String?

  var instance: String { named ?? Self.defaultInstance }

  @Option(
    help: ArgumentHelp(
      "The configuration file (default: the one that the instance was started with, else ./widgetlab.yaml).",
      valueName: "file"))
  var config: String?

  /// The instance's folder, absolute. It may not exist yet. Warns once on standard error when its disk is full.
  ///
  /// - Parameter reading: whether the command changes nothing.
  func folder(reading: Bool = false) throws -> String {
    let folder = try path(reading: reading)
    if let shortage = DiskSpace(at: folder)?.shortage, !Self.hasWarned.exchange(true, ordering: .relaxed) {
      Output.printError("! \(shortage); the cluster waits until there is more")
    }
    return folder
  }

  private static let hasWarned = Atomic(false)

  private func path(reading: Bool) throws -> String {
    let isPath = instance.contains("/") || instance == "." || instance == ".."
    if isPath || isFolder(instance) { return InstanceFolder(instance).path }
    guard !instance.isEmpty, !instance.hasPrefix("-") else {
      throw CommandError(
        Exit.usage, "'\(instance)' is not an instance name", advice: "use letters and digits, or a path")
    }
    let home = URL(fileURLWithPath: config ?? Self.defaultConfiguration).deletingLastPathComponent().path
    let local = InstanceFolder("\(home)/.widgetlab/\(instance)").path
    // Inside a project, the name refers to that project's cluster, even when it is not running.
    if config != nil || isFolder(local) || instance == Self.defaultInstance && hasConfiguration { return local }
    if named != nil { return try running(in: .ofThisUser) ?? local }
    guard reading, let other = try running(in: .ofThisUser) else { return local }
    Self.reportOnce(other)
    return other
  }

  /// The folder of an instance that exists, for a command that changes a file in it.
  func existingFolder() throws -> String {
    let folder = try folder()
    guard isFolder(folder) else {
      throw CommandError(
        Exit.configuration, "there is no instance", at: folder,
        advice: "create it with `widgetlab up` or `widgetlab keys make`\(Self.adviceToName)")
    }
    return folder
  }

  private static let reported = Mutex<Set<String>>([])

  private static func reportOnce(_ folder: String) {
    guard reported.withLock({ $0.insert(folder).inserted }) else { return }
    Output.printError("this folder has no cluster; reading the one of \(folder)")
  }

  /// How to name one of the clusters that run; empty when none does.
  static var adviceToName: String {
    let running = (try? InstanceRegistry.ofThisUser.running()) ?? []
    guard !running.isEmpty else { return "" }
    let lines = running.map { "\n         --instance \($0.instance)" }.joined()
    return "; to act on a cluster of another folder, name it:\(lines)"
  }

  /// The folder of the running cluster with that name; `nil` when no such cluster is running.
  ///
  /// - Throws: a command error when there are several.
  func running(in registry: InstanceRegistry) throws -> String? {
    let foundInstances = try registry.running().filter { $0.name == instance }
    guard foundInstances.count < 2 else {
      let folders = foundInstances.map(\.instance).joined(separator: "\n         ")
      throw CommandError(
        Exit.usage, "\(foundInstances.count) running clusters are named '\(instance)'",
        advice: "name the folder of one with --instance:\n         \(folders)")
    }
    return foundInstances.first?.instance
  }

  private var hasConfiguration: Bool { FileManager.default.fileExists(atPath: Self.defaultConfiguration) }

  static let defaultInstance = "default"

  static let defaultConfiguration = "widgetlab.yaml"

  /// The path of the configuration: the option, else the one that the instance was started with, else ./widgetlab.yaml.
  func configurationPath(reading: Bool = false) throws -> String {
    let recorded = StartedWith.read(in: try folder(reading: reading))?.configuration
    let path = config ?? recorded ?? Self.defaultConfiguration
    let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
    guard FileManager.default.fileExists(atPath: absolute) else {
      throw CommandError(
        Exit.configuration, "the configuration file does not exist", at: absolute,
        advice: "change to the folder of your widgetlab.yaml, or name the file with --config FILE\(Self.adviceToName)")
    }
    return absolute
  }

  /// The instance with its configuration.
  func cluster(reading: Bool = false) throws -> ClusterFacts {
    try ClusterFacts(
      folder: try folder(reading: reading), configurationPath: try configurationPath(reading: reading))
  }

  private func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}

/// `up.json` of an instance: the options of its `up`, which later commands use as defaults.
struct StartedWith: Codable {
  let configuration: String

  static func read(in folder: String) -> StartedWith? { try? JSONFile.read(StartedWith.self, at: folder + "/up.json") }
  func write(in folder: String) throws { try JSONFile.write(self, to: folder + "/up.json") }
}

/// An instance and its configuration, with the addresses of its processes.
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
      throw CommandError(Exit.configuration, "\(error)", at: configurationPath)
    }
  }

  var instance: InstanceFolder { InstanceFolder(folder) }
  var device: String { configuration.device.name }
  var host: Address { .host(device) }
  var agents: [Address] { configuration.agentNumbers.map { .agent(device, $0) } }
  var apps: [Address] { configuration.apps.map { .app(device, $0.bundle) } }
  var extensions: [Address] { configuration.extensions.map { .widgetExtension(device, $0.bundle) } }
  /// The processes that `up` supervises, in start order.
  var standing: [Address] {
    [.messageBus] + agents + [host] + pushServers
      + (configuration.provider == nil ? [] : [.provider])
  }

  /// The push server, or its replicas that `up` starts.
  var pushServers: [Address] {
    guard let pushServer = configuration.pushServer else { return [] }
    return pushServer.database == nil ? [.pushServer] : (1...pushServer.replicas).map { .pushServer("\($0)") }
  }

  /// The name of a standing process in `processes.json`, in `logs` and of its key.
  static func standingName(of address: Address) -> String {
    switch address.role {
    case .agent: "agent-\(address.text.split(separator: "/").last ?? "")"
    case .pushServer where address.isReplica: address.text.replacing("/", with: "-")
    case .fleet: "fleet-\(address.fleet ?? "")"
    default: address.role.rawValue
    }
  }

  /// Resolves a process that the user named.
  ///
  /// - Throws: a command error that lists the valid names.
  func address(_ text: String) throws -> Address {
    if let address = try named(text) { return address }
    if let address = Address(text) ?? Address("device/\(device)/\(text)") { return address }
    let all = (standing + apps + extensions).map(\.short)
    let meant = text.mostSimilar(of: Set(all)).map { "did you mean \($0)? " } ?? ""
    throw CommandError(
      Exit.usage, "'\(text)' is not a process of this cluster", at: configurationPath,
      advice: "\(meant)Use one of: \(all.joined(separator: ", "))")
  }

  /// Resolves one process that the user named: also the only fleet, or the only push server of a shared database.
  ///
  /// - Throws: a command error that lists the valid names.
  func process(_ text: String) throws -> Address {
    if text == "fleet" {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: instance.fleets)) ?? []
      return try only(names.sorted().map(Address.fleet), "fleet")
    }
    let address = try address(text)
    return address == .pushServer && !pushServers.isEmpty ? try only(pushServers, "push server") : address
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
      throw CommandError(Exit.usage, "this cluster has no \(word)", at: configurationPath)
    }
    guard addresses.count == 1 else {
      throw CommandError(
        Exit.usage, "this cluster has more than one \(word)", at: configurationPath,
        advice: "use one of: \(addresses.map(\.short).joined(separator: ", "))")
    }
    return first
  }

  /// The bundle identifier of an app: the one given, or that of the only app.
  func bundle(ofApp name: String?) throws -> String {
    if let name { return name }
    return try only(apps, "app").bundleIdentifier ?? ""
  }

  /// The same, of an app that the cluster has.
  ///
  /// - Throws: a command error that lists the apps.
  func bundle(ofKnownApp name: String?) throws -> String {
    guard let name else { return try bundle(ofApp: nil) }
    let names = apps.compactMap(\.bundleIdentifier)
    guard names.contains(name) else {
      let meant = name.mostSimilar(of: Set(names)).map { "did you mean \($0)? " } ?? ""
      throw CommandError(
        Exit.usage, "'\(name)' is not an app of this cluster", at: configurationPath,
        advice: "\(meant)Use one of: \(names.joined(separator: ", "))")
    }
    return name
  }
}

extension ArgumentHelp {
  /// The help of an argument that names a process of the cluster.
  static var process: ArgumentHelp {
    "extension, app, host, bus, agent, agent/2, push-server, provider, a bundle identifier, or a full address."
  }
}
