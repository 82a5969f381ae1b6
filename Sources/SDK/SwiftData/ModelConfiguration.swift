// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

/// Where a container stores models. Source: `SwiftData.ModelConfiguration`.
public struct ModelConfiguration: Hashable, Sendable, Identifiable, CustomDebugStringConvertible {
  /// The app group whose folder has the store. Source: `ModelConfiguration.GroupContainer`.
  public struct GroupContainer: Hashable, Sendable {
    fileprivate enum Choice: Hashable {
      case automatic, none
      case identifier(String)
    }
    fileprivate let choice: Choice

    /// The first app group of the process; without one, the folder of the process.
    public static let automatic = GroupContainer(choice: .automatic)
    public static let none = GroupContainer(choice: .none)
    public static func identifier(_ groupContainerIdentifier: String) -> GroupContainer {
      GroupContainer(choice: .identifier(groupContainerIdentifier))
    }
  }

  /// Has no effect: models are not synchronised. Source: `ModelConfiguration.CloudKitDatabase`.
  public struct CloudKitDatabase: Hashable, Sendable {
    fileprivate let name: String
    public static let automatic = CloudKitDatabase(name: "automatic")
    public static let none = CloudKitDatabase(name: "none")
    public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
      CloudKitDatabase(name: "private " + privateDBName)
    }
  }

  public let name: String
  public let schema: Schema?
  public let url: URL
  public let isStoredInMemoryOnly: Bool
  public let allowsSave: Bool
  public let groupContainer: GroupContainer
  public let cloudKitDatabase: CloudKitDatabase
  public var id: String { name }
  public var groupAppContainerIdentifier: String? { Self.group(groupContainer)?.identifier }
  public var cloudKitContainerIdentifier: String? { nil }
  public var debugDescription: String { "ModelConfiguration \(name) (\(url.path(percentEncoded: false)))" }

  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    url =
      isStoredInMemoryOnly
      ? URL(filePath: "/dev/null") : Self.folder(groupContainer).appending(path: "\(self.name).store")
  }

  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
    // As on a phone, `/dev/null` is a store that is not kept.
    isStoredInMemoryOnly = url.path == "/dev/null"
    self.allowsSave = allowsSave
    groupContainer = .none
    self.cloudKitDatabase = cloudKitDatabase
  }

  @_disfavoredOverload
  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  // MARK: Folders

  /// The folder of the store: `Library/Application Support` of the group or of the process.
  private static func folder(_ container: GroupContainer) -> URL {
    let base = group(container)?.folder ?? HostedProcess.current?.container ?? home
    return URL(filePath: base, directoryHint: .isDirectory).appending(path: "Library/Application Support")
  }

  private static var home: String {
    let environment = ProcessInfo.processInfo.environment
    return environment["CFFIXED_USER_HOME"] ?? environment["HOME"] ?? "/"
  }

  private static func group(_ container: GroupContainer) -> (identifier: String, folder: String)? {
    let groups = HostedProcess.current?.groups ?? [:]
    switch container.choice {
    case .none: return nil
    case .automatic: return groups.min { $0.key < $1.key }.map { ($0.key, $0.value) }
    case .identifier(let identifier):
      if HostedProcess.current == nil { return nil }
      guard let folder = groups[identifier] else {
        fatalError("\(identifier) is not an app group of this process: add it to appGroups in widgetlab.yaml")
      }
      return (identifier, folder)
    }
  }
}
